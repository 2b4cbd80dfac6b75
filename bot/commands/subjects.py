"""What a command is about: the composes that a path or a slug means, and what was perhaps meant where there is none."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from bot.audit import Unit
from bot.commands.catalogue import Command
from bot.markdown import code
from bot.resolution import Repository
from bot.tree import UnreadableFile


def named(subject: str, units: Sequence[Unit], repository: Repository) -> list[Unit]:
    """The composes that a path or a slug means: those of the registry, else the one whose header has the slug."""
    paths = set(repository.catalog.slugs.get(subject, ())) or {subject}
    found = [unit for unit in units if not paths.isdisjoint(unit.files)]
    return found or [unit for unit in units if _slug(unit, repository, subject) == subject]


def _slug(unit: Unit, repository: Repository, subject: str) -> str | None:
    try:
        text = repository.tree.read(unit.path) or ""
    except UnreadableFile:
        return None
    return repository.header(unit.path, text).slug if subject in text else None


def no_such(what: str, name: str, names: Iterable[str], command: Command) -> str:
    """That nothing is called so, and which names are near; else how the command is written."""
    near = difflib.get_close_matches(name[:200], list(names), 3, 0.5)
    hint = f" Did you mean {' or '.join(map(code, near))}?" if near else f" The usage is {code(command.usage)}."
    return f"There is no {what} {code(name)} here.{hint}"
