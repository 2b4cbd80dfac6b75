"""What rests on an assumption is no certainty: neither by its reasons, nor where the opposite would change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from bot.compose import Service
from bot.engine import Engine
from bot.engine.agreement import OWN_WORDS
from bot.engine.doubts import Doubt
from bot.engine.model import Properties, Property
from bot.provenance import Reason
from bot.shell import UNSEEN, Outcome


def honest(engine: Engine) -> Engine:
    """The engine with every property `assumed` that has an assumption among its reasons."""
    return _seen_through(engine, _honest)


def _seen_through(engine: Engine, see: Callable[[str, Property], Property]) -> Engine:
    """The engine with `see` laid over each property, when somebody looks at it."""
    properties = engine.properties
    return replace(engine, properties=Properties(tuple(properties), lambda name: see(name, properties[name])))


def _honest(_name: str, found: Property) -> Property:
    if found.certainty == "certain" and any(reason.kind == "assumption" for reason in found.because):
        return Property(found.value, "assumed", found.because)
    return found


@dataclass(frozen=True, slots=True)
class UnseenFiles:
    """Environment files that must be there and are not: they may set whatever nothing else sets.

    `in_the_script` says that the way through the script rests on what they are assumed not to set.
    """

    paths: tuple[str, ...]
    in_the_script: bool = False

    @classmethod
    def of(cls, service: Service | None, outcome: Outcome) -> UnseenFiles:
        """Those of a service, on one way through its script."""
        paths = tuple(service.absent_env_files) if service is not None else ()
        return cls(paths, bool(paths) and any(note.reason.endswith(UNSEEN) for note in outcome.notes))

    def in_doubt(self, engine: Engine) -> Engine:
        """The engine without the certainty that a variable of these files could take."""
        if not self.paths:
            return engine
        doubt = Doubt(f"{', '.join(self.paths)} is not in the repository and may set other variables", "assumed")
        return _seen_through(engine, lambda name, found: found if self._settles(found) else doubt.shake(name, found))

    def _settles(self, found: Property) -> bool:
        settled = {"compose"} if self.in_the_script else OWN_WORDS
        return all(reason.kind in settled for reason in found.because)


def shaken(engine: Engine, others: Callable[[], Iterable[Engine | None]], texts: Iterable[str]) -> Engine:
    """The engine with every property `assumed` that is another one when these assumptions do not hold.

    `others` gives the engines that are then possible, None for one that is not known at all; they are asked for when
    somebody looks at a property. `texts` are the assumptions.
    """
    because = tuple(Reason("assumption", "", None, text) for text in dict.fromkeys(texts))
    possible: list[Engine | None] | None = None

    def see(name: str, found: Property) -> Property:
        nonlocal possible
        if not found.known:
            return found
        if possible is None:
            possible = [other for other in {id(other): other for other in others()}.values() if other is not engine]
        if not any(_differs(found, other.properties if other else {}, name) for other in possible):
            return found
        kept = tuple(reason for reason in because if reason not in found.because)
        return Property(found.value, "assumed", (*found.because, *kept))

    return _seen_through(engine, see)


def _differs(found: Property, others: Mapping[str, Property], name: str) -> bool:
    other = others.get(name)
    return other is None or not other.known or other.value != found.value


def agree(one: Outcome, other: Outcome) -> bool:
    """Whether two ways take the symbols that both ask about to be the same."""
    return all(other.assumed.get(name, value) == value for name, value in one.assumed.items())
