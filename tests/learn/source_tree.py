"""A small release: enough source for everything that is learnt."""

from __future__ import annotations

from bot.learn.source import SourceTree

FILES = {
    "vllm/envs.py": """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    VLLM_PORT: int | None = None
    VLLM_CACHE: str = compute()
environment_variables = {
    # a comment
    "VLLM_PORT": lambda: None,
    "VLLM_CACHE": lambda: None,
}
""",
    "vllm/utils/argparse_utils.py": """
import json
class FlexibleArgumentParser:
    def parse_args(self, args):
        model_tag = None
        for arg in args:
            if arg.startswith("-O") and arg != "-O":
                args += ["--optimization-level", arg[2:]]
    def _pull_args_from_config(self, args):
        return args
    def load_config_file(self, path):
        return [json.dumps(path)]
""",
    "vllm/config/utils.py": '''
from pydantic import ConfigDict
def config(cls):
    """Forbids."""
    return dataclass(cls, config=ConfigDict(extra="forbid"))
def get_field(cls, name): ...
''',
    "vllm/config/cache.py": '''
from typing import Literal, ClassVar
from pydantic import Field, field_validator
from vllm.config.utils import config
CacheDType = Literal["auto", "fp8"]
@config
class CacheConfig:
    """Doc."""
    SIZE: ClassVar[int] = 16
    cache_dtype: CacheDType = "auto"
    """The dtype."""
    share: float = Field(default=0.9, gt=0, le=1)
    block_size: int = Field(default=None, gt=0)
    names: list[str] = field(default_factory=list)
    inner: int = field(default=1, init=False)
    big: int = 4 * 1024
    prefix: bool = True
    @field_validator("block_size", mode="wrap")
    def skip(cls, value, handler):
        if value is None:
            return value
        return handler(value)
''',
    "vllm/config/vllm.py": '''
from enum import IntEnum
from .cache import CacheConfig, CacheDType
from .utils import config
class Level(IntEnum):
    O0 = 0
    O1 = 1
def enable(cfg): return True
FLAG = False
OPTIMIZATION_LEVEL_00 = {"a": {"mode": Level.O0, "fuse": FLAG, "norm": enable}}
NAMES = frozenset({"B", "A"})
@config
class VllmConfig:
    cache_config: CacheConfig = Field(default_factory=CacheConfig)
    level: Level = Level.O1
    extra: "dict[str, str] | None" = None
    def __post_init__(self):
        """Doc."""
        return self.level
''',
    "vllm/config/__init__.py": "from vllm.config.cache import CacheConfig\nfrom vllm.config.vllm import VllmConfig\n",
    "vllm/engine/arg_utils.py": """
import json
from vllm.config import CacheConfig, VllmConfig
from vllm.config.utils import get_field
def get_kwargs(cls): ...
def optional_type(kind): ...
def _compute_kwargs(cls):
    for name in ():
        if name == "big":
            kwargs[name]["type"] = human_readable_int
    kwargs[name]["choices"].append("None")
class EngineArgs:
    share: float = CacheConfig.share
    @staticmethod
    def add_cli_args(parser):
        cache_kwargs = get_kwargs(CacheConfig)
        group = parser.add_argument_group(title="Cache")
        group.add_argument("--kv-cache-dtype", "-k", **cache_kwargs["cache_dtype"])
        group.add_argument("--share", **cache_kwargs["share"])
        group.add_argument("--block-size", **cache_kwargs["block_size"])
        group.add_argument("--big", **cache_kwargs["big"])
        group.add_argument("--prefix", **{**cache_kwargs["prefix"], "default": None})
        cache_kwargs["names"]["choices"] = ["a"]
        cache_kwargs["names"]["choices"] += [",".join(p) for p in [["b", "c"]]]
        group.add_argument("--names", **cache_kwargs["names"])
        vllm_kwargs = get_kwargs(VllmConfig)
        vllm_kwargs["extra"]["type"] = optional_type(json.loads)
        group.add_argument("--extra", **vllm_kwargs["extra"])
        group.add_argument("--cache-config", **vllm_kwargs["cache_config"])
        group.add_argument("--level", **vllm_kwargs["level"])
        parser.add_argument("--quiet", action="store_true")
        parser.add_argument("--odd", type=lambda s: [s])
        if not ("--help" in sys.argv):
            parser.add_argument("--late", type=int, default=3, dest="other")
        return parser
    def check(self):
        if self.share and self.x:
            raise ValueError("share and cache_config.share "
                             "are mutually exclusive")
""",
    "vllm/entrypoints/openai/cli_args.py": """
from vllm.engine.arg_utils import EngineArgs, get_kwargs
from vllm.config.utils import config
class Base:
    host: str | None = None
    port: int = 8000
    @classmethod
    def customize(cls, kwargs):
        kwargs["port"]["type"] = str
        return kwargs
    @classmethod
    def add_cli_args(cls, parser):
        kwargs = cls.customize(get_kwargs(cls))
        for key, value in kwargs.items():
            parser.add_argument(f"--{key.replace('_', '-')}", **value)
        return parser
@config
class Frontend(Base):
    log_all: bool = False
    @classmethod
    def customize(cls, kwargs):
        kwargs = super().customize(kwargs)
        if "nargs" in kwargs["host"]:
            del kwargs["host"]["nargs"]
        return kwargs
def make_arg_parser(parser):
    parser.add_argument("model_tag", type=str, nargs="?")
    parser = Frontend.add_cli_args(parser)
    parser = EngineArgs.add_cli_args(parser)
    return parser
def validate_parsed_serve_args(args):
    if args.log_all and not args.host:
        raise TypeError("Error: --log-all requires --host")
""",
    "vllm/entrypoints/cli/serve.py": """
from vllm.entrypoints.openai.cli_args import make_arg_parser, validate_parsed_serve_args
""",
    "docker/Dockerfile": """
FROM base AS vllm-openai-base
ENTRYPOINT ["other"]
FROM vllm-openai-base AS vllm-openai
ENTRYPOINT ["vllm", "serve"]
FROM vllm-openai AS nonroot
ENTRYPOINT ["x"]
""",
}


def tree(**changed: str) -> SourceTree:
    """The release, with other text for some files: `tree(**{"vllm/envs.py": "…"})`."""
    files = {**FILES, **changed}
    return SourceTree(files.get, sorted(name for name in files if name.endswith(".py")))
