"""The lines of a boot log, as the engine wrote them: without what terminals, Docker and chats have put around them.

A line counts as the engine's only with the mark that vLLM's logger puts before each one, `[core.py:123]`, so that
text which somebody sent to the engine is never taken for what it says: the logger marks each line of such text with
the file that wrote it, which is another one. From 0.32.0 on the logger can write JSON, an object a line, which has the
module's name instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_LINE = 200_000
"""Characters of one line, continuations included; the longest of real logs, the configuration, has some 10,000."""

MAX_CONTINUED = 400
"""Lines that a chat or a terminal makes of one."""

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,500}(?:\x07|\x1b\\)?|[@-Z\\^_])|[\x00\x0b\x0c]")
_QUOTED = re.compile(r"(?:> ?){1,3}")
_CONTAINER = re.compile(r"\s{0,8}([A-Za-z0-9][\w.-]{0,100})\s{0,60}\| ?")
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\s{1,20}")
_PROCESS = re.compile(r"\([A-Za-z][\w .:/-]{0,60}\bpid=\d{1,9}[^()\n]{0,60}\)\s{0,20}")
_TIME = r"(?:\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,6})?\s{1,20})?"
_MARK = r"\[([\w./-]{1,200}\.py):\d{1,6}\] ?(.*)"
_LOGGER = re.compile(
    rf"(?:\S{{1,40}} )?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\s{{1,20}}{_TIME}{_MARK}|{_TIME}{_MARK}", re.DOTALL
)
_PROGRESS = re.compile(r"([A-Z][^|%\n]{0,160}?):\s{1,20}\d{1,3}%\|")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the engine. `file` is the name of the module that wrote it, empty for a progress bar; `number` is the
    line of the log where it begins, from 1. `whole` is False for the end of a text that ends within a line.
    """

    container: str
    file: str
    message: str
    number: int
    whole: bool = True


def engine_lines(text: str) -> Iterator[Line]:
    """The engine's lines in their order; what a chat has wrapped is one line again."""
    open_line: Line | None = None
    parts: list[str] = []
    size = 0
    for number, raw in enumerate(re.split(r"\r\n|\n", text), 1):
        for piece in [part for part in raw.split("\r") if part] or [""]:
            container, rest, marked = _bare(piece)
            if objects := _json(container, rest, number):
                yield from (*_joined(open_line, parts), *objects)
                open_line, parts = None, []
                continue
            found = _logged(container, rest, number)
            if found is not None:
                yield from _joined(open_line, parts)
                open_line, parts, size = (found, [found.message], len(found.message)) if found.file else (None, [], 0)
                if not found.file:
                    yield found
            elif open_line is not None and (not rest.strip() or marked or len(parts) > MAX_CONTINUED):
                yield from _joined(open_line, parts)
                open_line, parts = None, []
            elif open_line is not None and container in ("", open_line.container) and size + len(rest) <= MAX_LINE:
                parts.append(rest)
                size += len(rest)
    yield from _joined(open_line, parts, text.endswith(("\n", "\r")))


def _joined(line: Line | None, parts: list[str], whole: bool = True) -> Iterator[Line]:
    """The line with its continuations. Where a chat wrapped at a blank the blank is lost; one after a comma comes back,
    others nobody misses: patterns take them or leave them.
    """
    if line is None:
        return
    text = parts[0]
    pieces = [text[:MAX_LINE]]
    for part in parts[1:]:
        before = pieces[-1]
        pieces.append((" " if before.endswith(",") and not part.startswith(" ") else "") + part)
    yield Line(line.container, line.file, "".join(pieces), line.number, whole)


def _bare(piece: str) -> tuple[str, str, bool]:
    """The container's name, the rest of the line, and whether a process's own mark stood before it."""
    text = _ESCAPE.sub("", piece)[:MAX_LINE]
    if quoted := _QUOTED.match(text):
        text = text[quoted.end() :]
    container = ""
    if named := _CONTAINER.match(text):
        container, text = named[1], text[named.end() :]
    if stamp := _STAMP.match(text):
        text = text[stamp.end() :]
    marked = False
    for _ in range(3):
        if process := _PROCESS.match(text):
            text, marked = text[process.end() :], True
    return container, text, marked


def _json(container: str, text: str, number: int) -> list[Line]:
    """The lines of a message that was written as JSON, where a whole object of the logger's form stands."""
    if not (text.startswith("{") and '"message"' in text):
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    name, message = found.get("name"), found.get("message")
    if not (isinstance(name, str) and name.startswith("vllm.") and isinstance(message, str)):
        return []
    file = f"{name.rpartition('.')[2]}.py"
    return [Line(container, file, line, number) for line in message.split("\n")]


def _logged(container: str, text: str, number: int) -> Line | None:
    if found := _LOGGER.match(text):
        file, message = (found[1], found[2]) if found[1] else (found[3], found[4])
        return Line(container, file.rpartition("/")[2], message, number)
    if found := _PROGRESS.match(text):
        return Line(container, "", found[1], number)
    return None
