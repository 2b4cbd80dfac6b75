"""Reads the catalog of a repository: everything that it says about itself in YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

from bot.catalog.configuration import read_configuration
from bot.catalog.document import NotYaml, Value, parse
from bot.catalog.hardware import unknown_cards
from bot.catalog.model import Catalog, EngineProfile, HardwareProfile, ModelProfile, Patch, Problem
from bot.catalog.patches import MARKS as PATCH_MARKS
from bot.catalog.patches import read_patches
from bot.catalog.profiles import read_profile
from bot.catalog.registry import MARKS as REGISTRY_MARKS
from bot.catalog.registry import is_registry, read_registry
from bot.provenance import Position
from bot.tree import Tree, UnreadableFile

T = TypeVar("T", EngineProfile, HardwareProfile)

MAX_PARSED_CHARACTERS = 16 * 1024 * 1024
"""YAML that is parsed for one catalog, about a second's work: a hundred times the largest catalog known."""

_DESCRIPTION = re.compile(
    r"^(?:sm|compute_capability|install|family|weights|architectures?|layer_types|[a-z0-9_]*_layers)[ \t]*:",
    re.MULTILINE,
)
_REGISTRY_ENTRY = re.compile(
    rf"(?:^[ \t-]+|[{{,][ \t]*)(?:{'|'.join(REGISTRY_MARKS)})[ \t]*:[ \t]*\S{{1,200}}?\.ya?ml", re.MULTILINE
)


def read_catalog(tree: Tree) -> Catalog:
    """The catalog of a repository, empty for one without any of this. What can't be read is a `Problem`."""
    return _Reading(tree).catalog()


class _Reading:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.models: list[ModelProfile] = []
        self.engines: dict[str, EngineProfile] = {}
        self.hardware: dict[str, HardwareProfile] = {}
        self.patches: list[Patch] = []
        self.slugs: dict[str, tuple[str, ...]] = {}
        self.problems: list[Problem] = []

    def catalog(self) -> Catalog:
        configuration = read_configuration(self.tree)
        self.problems.extend(configuration.problems)
        room = MAX_PARSED_CHARACTERS
        for path, text in self._candidates():
            room -= len(text)
            if room < 0:
                message = "too much YAML in this repository: profiles from here on are not read"
                self.problems.append(Problem(message, Position(path, 1)))
                break
            self._take(path, text)
        self.problems.extend(unknown_cards(configuration, self.hardware))
        return Catalog(
            configuration=configuration,
            models=tuple(self.models),
            engines=self.engines,
            hardware=self.hardware,
            patches=tuple(self.patches),
            slugs=self.slugs,
            problems=tuple(self.problems),
        )

    def _candidates(self) -> Iterator[tuple[str, str]]:
        """The files whose text lets expect a profile, patches or a registry: parsing every YAML file takes too long."""
        for path in self.tree.paths():
            if not path.endswith((".yml", ".yaml")):
                continue
            try:
                text = self.tree.read(path)
            except UnreadableFile:
                continue  # whoever needs the file says so; for a catalog it is none
            if text and (_expected(text) or is_registry(path)):
                yield path, text

    def _take(self, path: str, text: str) -> None:
        try:
            root = parse(text, path)
        except NotYaml as error:
            self.problems.append(Problem(f"not YAML: {error.message}", Position(path, error.line)))
            return
        if root is None:
            return
        if _has_patches(text):
            self.patches.extend(read_patches(root))
        elif _has_key(text, "id"):
            self._take_profile(root)
        else:
            for slug, paths in read_registry(root).items():
                self.slugs[slug] = tuple(dict.fromkeys((*self.slugs.get(slug, ()), *paths)))

    def _take_profile(self, root: Value) -> None:
        profile = read_profile(root)
        if isinstance(profile, ModelProfile):
            self.models.append(profile)
        elif isinstance(profile, EngineProfile):
            self._keep(self.engines, profile)
        elif isinstance(profile, HardwareProfile):
            self._keep(self.hardware, profile)

    def _keep(self, kept: dict[str, T], profile: T) -> None:
        first = kept.setdefault(profile.id, profile)
        if first is not profile:
            message = f"a second profile with the id {profile.id!r}; {first.position} is used"
            self.problems.append(Problem(message, profile.position))


def _has_patches(text: str) -> bool:
    return any(mark in text for mark in PATCH_MARKS)


def _has_key(text: str, key: str) -> bool:
    """Whether a line begins with the key. Much faster than a pattern, and this is asked of every YAML file."""
    return f"\n{key}:" in text or text.startswith(f"{key}:")


def _expected(text: str) -> bool:
    if _has_key(text, "services"):
        return False
    if _has_patches(text):
        return True
    if _has_key(text, "id"):
        return bool(_DESCRIPTION.search(text))
    return any(f"{mark}:" in text for mark in REGISTRY_MARKS) and bool(_REGISTRY_ENTRY.search(text))
