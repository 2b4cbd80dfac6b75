"""Ask a release's own parser: a script for developers, not run by the tests.

It loads the parser of `vllm serve` from a source tree (an unpacked sdist), with stand-ins for the packages that are
not installed and for the parts of vLLM that need them. pydantic and regex must be installed.

    python vllm_parser.py SOURCE < requests.jsonl > answers.jsonl

A request is {"argv": [...], "files": {name: text}, "fields": {dest: "Class.field"}}; `argv` with "serve" in front is
read as `vllm serve` does it, else as the server module does. The answer is {"error": text}, or {"set": {dest: value}}
with what differs from the defaults and {"refused": {dest: text}} with what the named fields do not take.
{"describe": true} asks for the flags themselves, {"config": NAME, "value": {...}} what a class refuses.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import enum
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import io
import json
import os
import sys
import tempfile
import types
from typing import Any

SOURCE = sys.argv[1] if len(sys.argv) > 1 else "."
SPLIT = os.path.exists(os.path.join(SOURCE, "vllm/utils/argparse_utils.py"))
PARSER_MODULE = "vllm.utils.argparse_utils" if SPLIT else "vllm.utils"
"""Where the release keeps its parser: 0.11.0 has all of its utilities in one file."""

REAL = (
    "vllm.config",
    "vllm.engine.arg_utils",
    "vllm.entrypoints.cli.serve",
    PARSER_MODULE,
    "vllm.envs",
    "vllm.v1.attention.backends.registry",
    "vllm.attention.backends.registry",
    "vllm.tool_parsers.tool_strict_level",
    "vllm.v1.attention.backends.mla.prefill.registry",
    "vllm.entrypoints.openai.cli_args",
    "vllm.entrypoints.common.cli_args",
    "vllm.entrypoints.serve.cli_args",
    "vllm.entrypoints.cli_args",
    "vllm.entrypoints.serve.utils.constants",
    "vllm.entrypoints.constants",
    "vllm.entrypoints.launcher_args",
    "vllm.entrypoints.launchers.cli_args",
    "vllm.entrypoints.launchers.utils.constants",
    "vllm.sampling_params_types",
    "vllm.exceptions",
    "vllm.model_executor.layers.quantization.utils.quant_utils",
    "vllm.scalar_type",
    *sys.argv[2:],
)
PACKAGES = sorted({name.rsplit(".", depth)[0] for name in REAL for depth in range(1, name.count(".") + 1)} - set(REAL))
MISSING = (
    "torch", "transformers", "huggingface_hub", "msgspec", "cbor2", "psutil", "fastapi", "openai", "uvloop", "zmq",
    "PIL", "cachetools", "blake3", "pybase64", "starlette", "uvicorn", "prometheus_client", "ray", "triton", "xgrammar",
    "partial_json_parser", "tokenizers", "safetensors", "gguf", "depyf", "opentelemetry", "setproctitle", "lark",
    "compressed_tensors", "model_hosting_container_standards", "aiohttp", "httpx", "tqdm", "watchfiles", "flashinfer",
    "mistral_common", "openai_harmony", "mcp", "llguidance", "outlines_core", "diskcache", "einops", "requests",
    "vllm_omni", "sagemaker", "ijson", "anthropic", "pyzmq", "filelock", "py_cpuinfo", "cpuinfo", "cv2", "soundfile",
)  # fmt: skip


class _StandInType(type):
    """The class of classes that stand for what is not there."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        made = _StandInType(name, (), {"__module__": "standin"})
        setattr(cls, name, made)
        return made

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], _StandInType):
            return args[0]
        return _StandInType(cls.__name__, (), {"__module__": "standin"})

    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.any_schema()

    def __or__(cls, other: Any) -> Any:
        return Any

    __ror__ = __or__

    def __getitem__(cls, key: Any) -> Any:
        return cls

    def __iter__(cls) -> Any:
        return iter(())

    def __bool__(cls) -> bool:
        return False


class _StandInModule(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        made = _StandInType(name, (), {"__module__": self.__name__})
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        top = name.partition(".")[0]
        if top in MISSING:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if top != "vllm" or name == "vllm":
            return None
        if name in REAL or any(name.startswith(f"{real}.") for real in REAL) or name in PACKAGES:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        return _module(spec.name)

    def exec_module(self, module: Any) -> None:
        pass


def _module(name: str) -> types.ModuleType:
    module = _StandInModule(name)
    module.__path__ = []
    if name == "vllm.logger":
        module.init_logger = lambda _: _Quiet()  # type: ignore[attr-defined]
        module.suppress_logging = contextlib.nullcontext  # type: ignore[attr-defined]
    elif name == "vllm.platforms":
        platform = _Platform(
            device_type="cuda",
            pre_register_and_update=lambda parser=None: None,
            is_cuda=lambda: True,
            is_cuda_alike=lambda: True,
            is_rocm=lambda: False,
            is_cpu=lambda: False,
            is_xpu=lambda: False,
            is_tpu=lambda: False,
            supported_quantization=[],
            fp8_dtype=lambda: "fp8",
            device_control_env_var="CUDA_VISIBLE_DEVICES",
        )
        module.current_platform = platform  # type: ignore[attr-defined]
    elif name == "vllm.version":
        module.__version__ = "0.0.0"  # type: ignore[attr-defined]
    return module


class _Platform(types.SimpleNamespace):
    """A CUDA platform; what else is asked of it is a question whose answer is yes."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: True


class _Quiet:
    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


def _package(name: str) -> None:
    module = _StandInModule(name)
    module.__path__ = [os.path.join(SOURCE, *name.split("."))]
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)


def load() -> Any:
    """The release's `make_arg_parser` and its parser class."""
    sys.meta_path.insert(0, _Finder())
    sys.path.insert(0, SOURCE)
    for name in PACKAGES:
        _package(name)
    installed = importlib.metadata.version
    importlib.metadata.version = lambda distribution_name: (
        "2.9.0" if distribution_name == "torch" else installed(distribution_name)
    )
    serve = importlib.import_module("vllm.entrypoints.cli.serve")
    return serve.make_arg_parser, importlib.import_module(PARSER_MODULE).FlexibleArgumentParser


def build(make: Any, parser_class: Any) -> tuple[Any, Any]:
    """The parser of `vllm` with its subcommand, and that of the server module."""
    top = parser_class(prog="vllm")
    top.add_argument("-v", "--version", action="version", version="0")
    subparsers = top.add_subparsers(required=False, dest="subparser")
    make(subparsers.add_parser("serve"))
    return top, make(parser_class(prog="server"))


def plain(value: Any) -> Any:
    """A value as JSON can hold it; a configuration object as what was given to it."""
    if isinstance(value, enum.Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: plain(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if f.init and hasattr(value, f.name)
        }
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def describe(action: argparse.Action, parser: argparse.ArgumentParser) -> dict[str, Any]:
    """A flag as the parser has it, the spellings included that its help does not show."""
    return {
        "options": [name for name, owner in parser._option_string_actions.items() if owner is action],
        "dest": action.dest,
        "nargs": action.nargs,
        "const": plain(action.const),
        "choices": plain(list(action.choices)) if action.choices is not None else None,
        "default": plain(action.default),
        "type": getattr(action.type, "__qualname__", None),
        "action": type(action).__name__,
    }


def answer(parsers: tuple[Any, Any], request: dict[str, Any]) -> dict[str, Any]:
    """What the parser makes of one request."""
    if "describe" in request:
        return {"flags": [describe(action, parsers[1]) for action in parsers[1]._actions]}
    if "config" in request:
        return check(request)
    argv = request["argv"]
    parser = parsers[0] if argv[:1] == ["serve"] else parsers[1]
    stderr = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in request.get("files", {}).items():
            with open(name, "w") as file:
                file.write(text)
        try:
            with contextlib.redirect_stderr(stderr), contextlib.redirect_stdout(io.StringIO()):
                namespace: argparse.Namespace = parser.parse_args(list(argv))
        except SystemExit:
            lines = stderr.getvalue().strip().splitlines()
            error = next((line for line in lines if "error:" in line), "exit")
            return {"error": error.partition("error: ")[2][:300] or "exit"}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {str(error)[:300]}"}
        finally:
            os.chdir("/")
    default = vars(DEFAULTS)
    given = {}
    for dest, value in vars(namespace).items():
        if dest == "subparser":
            continue
        shown, usual = plain(value), plain(default.get(dest))
        if shown == usual and type(value) is type(default.get(dest)):
            continue
        if isinstance(shown, dict) and isinstance(usual, dict):
            shown = {key: inner for key, inner in shown.items() if key not in usual or inner != usual[key]}
        given[dest] = shown
    refused = {}
    for dest, owner in request.get("fields", {}).items():
        if dest in given and getattr(namespace, dest) is not None:
            message = refusal(owner, getattr(namespace, dest))
            if message:
                refused[dest] = message
    return {"set": given, "refused": refused}


def refusal(qualified: str, value: Any) -> str | None:
    """What pydantic says of one field of a configuration class; None when it takes the value."""
    import pydantic
    import vllm.config  # type: ignore[import-not-found]
    from pydantic_core import ArgsKwargs

    owner, _, name = qualified.partition(".")
    cls = getattr(vllm.config, owner, None)
    if cls is None:
        return None
    try:
        cls.__pydantic_validator__.validate_python(ArgsKwargs((), {name: value}))
    except pydantic.ValidationError as error:
        mine = [e["msg"] for e in error.errors(include_url=False) if e["loc"][:1] == (name,)]
        return mine[0] if mine else None
    except KeyError as error:
        return f"KeyError: {error}"
    except Exception:
        return None
    return None


def check(request: dict[str, Any]) -> dict[str, Any]:
    """Which keys of a configuration class's arguments pydantic refuses."""
    import pydantic
    import vllm.config
    from pydantic_core import ArgsKwargs

    cls = getattr(vllm.config, request["config"])
    try:
        cls.__pydantic_validator__.validate_python(ArgsKwargs((), request["value"]))
    except pydantic.ValidationError as error:
        return {"refused": [list(e["loc"]) for e in error.errors(include_url=False) if e["loc"]]}
    except KeyError as error:
        return {"refused": [[str(error)]]}
    except Exception:
        return {"refused": []}
    return {"refused": []}


if __name__ == "__main__":
    made = build(*load())
    DEFAULTS = made[1].parse_args([])
    for line in sys.stdin:
        print(json.dumps(answer(made, json.loads(line))), flush=True)
