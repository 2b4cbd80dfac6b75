"""Worlds: what a person can set before `docker compose up`, and what then runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.compose import Project, Service
from bot.provenance import Position
from bot.shell import Run
from bot.worlds.container import Start

DeviationSource = Literal["comparison", "presence", "number", "switch", "twin", "documented", "launcher"]


@dataclass(frozen=True, slots=True)
class Seam:
    """A variable that changes what runs without an edit of the file.

    `scope` is "host" for a variable that Compose interpolates and "container" for one that the entrypoint reads.
    `forwarded` is False for a container seam that no host value can reach: a dead seam. `default` is the text that
    stands in for an unset variable, None when there is none. `values` are the candidates that the code or its
    comments name. `open` marks a free-form seam: any text may be put in, so no list of values is complete. `host` is
    the variable that a person sets on the host for it.
    """

    name: str
    scope: Literal["host", "container"]
    forwarded: bool
    default: str | None
    values: tuple[str, ...]
    position: Position
    open: bool = False
    host: str = ""


@dataclass(frozen=True, slots=True)
class Deviation:
    """One host variable set to one value, and where the value was found."""

    name: str
    value: str
    source: DeviationSource
    position: Position


@dataclass(frozen=True, slots=True)
class Realisation:
    """What runs in one world. `run` is None when Compose refuses the files or only the image knows what starts.

    `absent` are mounted folders that the script looked into and the repository does not have: they are taken to be
    empty.
    """

    environment: Mapping[str, str]
    project: Project
    service: Service | None
    start: Start | None
    run: Run | None
    deviations: Mapping[str, str] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
