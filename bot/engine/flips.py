"""What a change of the pin alone changes: the same command line and environment, in another release."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.engine.derivations.basis import SETTINGS
from bot.engine.model import Engine, EngineError, Ineffective, Launch, Pin, Property
from bot.engine.resolve import resolve
from bot.provenance import Reason


@dataclass(frozen=True, slots=True)
class Flip:
    """A property that has another value in the new release, although no argument or variable changed.

    `places` are the lines of the old release's source that decide it, then those of the new one's.
    """

    name: str
    before: Property
    after: Property

    @property
    def places(self) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
        """What each release's own source says."""
        return _own(self.before), _own(self.after)


@dataclass(frozen=True, slots=True)
class Reread:
    """An argument that sets something else in the new release: `before` and `after` are None where it sets nothing."""

    setting: str
    before: object
    after: object


@dataclass(frozen=True, slots=True)
class Flips:
    """Everything that a move of the pin changes.

    `refused` are errors that only the new release has (flags that it lacks, values that it no longer takes),
    `lost` what is given and no longer does what it says there (variables that nothing reads any more).
    """

    old: str
    new: str
    properties: tuple[Flip, ...] = ()
    reread: tuple[Reread, ...] = ()
    refused: tuple[EngineError, ...] = ()
    lost: tuple[Ineffective, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.properties or self.reread or self.refused or self.lost)


def flips(launch: Launch, old: Pin, new: Pin) -> Flips:
    """What changes when the pin of a launch moves from one release to another. Both must have facts."""
    return between(resolve(replace(launch, pin=old)), resolve(replace(launch, pin=new)))


def between(before: Engine, after: Engine) -> Flips:
    """The same of two engines that differ in their pins alone.

    A property that is unknown in one of them is no flip: that says what is not known, not what changed.
    """
    refused = tuple(error for error in after.errors if not _has(before, error))
    return Flips(
        old=_release(before),
        new=_release(after),
        properties=() if after.errors and refused else _properties(before, after),
        reread=() if refused else _reread(before, after),
        refused=refused,
        lost=tuple(item for item in after.ineffective if not _had(before, item)),
    )


def _release(engine: Engine) -> str:
    return engine.pin.release or engine.pin.image


def _properties(before: Engine, after: Engine) -> tuple[Flip, ...]:
    found = []
    for name, new in after.properties.items():
        old = before.properties.get(name)
        if old is None or (name in SETTINGS and None in (old.value, new.value)):
            continue
        if old.known and new.known and (old.value, type(old.value)) != (new.value, type(new.value)):
            found.append(Flip(name, old, new))
    return tuple(found)


def _reread(before: Engine, after: Engine) -> tuple[Reread, ...]:
    """Arguments that both releases take, and read differently."""
    names = dict.fromkeys((*before.parsed, *after.parsed))
    return tuple(
        Reread(name, before.parsed.get(name), after.parsed.get(name))
        for name in names
        if before.parsed.get(name) != after.parsed.get(name)
    )


def _has(engine: Engine, error: EngineError) -> bool:
    return any((other.kind, other.argument) == (error.kind, error.argument) for other in engine.errors)


def _had(engine: Engine, item: Ineffective) -> bool:
    keys = (item.kind, item.argument, item.setting)
    return any((other.kind, other.argument, other.setting) == keys for other in engine.ineffective)


def _own(held: Property) -> tuple[Reason, ...]:
    return tuple(reason for reason in held.because if reason.kind == "engine-default" and reason.path)
