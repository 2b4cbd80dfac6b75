"""Ask a release's own configuration: a script for developers, not run by the tests.

It loads vLLM itself from a source tree (an unpacked sdist), on a CPU, with empty modules for the compiled parts and a
made-up CUDA card, and runs what `vllm serve` runs before a worker starts: the parser, then `create_engine_config()`.
torch (for the CPU), transformers, pydantic and vLLM's other plain Python requirements must be installed.

    python vllm_engine.py SOURCE SM < requests.jsonl > answers.jsonl

A request is {"argv": ["serve", …], "env": {…}, "files": {name: text}}; models are those of `vllm_models.py`, whose
configurations lie in a hub cache that this script makes. The answer is {"resolved": {…}} in vLLM's own names, or
{"error": {"stage": "parse|engine_config", "kind": …, "text": …}}. Each request runs in a process of its own.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import os
import pathlib
import sys
import tempfile
import traceback
import types
from typing import Any

SOURCE, SM = sys.argv[1], int(sys.argv[2])
HUB = os.environ.get("VLLM_HUB") or tempfile.mkdtemp()
os.environ.update(
    {
        "HF_HUB_CACHE": HUB,
        "HF_HOME": HUB,
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "ERROR"),
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CACHE_ROOT": tempfile.mkdtemp(),
        "VLLM_CONFIG_ROOT": tempfile.mkdtemp(),
    }
)

MEMORY = {120: 32, 86: 24, 90: 80}
NAMES = {120: "NVIDIA GeForce RTX 5090", 86: "NVIDIA GeForce RTX 3090", 90: "NVIDIA H100 80GB HBM3"}
COMPILED = (
    "_C", "_moe_C", "_C_stable_libtorch", "_qutlass_C", "_flashmla_C", "_flashmla_extension_C", "cumem_allocator",
    "_moe_C_stable_libtorch", "vllm_flash_attn._vllm_fa2_C", "vllm_flash_attn._vllm_fa3_C", "spinloop", "fs_io_C",
    "_rs", "_spinloop", "_deep_gemm_C", "_rust", "_vllm_rs",
)  # fmt: skip

ABSENT = ("orjson", "model_hosting_container_standards", "opentelemetry", "tvm_ffi", "pynvml", "vllm_rs")


class _Empty(types.ModuleType):
    """A compiled part that is not there."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


def _stand_ins() -> None:
    for name in COMPILED:
        full = f"vllm.{name}"
        sys.modules[full] = _Empty(full)
        sys.modules[full].__path__ = []


class _Operator:
    """A compiled operator that is not there: supported, and never run."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.default = self

    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        return True


class _Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: stand-ins for parts that only the wheel has, and for packages that a server alone needs."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.startswith("vllm.vllm_flash_attn") or name.partition(".")[0] in ABSENT:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        return _Empty(spec.name)

    def exec_module(self, module: Any) -> None:
        module.__path__ = []


def _card() -> None:
    import torch  # type: ignore[import-not-found]

    properties = types.SimpleNamespace(
        name=NAMES[SM], total_memory=MEMORY[SM] << 30, major=SM // 10, minor=SM % 10, multi_processor_count=170,
        is_integrated=False, integrated=False, shared_memory_per_block_optin=101376, warp_size=32,
    )  # fmt: skip
    torch.cuda.get_device_capability = lambda *args: (SM // 10, SM % 10)
    torch.cuda.get_device_name = lambda *args: NAMES[SM]
    torch.cuda.get_device_properties = lambda *args: properties
    torch.cuda.device_count = lambda: 8
    torch.cuda.mem_get_info = lambda *args: (MEMORY[SM] << 30, MEMORY[SM] << 30)
    namespace = importlib.import_module("torch._ops")._OpNamespace
    found = namespace.__getattr__

    def operator(self: Any, name: str) -> Any:
        try:
            return found(self, name)
        except AttributeError:
            if name.startswith("__") or not self.name.lstrip("_").startswith(
                ("C", "moe_C", "vllm", "qutlass", "flash")
            ):
                raise
            return _Operator(name)

    namespace.__getattr__ = operator
    register = torch.library.register_fake

    def registered(op: Any, *args: Any, **kwargs: Any) -> Any:
        known = not isinstance(op, str) or op.startswith(("vllm::", "vllm_ir::"))
        return register(op, *args, **kwargs) if known else lambda function: function

    torch.library.register_fake = registered
    torch.version.cuda = os.environ.get("FAKE_CUDA", "13.0")


def _platform() -> None:
    import vllm.platforms  # type: ignore[import-not-found]

    interface = importlib.import_module("vllm.platforms.interface")
    cuda = importlib.import_module("vllm.platforms.cuda")

    class Card(cuda.NonNvmlCudaPlatform):  # type: ignore[name-defined,misc]
        """A card of one kind, eight times."""

        @classmethod
        def get_device_capability(cls, device_id: int = 0) -> Any:
            return interface.DeviceCapability(SM // 10, SM % 10)

        @classmethod
        def get_device_name(cls, device_id: int = 0) -> str:
            return NAMES[SM]

        @classmethod
        def get_device_total_memory(cls, device_id: int = 0) -> int:
            return MEMORY[SM] << 30

        @classmethod
        def device_count(cls) -> int:
            return 8

        @classmethod
        def import_kernels(cls) -> None:
            pass

        @classmethod
        def is_fully_connected(cls, physical_device_ids: list[int]) -> bool:
            return True

    vllm.platforms._current_platform = Card()
    for name, module in list(sys.modules.items()):
        if name.startswith("vllm") and "current_platform" in getattr(module, "__dict__", {}):
            module.current_platform = vllm.platforms._current_platform  # type: ignore[attr-defined]


def _triton() -> None:
    """Say that triton is there, as it is in the images."""
    with contextlib.suppress(ImportError):
        importing = importlib.import_module("vllm.triton_utils.importing")
        importing.HAS_TRITON = True  # type: ignore[attr-defined]
        importlib.import_module("vllm.triton_utils").HAS_TRITON = True  # type: ignore[attr-defined]


def _count_of_cards() -> None:
    """Eight cards, for the functions that count them past torch."""
    for name, attribute in (
        ("vllm.utils", "cuda_device_count_stateless"),
        ("vllm.utils.torch_utils", "cuda_device_count_stateless"),
        ("vllm.platforms.cuda", "_cuda_device_count_stateless"),
    ):
        with contextlib.suppress(ImportError):
            module = importlib.import_module(name)
            if hasattr(module, attribute):
                setattr(module, attribute, lambda *args: 8)


def load() -> tuple[Any, Any, Any]:
    """The parser maker, the parser class, and the class of the engine's arguments."""
    sys.path.insert(0, SOURCE)
    from importlib import metadata

    installed = metadata.version
    own = pathlib.Path(SOURCE).name.rpartition("-")[2]
    metadata.version = lambda name: own if name == "vllm" else installed(name)  # type: ignore[assignment]
    sys.meta_path.append(_Missing())
    _stand_ins()
    _card()
    _platform()
    _triton()
    _count_of_cards()
    registry = importlib.import_module("vllm.model_executor.models.registry")
    registry._run_in_subprocess = lambda fn: fn()  # type: ignore[attr-defined]
    serve = importlib.import_module("vllm.entrypoints.cli.serve")
    split = os.path.exists(os.path.join(SOURCE, "vllm/utils/argparse_utils.py"))
    utils = importlib.import_module("vllm.utils.argparse_utils" if split else "vllm.utils")
    arguments = importlib.import_module("vllm.engine.arg_utils")
    return serve.make_arg_parser, utils.FlexibleArgumentParser, arguments.AsyncEngineArgs


def _value(value: Any) -> Any:
    name = getattr(value, "name", None)
    return name if name is not None and not isinstance(value, str) else value


def describe(config: Any) -> dict[str, Any]:
    """What is asked of a resolved configuration."""
    spec = config.speculative_config
    attention = getattr(config, "attention_config", None)
    found: dict[str, Any] = {
        "cudagraph_mode": _value(config.compilation_config.cudagraph_mode),
        "optimization_level": _value(getattr(config, "optimization_level", None)),
        "enable_prefix_caching": config.cache_config.enable_prefix_caching,
        "kv_cache_dtype": config.cache_config.cache_dtype,
        "async_scheduling": config.scheduler_config.async_scheduling,
        "enable_chunked_prefill": getattr(
            config.scheduler_config, "enable_chunked_prefill",
            getattr(config.scheduler_config, "chunked_prefill_enabled", None)),
        "max_num_seqs": config.scheduler_config.max_num_seqs,
        "max_model_len": config.model_config.max_model_len,
        "quantization": _value(config.model_config.quantization),
        "enforce_eager": config.model_config.enforce_eager,
        "tensor_parallel_size": config.parallel_config.tensor_parallel_size,
        "pipeline_parallel_size": config.parallel_config.pipeline_parallel_size,
        "spec_method": spec.method if spec else None,
        "num_speculative_tokens": spec.num_speculative_tokens if spec else 0,
        "architecture": config.model_config.architecture,
    }  # fmt: skip
    if hasattr(config.cache_config, "mamba_cache_mode"):
        found["mamba_cache_mode"] = config.cache_config.mamba_cache_mode
    if hasattr(type(config), "use_v2_model_runner"):
        found["use_v2_model_runner"] = bool(config.use_v2_model_runner)
    if attention is not None:
        found["attention_backend"] = _value(attention.backend)
    return found


def _say(error: BaseException, output: str) -> dict[str, Any]:
    text = output if isinstance(error, SystemExit) else str(error)
    lines = (
        [line for line in text.splitlines() if "error:" in line]
        if isinstance(error, SystemExit)
        else [text.partition("For further information")[0]]
    )
    found = {"kind": type(error).__name__, "text": "\n".join(lines)[:600]}
    if not isinstance(error, SystemExit):
        frames = traceback.extract_tb(error.__traceback__)
        found["at"] = f"{frames[-1].filename.rpartition('/vllm/')[2]}:{frames[-1].lineno} {frames[-1].name}"
    return found


def answer(loaded: tuple[Any, Any, Any], request: dict[str, Any]) -> dict[str, Any]:
    """What the release makes of one command line."""
    make, parser_class, arguments_class = loaded
    os.environ.update(request.get("env") or {})
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in (request.get("files") or {}).items():
            pathlib.Path(name).write_text(text, encoding="utf-8")
        output = io.StringIO()
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                top = parser_class(prog="vllm")
                make(top.add_subparsers(required=False, dest="subparser").add_parser("serve"))
                sys.argv = ["vllm", *request["argv"]]
                arguments = top.parse_args()
                if getattr(arguments, "model_tag", None) is not None:
                    arguments.model = arguments.model_tag
        except BaseException as error:
            return {"error": {"stage": "parse", **_say(error, output.getvalue())}}
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                context = importlib.import_module("vllm.usage.usage_lib").UsageContext.OPENAI_API_SERVER
                engine = arguments_class.from_cli_args(arguments)
                return {"resolved": describe(engine.create_engine_config(usage_context=context))}
        except BaseException as error:
            if os.environ.get("VERBOSE"):
                print(output.getvalue()[-3000:], file=sys.stderr)
                traceback.print_exc()
            return {"error": {"stage": "engine_config", **_say(error, output.getvalue())}}


def isolated(loaded: tuple[Any, Any, Any], request: dict[str, Any]) -> dict[str, Any]:
    """An answer from a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            found = answer(loaded, request)
        except BaseException as error:
            found = {"error": {"stage": "script", "kind": type(error).__name__, "text": str(error)}}
        with os.fdopen(writing, "w") as out:
            out.write(json.dumps(found, default=str))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": {"stage": "script", "kind": "Crash", "text": ""}}


def main() -> None:
    """Answer the requests on standard input."""
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        loaded = load()
        for name in (os.environ.get("WARM") or "Qwen/Qwen3-8B").split():
            with contextlib.suppress(BaseException):
                first = answer(loaded, {"argv": ["serve", name]})
                print(name, first, file=sys.stderr)
    gc.freeze()
    for line in sys.stdin:
        found = isolated(loaded, json.loads(line))
        print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    main()
