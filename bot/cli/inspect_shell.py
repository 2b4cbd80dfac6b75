"""`bot inspect shell`: the shell stage alone, in a closed world."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.cli.request import needed_text, texts, words
from bot.provenance import Reason, Word
from bot.shell import run
from bot.shell.model import Outcome, Process, SourceFile, Unresolved

FOLDER = "/FOLDER-OF-THE-SCRIPT"
"""The folder in which the script runs. Its real name is not known: where it comes up in an answer, that is unknown."""

SCRIPT = "entrypoint.sh"


@dataclass(frozen=True)
class Folder:
    """Files that are all known: a folder with the script and its files, and nothing else."""

    files: Mapping[str, SourceFile]

    def read(self, path: str) -> SourceFile | None:
        """The file at this absolute path."""
        return self.files.get(path)

    def exists(self, path: str) -> bool | None:
        """Whether the path is one of the files or a folder above one."""
        return path in self.files or any(name.startswith(path.rstrip("/") + "/") for name in self.files)

    def paths(self) -> Iterable[str]:
        """All files."""
        return self.files


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answers one request: `script` is run as `bash entrypoint.sh ARGS` in a folder that holds `files`."""
    script = needed_text(request, "script")
    files = {
        posixpath.normpath(posixpath.join(FOLDER, name)): SourceFile(name, text)
        for name, text in {SCRIPT: script, **texts(request, "files")}.items()
    }
    argv = ["bash", SCRIPT, *words(request, "args")]
    environment = {name: _word(text, name) for name, text in texts(request, "env").items()}
    process = Process(tuple(_word(one, "command") for one in argv), environment, FOLDER, closed=True)
    result = run(process, Folder(files), symbols=texts(request, "symbols"))
    unresolved = [_unresolved(one) for one in result.unresolved]
    outcomes = []
    for outcome in result.outcomes:
        outcome = _without_folder(outcome)
        outcomes.append(_outcome(outcome))
        unresolved.extend(_unknown_words(outcome))
    return {"outcomes": outcomes, "unresolved": unresolved}


def _word(text: str, what: str) -> Word:
    return Word(text, (Reason("shell", SCRIPT, None, what),))


def _unresolved(problem: Unresolved) -> dict[str, Any]:
    return {"reason": problem.reason, "line": problem.position.line if problem.position is not None else None}


def _without_folder(outcome: Outcome) -> Outcome:
    """The outcome, with every text that holds the folder's stand-in name made unknown."""

    def hidden(word: Word) -> Word:
        if FOLDER[1:].casefold() not in word.text.casefold():
            return word
        return replace(word, text=word.text.replace(FOLDER, "${PWD}"), symbols=(*word.symbols, "PWD"))

    argv = tuple(hidden(word) for word in outcome.argv) if outcome.argv is not None else None
    exported = {name: hidden(word) for name, word in outcome.exported.items()}
    return replace(outcome, argv=argv, exported=exported)


def _unknown_words(outcome: Outcome) -> list[dict[str, Any]]:
    """An entry for each argument and variable that is not fully known."""
    words = [("an argument", word) for word in outcome.argv or ()]
    words += [(f"the variable {name}", word) for name, word in outcome.exported.items()]
    return [
        {"reason": f"{what} is not known: {word.text}", "line": word.because[-1].line if word.because else None}
        for what, word in words
        if not word.known
    ]


def _outcome(outcome: Outcome) -> dict[str, Any]:
    argv = outcome.argv
    known = argv is not None and all(word.known for word in argv)
    told: dict[str, Any] = {
        "program": outcome.program.text if outcome.program is not None else None,
        "argv": [word.text for word in argv] if argv is not None and known else None,
        "exit": outcome.status,
        "env": {name: word.text for name, word in outcome.exported.items() if word.known},
        "steps": [
            {
                "run": [word.text for word in step.run],
                "before_engine": step.before_engine,
                "failure_stops_boot": step.failure_stops_boot,
            }
            for step in outcome.steps
        ],
        "assumed": dict(outcome.assumed),
    }
    if outcome.ended is not None:
        told["ended"] = _unresolved(outcome.ended)
    if argv is not None and not known:
        told["argv_template"] = [word.text for word in argv]
    return told
