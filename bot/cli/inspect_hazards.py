"""`bot inspect hazards`: properties in, findings out. How rules are tried without a compose.

A request describes one service: `{"id", "release", "sm", "properties", "overlays", "contains", "adds", "image",
"stock", "settings", "observations", "worlds"}`, every part of it optional. What is not given is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from bot.cli.request import BadRequest
from bot.engine.model import PROPERTIES, Certainty, Pin, Property, Value
from bot.hazards.evaluation import evaluate
from bot.hazards.loader import load_rules
from bot.hazards.model import Observation, Situation, StatedOverlay, Subject, World
from bot.hazards.releases import release_numbers
from bot.hazards.render import finding_json
from bot.provenance import Position, Reason
from bot.references import normalise
from bot.rules import RULES

SYNONYMS = {
    "enable_prefix_caching": "prefix_caching",
    "enable_chunked_prefill": "chunked_prefill",
    "use_v2_model_runner": "v2_model_runner",
    "spec_method": "spec_decode.method",
    "method": "spec_decode.method",
    "num_speculative_tokens": "spec_decode.num_speculative_tokens",
}
"""vLLM's own names for what Seamguard calls otherwise."""

STOCK_REPOSITORY = "vllm/vllm-openai"


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The findings on the service that a request describes, as `audit` gives them. Raises `BadRequest`."""
    findings = evaluate(load_rules(), subject_of(request))
    return {"findings": [finding_json(finding) for finding in findings]}


def subject_of(request: Mapping[str, Any]) -> Subject:
    """The service that a request describes: its default world, then the others."""
    path = str(request.get("file") or "compose.yml")
    service = str(request.get("service") or "engine")
    slug = request.get("slug")
    worlds = [_situation(request, world, path) for world in _list(request, "worlds")]
    if not any(situation.world.default for situation in worlds):
        worlds.insert(0, _situation(request, {}, path))
    return Subject(path, service, (str(slug),) if slug else (), Position(path, 1), tuple(worlds))


def _situation(request: Mapping[str, Any], world: Any, path: str) -> Situation:
    """One world. What it does not say itself is as in the request."""
    if not isinstance(world, Mapping):
        raise BadRequest("a world is an object: {env, properties}")
    said = {**request, **{key: value for key, value in world.items() if key != "properties"}}
    pin = _pin(said)
    return Situation(
        world=World(_strings(world, "env"), _strings(world, "symbols")),
        properties={**_properties(request), **_properties(world)},
        pin=pin,
        releases=(pin.release,) if pin.release else _releases(said),
        overlays=tuple(_overlay(item) for item in _list(said, "overlays")),
        sm=_sm(said.get("sm")),
        observations=tuple(_observation(item, path) for item in _list(said, "observations")),
        position=Position(path, 1),
        settings=frozenset(map(str, _list(said, "settings"))) if "settings" in said else None,
    )


def _pin(said: Mapping[str, Any]) -> Pin:
    """The image. It counts as unmodified unless something says otherwise: additions, or another repository's name."""
    image = said.get("image")
    details = image if isinstance(image, Mapping) else {}
    name = str(details.get("image") or details.get("name") or "") if details else str(image or "")
    contains = (*_references(said, "contains"), *_references(details, "contains"))
    adds = tuple(str(item) for item in (*_list(said, "adds"), *_list(details, "adds")))
    stock = said.get("stock", details.get("stock"))
    if stock is None and (contains or adds):
        stock = False
    elif stock is None and (not name or name.partition("@")[0].partition(":")[0].endswith(STOCK_REPOSITORY)):
        stock = True
    release = said.get("release") or details.get("release")
    text = str(release).strip().removeprefix("v") if release else ""
    known = text if release_numbers(text) else None
    why = "" if known else f"{text} is no release" if text else "the request names none"
    return Pin(name, known, why=why, stock=None if stock is None else bool(stock), contains=contains, adds=adds)


def _releases(said: Mapping[str, Any]) -> tuple[str, ...]:
    """The releases that a pin without one may mean: those of the request, else all with facts."""
    return tuple(str(item).removeprefix("v") for item in _list(said, "releases")) or _known_releases()


@cache
def _known_releases() -> tuple[str, ...]:
    names = {file.name.partition(".json")[0].partition(".yml")[0] for file in (RULES / "vllm" / "releases").glob("*")}
    return tuple(
        sorted((name for name in names if release_numbers(name)), key=lambda name: release_numbers(name) or ())
    )


def _properties(said: Mapping[str, Any]) -> dict[str, Property]:
    """Properties by any of their names, flat or nested. Names that no rule could read are let through unread."""
    return {name: _property(name, value) for name, value in _flat(_object(said, "properties"))}


def _flat(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        known = SYNONYMS.get(name, name)
        if known not in PROPERTIES and isinstance(value, Mapping) and not {"value", "certainty"} & set(value):
            yield from ((f"{name}.{part}", inner) for part, inner in value.items())
        else:
            yield known, value


def _property(name: str, given: Any) -> Property:
    if not isinstance(given, Mapping):
        return Property(_value(name, given), "certain", ())
    certainty: Certainty = given.get("certainty", "certain" if "value" in given else "unknown")
    if certainty not in ("certain", "assumed", "unknown"):
        raise BadRequest(f"{name}: no certainty {certainty!r}")
    because = tuple(_reason(item) for item in given.get("because") or ())
    if certainty == "unknown" or "value" not in given:
        return Property(None, "unknown", because)
    return Property(_value(name, given["value"]), certainty, because)


def _value(name: str, given: Any) -> Value:
    """A value in the properties' own spelling: modes are upper case, and every MTP alias means `mtp`."""
    if given is not None and not isinstance(given, str | int | float | bool):
        raise BadRequest(f"{name}: a single value is expected")
    if isinstance(given, str) and name.startswith("cudagraph_mode"):
        return given.upper()
    if isinstance(given, str) and name == "spec_decode.method" and given.endswith("_mtp"):
        return "mtp"
    return given


def _reason(given: Any) -> Reason:
    if isinstance(given, Mapping):
        line = given.get("line")
        place = line if isinstance(line, int) else None
        return Reason(given.get("kind", "assumption"), str(given.get("path", "")), place, str(given.get("text", "")))
    return Reason("assumption", "", None, str(given))


def _overlay(given: Any) -> StatedOverlay:
    """`"vllm#48375"` is an overlay of it that is wired; an object may say `wired` false or null."""
    if not isinstance(given, Mapping):
        return StatedOverlay(str(given), (_reference(given),), True, "")
    named = [given[key] for key in ("ref", "reference") if given.get(key)]
    references = (*named, *_list(given, "refs"), *_list(given, "upstream"))
    name = str(given.get("id") or (references[0] if references else "overlay"))
    wired = given.get("wired", True)
    why = str(given.get("why") or "")
    return StatedOverlay(
        name, tuple(_reference(item) for item in references), None if wired is None else bool(wired), why
    )


def _observation(given: Any, path: str) -> Observation:
    """Fields may stand below `fields`, or beside `kind`."""
    if not isinstance(given, Mapping) or not isinstance(given.get("kind"), str):
        raise BadRequest("an observation is an object with a `kind`")
    named = {"kind", "cause", "path", "line", "fields", "because"}
    fields = {**{key: value for key, value in given.items() if key not in named}, **_object(given, "fields")}
    for name, value in fields.items():
        for item in value if isinstance(value, list) else [value]:
            _value(name, item)
    cause = given.get("cause") or next((fields[key] for key in ("name", "argument", "kind") if key in fields), "")
    line = given.get("line")
    position = Position(str(given.get("path") or path), line if isinstance(line, int) else 1)
    because = tuple(_reason(item) for item in given.get("because") or ())
    return Observation(given["kind"], str(cause), position, because, fields)


def _sm(given: Any) -> tuple[int, ...]:
    """120, `[86, 120]`, "sm_120", "12.0"."""
    if given is None:
        return ()
    return tuple(_capability(item) for item in (given if isinstance(given, list | tuple) else [given]))


def _capability(given: Any) -> int:
    text = str(given).lower().removeprefix("sm").lstrip("_-")
    major, dot, minor = text.partition(".")
    digits = f"{major}{minor[:1]}" if dot else text.rstrip("a")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 4:
        raise BadRequest(f"not a compute capability: {given!r}")
    return int(digits)


def _references(said: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(_reference(item) for item in _list(said, key))


def _reference(given: Any) -> str:
    found = normalise(given) if isinstance(given, str | int) else None
    if found is None:
        raise BadRequest(f"not an upstream reference: {given!r}")
    return found


def _list(said: Mapping[str, Any], key: str) -> list[Any]:
    """A list, or one item that stands for it."""
    given = said.get(key)
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _strings(said: Mapping[str, Any], key: str) -> dict[str, str]:
    return {str(name): "" if value is None else str(value) for name, value in _object(said, key).items()}


def _object(said: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    given = said.get(key) or {}
    if not isinstance(given, Mapping):
        raise BadRequest(f"`{key}` is an object")
    return given
