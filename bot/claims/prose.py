"""Comments as a reader sees them: lines that belong together, cut into statements, each character with its place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bot.provenance import Position

MAX_LINE = 600
"""Characters of a comment that are read: more is a table, a log or an attack, and nobody's statement."""

MAX_COMMENTS = 200_000
"""Characters of comments of one file that are read: five times the most talkative compose known."""

MAX_PARAGRAPH = 12_000
"""Characters of one paragraph, bullet or value of a key."""

MAX_STATEMENT = 1200
"""Characters of one statement: an essay without a full stop states nothing that can be tied to a value."""

_RULE = re.compile(r"[-=─━═~_*+#>|\s]*$")
_KEY = re.compile(r"(?![^:]*--)([A-Za-z][A-Za-z0-9 /_-]{0,24}?)\s*:(?=\s)[ \t]*")
_COLUMN = re.compile(r"(max (?:ctx|context))\s{2,}(?=[~≈]\s?\d)", re.IGNORECASE)
"""A key that is set off by blanks alone from its value, which is said to be about that."""

_BULLET = re.compile(r"(?:[-*•⤷▸◦]|\d{1,2}[.)]|\(\d{1,2}\))\s+")
_CODE = re.compile(r"(?:-\s+)?(?:--[a-z]|['\"{\[$])")
_COMMAND = re.compile(
    r"(?:[A-Z][A-Z0-9_]*=\S*\s+)+(?:docker|bash|sh|\./|vllm|python|make|scripts/)|(?:docker|bash|cd|curl|vllm serve)\s"
)
_TABLE = re.compile(r"\S(?:\s{2,}|\t)\S+(?:\s{2,}|\t)\S|[|│┃]")
_END = re.compile(r"[.!?](?:[\"')\]`]|\*\*)*(?=\s|$)|[;•‣⏸]")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|vs|incl|approx|ca|no|cf|etc|max|min)|\b[A-Z])$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of prose without its marks: `column` is that of its first character."""

    number: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, or a part of one between semicolons; `small` is it in small letters.

    `key` is the name that it is the value of (`Drafter`), in small letters; `first` says that nothing stands before it
    in the value, the bullet or the paragraph. `heading` is the line that ends in a colon above the bullets that it
    stands in. `block` numbers the comments of a file: statements with the same number stand in lines that follow each
    other.
    """

    path: str
    text: str
    small: str
    key: str
    heading: str
    first: bool
    block: int
    starts: tuple[int, ...] = field(repr=False)
    lines: tuple[Line, ...] = field(repr=False)
    shifts: tuple[int, ...] = field(repr=False)

    def place(self, offset: int) -> Position:
        """Where a character of the text stands in the file."""
        at = bisect_right(self.starts, offset) - 1
        line = self.lines[at]
        return Position(self.path, line.number, line.column + self.shifts[at] + offset - self.starts[at])


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Lines that are one text. `skip` are the characters of the first line that are its key or bullet."""

    lines: tuple[Line, ...]
    key: str
    heading: str
    skip: int
    block: int


def comment_blocks(text: str, wanted: Sequence[str]) -> Iterator[list[Line]]:
    """The comments of a YAML file that have lines of their own, those of embedded scripts too: what follows each other
    is one block, and only blocks in which a `wanted` word stands are given. A comment without words is an empty line.
    The words are in small letters.
    """
    block: list[Line] = []
    room = MAX_COMMENTS
    for number, line in enumerate(text.split("\n"), 1):
        body = line.lstrip()
        if body.startswith("#"):
            words = body.lstrip("#").lstrip()
            room -= len(words)
            if room < 0:
                break
            block.append(Line(number, len(line) - len(words) + 1, words[:MAX_LINE].rstrip()))
        elif block:
            if _has("\n".join(part.text for part in block).lower(), wanted):
                yield block
            block = []
    if block and _has("\n".join(part.text for part in block).lower(), wanted):
        yield block


def _has(small: str, wanted: Sequence[str]) -> bool:
    """Whether one of some words is in a text."""
    return any(word in small for word in wanted)


def statements(path: str, blocks: Iterable[list[Line]], wanted: Sequence[str]) -> Iterator[Statement]:
    """The statements in which a `wanted` word stands. Code, commands and tables state nothing."""
    for number, block in enumerate(blocks):
        for paragraph in _paragraphs(block, number):
            yield from _statements(path, paragraph, wanted)


def _paragraphs(block: Iterable[Line], number: int) -> Iterator[_Paragraph]:
    """Lines that are one text: a key or a bullet with what is indented below it, or plain lines."""
    current: list[Line] = []
    key, heading, skip, indent, above = "", "", 0, 0, 0
    for line in block:
        begins = _begin(line)
        states = _states(line.text, begins is not None)
        if current and (not states or begins is not None or line.column < indent):
            yield _Paragraph(tuple(current), key, heading, skip, number)
            current = []
        if states:
            if not current:
                key, skip = begins or ("", 0)
                indent = line.column if begins is None else line.column + 1
            if begins is not None and line.column < above:
                heading = ""  # what stood deeper has ended
            if begins is None and line.text.endswith(":"):
                heading = " ".join(part.text for part in (*current, line))
                above = min(part.column for part in (*current, line))
            elif begins is None and not current:
                heading = ""
            current.append(line)
    if current:
        yield _Paragraph(tuple(current), key, heading, skip, number)


def _states(text: str, begins: bool) -> bool:
    """Whether a line says something: it is no rule, no code, no command, no row of a table."""
    first = text[:1]
    if not first.isalnum() and (_RULE.match(text) or first in "-'\"{[$") and (_RULE.match(text) or _CODE.match(text)):
        return False
    if first.isalpha() and _COMMAND.match(text):
        return False
    return begins or not (("  " in text or "\t" in text or "|" in text or "│" in text) and _TABLE.search(text))


def _begin(line: Line) -> tuple[str, int] | None:
    """The key with which a line begins, and the characters before its text; None for a line that goes on."""
    text = line.text
    if not text[:1].isalpha():
        bullet = _BULLET.match(text)
        return ("", bullet.end()) if bullet else None
    if ":" in text[:27] and (key := _KEY.match(text)) and len(key[1].split()) <= 3:
        return key[1].lower(), key.end()
    if column := _COLUMN.match(text):
        return column[1].lower(), column.end()
    return None


def _statements(path: str, paragraph: _Paragraph, wanted: Sequence[str]) -> Iterator[Statement]:
    if sum(len(line.text) for line in paragraph.lines) > MAX_PARAGRAPH:
        return
    text, starts, shifts = "", [], []
    for number, line in enumerate(paragraph.lines):
        skip = paragraph.skip if number == 0 else 0
        starts.append(len(text))
        shifts.append(skip)
        text += line.text[skip:] + " "
    small = text.lower()
    if len(small) != len(text):  # a letter that has no small form of its own length
        small = text
    if not paragraph.key and not _has(small, wanted):
        return
    text = text.rstrip()
    for first, (begin, end) in enumerate(_sentences(text)):
        keyed = first == 0 and paragraph.key
        if end - begin > MAX_STATEMENT or not (keyed or _has(small[begin:end], wanted)):
            continue
        at = bisect_right(starts, begin) - 1
        last = bisect_right(starts, max(end - 1, begin))
        yield Statement(
            path,
            text[begin:end],
            small[begin:end],
            paragraph.key,
            paragraph.heading if not text.endswith(":") else "",
            first == 0,
            paragraph.block,
            tuple(max(start - begin, 0) for start in starts[at:last]),
            paragraph.lines[at:last],
            (shifts[at] + begin - starts[at], *shifts[at + 1 : last]),
        )


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each sentence, without the spaces around it. A question states nothing."""
    begin, seen, depth, last = 0, 0, 0, text.rfind(")")
    for match in _END.finditer(text):
        depth = max(depth + text.count("(", seen, match.start()) - text.count(")", seen, match.start()), 0)
        seen = match.start()
        if depth and seen < last:
            continue  # a remark in parentheses is about what it stands in
        if match[0][0] == "." and _ABBREVIATION.search(text, max(begin, match.start() - 12), match.start()):
            continue
        if match[0][0] != "?":
            yield from _trimmed(text, begin, match.start())
        begin, depth = match.end(), 0
    yield from _trimmed(text, begin, len(text))


def _trimmed(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[begin:end]
    if part.strip():
        yield begin + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
