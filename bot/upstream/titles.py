"""What the title and the message of a commit say that it does: its own number, what it reverts, what it lands again.

Squash merges put the number of the pull request at the end of the title. A revert quotes the title that it reverts,
number and all, and gets a number of its own: `Revert "Bound the index (#50021)" (#50100)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from bot.references import OWNERS, UPSTREAM

Verb = Literal["revert", "reland", "none"]

MAX_DEPTH = 8
"""Reverts of reverts that are followed; people stop at three."""

MAX_TITLE = 1000
"""Characters of a title that are read."""

MIN_CUT = 20
"""Characters that a title which was cut must have left to be recognised."""

_MARKS = re.compile(r"^(?:\[[^\]]{0,60}\]\s*)+")
_AT_AN_END = re.compile(r"^(?:PR\s*)?#(\d{1,9})\b|(?<=\s)(?:PR\s*)?#(\d{1,9})$", re.IGNORECASE)
_GROUP = re.compile(r"\s*\((?P<prefix>[\w.-]+(?:/[\w.-]+)?)?#(?P<number>\d{1,9})\)\s*$")
_MERGED = re.compile(r"Merge pull request #(\d{1,9}) from \S", re.IGNORECASE)
_PREFIX = r"(?:\s*\[(?!\s*(?:revert|re-?land|re-?apply)\s*\])[^\]]{0,40}\]|\s*\w[\w ./-]{0,29}:(?=\s))*\s*"
_REVERT = re.compile(
    rf"{_PREFIX}(?:temporar(?:y|ily)\s+)?(?P<partly>partial(?:ly)?[\s-]+)?(?:\[\s*)?(?:reverts?|undo|back[\s-]?out|roll[\s-]?back)\b(?:ing|ed)?\]?[\s:]*"
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
_PICKED_TAG = re.compile(r"\[\s*(?:cherry[\s-]?pick(?:ed)?|back-?port)[^\]]{0,40}\]()", re.IGNORECASE)
_PICKED_VERB = re.compile(
    r"(^|\]\s*|:\s+)(?:cherry[\s-]?pick(?:s|ed|ing)?|back-?port(?:s|ed|ing)?)\b(?:\s+of\b)?[\s:]*", re.IGNORECASE
)
_LIST = re.compile(
    r"(?:\[[^\]]{0,40}\]\s*|PRs?\s*|\w+:\s+){0,4}#\d{1,9}(?:\s*(?:,|&|\+|and)\s*(?:and\s+)?#\d{1,9}){0,40}"
    r"(?:\s+(?:to|into|onto|for|in|on)\b.*)?",
    re.IGNORECASE,
)
_TAKES_BACK = (
    r"revert(?:s|ed|ing)?|undo(?:es|ing)?|back(?:s|ed|ing)?[\s-]?out(?:\s+of)?|roll(?:s|ed|ing)?[\s-]?back|"
    r"disabl(?:es?|ed|ing)|remov(?:es?|ed|ing)|drop(?:s|ped|ping)?"
)
_SPEAKS = re.compile(rf"\b(?:{_TAKES_BACK})\b|\brevert", re.IGNORECASE)
_OF_REVERT = re.compile(r"(?:the\s+|a\s+)?reverts?\b(?:\s+of)?", re.IGNORECASE)
_ASIDE = re.compile(
    r"\b(?:now that|since|because|after|until|in favou?r of|due to|to (?:fix|unblock|avoid)|instead of|"
    r"superseded by)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""What follows gives the reason of a revert, and is not what it reverts."""

_PR = re.compile(r"(?:(?P<repo>[\w.-]+(?:/[\w.-]+)?)?#|\bPR\s*#?|/pull/)(?P<number>\d{1,9})\b", re.IGNORECASE)
_DANGLING = re.compile(r"\b(?:of|after|by|on|from|to|for|with|since|in|before|until|and|or|see)$", re.IGNORECASE)
_FIRST = re.compile(r"(?:PR\s*)?(?:[\w.-]{1,100}(?:/[\w.-]{1,100})?)?#(?P<number>\d{1,9})\b", re.IGNORECASE)
_REVERTED_COMMIT = re.compile(r"\breverts?\s+(?:the\s+)?commits?\s+([0-9a-z]{1,64})\b", re.IGNORECASE)
_OURS = rf"(?:vllm|{UPSTREAM})"
_WRITTEN = rf"(?:https?://github\.com/{UPSTREAM}/pull/|{_OURS}?\#)(\d{{1,9}})\b"
"""A number of vLLM, as a message writes it."""

_REVERTED_PULL = re.compile(rf"\breverts?:?\s+(?:(?:pull\s+request|PR)\s*)?{_WRITTEN}", re.IGNORECASE)
_REVERT_OF = re.compile(
    rf"\brevert(?:s|ed|ing)?:?\s+(?:(?:of|the)\s+)*(?:(?:pull\s+request|PR)\s*)?{_WRITTEN}", re.IGNORECASE
)
_BLAMED = re.compile(
    rf"{_WRITTEN}\s+(?:\w+\s+){{0,3}}(?:reverted|undid|dropped|lost|removed)\s+{_WRITTEN}", re.IGNORECASE
)
_BARE = re.compile(r"(?:PR\s*)?#?(\d{4,6})", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    rf"\b(?:{_TAKES_BACK})\s+(?:the\s+|all\s+)?(?:changes?\s+(?:of|from|in|made\s+in)\s+)?"
    rf"(?:(?:pull\s+request|PR|commit)\s*)?(?:of\s+)?{_WRITTEN}",
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
    alone) and `named` the numbers that it names there; without one, `named` are those of a title that lists
    what it picks, or speaks of a revert in passing.
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
        if _is_ours(match["prefix"]):
            numbers.insert(0, int(match["number"]))
        rest = rest[: match.start()]
    if merged := _MERGED.match(rest):
        numbers.append(int(merged[1]))
    plain = _PICKED_VERB.sub(r"\1", _PICKED_TAG.sub("", rest)).strip(" :")
    picked, rest = plain != rest, plain
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
        what = _OF.sub("", match["rest"].strip())
        first = _FIRST.match(what)
        quoted, _ = _object(what)
        bare = _BARE.fullmatch(what)
        named = (int(first["number"]),) if first else (int(bare[1]),) if bare else ()
        if len(own) > 1 and not _DANGLING.search(rest):  # `[Reland] X (#4) (#5)`: the first is that of X
            named, own = (*named, own[-2]), own[-1:]
        return Saying("reland", rest, own, quoted if quoted is not None else what, named, False, picked)
    lists = picked and _LIST.fullmatch(rest)  # a follow-up that names what it follows is no pick of that
    spoken = _numbers(rest) if lists or _SPEAKS.search(rest) else ()
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
    if bare := _BARE.fullmatch(text):
        return None, (int(bare[1]),)
    named = _numbers(_ASIDE.sub("", text))
    return (None, named) if named else (text or None, ())


def _is_quoted(text: str) -> bool:
    return any(_OF.sub("", text.strip()).startswith(opening) for opening, _ in _QUOTES)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(match["number"]) for match in _PR.finditer(text) if _is_ours(match["repo"])))


def _is_ours(repository: str | None) -> bool:
    """Whether a number behind the name of a repository is one of vLLM; forks say their owner and mean their own."""
    return repository is None or OWNERS.get(repository.lower(), repository).lower() == UPSTREAM


def bare_numbers(subject: str) -> tuple[int, ...]:
    """The number that stands without brackets before or behind a title, as in `Use the other mode #20694`."""
    return tuple(int(match[1] or match[2]) for match in _AT_AN_END.finditer(subject))


def reverted_commits(message: str) -> tuple[str, ...]:
    """The commits that a message says it reverts."""
    return tuple(match.lower() for match in _REVERTED_COMMIT.findall(message))


def reverted_pulls(message: str, *, is_revert: bool = False) -> tuple[int, ...]:
    """The pull requests that a message says it reverts; that of a revert says so in more ways."""
    pattern = _REVERT_OF if is_revert else _REVERTED_PULL
    return tuple(int(number) for number in pattern.findall(message))


def blamed(message: str) -> tuple[tuple[int, int], ...]:
    """Pull requests that a message says to have taken back another one: (who, whom)."""
    return tuple((int(who), int(whom)) for who, whom in _BLAMED.findall(message))


def taken_back(message: str) -> tuple[int, ...]:
    """The pull requests that a message says something takes back, maybe another one than this."""
    return tuple(int(number) for number in _TAKEN_BACK.findall(message))


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


def says_revert(text: str) -> bool:
    """Whether a text speaks of taking something back."""
    return bool(_SPEAKS.search(text))


def same_title(one: str, other: str) -> bool:
    """Whether two subjects are one title, marks in brackets before it aside; one that was cut ends in an ellipsis."""
    first, second = (_MARKS.sub("", text.strip()).casefold() for text in (one, other))
    if not first or not second:
        return False
    for short, long in ((first, second), (second, first)):
        cut = short.removesuffix("…").removesuffix("...").rstrip()
        if cut != short and len(cut) >= MIN_CUT and long.startswith(cut):
            return True
    return first == second
