"""Ways to ask the shell stage, and the real bash beside it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Mapping

import pytest

from bot.provenance import Reason, Word
from bot.shell import Limits, Process, Run, SourceFile, run


class Mounts:
    """Container files given as a mapping; everything else is the image's."""

    def __init__(self, files: Mapping[str, str], absent: frozenset[str] = frozenset()) -> None:
        self.files = files
        self.absent = absent

    def read(self, path: str) -> SourceFile | None:
        text = self.files.get(path)
        return None if text is None else SourceFile("repo" + path, text)

    def targets(self) -> Iterable[str]:
        return self.files

    def exists(self, path: str) -> bool | None:
        if path in self.files or any(name.startswith(path + "/") for name in self.files):
            return True
        return False if path in self.absent else None


def entrypoint(
    script: str,
    *args: str,
    env: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    absent: frozenset[str] = frozenset(),
    symbols: Mapping[str, str] | None = None,
    shell: str = "bash",
    limits: Limits | None = None,
) -> Run:
    """Runs `[shell, -c, script, --, *args]`, with the script at line 10 of `compose.yml`, arguments at 100."""
    count = script.count("\n") + 1
    text = Word(script, (Reason("compose", "compose.yml", 10, "entrypoint"),), tuple(range(10, 10 + count)))
    words: tuple[Word, ...] = (Word(shell), Word("-c"), text, Word("--"))
    words += tuple(Word(one, (Reason("compose", "compose.yml", 100 + at, one),)) for at, one in enumerate(args))
    environment = {name: Word(value) for name, value in (env or {}).items()}
    return run(Process(words, environment), Mounts(files or {}, absent), symbols=symbols, limits=limits)


def argvs(result: Run) -> list[list[str] | None]:
    """The command line of each outcome."""
    return [
        None if one.program is None or one.argv is None else [one.program.text, *(word.text for word in one.argv)]
        for one in result.outcomes
    ]


def _is_bash_5_2() -> bool:
    bash = shutil.which("bash")
    if bash is None:
        return False
    told = subprocess.run([bash, "-c", "echo $BASH_VERSION"], capture_output=True, text=True, check=False)
    return told.stdout.startswith("5.2")


needs_bash = pytest.mark.skipif(not _is_bash_5_2(), reason="bash 5.2 is not installed")
