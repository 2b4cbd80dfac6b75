"""From the process that replaces the entrypoint to the arguments of its inference server."""

from __future__ import annotations

import posixpath

from bot.provenance import Word
from bot.shell import Outcome, is_inference_server

_OMNI = "--omni"
"""The flag by which vllm-omni takes over vLLM's command: another server, with flags of its own."""

_SERVER_MODULES = frozenset({"vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"})
_COMMAND_MODULE = "vllm.entrypoints.cli.main"


def server(outcome: Outcome) -> tuple[str | None, tuple[Word, ...]]:
    """The kind of inference server and what follows its name (`vllm`, or the module behind `python -m`).

    The kind is the server's own name; None when the process is something else, another command of vLLM's
    (`vllm bench`) included, or when there is none.
    """
    if outcome.program is None or outcome.argv is None:
        return None, ()
    program = posixpath.basename(outcome.program.text)
    if program.startswith("python"):
        return _module(outcome.argv)
    return _command(program, outcome.argv)


def _command(program: str, argv: tuple[Word, ...]) -> tuple[str | None, tuple[Word, ...]]:
    if not is_inference_server(program):
        return None, argv
    if program == "vllm":
        if any(word.text == _OMNI for word in argv):
            return "vllm-omni", argv
        if not argv or (argv[0].known and argv[0].text != "serve"):
            return None, argv
    return program, argv


def _module(argv: tuple[Word, ...]) -> tuple[str | None, tuple[Word, ...]]:
    for index, word in enumerate(argv):
        if word.text == "-m" and index + 1 < len(argv):
            return _served(argv[index + 1].text, argv[index + 2 :])
        if not word.text.startswith("-"):
            break
    return None, argv


def _served(module: str, argv: tuple[Word, ...]) -> tuple[str | None, tuple[Word, ...]]:
    package = module.split(".")[0]
    if module == _COMMAND_MODULE:
        return _command("vllm", argv)
    if not is_inference_server(package) or (package == "vllm" and module not in _SERVER_MODULES):
        return None, argv
    return package, argv
