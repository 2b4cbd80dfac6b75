"""What resolution of a service gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bot.catalog import Header, WiredPatch
from bot.engine import Engine, Pin
from bot.provenance import Position
from bot.shell import Outcome, Unresolved
from bot.worlds.model import Realisation
from bot.worlds.seams import Survey


@dataclass(frozen=True, slots=True)
class EngineWorld:
    """One way through one world.

    `outcome` is None when Compose refuses the files, when only the image knows what starts, and for the ways through
    the script that could not be followed; `unresolved` then says why. `kind` names the inference server ("vllm",
    "llama-server"), None when the script ends without one. `engine` is there for vLLM alone, as far as it is the same
    on all cards that the service is meant for; `on_card` has it for each, by compute capability, when there are
    several.
    """

    realisation: Realisation
    outcome: Outcome | None
    kind: str | None
    pin: Pin
    engine: Engine | None
    patches: Sequence[WiredPatch]
    unresolved: tuple[Unresolved, ...]
    on_card: Mapping[int, Engine] = field(default_factory=dict)

    @property
    def default(self) -> bool:
        """Whether nothing is set on the host."""
        return not self.realisation.deviations

    @property
    def resolved(self) -> bool:
        """Whether it is known what runs: an inference server, another program, or nothing any more."""
        if self.kind is not None or self.outcome is None:
            return self.kind is not None
        return self.outcome.exit is not None or (self.outcome.program is not None and not self.unresolved)


Worlds = tuple[EngineWorld, ...]
"""The ways through one world."""


@dataclass(frozen=True, slots=True)
class ResolvedService:
    """A service and its worlds: every fork of the default world first, then others by number of deviations.

    `sm` are the compute capabilities (12.0 is 120) that the file says it is meant for; empty when it does not. `cuts`
    say what was not looked at because there is too much of it. `launched` is the pin of the engine profile that the
    repository names for the compose, where a variable sets the image: what its launcher runs.

    `on_host` gives the worlds in which the host sets some variables besides, and `inside` the default worlds with
    variables in the container that nothing forwards; both while the repository can be read.
    """

    path: str
    name: str
    position: Position
    slugs: tuple[str, ...]
    header: Header
    sm: tuple[int, ...]
    survey: Survey
    worlds: tuple[EngineWorld, ...]
    cuts: tuple[Unresolved, ...]
    launched: Pin | None
    on_host: Callable[[Mapping[str, str]], Worlds] = field(repr=False, compare=False)
    inside: Callable[[Mapping[str, str]], Worlds] = field(repr=False, compare=False)

    @property
    def kind(self) -> str | None:
        """The inference server that the service runs, in the first world that reaches one."""
        return next((world.kind for world in self.worlds if world.kind), None)

    @property
    def pins(self) -> Iterator[Pin]:
        """The pins of its vLLM engines, in all worlds, and that of its engine profile."""
        yield from (world.pin for world in self.worlds if world.engine is not None)
        if self.launched is not None:
            yield self.launched

    @property
    def defaults(self) -> tuple[EngineWorld, ...]:
        """Every fork of the default world."""
        return tuple(world for world in self.worlds if world.default)
