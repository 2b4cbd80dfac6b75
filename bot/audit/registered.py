"""What a registry states of a compose, held against what the compose runs by default."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.catalog import Catalog, Stated
from bot.claims import count, same_cache, same_count
from bot.claims.values import cache_format
from bot.engine import same_image
from bot.hazards import Observation
from bot.provenance import Position, Reason
from bot.resolution import EngineWorld, ResolvedService

_TOPICS = {
    "max_model_len": "context length",
    "gpu_memory_utilization": "memory share",
    "tensor_parallel_size": "tensor parallel size",
    "max_num_seqs": "number of concurrent sequences",
    "kv_cache_dtype": "KV cache format",
    "spec_decode.method": "drafter",
    "spec_decode.num_speculative_tokens": "number of drafted tokens",
    "image": "image",
}
_COUNTS = frozenset({"max_model_len", "tensor_parallel_size", "max_num_seqs", "spec_decode.num_speculative_tokens"})
_METHODS = re.compile(r"(?<![a-z0-9])(mtp|eagle3|eagle|dflash|ngram|medusa|suffix)(?![a-z0-9])", re.IGNORECASE)
_NONE = frozenset({"none", "off", "no", "false", "-", "n/a", "null", ""})
_NEAR = 0.004
"""How far a memory share may be from one that is written with two digits."""

_MEMORY = "gpu_memory_utilization"


def of_registry(
    catalog: Catalog, service: ResolvedService, world: EngineWorld, services: Sequence[ResolvedService]
) -> Iterator[Observation]:
    """The values that a registry's entries state of a compose and that its one engine contradicts.

    Where several entries share the compose, and one of them is right about a value, the others are launched with
    another: nothing is said of that value.
    """
    engine = world.engine
    stated = catalog.stated.get(service.path, ())
    if not stated or engine is None or engine.refused or sum(other.kind is not None for other in services) != 1:
        return
    by_property: dict[str, list[Stated]] = {}
    for one in stated:
        by_property.setdefault(one.property, []).append(one)
    for name, said in by_property.items():
        if name not in _TOPICS:
            continue
        actual, because = _actual(name, service, world)
        if not because:
            continue
        entries = [one for one in said if not one.table]
        if entries and all(_agrees(one, actual, catalog) is False for one in entries):
            yield _observation(service, entries[0], actual, because)
        rows = [one for one in said if one.table and _agrees(one, actual, catalog) is False]
        if rows:
            yield _observation(service, rows[0], actual, because, rows[1:])


def _agrees(stated: Stated, actual: object, catalog: Catalog) -> bool | None:
    """As `agrees`. A drafter that the repository describes is the method that its profile states: one of vLLM's, or
    nobody knows which.
    """
    profile = catalog.drafters.get(stated.value or "") if stated.property == "spec_decode.method" else None
    if profile is None:
        return agrees(stated, actual)
    if actual is not None and not _METHODS.fullmatch(profile.method):
        return None
    return agrees(replace(stated, value=profile.method), actual)


def _actual(name: str, service: ResolvedService, world: EngineWorld) -> tuple[object, tuple[Reason, ...]]:
    """What runs, and why; without a reason it is not known."""
    engine = world.engine
    if engine is None:
        return None, ()
    if name == "image":
        described = world.realisation.service
        image = world.pin.image
        stated = described.image.because if described and described.image else ()
        return image, stated if image and "$" not in image else ()
    if name == _MEMORY:
        return _memory_share(world)
    found = engine.properties.get(name)
    if found is None or not found.known:
        return None, ()
    place = Reason("compose", service.position.path, service.position.line, f"{name} is {found.value}")
    return found.value, found.because or (place,)


def _memory_share(world: EngineWorld) -> tuple[object, tuple[Reason, ...]]:
    """The share as the last argument gives it; what the engine takes by default is no contradiction of a registry."""
    words = world.outcome.argv or () if world.outcome is not None else ()
    flag = f"--{_MEMORY.replace('_', '-')}"
    found: tuple[object, tuple[Reason, ...]] = (None, ())
    for index, word in enumerate(words):
        name, equals, value = word.text.replace("_", "-").partition("=")
        if name == flag and (equals or index + 1 < len(words)):
            given = word if equals else words[index + 1]
            found = (value if equals else given.text), given.because
    return found


def agrees(stated: Stated, actual: object) -> bool | None:
    """Whether a stated value is what runs; None when that cannot be told."""
    text = stated.value
    if stated.property == "spec_decode.method":
        return _same_drafter(text, actual)
    if text is None:
        return None
    if stated.property in _COUNTS:
        number = count(text)
        return None if number is None else same_count(number, actual, text, approximate=False)
    if stated.property == _MEMORY:
        return _same_share(text, actual)
    if stated.property == "kv_cache_dtype":
        claimed = cache_format(text)
        known = isinstance(actual, str) and actual != "auto"
        return same_cache(claimed, actual) if claimed is not None and known else None
    return same_image(text.lower(), str(actual).lower()) if "/" in text and "$" not in text else None


def _same_drafter(text: str | None, actual: object) -> bool | None:
    if text is None or text.lower() in _NONE:
        return actual is None
    if actual is None:
        return False
    methods = {method.lower() for method in _METHODS.findall(text)}
    return str(actual) in methods if len(methods) == 1 else None


def _same_share(text: str, actual: object) -> bool | None:
    try:
        claimed = float(text.rstrip("% ")) / (100 if text.endswith("%") else 1)
        return abs(claimed - float(str(actual))) < _NEAR
    except ValueError:
        return None


def _observation(
    service: ResolvedService,
    said: Stated,
    actual: object,
    because: tuple[Reason, ...],
    also: Sequence[Stated] = (),
) -> Observation:
    """`also` are further rows of tables that are wrong about the same."""
    stated = "no drafter" if said.value is None else said.value
    what = "row" if said.table else "entry"
    told = [
        Reason("catalog", one.position.path, one.position.line, f"the {what} {one.slug} states {one.value or stated}")
        for one in (said, *also)
    ]
    fields: dict[str, object] = {
        "slug": said.slug,
        "about": _TOPICS[said.property],
        "stated": stated,
        "actual": "none" if actual is None else actual,
        "where": str(said.position),
        "table": said.table,
        "also": len(also),
    }
    place = next(
        (Position(r.path, r.line) for r in because if r.path == service.path and r.line is not None), service.position
    )
    cause = f"{said.property} in tables" if said.table else said.property
    return Observation("registry", cause, place, (told[0], *because, *told[1:]), fields)
