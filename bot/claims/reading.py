"""Which statements are claims: what they say of a property, and that they say it of what runs by default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from bot.claims.guards import is_no_claim, lists_others, names_in
from bot.claims.mentions import WORDS, Mention, of_key, of_text
from bot.claims.model import Claim, shortened
from bot.claims.overlays import WORDS as OVERLAY_WORDS
from bot.claims.overlays import overlays
from bot.claims.prose import Line, Statement, comment_blocks, statements
from bot.claims.spelling import spelt_alone
from bot.claims.variables import defaults, toggles
from bot.claims.weights import WORDS as DOWNLOAD_WORDS
from bot.claims.weights import downloads

MAX_MENTIONS = 12
"""Mentions of one statement that are looked at: with more of them it is a table or a log."""

MAX_CLAIMS = 200
"""Claims of one file: a header with more is no header, and nobody reads so many findings."""

_WORDS = (*WORDS, *OVERLAY_WORDS)
_SEGMENT = re.compile(r"[()\[\];]|\s[—–]+\s|\s(?:->|→|⇒)\s|:\s")
_JOINED = re.compile(r"[^.;:()]{0,48}?(?:\s\+\s|,|\s·\s|\s@\s?|\s&\s|\sand\s|\swith\s)[^.;:()]{0,48}")
_DECORATION = re.compile(r"[\W_]*(?:(?:this|this (?:compose|slug|file|one)|default|now|ships?|runs?)\b[\W_]*)?")
_ENDS = re.compile(r"\s*(?:$|[—–(),:→⇒]|->|\+|(?:by default|here|on this|across|total)\b)")


@lru_cache(maxsize=512)
def claims_of_comments(path: str, text: str) -> tuple[Claim, ...]:
    """What the comments of a compose say of the services that they stand with, in their order."""
    blocks = list(comment_blocks(text, _WORDS))
    of_lines = (*defaults(path, blocks), *downloads(path, _all_blocks(text, blocks)))
    return (*claims(statements(path, blocks, _WORDS)), *of_lines[:MAX_CLAIMS])


def _all_blocks(text: str, blocks: list[list[Line]]) -> list[list[Line]]:
    """Every comment of a file with a download, none of another."""
    return list(comment_blocks(text, ("",))) if any(word in text for word in DOWNLOAD_WORDS) else blocks[:0]


def claims(said: Iterable[Statement]) -> tuple[Claim, ...]:
    """The claims in some statements of one text."""
    found: list[tuple[Statement, Mention, bool]] = []
    switches: list[Claim] = []
    for statement in said:
        switches += (*toggles(statement), *overlays(statement))
        found += ((statement, mention, alone) for mention, alone in _claimed(statement))
        if len(found) + len(switches) >= MAX_CLAIMS:
            break
    menus = _menus(found)
    stated = (
        claim_of(statement, mention)
        for statement, mention, alone in found
        if not (alone and (statement.block, mention.subject) in menus)
    )
    return (*stated, *switches)


def _claimed(statement: Statement) -> Iterator[tuple[Mention, bool]]:
    """The mentions of a statement that are claims, and whether nothing but their standing alone makes them one."""
    if (
        statement.text.count(")") > statement.text.count("(")
        or lists_others(statement.heading)
        or lists_others(statement.key)
    ):
        return
    stated = list(of_key(statement.key, statement.small)) if statement.first and statement.key else []
    for mention in stated:
        if not is_no_claim(statement.small, mention, segment_of(statement.text, mention)):
            yield mention, False
    after = max((mention.end for mention in stated), default=0)
    mentions = [mention for mention in of_text(statement.small) if mention.start >= after]
    if len(mentions) > MAX_MENTIONS:
        return
    for number, mention in enumerate(mentions):
        segment = segment_of(statement.text, mention)
        listed = _is_listed(statement.text, mentions, number, segment)
        alone = not mention.explicit and not listed
        if alone and not _stands_alone(statement, mention):
            continue
        if not is_no_claim(statement.small, mention, segment):
            yield mention, alone


def segment_of(text: str, mention: Mention) -> tuple[int, int]:
    """The part of a statement around a mention: between parentheses, dashes and colons."""
    begin, end = 0, len(text)
    for match in _SEGMENT.finditer(text):
        if match.end() <= mention.start:
            begin = match.end()
        elif match.start() >= mention.end:
            end = match.start()
            break
    return begin, end


def _is_listed(text: str, mentions: Sequence[Mention], number: int, segment: tuple[int, int]) -> bool:
    """Whether a mention is one of several that are joined: `TP=2 + MTP n=3 + fp8 KV`."""
    here = mentions[number]
    before = next((other for other in reversed(mentions[:number]) if other.start < here.start), None)
    after = next((other for other in mentions[number + 1 :] if other.start > here.start), None)
    for other in (before, after):
        if other is None or other.subject == here.subject:
            continue
        first, second = sorted((here, other), key=lambda mention: mention.start)
        inside = segment[0] <= first.start and second.end <= segment[1]
        if inside and _JOINED.fullmatch(text, first.end, second.start):
            return True
    return False


def _stands_alone(statement: Statement, mention: Mention) -> bool:
    """Whether a mention is all that a statement begins with: `MTP n=3 — the checkpoint keeps its head`."""
    before = _DECORATION.fullmatch(statement.text, 0, mention.start)
    return before is not None and _ENDS.match(statement.text, mention.end) is not None


def _menus(found: Iterable[tuple[Statement, Mention, bool]]) -> set[tuple[int, str]]:
    """Blocks that name several values of one thing in lines of their own: a choice is offered there."""
    values: dict[tuple[int, str], set[object]] = {}
    for statement, mention, alone in found:
        if alone:
            values.setdefault((statement.block, mention.subject), set()).add(mention.value)
    return {menu for menu, seen in values.items() if len(seen) > 1}


def _as_written(statement: Statement) -> str:
    """A statement with the name that it is the value of, both in the words of the file."""
    before = statement.lines[0].text[: statement.shifts[0]]
    at = before.lower().rfind(statement.key) if statement.key and statement.first else -1
    return f"{before[at:].rstrip(' *`')} {statement.text}" if at >= 0 else statement.text


def claim_of(statement: Statement, mention: Mention) -> Claim:
    """The claim that a mention is."""
    position = statement.place(mention.start)
    last = statement.place(mention.end - 1)
    return Claim(
        mention.kind,
        mention.subject,
        mention.value,
        statement.text[mention.start : mention.end],
        shortened(_as_written(statement)),
        position,
        last.column + 1 if last.line == position.line else position.column + 1,
        mention.approximate,
        names_in(statement.text, segment_of(statement.text, mention)),
        spelt=spelt_alone(statement, mention.spelt) if mention.spelt is not None else None,
    )
