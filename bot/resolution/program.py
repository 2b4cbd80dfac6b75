"""From the process that replaces the entrypoint to the arguments of its inference server."""

from __future__ import annotations

import posixpath

from bot.provenance import Word
from bot.shell import Outcome

_OMNI = "--omni"
"""The flag by which vllm-omni takes over vLLM's command: another server, with flags of its own."""


def server(outcome: Outcome) -> tuple[str | None, tuple[Word, ...]]:
    """The kind of inference server and what follows its name (`vllm`, or the module behind `python -m`).

    The kind is the server's own name; None when the process is something else or there is none.
    """
    if outcome.program is None or outcome.argv is None:
        return None, ()
    program = posixpath.basename(outcome.program.text)
    kind, argv = _module(outcome.argv) if program.startswith("python") else (program, outcome.argv)
    if kind == "vllm" and any(word.text == _OMNI for word in argv):
        return "vllm-omni", argv
    return kind, argv


def _module(argv: tuple[Word, ...]) -> tuple[str | None, tuple[Word, ...]]:
    for index, word in enumerate(argv):
        if word.text == "-m" and index + 1 < len(argv):
            return argv[index + 1].text.split(".")[0], argv[index + 2 :]
        if not word.text.startswith("-"):
            break
    return None, ()
