"""Claims about vendored patches: one is here (`the vendored pr12345 fixes …`), or none is (`overlay-free`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.claims.guards import lists_others, names_in
from bot.claims.model import Claim, shortened
from bot.claims.prose import Statement

WORDS = ("vendor", "overlay", "source mounts")
"""Of these, in small letters, one stands in every statement that claims something here."""

_REFERENCE = (
    r"(?:(?:vllm(?:-project/vllm)?\s?)?(?:pr|pull)[ -]?#?|(?:vllm(?:-project/vllm)?)?#)(?P<number>\d{4,6})(?!\d)"
)
_STOPS = r"(?=\s*(?:$|[.,;()—–]|here\b|on\b|and\b|in this\b|at boot\b))"
_HERE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w-])vendored\s+(?:vllm\s+)?{_REFERENCE}",
        rf"(?<![\w/]){_REFERENCE}\)?\s+(?:is\s+)?(?:now\s+)?vendored(?![\w-]){_STOPS}",
        rf"(?<![\w-])carries\s+(?:only\s+)?(?:one|an?|the)\s+(?:small\s+|single\s+)?overlay\s*[:—–-]?\s*(?:the\s+)?"
        rf"(?:vllm\s+)?{_REFERENCE}",
    )
)
_NOT_HERE = re.compile(rf"(?<!\w)(?:does\s+not|doesn't|doesn’t)\s+vendor\s+(?:the\s+)?(?:vllm\s+)?{_REFERENCE}")
_NONE = re.compile(
    r"(?<![\w-])(?:overlay-free(?=\s*(?:$|[.,;()—–]|on\b|here\b))|"
    r"no\s+(?:(?:source|patch|vllm|engine|vendored)\s+){0,2}overlays?(?:\s+mounts?)?"
    r"(?=\s*(?:$|[.,;()—–]|here\b|are\s+(?:anchored|mounted|applied|carried)\s+here\b))|"
    r"(?:zero|no)\s+(?:source|overlay|patch)\s+mounts(?!\w))"
)
_NO_CLAIM = re.compile(
    r"(?<![\w-])(?:not|n't|no longer|never|without|if|when|once|until|unless|was|were|had|used to|dropped|removed|"
    r"retired|instead|would|could|should|may|might|than|unlike|vs|versus|siblings?|others?|previous(?:ly)?|former(?:ly)?|before|"
    r"todo|plan\w*|will|must|try|either|or|want|prefer|alternatives?|upstream|superseded|measured|benched|tested)(?!\w)"
)
_DENIED = re.compile(
    r"\s*(?:overlay|fix|patch|workaround)?s?\s*\(?(?:was|were|had|has\s+been|is\s+no\s+longer|is\s+not|isn't|dropped|retired|removed|"
    r"went|until|if|when|elsewhere|(?:in|on)\s+(?:the|its)\s+(?:sibling|other|dual|single))(?!\w)"
)
_OF_THE_WHOLE = frozenset(
    {"", "status", "engine", "image", "overlay", "overlays", "patches", "best for", "note", "notes", "dependencies"}
)
"""Keys whose text speaks of the engine as a whole: `KV: bf16 (overlay-free)` says what that format needs."""


def overlays(statement: Statement) -> Iterator[Claim]:
    """What a statement says of the vendored patches of its service."""
    small = statement.small
    if not any(word in small for word in WORDS) or lists_others(statement.heading):
        return
    seen: set[tuple[str, bool]] = set()
    patterns = ((_HERE, True), ((_NOT_HERE,), False)) if "vendor" in small or "carries" in small else ()
    for readers, here in patterns:
        for match in (match for pattern in readers for match in pattern.finditer(small)):
            subject = f"#{match['number']}"
            if not _is_open(small, match) and (subject, here) not in seen:
                seen.add((subject, here))
                yield _claim(statement, match, subject, here)
    if statement.key in _OF_THE_WHOLE:
        for match in _NONE.finditer(small):
            if not _is_open(small, match):
                yield _claim(statement, match, "any", False)
                return


def _is_open(small: str, match: re.Match[str]) -> bool:
    """Whether what stands beside the words makes them history, a condition or a comparison."""
    return _NO_CLAIM.search(small, 0, match.start()) is not None or _DENIED.match(small, match.end()) is not None


def _claim(statement: Statement, match: re.Match[str], subject: str, here: bool) -> Claim:
    place, last = statement.place(match.start()), statement.place(match.end() - 1)
    return Claim(
        "overlay",
        subject,
        here,
        statement.text[match.start() : match.end()],
        shortened(f"{statement.key}: {statement.text}" if statement.key else statement.text),
        place,
        last.column + 1 if last.line == place.line else place.column + 1,
        about=names_in(statement.text, match.span()),
    )
