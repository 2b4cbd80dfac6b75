"""What the title and the message of a commit say that it does: its own number, what it reverts, what it lands again.

Squash merges put the number of the pull request at the end of the title. A revert quotes the title that it reverts,
number and all, and gets a number of its own: `Revert "Bound the index (#50021)" (#50100)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Verb = Literal["revert", "reland", "none"]

MAX_DEPTH = 8
"""Reverts of reverts that are followed; people stop at three."""

MAX_TITLE = 1000
"""Characters of a title that are read."""

_GROUP = re.compile(r"\s*\((?P<prefix>[\w.-]+(?:/[\w.-]+)?)?#(?P<number>\d{1,9})\)\s*$")
_PREFIX = r"(?:\s*\[(?!\s*(?:revert|re-?land|re-?apply)\s*\])[^\]]{0,40}\]|\s*\w[\w ./-]{0,29}:(?=\s))*\s*"
_REVERT = re.compile(
    rf"{_PREFIX}(?:temporar(?:y|ily)\s+)?(?P<partly>partial(?:ly)?[\s-]+)?(?:\[\s*)?(?:reverts?|undo|back[\s-]?out)\b(?:ing|ed)?\]?[\s:]*"
    r"(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_RELAND = re.compile(
    rf"{_PREFIX}(?:\[\s*)?re-?(?:land|apply|submit|merge)(?:s|ed|ing)?\b\]?[\s:]*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_RELAND_AFTER = re.compile(
    r"(?P<rest>.*?)\s*[(\[]\s*(?:re-?land(?:ed)?|re-?apply|take 2|2nd attempt|second attempt)\s*[)\]]\s*$",
    re.IGNORECASE | re.DOTALL,
)
_PICKED_TAG = re.compile(
    r"\[\s*(?:cherry[\s-]?pick(?:ed)?|back-?port)[^\]]{0,40}\]|^(?:cherry[\s-]?pick|back-?port)\b", re.I
)
_SPEAKS = re.compile(r"\brevert|\bback(?:s|ed|ing)? out\b|\bundo", re.IGNORECASE)
_OF_REVERT = re.compile(r"(?:the\s+|a\s+)?reverts?\b(?:\s+of)?", re.IGNORECASE)
_PR = re.compile(r"(?:(?P<repo>[\w.-]+(?:/[\w.-]+)?)?#|\bPR\s*#?|/pull/)(?P<number>\d{1,9})\b", re.IGNORECASE)
_REVERTED_COMMIT = re.compile(r"\breverts?\s+(?:the\s+)?commits?\s+([0-9a-z]{1,64})\b", re.IGNORECASE)
_REVERTED_PULL = re.compile(
    r"\breverts?\s+(?:(?:pull\s+request|PR)\s*)?(?:[\w.-]+(?:/[\w.-]+)?)?"
    r"(?:https?://github\.com/[\w.-]+/[\w.-]+/pull/|#)"
    r"(\d{1,9})\b",
    re.IGNORECASE,
)
_RELANDED_PULL = re.compile(
    r"\bre-?(?:lands?|landing|appl(?:y|ies))\s+(?:of\s+)?(?:(?:pull\s+request|PR)\s*)?(?:[\w.-]+(?:/[\w.-]+)?)?#(\d{1,9})\b",
    re.IGNORECASE,
)
_PICKED = re.compile(r"\bcherry[\s-]?picked\s+from(?:\s+(?:the\s+)?commit)?\s+([0-9a-z]{1,64})\b", re.IGNORECASE)
_PICKED_PULL = re.compile(
    r"\b(?:cherry[\s-]?pick(?:s|ed)?|back-?ports?)\s+(?:of\s+|from\s+)?(?:PR\s*)?(?:[\w.-]+/[\w.-]+)?#(\d{1,9})\b", re.I
)
_PARTLY = re.compile(
    r"\bpartial(?:ly)?\b[\w\s-]{0,30}\brevert|\brevert(?:s|ed|ing)?\b[\w\s,-]{0,30}\bpart(?:s|ly|ially)?\b", re.I
)
_CLOSES = re.compile(
    r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)\s*:?\s+(?:[\w.-]+/[\w.-]+)?"
    r"(?:https?://github\.com/[\w.-]+/[\w.-]+/issues/|#)"
    r"(\d{1,9})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Saying:
    """A title, taken apart.

    `numbers` are those in brackets at its end, its own one last; `subject` is the title without them and without
    marks of a cherry-pick. With a verb, `quoted` is the title that it speaks of (None when it names it by number
    alone) and `named` the numbers that it names there; without one, `named` are those of a title that speaks of a
    revert in passing.
    """

    verb: Verb
    subject: str
    numbers: tuple[int, ...]
    quoted: str | None = None
    named: tuple[int, ...] = ()
    partly: bool = False
    picked: bool = False

    @property
    def own(self) -> int | None:
        """The number of the pull request that made the commit."""
        return self.numbers[-1] if self.numbers else None


@lru_cache(maxsize=4096)
def read_title(title: str) -> Saying:
    """A title taken apart; for people's freedom in writing them, see the tests."""
    rest = " ".join(title[:MAX_TITLE].split())
    numbers: list[int] = []
    while match := _GROUP.search(rest):
        numbers.insert(0, int(match["number"]))
        rest = rest[: match.start()]
    picked = bool(_PICKED_TAG.search(rest))
    rest = _PICKED_TAG.sub("", rest).strip(" :") if picked else rest
    own = tuple(numbers)
    if match := _REVERT.fullmatch(rest):
        quoted, named = _object(match["rest"])
        verb: Verb = "revert"
        if quoted is None and (inner := _OF_REVERT.match(match["rest"])):
            verb, named = "reland", _numbers(match["rest"][inner.end() :])
        if len(own) > 1 and not _is_quoted(match["rest"]):  # `Revert X (#4) (#5)`: the first is that of X
            named, own = (*named, *own[:-1]), own[-1:]
        return Saying(verb, rest, own, quoted, named, bool(match["partly"]) or bool(_PARTLY.search(rest)), picked)
    if match := (_RELAND.fullmatch(rest) or _RELAND_AFTER.fullmatch(rest)):
        quoted, named = _object(match["rest"])
        return Saying("reland", rest, own, quoted if quoted is not None else match["rest"], named, False, picked)
    spoken = _numbers(rest) if _SPEAKS.search(rest) else ()
    return Saying("none", rest, own, None, spoken, bool(_PARTLY.search(rest)), picked)


_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("`", "`"))
_OF = re.compile(r"^(?:of|for)\s+", re.IGNORECASE)


def _object(text: str) -> tuple[str | None, tuple[int, ...]]:
    """What a verb stands before: the quoted title, or the numbers of one that is named without quotes."""
    text = _OF.sub("", text.strip())
    for opening, closing in _QUOTES:
        if text.startswith(opening):
            end = text.rfind(closing)
            return (text[1:end] if end > 0 else text[1:]), ()
    named = _numbers(text)
    return (None, named) if named else (text or None, ())


def _is_quoted(text: str) -> bool:
    return any(_OF.sub("", text.strip()).startswith(opening) for opening, _ in _QUOTES)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(match["number"]) for match in _PR.finditer(text)))


def reverted_commits(message: str) -> tuple[str, ...]:
    """The commits that a message says it reverts."""
    return tuple(match.lower() for match in _REVERTED_COMMIT.findall(message))


def reverted_pulls(message: str) -> tuple[int, ...]:
    """The pull requests that a message says it reverts."""
    return tuple(int(number) for number in _REVERTED_PULL.findall(message))


def relanded_pulls(message: str) -> tuple[int, ...]:
    """The pull requests that a message says it lands again."""
    return tuple(int(number) for number in _RELANDED_PULL.findall(message))


def picked_commits(message: str) -> tuple[str, ...]:
    """The commits that a message says it was cherry-picked from."""
    return tuple(match.lower() for match in _PICKED.findall(message))


def picked_pulls(message: str) -> tuple[int, ...]:
    """The pull requests that a message says it picks."""
    return tuple(int(number) for number in _PICKED_PULL.findall(message))


def closed_issues(text: str) -> tuple[int, ...]:
    """The issues that a text says it closes."""
    return tuple(int(number) for number in _CLOSES.findall(text))


def says_partly(text: str) -> bool:
    """Whether a text speaks of a partial revert."""
    return bool(_PARTLY.search(text))


def same_title(one: str, other: str) -> bool:
    """Whether two subjects are one title; a title that was cut ends in an ellipsis."""
    first, second = one.strip().casefold(), other.strip().casefold()
    if not first or not second:
        return False
    for short, long in ((first, second), (second, first)):
        cut = short.removesuffix("…").removesuffix("...").rstrip()
        if cut != short and len(cut) >= 20 and long.startswith(cut):
            return True
    return first == second
