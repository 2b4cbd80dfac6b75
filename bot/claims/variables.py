"""Claims about variables: the default that a table of them gives, and what setting one does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bot.claims.model import Claim, shortened
from bot.claims.prose import Line, Statement
from bot.claims.subjects import DRAFTER, EAGER, PREFIX
from bot.provenance import Position

_DEFAULT = re.compile(
    r"(?P<name>[A-Z][A-Z0-9_]{2,40})\s[^()]{0,80}\(defaults?:?\s+[`'\"]?(?P<value>[^\s`'\";)]{1,120})"
)
_NO_VALUE = frozenset(
    {"unset", "none", "empty", "auto", "off", "on", "no", "yes", "see", "the", "same", "image", "vllm"}
)
"""Words that stand for a default without being its value, or may."""

_WHAT = r"(?P<what>MTP|drafter|draft model|spec(?:ulative)?(?:[- ]?dec\w*)?|CUDA graphs|prefix[- ]cach(?:ing|e))\b"
_SET = r"(?P<name>[A-Z][A-Z0-9_]{1,40})=(?P<to>[\w.-]{1,40})"
_TOGGLES = (
    re.compile(
        rf"(?<![\w$]){_SET}\s+(?:in [\w./]{{1,30}}\s+)?(?:disables|drops|removes|turns off|switches off)\s+(?:the\s+)?"
        rf"(?:built-in\s+)?(?:MTP\s+(?=drafter))?{_WHAT}",
        re.IGNORECASE,
    ),
    re.compile(rf"\b{_WHAT}\s+off\s*(?:[—–:,-]+|with|by|via)\s*(?:setting\s+)?`?{_SET}", re.IGNORECASE),
)
_VERBS = ("disables", "drops", "removes", " off")
_NEGATED = re.compile(
    r"\b(?:not|no longer|never|neither|nor|cannot|can't|doesn't|didn't|was|were|used to|if)\b[^.;]{0,60}$", re.I
)
_OFF: dict[str, tuple[str, bool | None]] = {"cuda": (EAGER, True), "prefix": (PREFIX, False)}


def defaults(path: str, blocks: Iterable[list[Line]]) -> Iterator[Claim]:
    """What tables of variables say that each is when nobody sets it: `MAX_NUM_SEQS   sequences   (default: 8)`."""
    for line in (line for block in blocks for line in block):
        if "(default" not in line.text or not (match := _DEFAULT.match(line.text)):
            continue
        value = match["value"].rstrip(".,:")
        if value.lower() in _NO_VALUE or "<" in value or "$" in value:
            continue
        begin = line.column + match.start("value")
        place = Position(path, line.number, begin)
        words = f"{match['name']} (default: {value})"
        end = begin + len(value)
        yield Claim("default", match["name"], value, words, shortened(line.text), place, end, spelt=(begin, end))


def toggles(statement: Statement) -> Iterator[Claim]:
    """What a statement says that a variable switches off: `SPEC=off disables the drafter`."""
    if "=" not in statement.text or not any(verb in statement.small for verb in _VERBS):
        return
    for pattern in _TOGGLES:
        for match in pattern.finditer(statement.text):
            if match["name"] != match["name"].upper() or _NEGATED.search(statement.text, 0, match.start()):
                continue
            first = re.split(r"[- ]", match["what"].lower())[0]
            subject, value = _OFF.get(first, (DRAFTER, None))
            place = statement.place(match.start())
            yield Claim(
                "property",
                subject,
                value,
                match[0],
                shortened(statement.text),
                place,
                place.column + len(match[0]),
                setting=(match["name"], match["to"]),
            )
