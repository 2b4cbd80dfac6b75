"""Rules over properties: the question to the hazard stage and its answer."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from bot.engine.model import Pin, Property
from bot.provenance import Position, Reason

Level = Literal["error", "warning", "notice", "folded"]
Status = Literal["active", "reachable", "unknown", "mitigated"]
Grade = Literal["established", "measured", "reported", "contested", "suspected"]


class Overlay(Protocol):
    """A vendored patch on a service. What is asked of it may take an interpretation of its script."""

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def upstream(self) -> tuple[str, ...]:
        """The references that it carries."""

    @property
    def wired(self) -> bool | None:
        """Whether it is mounted, invoked before the engine, and its failure stops the boot. None when that can't be
        decided.
        """

    @property
    def why(self) -> str:
        """What is missing for that."""

    @property
    def because(self) -> tuple[Reason, ...]:
        """The mounts, and the step that runs it."""


@dataclass(frozen=True, slots=True)
class StatedOverlay:
    """An overlay that is described, and not found on a service."""

    id: str
    upstream: tuple[str, ...]
    wired: bool | None
    why: str
    because: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """Something that a stage saw, and that is not a property: a dead seam, an unknown flag, a compose that is refused.

    `kind` is what rules select by. `cause` tells two observations of a kind on one service apart, and belongs to a
    finding's identity: never a line number. `fields` may be asked by the rule's predicate and named in its message.
    """

    kind: str
    cause: str
    position: Position
    because: tuple[Reason, ...]
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class World:
    """One concrete assignment.

    `environment` are host variables that differ from the default; `symbols` what was assumed about values that
    only the running container knows.
    """

    environment: Mapping[str, str]
    symbols: Mapping[str, str] = field(default_factory=dict)

    @property
    def default(self) -> bool:
        """Whether no seam was set (a fork of a symbol is still the default world)."""
        return not self.environment


@dataclass(frozen=True, slots=True)
class Situation:
    """A service in one world: all that a rule may look at.

    `releases` are those that the pin means: its own, or every one that was asked in its stead when it names none.
    `asked` are the releases whose facts gave properties and observations, where they are not `releases`: a release
    may be known and have no facts. `settings` are the engine's options that the deployment gives, by their names in the
    engine's own configuration (`kv_transfer_config`); None when its command line is not known.
    """

    world: World
    properties: Mapping[str, Property]
    pin: Pin
    releases: tuple[str, ...]
    overlays: Sequence[Overlay]
    sm: tuple[int, ...]
    observations: tuple[Observation, ...] = ()
    position: Position | None = None
    asked: tuple[str, ...] = ()
    settings: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """A service, in the default world (every fork of it first) and in all others that were found."""

    path: str
    service: str
    slugs: tuple[str, ...]
    position: Position
    situations: tuple[Situation, ...]


@dataclass(frozen=True, slots=True)
class Accepted:
    """That the repository takes the risk of a finding knowingly: why, who says so, and until which fixes are pinned.

    `ended` says why that no longer counts; empty while it does.
    """

    reason: str
    position: Position
    until: tuple[str, ...] = ()
    by: str | None = None
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that is true, or undecided, for a service. Identity: (`rule`, `path`, `service`, `cause`).

    `level` is what the grade and the status make of the rule's own level (`rule_level`).
    `properties` are those that the rule's predicate read, in `world`. `chain` is the provenance to show, and `links`
    are the addresses of those of its reasons that stand in a release's source.
    `missing` says what an undecided rule would need to know. `evidence` is the sentence of the entry that graded it.
    `files` are the compose files that run together, in `-f` order, where they are not `path` alone. A finding that is
    `accepted` is folded while that counts. `edit` names the small edit that does what `remedy` says, empty where there
    is none; `observed` is what the observation behind the finding says (`Observation.fields`).
    """

    rule: str
    title: str
    rule_level: Level
    level: Level
    status: Status
    evidence_grade: Grade
    path: str
    line: int
    service: str
    slug: str | None
    cause: str
    world: World
    properties: Mapping[str, Property]
    chain: tuple[Reason, ...]
    message: str
    remedy: str
    evidence: str
    upstream: tuple[str, ...]
    missing: tuple[str, ...] = ()
    links: Mapping[Reason, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    accepted: Accepted | None = None
    edit: str = ""
    observed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def replay(self) -> str:
        """The command that starts the service in the finding's world, from the root of the repository."""
        return replay(self.files or (self.path,), self.service, self.world.environment)

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What makes two findings the same one."""
        return (self.rule, self.path, self.service, self.cause)


def replay(files: Sequence[str], service: str, environment: Mapping[str, str]) -> str:
    """How a person starts a service in a world, from the root of the repository: a line for a shell.

    Naming the service starts it even where a profile keeps it from `up`; without a name, all are started.
    """
    sets = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    given = [word for file in files for word in ("-f", shlex.quote(file))]
    return " ".join([*sets, "docker", "compose", *given, "up", *([shlex.quote(service)] if service else [])])
