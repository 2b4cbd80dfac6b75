"""Finds the composes of a repository."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import partial

from bot.catalog import Configuration, fits
from bot.compose import Documents, load_project, looks_like_compose
from bot.tree import Tree, UnreadableFile

DEFAULT_NAMES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
"""The names that Docker Compose looks for when no `-f` is given, in its order of preference."""

_SERVICES = re.compile(r"^services:", re.M)
_VLLM = re.compile("vllm", re.I)
_ENGINES = re.compile(r"vllm|sglang|llama[-_.]?cpp|llama-server|text-generation-inference|trtllm", re.I)

_OVERRIDES = {
    name: tuple(f"{name.rsplit('.', 1)[0]}.override.{ending}" for ending in ("yml", "yaml")) for name in DEFAULT_NAMES
}


@dataclass(frozen=True, slots=True)
class Unit:
    """Compose files that run together: one file, a default name with its override beside it, or what the configuration
    puts together.
    """

    files: tuple[str, ...]

    @property
    def path(self) -> str:
        """The file that findings are reported on when nothing more exact is known."""
        return self.files[0]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was looked at and left out: neither a pass nor a finding.

    `unread` says that nobody knows what it holds: it may well be a compose, with a hazard in it.
    """

    path: str
    reason: str
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Discovery:
    """The composes of a tree, and what was left out that looked like one."""

    units: tuple[Unit, ...]
    skipped: tuple[Skipped, ...]


def discover(tree: Tree, documents: Documents, configuration: Configuration) -> Discovery:
    """Every file that is a compose, by the configured globs or, without any, by its content."""
    units: list[Unit] = []
    skipped: list[Skipped] = []
    paths = [path for path in tree.paths() if path.endswith((".yml", ".yaml"))]
    names = set(paths)
    together = [files for files in configuration.together if names.issuperset(files)]
    units += (Unit(files) for files in together if not _ignored(files[0], configuration))
    parts = {path for files in together for path in files}
    for path in paths:
        if path in parts or _ignored(path, configuration) or _is_override(path, names):
            continue
        is_compose, why, unread = documents.memory.answer(
            ("a compose", path, documents.view), tree, partial(_judge, documents, path)
        )
        if is_compose:
            units.append(Unit((path, *_override_of(path, names))))
        elif unread or _expected(path, configuration):
            skipped.append(Skipped(path, why, unread=unread))
    return Discovery(tuple(sorted(units, key=lambda unit: unit.files)), tuple(skipped))


def _judge(documents: Documents, path: str, tree: Tree) -> tuple[bool, str, bool]:
    """Whether a file is a compose; why not, and whether that is because it cannot be read."""
    documents = documents.over(tree)
    is_compose, reason = looks_like_compose(documents, path)
    if is_compose or _was_meant_as_one(documents, path):
        return True, "", False
    why = _unreadable(tree, path)
    return False, why or reason, bool(why)


def _ignored(path: str, configuration: Configuration) -> bool:
    if any(fits(path, glob) for glob in configuration.ignore):
        return True
    return bool(configuration.composes) and not any(fits(path, glob) for glob in configuration.composes)


def _was_meant_as_one(documents: Documents, path: str) -> bool:
    """Whether a file that is not YAML would be a compose with an inference server, were it whole."""
    try:
        text = documents.tree.read(path) or ""
    except UnreadableFile:
        return False
    if _SERVICES.search(text) is None or not mentions_an_engine(text):
        return False
    return any(error.kind == "not-yaml" for error in load_project(documents, (path,), {}).errors)


def _unreadable(tree: Tree, path: str) -> str:
    """Why a file cannot be read; empty when it can."""
    try:
        tree.read(path)
    except UnreadableFile as error:
        return error.message
    return ""


def mentions_an_engine(text: str) -> bool:
    """Whether a file speaks of an inference server outside of its comments."""
    return _speaks_of(_ENGINES, text)


def mentions_vllm(text: str) -> bool:
    """Whether a file speaks of vLLM outside of its comments."""
    return _speaks_of(_VLLM, text)


def _speaks_of(what: re.Pattern[str], text: str) -> bool:
    return any(what.search(line) for line in text.splitlines() if not line.lstrip().startswith("#"))


def _expected(path: str, configuration: Configuration) -> bool:
    """Whether someone would take this file for a compose, so that leaving it out deserves a word."""
    return bool(configuration.composes) or "compose" in path.lower()


def _is_override(path: str, names: set[str]) -> bool:
    directory, name = posixpath.split(path)
    return any(name in overrides and posixpath.join(directory, base) in names for base, overrides in _OVERRIDES.items())


def _override_of(path: str, names: set[str]) -> tuple[str, ...]:
    directory, name = posixpath.split(path)
    beside = (posixpath.join(directory, override) for override in _OVERRIDES.get(name, ()))
    return tuple(path for path in beside if path in names)[:1]
