"""An engine whose release is not known: what every release that has facts says about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.engine.model import Engine, EngineError, Pin, Property, Value
from bot.provenance import Reason

OWN_WORDS = frozenset({"compose", "shell", "catalog"})
"""Kinds of reasons that do not depend on the release."""


def agree(pin: Pin, engines: Sequence[Engine]) -> Engine:
    """One answer for a pin without a release of its own.

    What the deployment sets itself is certain where all releases read it alike. A default that all have is assumed,
    and says whom it asked; one in which they differ is unknown, and says where. Errors count only when every
    release has one.
    """
    if not engines:
        return Engine(pin, (), {}, {})
    asked = tuple(release for engine in engines for release in engine.releases)
    notice = Reason("assumption", "", None, f"{_pin(pin)}: {_listed(asked)} agree")
    return Engine(
        pin=pin,
        releases=asked,
        parsed=_common(engines),
        properties={
            name: _one([engine.properties[name] for engine in engines], asked, notice, name)
            for name in engines[0].properties
        },
        errors=_errors(engines),
        ineffective=tuple(
            item
            for item in engines[-1].ineffective
            if all(any(_same(item, other) for other in engine.ineffective) for engine in engines[:-1])
        ),
    )


def _one(found: Sequence[Property], asked: Sequence[str], notice: Reason, name: str) -> Property:
    newest = found[-1]
    if not all(answer.known for answer in found):
        return _undecided(found, asked, name)
    if any(answer.value != newest.value or type(answer.value) is not type(newest.value) for answer in found):
        return Property(None, "unknown", (Reason("assumption", "", None, _split(found, asked)),))
    own = all(reason.kind in OWN_WORDS for answer in found for reason in answer.because)
    if name.startswith("model.") or (own and newest.because):
        return newest
    return Property(newest.value, "assumed", (*newest.because, notice))


def _undecided(found: Sequence[Property], asked: Sequence[str], name: str) -> Property:
    """Unknown in some release: say it as that release says it, newest first."""
    silent = [(release, answer) for release, answer in zip(asked, found, strict=True) if not answer.known]
    if len(silent) == len(found):
        return found[-1]
    where = Reason("assumption", "", None, f"{name} is not known in {_listed([release for release, _ in silent])}")
    return Property(None, "unknown", (where, *silent[-1][1].because))


def _split(found: Sequence[Property], asked: Sequence[str]) -> str:
    """`off in 0.25.1 and 0.27.1, on in 0.28.0`."""
    groups: dict[str, list[str]] = {}
    for release, answer in zip(asked, found, strict=True):
        groups.setdefault(_say(answer.value), []).append(release)
    return ", ".join(f"{value} in {_listed(releases)}" for value, releases in groups.items())


def _say(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)


def _pin(pin: Pin) -> str:
    if pin.release is not None:
        return f"release {pin.release} has no facts"
    return f"no release is known for {pin.image}" + (f" ({pin.why})" if pin.why else "")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _common(engines: Sequence[Engine]) -> Mapping[str, object]:
    """The settings that all releases read alike."""
    first, *others = engines
    return {
        name: value
        for name, value in first.parsed.items()
        if all(name in other.parsed and other.parsed[name] == value for other in others)
    }


def _errors(engines: Sequence[Engine]) -> tuple[EngineError, ...]:
    """The newest release's errors, when every release has one about the same argument."""
    return tuple(
        error
        for error in engines[-1].errors
        if all(any(error.argument == other.argument for other in engine.errors) for engine in engines)
    )


def _same(one: object, other: object) -> bool:
    keys = ("kind", "argument", "setting")
    return all(getattr(one, key) == getattr(other, key) for key in keys)
