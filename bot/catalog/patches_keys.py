"""The keys in a list of patches: those that are read, those that the file itself establishes, and what is near to one.

A repository may write down what it likes. A key is only told where it is spelt almost like one that means something and
that is missing there, where it stands in a part of the entry in which it is not read, or where it stands twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from bot.catalog.document import Value
from bot.catalog.model import Fault
from bot.provenance import Position

VERIFIED = (
    "verified_on", "verified_releases", "verified_with", "tested_on", "releases", "vllm_releases", "applies_to",
    "applies_on", "vllm_versions", "valid_for",
)  # fmt: skip
"""The keys of an entry, or of a part of it, that name the releases of vLLM that the patch was verified on."""

RETIRED = ("deprecated_on", "deprecated", "dropped_on", "retired_on", "removed_on")
"""The keys by which an entry says that its patch is wanted no more."""

READ: Mapping[str, tuple[str, ...]] = {
    "": (
        "id", "files", "load_bearing_when", "delivery_gaps", "delivery_mechanism", "delivery_spec", "delivery",
        "drift_guard", "upstream", "status", *RETIRED, *VERIFIED,
    ),
    "load_bearing_when": ("composes", "reason"),
    "delivery_gaps": ("composes", "reason"),
    "delivery_spec": ("script", "sidecar", "jinja", "file", "mounted_at", "invoke", *VERIFIED),
    "drift_guard": VERIFIED,
    "upstream": ("ref", "status", "drop_when"),
}  # fmt: skip
"""The keys that mean something, for each part of an entry; the entry itself is the part without a name."""

ESTABLISHED = 3
"""Entries that must have a key before it counts as one of the file's own words."""

MAX_KEYS = 200
"""Keys of one part that are compared with each other: real lists have about twenty."""

MAX_WORD = 64
"""Letters of a word that may be a slip of another one; comparing takes the product of their lengths."""

_RETIRED_STATUS = frozenset({"deprecated", "dropped", "retired", "removed", "obsolete"})

_NOT_ELSEWHERE = frozenset({"status", "reason", "file", "files", "id", "delivery", *VERIFIED, *RETIRED})
"""Keys that may mean something else in another part."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A key as it is written once: where, in which entry (its name is `patch`), and `beside` which keys."""

    entry: Value
    patch: str
    beside: frozenset[str]
    position: Position


def parts_of(entry: Value) -> Iterator[tuple[str, Value]]:
    """The parts of an entry in which keys are read: itself, and the mappings below it."""
    yield "", entry
    fields = entry.fields()
    for name in READ:
        value = fields.get(name) if name else None
        if value is not None and value.is_mapping:
            yield name, value
        elif value is not None:
            yield from ((name, row) for row in value.children if row.is_mapping)


def key_faults(entries: Iterable[Value]) -> Iterator[Fault]:
    """Keys of these entries that are misspelt, in the wrong place, or there twice; one fault for each word."""
    seen: dict[tuple[str, str], list[_Written]] = {}
    counts: dict[str, Counter[str]] = {}
    repeated: set[Position] = set()
    nodes: set[int] = set()
    for entry in entries:
        name = name_of(entry)
        for part, value in parts_of(entry):
            if id(value.node) in nodes:
                continue  # an alias: it is written once
            nodes.add(id(value.node))
            beside = frozenset(value.fields())
            own: set[str] = set()
            for key, position in value.written_keys():
                if key in own and key != "<<" and position not in repeated:
                    repeated.add(position)
                    yield Fault("repeated-key", f"{name}:{part}.{key}", position, name, part, key)
                own.add(key)
                seen.setdefault((part, key), []).append(_Written(entry, name, beside, position))
            counts.setdefault(part, Counter()).update(own)
    for (part, key), places in seen.items():
        if key not in READ[part] and key != "<<":
            yield from _unknown(part, key, places, counts[part])


def _unknown(part: str, key: str, places: list[_Written], counts: Counter[str]) -> Iterator[Fault]:
    first = places[0]
    name, position, about = first.patch, first.position, f"{part}.{key}".lstrip(".")
    also = f"{len(places) - 1}" if len(places) > 1 else ""
    near = _meant(part, key, counts)
    if near is not None and near not in first.beside:
        read = near in READ[part]
        yield Fault("unknown-key", about, position, name, part, key, near, also, minor=not read)
        return
    home = next((other for other, keys in READ.items() if other != part and key in keys), None)
    if (
        home is not None
        and key not in _NOT_ELSEWHERE
        and counts[key] < ESTABLISHED
        and not _has(first.entry, home, key)
    ):
        yield Fault("misplaced-key", about, position, name, part, key, home or "the entry itself", also, minor=True)


def _meant(part: str, key: str, counts: Counter[str]) -> str | None:
    """The known word that a key is a slip of; None for a word of its own."""
    same = _PLAIN[part].get(_plain(key))
    if same is not None:
        return same
    if counts[key] >= ESTABLISHED or len(counts) > MAX_KEYS:
        return None
    own = [word for word, count in counts.items() if count >= ESTABLISHED and count > counts[key] and word != "<<"]
    return next((word for word in (*READ[part], *own) if is_slip(key, word)), None)


@lru_cache(maxsize=4096)
def is_slip(written: str, meant: str) -> bool:
    """Whether a word is another one with a slip of the pen: a letter too many, too few, wrong or exchanged, or the
    plural for the singular. Short words differ by a letter and mean something else: of those only the plural is a slip.
    """
    one, other = _plain(written), _plain(meant)
    if one == other:
        return written != meant
    if f"{one}s" == other or f"{other}s" == one:
        return True
    if min(len(one), len(other)) < 5 or max(len(one), len(other)) > MAX_WORD or abs(len(one) - len(other)) > 2:
        return False
    return _distance(one, other) <= (1 if len(other) < 8 else 2) and SequenceMatcher(None, one, other).ratio() >= 0.8


def _plain(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "").replace(" ", "")


def _distance(one: str, other: str) -> int:
    """Letters to insert, delete, replace or exchange with their neighbour."""
    above: list[int] = []
    before = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        row = [i + 1]
        for j, wanted in enumerate(other):
            cost = min(before[j + 1] + 1, row[j] + 1, before[j] + (letter != wanted))
            if i and j and letter == other[j - 1] and one[i - 1] == wanted:
                cost = min(cost, above[j - 1] + 1)
            row.append(cost)
        above, before = before, row
    return before[-1]


def _has(entry: Value, part: str, key: str) -> bool:
    return any(key in value.fields() for name, value in parts_of(entry) if name == part)


def name_of(entry: Value) -> str:
    """The id of an entry, or where it stands."""
    fields = entry.fields()
    return (fields["id"].text if "id" in fields else None) or f"in line {entry.position.line}"


def is_retired(fields: Mapping[str, Value]) -> bool:
    """Whether an entry says that its patch is wanted no more."""
    stated = (fields[key].text for key in RETIRED if key in fields)
    status = (fields["status"].text or "").lower() if "status" in fields else ""
    return any(text and text.lower() not in ("false", "no") for text in stated) or status in _RETIRED_STATUS


_PLAIN = {part: {_plain(word): word for word in words} for part, words in READ.items()}
