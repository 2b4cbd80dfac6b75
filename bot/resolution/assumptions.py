"""What rests on an assumption is no certainty: neither by its reasons, nor where the opposite would change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from bot.compose import Service
from bot.engine import Engine, EngineError, Launch, resolve
from bot.engine.model import Properties, Property, undoubted
from bot.provenance import Reason, Word
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
    """Files that put variables into the engine's environment and that nobody here has seen.

    They are environment files that must be there, and scripts that were sourced before the engine.
    """

    paths: tuple[str, ...]

    @classmethod
    def of(cls, service: Service | None, outcome: Outcome) -> UnseenFiles:
        """Those of a service, on one way through its script."""
        absent = service.absent_env_files if service is not None else ()
        return cls(tuple(dict.fromkeys((*absent, *outcome.unseen))))

    def in_doubt(self, engine: Engine, launch: Launch) -> Engine:
        """The engine of a launch, with what a variable of these files could change assumed."""
        if not self.paths:
            return engine
        verb = "is" if len(self.paths) == 1 else "are"
        text = f"{', '.join(self.paths)} {verb} not in the repository and may set other variables"
        doubt = Reason("assumption", "", None, text)
        open_engine = cache(lambda: resolve(replace(launch, environment=_Open(launch.environment))))

        def see(name: str, found: Property) -> Property:
            if not found.known:
                return found
            other = open_engine().properties[name]
            if other.known and other.value == found.value:
                return found
            return Property(found.value, "assumed", (*found.because, doubt))

        return replace(_seen_through(engine, see), errors=tuple(_shaky(engine, open_engine, doubt)))


def _shaky(engine: Engine, other: Callable[[], Engine], doubt: Reason) -> Iterator[EngineError]:
    """The errors of an engine; those that another one does not have are in doubt."""
    for error in engine.errors:
        kept = any((error.kind, error.argument) == (one.kind, one.argument) for one in other().errors)
        yield error if kept else replace(error, because=(*error.because, doubt))


class _Open(Mapping[str, Word]):
    """An environment in which every variable that is not known to be set has a value that nobody knows."""

    def __init__(self, known: Mapping[str, Word]) -> None:
        self._known = known

    def __getitem__(self, name: str) -> Word:
        return self._known.get(name) or Word(f"${{{name}}}", (), (), (name,))

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


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
