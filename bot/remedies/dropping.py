"""Arguments taken out, where the repository writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ruamel.yaml.nodes import ScalarNode

from bot.provenance import Word
from bot.remedies.case import FIELDS, Case
from bot.remedies.flow import taken_out
from bot.remedies.model import Candidate, Meant, NoEdit, TextEdit

_NO_MORE = re.compile(r"\s*\\?\s*")
"""What is left of a line of a script when its last argument is gone: it would still go on."""


def drop_overridden(case: Case) -> Iterator[Candidate]:
    """The argument that a later one overrides, taken out."""
    argument = str(case.finding.observed.get("argument", ""))
    if not argument.startswith("-") or "{" in argument:
        raise NoEdit("whether the two should be put together is for a person to say")
    words = _words(case, argument)
    edits = dropped(case, words)
    meant = Meant(frozenset(FIELDS), words=frozenset(word.text for word in words))
    yield Candidate(edits, f"Takes `{argument}` out, which a later argument overrides", meant)


def _words(case: Case, argument: str) -> Sequence[Word]:
    """The words of the first argument of the command line that is written so."""
    argv = case.argv()
    for start in range(len(argv)):
        said = ""
        for end in range(start, len(argv)):
            said = f"{said} {argv[end].text}".lstrip()
            if said == argument:
                return argv[start : end + 1]
            if not argument.startswith(said):
                break
    raise NoEdit(f"`{argument}` is not on the command line as it is written")


def dropped(case: Case, words: Sequence[Word]) -> tuple[TextEdit, ...]:
    """The edits that take words out which follow each other on the command line. Raises `NoEdit` unless each place is
    sure: a line of its own, or a part of one that nothing else on it looks like.
    """
    for place in case.lines_of(words[0]):
        with suppress(NoEdit):
            if (edit := _from_brackets(case, place, [word.text for word in words])) is not None:
                return (edit,)
        others = [list(case.lines_of(word)) for word in words[1:]]
        try:
            if all(place in other for other in others):
                return (_from_line(case, place, [word.text for word in words]),)
            lines = [(words[0], place), *((word, other[0]) for word, other in zip(words[1:], others, strict=True))]
            return tuple(_from_line(case, at, [word.text]) for word, at in lines)
        except (NoEdit, IndexError):
            continue
    raise NoEdit(f"`{words[0].text}` is not written where it can be taken out alone")


def _from_brackets(case: Case, place: tuple[str, int], words: Sequence[str]) -> TextEdit | None:
    """Words that stand in a row, taken out of a list in brackets; None where they stand in none."""
    path, number = place
    first = case.entry(path, number, words[0])
    if first is None:
        return None
    row = first.holder.value[first.at : first.at + len(words)]
    if [item.value if isinstance(item, ScalarNode) else None for item in row] != list(words):
        return None
    return taken_out(case.layout(path), first.holder, first.at, first.at + len(words) - 1)


def _from_line(case: Case, place: tuple[str, int], words: Sequence[str]) -> TextEdit:
    """Words that stand in a row, taken out of a line; the line too when nothing is left of it."""
    path, number = place
    start, line = case.line(path, number)
    if case.entry(path, number, words[0]) is not None:
        raise NoEdit(f"{path}:{number} has more than {' '.join(words)} in its brackets")
    text = case.text(path)
    if re.fullmatch(r" *#.*", text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)]):
        raise NoEdit(f"{path}:{number} has a comment above it, which may speak of it")
    said = r"\s+".join(re.escape(word) for word in words)
    alone = re.compile(rf" *- +(?P<quote>['\"]?){said}(?P=quote) *(?:#.*)?")
    if alone.fullmatch(line):
        return TextEdit(path, start, _next_line(text, start), "")
    listed = r" *, *".join(rf"(?:'{one}'|\"{one}\"|{one})" for one in map(re.escape, words))
    found = [*re.finditer(rf"(?<=\[) *{listed} *, *|(?<=,) *{listed} *,|(?:(?<=\s)|^){said}(?:[ \t]+|(?=$))", line)]
    if len(found) != 1:
        raise NoEdit(f"{path}:{number} does not have {' '.join(words)} exactly once as words of their own")
    begin, end = found[0].span()
    rest = line[:begin] + line[end:]
    if _NO_MORE.fullmatch(rest):
        return TextEdit(path, start, _next_line(text, start), "")
    if end == len(line) and line[:begin].strip():
        begin = len(line[:begin].rstrip())
    return TextEdit(path, start + begin, start + end, "")


def _next_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end + 1
