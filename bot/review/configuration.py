"""A change that edits Seamguard's own configuration: it is read and commented on, never used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from bot.provenance import Position

PATH = ".github/seamguard.yml"


class Problem(Protocol):
    """What is wrong with a configuration, and where."""

    @property
    def message(self) -> str:
        """What is wrong."""

    @property
    def position(self) -> Position:
        """Where."""


@dataclass(frozen=True, slots=True)
class ConfigurationEdit:
    """The configuration that a change proposes. `problems` are (line, message)."""

    problems: tuple[tuple[int, str], ...] = ()


def configuration_edit(changed: Iterable[str], problems: Iterable[Problem]) -> ConfigurationEdit | None:
    """What to say of a change to these files, which leads to a configuration with these problems; None when the
    configuration is not among the files.
    """
    if PATH not in changed:
        return None
    return ConfigurationEdit(tuple((problem.position.line, problem.message) for problem in problems))
