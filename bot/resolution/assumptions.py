"""What rests on an assumption is no certainty: neither by its reasons, nor where the opposite would change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.compose import Service
from bot.engine import Engine
from bot.engine.agreement import OWN_WORDS
from bot.engine.doubts import Doubt
from bot.engine.model import Properties, Property, undoubted
from bot.provenance import Reason
from bot.shell import CONTRARY_TO, Outcome


def honest(engine: Engine) -> Engine:
    """The engine with every property `assumed` that has an assumption among its reasons."""
    return _seen_through(engine, _honest)


def _seen_through(engine: Engine, see: Callable[[str, Property], Property]) -> Engine:
    """The engine with `see` laid over each property, when somebody looks at it. It may only add doubts."""
    properties = engine.properties
    seen = Properties(tuple(properties), lambda name: see(name, properties[name]), undoubted(properties))
    return replace(engine, properties=seen)


def _honest(_name: str, found: Property) -> Property:
    if found.certainty == "certain" and any(reason.kind == "assumption" for reason in found.because):
        return Property(found.value, "assumed", found.because)
    return found


@dataclass(frozen=True, slots=True)
class UnseenFiles:
    """Environment files that must be there and are not: the engine may read whatever they set."""

    paths: tuple[str, ...]

    @classmethod
    def of(cls, service: Service | None) -> UnseenFiles:
        """Those of a service."""
        return cls(tuple(service.absent_env_files) if service is not None else ())

    def in_doubt(self, engine: Engine) -> Engine:
        """The engine without the certainty that a variable of these files could take."""
        if not self.paths:
            return engine
        doubt = Doubt(f"{', '.join(self.paths)} is not in the repository and may set other variables", "assumed")
        return _seen_through(engine, lambda name, found: found if _is_own(found) else doubt.shake(name, found))


def _is_own(found: Property) -> bool:
    """Whether a value rests on what the deployment says alone: the engine's environment does not matter to it."""
    return all(reason.kind in OWN_WORDS for reason in found.because)


Possible = tuple[Engine | None, Sequence[str]]
"""An engine that is possible when these assumptions do not hold; None for one that is not known at all."""


def shaken(engine: Engine, others: Callable[[], Iterable[Possible]]) -> Engine:
    """The engine with every property `assumed` that is another one when assumptions do not hold.

    `others` gives what is then possible; it is asked when somebody looks at a property. A property names the
    assumptions of the first engine in which it is another one.
    """
    possible: list[Possible] | None = None

    def see(name: str, found: Property) -> Property:
        nonlocal possible
        if not found.known:
            return found
        if possible is None:
            possible = [(other, texts) for other, texts in others() if other is not engine]
        for other, texts in possible:
            if _differs(found, undoubted(other.properties) if other else {}, name):
                because = (Reason("assumption", "", None, text) for text in texts)
                kept = tuple(reason for reason in because if reason not in found.because)
                return Property(found.value, "assumed", (*found.because, *kept))
        return found

    return _seen_through(engine, see)


def _differs(found: Property, others: Mapping[str, Property], name: str) -> bool:
    other = others.get(name)
    return other is None or not other.known or other.value != found.value


def contradicted(outcome: Outcome, other: Outcome) -> tuple[str, ...]:
    """The assumptions on which `outcome` rests, and which do not hold on a way that doubts them.

    Those about conditions are told by the way itself, those about the variables it reads are whatever is left.
    """
    answers = [(name, value) for name, value in other.assumed.items() if name.startswith(CONTRARY_TO)]
    turned = {text for text in outcome.rests_on for name, value in answers if value == "0" and text in name}
    asked = {text for text in outcome.rests_on for name, _ in answers if text in name}
    return tuple(text for text in outcome.rests_on if text in turned or text not in asked)


def agree(one: Outcome, other: Outcome) -> bool:
    """Whether two ways take the symbols that both ask about to be the same."""
    return all(other.assumed.get(name, value) == value for name, value in one.assumed.items())
