"""An engine whose release is not known: what every release that has facts says about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bot.engine.model import Engine, EngineError, Pin, Properties, Property, Value
from bot.provenance import Reason

OWN_WORDS = frozenset({"compose", "shell", "catalog"})
"""Kinds of reasons that do not depend on the release."""


Own = Callable[[Engine, str], Property]
"""A property of a release with its own reasons."""


def agree(pin: Pin, engines: Sequence[Engine], own: Own = lambda engine, name: engine.properties[name]) -> Engine:
    """One answer for a pin without a release of its own; `engines` are the releases' answers, oldest first.

    Releases that say the same may share a property, with the reasons of one of them; the newest that is asked has its
    own, and `own` finds another's.

    What the deployment sets itself is certain where all releases read it alike, and assumed where the newest keeps
    it and others put something of their own in its place. A default that all have is assumed, and says whom it
    asked; one in which they differ is unknown, and says where. A release that refuses the command line cannot be the
    one that runs: it is not asked, unless all refuse it. Errors count only when every release has one.
    """
    if not engines:
        return Engine(pin, (), {}, {})
    asked = [engine for engine in engines if not engine.refused] or list(engines)
    releases = tuple(release for engine in asked for release in engine.releases)
    notice = Reason("assumption", "", None, f"{unknown_release(pin)}: {_all(releases, len(asked) < len(engines))}")
    newest = asked[-1]
    return Engine(
        pin=pin,
        releases=releases,
        parsed=_common(asked),
        properties=Properties(tuple(newest.properties), lambda name: _one(name, asked, releases, notice, own)),
        errors=_errors(engines),
        ineffective=tuple(
            item
            for item in newest.ineffective
            if all(any(_same(item, other) for other in engine.ineffective) for engine in asked[:-1])
        ),
        refused=newest.refused,
    )


def _one(name: str, asked: Sequence[Engine], releases: Sequence[str], notice: Reason, own: Own) -> Property:
    found = [engine.properties[name] for engine in asked]
    newest = found[-1]
    distinct = {id(answer): answer for answer in found}
    excepted = {key for key, answer in distinct.items() if not _same_value(answer, newest)}
    if excepted:
        exceptions = [id(answer) in excepted for answer in found]
        if _is_set(newest) and not any(_is_set(distinct[key]) for key in excepted):
            return _kept(found, exceptions, releases)
        silent = [engine for engine, answer in zip(asked, found, strict=True) if not answer.known]
        return _undecided(name, found, releases, own(silent[-1], name).because if silent else ())
    if name.startswith("model.") or (newest.because and all(map(_is_own, distinct.values()))):
        return newest
    return Property(newest.value, "assumed", (*newest.because, notice))


def _same_value(one: Property, other: Property) -> bool:
    return one.known and other.known and one.value == other.value and type(one.value) is type(other.value)


def _is_set(answer: Property) -> bool:
    """Whether the deployment's own words decide, and the release adds nothing to them."""
    kinds = {reason.kind for reason in answer.because}
    return answer.known and "engine-default" not in kinds and not kinds.isdisjoint(("compose", "shell"))


def _kept(found: Sequence[Property], exceptions: Sequence[bool], asked: Sequence[str]) -> Property:
    """What the deployment sets, and the newest release keeps; the others that would not are named."""
    newest = found[-1]
    says = [_say(answer) if excepted else "" for answer, excepted in zip(found, exceptions, strict=True)]
    texts = []
    for said, start, end in _runs(says, asked):
        if said:
            where = f"release {end}" if start == end else f"releases from {start} to {end}"
            where = f"releases up to {end}" if start == asked[0] else where
            texts.append(f"{where} would not keep it: {said}")
    return Property(newest.value, "assumed", (*newest.because, Reason("assumption", "", None, ", ".join(texts))))


def _is_own(answer: Property) -> bool:
    """Whether an answer rests on what the deployment says alone."""
    return all(reason.kind in OWN_WORDS for reason in answer.because)


def _undecided(name: str, found: Sequence[Property], asked: Sequence[str], silence: tuple[Reason, ...]) -> Property:
    """Releases differ, or some do not know: say where, and what `silence` the newest of those have."""
    if not any(answer.known for answer in found):
        return found[-1]
    says = [_say(answer) for answer in found]
    if any(answer.value == "none" for answer in found):  # a setting of that name, beside releases without the setting
        says = ["not there" if answer.known and answer.value is None else _say(answer) for answer in found]
    text = _spans(says, asked)
    return Property(None, "unknown", (Reason("assumption", "", None, f"{name}: {text}"), *silence))


def _spans(says: Sequence[str], asked: Sequence[str]) -> str:
    """`off up to 0.27.1, on from 0.28.0`."""
    runs = _runs(says, asked)
    first, *middle, last = runs if len(runs) > 1 else [*runs, *runs]
    texts = [f"{first[0]} up to {first[2]}"]
    texts += [f"{said} in {start}" if start == end else f"{said} from {start} to {end}" for said, start, end in middle]
    return ", ".join([*texts, f"{last[0]} from {last[1]}"])


def _runs(says: Sequence[str], asked: Sequence[str]) -> list[tuple[str, str, str]]:
    """What releases say, with the first and the last release of each row that says the same."""
    runs: list[tuple[str, str, str]] = []
    for said, release in zip(says, asked, strict=True):
        if runs and runs[-1][0] == said:
            runs[-1] = (said, runs[-1][1], release)
        else:
            runs.append((said, release, release))
    return runs


def _say(answer: Property) -> str:
    return _word(answer.value) if answer.known else "not known"


def _word(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)


def unknown_release(pin: Pin) -> str:
    """Why a pin is answered by what the releases with facts agree on."""
    if pin.release is not None:
        return f"release {pin.release} has no facts"
    return f"no release is known for {pin.image}" + (f" ({pin.why})" if pin.why else "")


def _all(releases: Sequence[str], some: bool) -> str:
    """`the same in all 35 releases with facts (0.11.0 … 0.33.0)`."""
    if len(releases) == 1:
        return f"so it is in {releases[0]}, the only release that takes these arguments" if some else f"{releases[0]}"
    which = "that take these arguments" if some else "with facts"
    return f"the same in all {len(releases)} releases {which} ({releases[0]} … {releases[-1]})"


def _common(engines: Sequence[Engine]) -> Mapping[str, object]:
    """The settings that all releases read alike."""
    first, *others = {id(engine.parsed): engine.parsed for engine in engines}.values()
    return {
        name: value for name, value in first.items() if all(name in other and other[name] == value for other in others)
    }


def _errors(engines: Sequence[Engine]) -> tuple[EngineError, ...]:
    """The newest release's errors about arguments that every release has one about.

    Where every release refuses and no argument is refused by all, nothing starts either: then the newest's errors, all
    of them, which are assumed to be those that the one which runs gives.
    """
    newest = engines[-1]
    shared = tuple(
        error
        for error in newest.errors
        if all(any(error.argument == other.argument for other in engine.errors) for engine in engines)
    )
    if shared or not all(engine.errors for engine in engines):
        return shared
    text = f"every release with facts refuses this launch, each for its own reason: {newest.releases[-1]} for this one"
    refusal = Reason("assumption", "", None, text)
    return tuple(replace(error, because=(*error.because, refusal), alike=False) for error in newest.errors)


def _same(one: object, other: object) -> bool:
    keys = ("kind", "argument", "setting")
    return all(getattr(one, key) == getattr(other, key) for key in keys)
