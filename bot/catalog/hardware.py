"""Which cards a compose is meant for, by what the configuration or its header declares.

Headers are prose in structured keys. Only keys that state a target are read, and in them only clauses that neither
negate nor tell history: "5090 is the primary target" counts, "confirmed on sm_86 2026-07-11" does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import yaml

from bot.catalog.configuration import fits
from bot.catalog.model import Catalog, Configuration, HardwareProfile, Header, Problem
from bot.catalog.profiles import capability
from bot.rules import RULES

TABLE = "hardware.yml"
MAX_ASIDE = 12
"""Characters in parentheses that still belong to the card before them: "RTX PRO 6000 (sm_120)"."""

MAX_NESTING = 4
"""Parentheses within parentheses that are taken away."""

_TARGET_KEYS = frozenset(
    {"topology", "hardware", "gpu", "gpus", "card", "cards", "target", "targets", "target hardware", "target gpu",
     "target gpus", "target cards", "requires hardware", "requires-gpu", "requires-gpus", "requires-hardware"}
)  # fmt: skip
_MINIMUM_KEYS = frozenset({"requires-sm", "required-sm", "requires-min-sm", "minimum-sm", "min-sm"})

_ASIDE = re.compile(r"\(([^()]*)\)")
_CLAUSE = re.compile(r"[;()\n]|\.(?=\s|$)|,\s|\s[—–-]+\s")
_NOT_A_TARGET = re.compile(
    r"\b(?:not|no|never|none|cannot|can't|won't|isn't|aren't|doesn't|don't|without|unlike|except|instead|rather|fails?|"
    r"failed|oom\w*|crash\w*|refus\w+|unsupported|unverified|untested|confirmed|tested|validated|measured|verified|observed|"
    r"reported|was|were|ran|booted|previously|formerly|originally|history|fallback|sub|below|under|until|before|than|"
    r"authored|blind|unknown|todo|tbd|maybe|only if|if|vs|versus|compared|like|equals?|proxy|mirrors?)\b"
    r"|\b(?:\w+-oom\w*|\d{4}-\d{2}-\d{2})\b|#\d"
)
_MINIMUM = re.compile(r"\b(required|requires|min|minimum|fallback)[_ -]?sm\s*[=:]?\s*(\d{1,2}\.\d|\d{2,3})\b")
_CAPABILITY = re.compile(
    r"(?<![\w-])sm[_ ]?(\d{1,2}\.\d|\d{2,3})[a-z]?(?![\w.+])(?!\s*(?:or|and)\s+(?:up|above|newer))"
)
_VENDORS = r"(?:nvidia\s+)?(?:geforce\s+)?(?:rtx[\s-]*)?"


@dataclass(frozen=True, slots=True)
class _Cards:
    pattern: re.Pattern[str]
    capabilities: tuple[int, ...]
    architectures: Mapping[str, int]
    ambiguous: Mapping[str, frozenset[int]]


def hardware_for(catalog: Catalog, header: Header, path: str) -> tuple[int, ...]:
    """The compute capabilities (12.0 is 120) that a compose is meant for, ascending; empty when it does not say.

    Stated by the configuration (`hardware:`), else by the header, else by a folder of `path` that is named exactly like
    one of the repository's cards.
    """
    for declared in catalog.configuration.hardware:
        if fits(path, declared.glob):
            return tuple(sorted({sm for card in declared.cards if (sm := _card(catalog.hardware, card)) is not None}))
    stated = [value.lower() for key, (value, _) in header.values.items() if key in _TARGET_KEYS]
    if not stated:
        parts = path.split("/")
        return tuple(sorted({card.sm for card in catalog.hardware.values() if card.sm and card.id in parts}))
    cards = _cards(tuple(sorted(catalog.hardware.values(), key=lambda card: card.id)))
    clauses = [clause for value in stated for clause in _CLAUSE.split(_without_asides(value))]
    named = [clause for clause in clauses if not _NOT_A_TARGET.search(clause)]
    targets = {sm for clause in named for sm in _named(clause, cards)}
    for clause in named:
        for word, meanings in cards.ambiguous.items():
            if word in clause and targets.isdisjoint(meanings):
                return ()
    minimum = _minimum(header, stated)
    return tuple(sorted(sm for sm in targets if minimum is None or sm >= minimum))


def unknown_cards(configuration: Configuration, profiles: Mapping[str, HardwareProfile]) -> Iterator[Problem]:
    """What `hardware:` calls a card and nobody knows."""
    for declared in configuration.hardware:
        for card in declared.cards:
            if _card(profiles, card) is None:
                message = f"no card is known as {card[:80]!r}: write its compute capability, such as sm_120"
                yield Problem(message, declared.position)


def _card(profiles: Mapping[str, HardwareProfile], written: str) -> int | None:
    """The compute capability of one card: a profile's id or name, a number (`sm_120`, `12.0`, `120`), or a name."""
    for profile in profiles.values():
        if written in (profile.id, *profile.names):
            return profile.sm
    if (number := capability(written)) is not None:
        return number
    found = _named(written.strip().lower(), _cards(tuple(sorted(profiles.values(), key=lambda card: card.id))))
    return found.pop() if len(found) == 1 else None


def _without_asides(value: str) -> str:
    """The value without its parentheses, but for short ones, which may hold the card's capability."""
    for _ in range(MAX_NESTING):
        value, found = _ASIDE.subn(lambda match: f" {match[1]} " if len(match[1]) <= MAX_ASIDE else " ", value)
        if not found:
            break
    return value


def _named(clause: str, cards: _Cards) -> set[int]:
    text = _MINIMUM.sub(" ", clause)
    found = {cards.capabilities[match.lastindex - 1] for match in cards.pattern.finditer(text) if match.lastindex}
    found |= {sm for match in _CAPABILITY.findall(text) if (sm := capability(match)) is not None}
    return found | {sm for word, sm in cards.architectures.items() if re.search(rf"\b{word}\b", text)}


def _minimum(header: Header, stated: list[str]) -> int | None:
    """The lowest capability that the compose admits, a stated fallback included."""
    keys = [value.split()[0] for key, (value, _) in header.values.items() if key in _MINIMUM_KEYS and value.strip()]
    inline = [match for value in stated for match in _MINIMUM.findall(value)]
    found = [capability(text) for text in keys] + [capability(text) for _, text in inline]
    known = [sm for sm in found if sm is not None]
    return min(known) if known else None


@lru_cache(maxsize=64)
def _cards(profiles: tuple[HardwareProfile, ...]) -> _Cards:
    table = _table()
    named = [(pattern, int(sm)) for sm, patterns in table["cards"].items() for pattern in patterns]
    known = re.compile("|".join(pattern for pattern, _ in named))
    for profile in profiles:
        for name in profile.names if profile.sm else ():
            plain = _plain(name)
            if plain and not known.fullmatch(plain) and profile.sm:
                named.append((re.escape(plain).replace(r"\ ", r"[\s-]*"), profile.sm))
    named.sort(key=lambda entry: -len(entry[0]))
    alternatives = "|".join(f"({pattern.replace(' ', '[ -]')})" for pattern, _ in named)
    return _Cards(
        re.compile(rf"(?<![\w#./-])(?:\d+\s*[x×]\s*)?{_VENDORS}(?:{alternatives})s?(?![\w.]*\d)(?!\w)"),
        tuple(sm for _, sm in named),
        table["architectures"],
        {word: frozenset(meanings) for word, meanings in table["ambiguous"].items()},
    )


def _plain(name: str) -> str:
    """A card's name without the vendor and the size of its memory; empty when nothing particular is left."""
    words = [word for word in re.split(r"[\s_-]+", name.lower()) if not re.fullmatch(r"\d+ ?gb", word)]
    words = [word for word in words if word not in ("nvidia", "geforce", "rtx", "gpu", "card")]
    plain = " ".join(words)
    return plain if re.search(r"[a-z].*\d|\d{4}", plain) and len(plain) <= 40 and "(" not in plain else ""


@cache
def _table() -> Mapping[str, Any]:
    data: Mapping[str, Any] = yaml.load((RULES / TABLE).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return data
