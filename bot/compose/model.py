"""What Docker Compose would run: the answer of the Compose stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.provenance import Position, Word

ErrorKind = Literal[
    "not-yaml",
    "not-found",
    "interpolation",
    "missing-variable",
    "schema",
    "cycle",
    "outside-repository",
    "too-large",
    "no-services",
    "invalid",
]


@dataclass(frozen=True, slots=True)
class ComposeError:
    """Why Docker Compose refuses the files (or why they cannot be read). `message` is in Docker Compose's words."""

    kind: ErrorKind
    message: str
    path: str
    line: int | None
    service: str | None = None


BARE = "bare"
"""The operator of a name that stands alone in an environment file: it is passed on when the host has it."""


@dataclass(frozen=True, slots=True)
class VariableRead:
    """One place where interpolation asked for a host variable.

    `operator` is "" (plain `$X`), ":-", "-", ":+", "+", ":?", "?" or `BARE`. `argument` is the text behind the
    operator, not interpolated. `field` is the path of the value inside the service ("command.7", "image",
    "environment.TP"), or "env_file.TP" for the variable TP of an environment file.
    """

    name: str
    operator: str
    argument: str
    field: str
    position: Position


@dataclass(frozen=True, slots=True)
class Mount:
    """A bind mount, volume or tmpfs. `source` is relative to the repository when it lies inside it.

    `in_repository` is False for named volumes, absolute host paths and paths that leave the repository.
    """

    type: str
    source: str
    target: str
    read_only: bool
    in_repository: bool
    position: Position


@dataclass(frozen=True, slots=True)
class Service:
    """One service after merge, extension and interpolation.

    `config` is the service as `docker compose config --format json` prints it (with `$$` undone), plain JSON data.
    `entrypoint` and `command` are None when unset (the image's own are used) and empty when cleared.
    `environment` maps to None for a variable that is passed through and not set on the host (it will not exist
    in the container). `forwarded` are the names that a host value reaches through a bare `- NAME` or `env_file`.
    `env_files` are the paths of its `env_file:`, those that are optional and not there included; none are read for a
    service that is not active. `absent_env_files` are the places that name a file which must be there and is not:
    Compose refuses to start, and the service is described as if the file were empty. `active` is False when no
    selected profile enables the service. `reads` are the host variables that the interpolation of this service asked
    for, in the order of the file, whether they were set or not. `contents` are the texts of files that Compose writes
    into the container (`configs:` with a `content:`), by container path.
    """

    name: str
    position: Position
    config: Mapping[str, Any]
    image: Word | None
    entrypoint: tuple[Word, ...] | None
    command: tuple[Word, ...] | None
    environment: Mapping[str, Word | None]
    mounts: tuple[Mount, ...]
    reads: tuple[VariableRead, ...]
    profiles: tuple[str, ...] = ()
    active: bool = True
    forwarded: frozenset[str] = frozenset()
    env_files: tuple[str, ...] = ()
    absent_env_files: Mapping[str, Position] = field(default_factory=dict)
    contents: Mapping[str, Word] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Project:
    """The answer to one question: these files, in this shell environment.

    `services` holds every service that could be resolved, the inactive ones included, also when `errors` is not
    empty. `files` are all files that were read (`extends`, `include`, `env_file`, `.env` too): a change to one of
    them can change the project.
    """

    name: str
    services: Mapping[str, Service]
    errors: tuple[ComposeError, ...]
    files: tuple[str, ...]
