"""Reads the catalog of a repository: everything that it says about itself in YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TypeVar

from bot.catalog.configuration import fits, holds, read_configuration
from bot.catalog.document import NotYaml, Value, parse
from bot.catalog.guards import read_guards
from bot.catalog.hardware import unknown_cards
from bot.catalog.header import read_header
from bot.catalog.model import (
    Catalog,
    Configuration,
    DrafterProfile,
    EngineProfile,
    Fault,
    Guard,
    HardwareProfile,
    ModelProfile,
    Patch,
    Problem,
    Stated,
)
from bot.catalog.near_misses import near_miss
from bot.catalog.patches import MARKS as PATCH_MARKS
from bot.catalog.patches import read_notes, read_patches, verified_by_header
from bot.catalog.patches_schema import faults
from bot.catalog.profiles import Profile, read_profile
from bot.catalog.python_registry import parse_python
from bot.catalog.registry import MARKS as REGISTRY_MARKS
from bot.catalog.registry import is_registry, read_engines, read_registry
from bot.catalog.stated import read_stated
from bot.catalog.tables import may_have_tables, read_tables
from bot.claims import Claim, ComposeNames, claims_of_note
from bot.memory import Itself, Memory
from bot.provenance import Position
from bot.tree import Tree, UnreadableFile, text_of

T = TypeVar("T", DrafterProfile, EngineProfile, HardwareProfile)

MAX_PARSED_CHARACTERS = 16 * 1024 * 1024
"""YAML that is parsed for one catalog, about a second's work: a hundred times the largest catalog known."""

_WEIGHT = 5
"""Bytes that a character of a profile takes when it is read."""

_Tables = tuple[tuple[str, tuple[Stated, ...]], ...]
"""What tables state, by the compose's path or slug."""

README_DEPTH = 2
"""Folders in which a `README.md` is read for tables: further down there is one for each patch."""

MAX_READMES = 20
"""Such files that are read."""

MAX_HEADERS = 8
"""Files of one patch whose leading comments are read."""

_DESCRIPTION = re.compile(
    r"^(?:sm|compute_capability|install|spec_method|family|weights|architectures?|layer_types|[a-z0-9_]*_layers)"
    r"[ \t]*:",
    re.MULTILINE,
)
_REGISTRY_ENTRY = re.compile(
    rf"(?:^[ \t-]+|[{{,][ \t]*)(?:{'|'.join(REGISTRY_MARKS)})[ \t]*:[ \t]*\S{{1,200}}?\.ya?ml", re.MULTILINE
)


def read_catalog(tree: Tree, memory: Memory | None = None) -> Catalog:
    """The catalog of a repository, empty for one without any of this. What can't be read is a `Problem`.

    Where `memory` knows a catalog that says the same, it is that one.
    """
    memory = Memory() if memory is None else memory
    configuration = memory.answer("configuration", tree, lambda seen: Itself(read_configuration(seen)))
    parts: list[_Part | Problem] = []
    room = MAX_PARSED_CHARACTERS
    for path in tree.paths():
        if not path.endswith((".yml", ".yaml")) and not (path.endswith((".json", ".py")) and is_registry(path)):
            continue
        if not _is_read(path, configuration.thing):
            continue
        size = memory.answer(("of the catalog", path), tree, partial(_size, path))
        room -= size
        if room < 0:
            message = "too much YAML in this repository: profiles from here on are not read"
            parts.append(Problem(message, Position(path, 1)))
            break
        if size:
            parts.append(memory.answer(("part of the catalog", path), tree, partial(_part, path), _WEIGHT))
    claims = _tied((part for part in parts if isinstance(part, _Part)), tree)
    own = _of_themselves(tree, memory)
    names = _own_names([part for part in parts if isinstance(part, _Part)], own)
    tables = _tables(tree, configuration.thing, own)
    patches = [patch for part in parts if isinstance(part, _Part) for patch in part.patches]
    guards = memory.answer(("guards", *patches), tree, lambda seen: read_guards(patches, seen))
    question = ("catalog", configuration, claims, names, guards, tables, *parts)
    return memory.answer(
        question, tree, lambda _: _put_together(configuration.thing, parts, claims, names, guards, tables)
    )


def _tables(tree: Tree, configuration: Configuration, own: Mapping[str, _Own]) -> _Tables:
    """What tables state of composes, in the comments of YAML files and in each `README.md` near the root."""
    paths = frozenset(tree.paths())
    found: dict[str, list[Stated]] = {}
    for path in (path for path, one in own.items() if one.tables):
        if not any(fits(path, glob) for glob in configuration.ignore):
            for subject, stated in read_tables(path, text_of(tree, path), paths).items():
                found.setdefault(subject, []).extend(stated)
    return tuple((subject, tuple(stated)) for subject, stated in found.items())


def _of_themselves(tree: Tree, memory: Memory) -> dict[str, _Own]:
    """What every YAML file, and each `README.md` near the root, says of itself."""
    paths = list(tree.paths())
    readmes = [path for path in paths if path.lower().endswith("readme.md") and path.count("/") <= README_DEPTH]
    asked = (*(path for path in paths if path.endswith((".yml", ".yaml"))), *readmes[:MAX_READMES])
    return {path: memory.answer(("of itself", path), tree, partial(_own, path)) for path in asked}


def _own(path: str, tree: Tree) -> _Own:
    text = text_of(tree, path)
    slug = read_header(text, path).slug if ".sh" in text and not path.endswith(".md") else None
    return _Own(slug, may_have_tables(text))


def _own_names(parts: list[_Part], own: Mapping[str, _Own]) -> frozenset[str]:
    """The names in lists of patches that no registry has and that a compose gives itself in its leading comments."""
    slugs = {slug for part in parts for slug in part.slugs}
    rows = (row for part in parts for patch in part.patches for row in patch.load_bearing_when)
    names = {name for row in rows for name in row.composes} - slugs
    return frozenset(one.slug for one in own.values() if one.slug in names and one.slug is not None)


def _is_read(path: str, configuration: Configuration) -> bool:
    """Whether a file may describe the repository, as far as it says where such files are."""
    return not configuration.profiles or any(holds(glob, path) for glob in configuration.profiles)


@dataclass(frozen=True, slots=True)
class _Own:
    """What a file says of itself: the slug that its leading comments run, and whether it may have tables."""

    slug: str | None
    tables: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What one file has for the catalog; compared by identity."""

    profile: Profile | None = None
    patches: tuple[Patch, ...] = ()
    slugs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    slug_engines: Mapping[str, str] = field(default_factory=dict)
    stated: Mapping[str, tuple[Stated, ...]] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    problems: tuple[Problem, ...] = ()
    faults: tuple[Fault, ...] = ()


def _size(path: str, tree: Tree) -> int:
    """The characters of a file whose text lets expect a profile, patches or a registry; 0 for any other.

    Parsing every YAML file takes too long.
    """
    try:
        text = tree.read(path)
    except UnreadableFile:
        return 0  # whoever needs the file says so; for a catalog it is none
    return len(text) if text and (_expected(text) or is_registry(path) or _near_miss(path, text)) else 0


def _part(path: str, tree: Tree) -> _Part:
    text = tree.read(path) or ""
    if not _expected(text) and not is_registry(path) and (miss := _near_miss(path, text)):
        return _Part(faults=(miss,)) if isinstance(miss, Fault) else _Part(problems=(miss,))
    if path.endswith(".py"):
        return _of_python(text, path)
    try:
        root = parse(text, path)
    except NotYaml as error:
        return _Part(problems=(Problem(f"not YAML: {error.message}", Position(path, error.line)),))
    if root is None:
        return _Part()
    if is_registry(path):
        return _registry(root)
    if _has_patches(text):
        patches = tuple(_with_header(patch, tree) for patch in read_patches(root))
        notes = (claims_of_note(path, text, *note.extent) for note in read_notes(root))
        return _Part(patches=patches, claims=tuple(chain.from_iterable(notes)), faults=tuple(faults(root, text)))
    if _has_key(text, "id"):
        return _Part(profile=read_profile(root))
    return _registry(root)


def _of_python(text: str, path: str) -> _Part:
    """A registry in Python. A module of this name that is none says nothing, whatever is wrong with it."""
    try:
        root = parse_python(text, path)
    except NotYaml:
        return _Part()
    return _registry(root) if root is not None else _Part()


def _registry(root: Value) -> _Part:
    return _Part(slugs=read_registry(root), slug_engines=read_engines(root), stated=read_stated(root))


def _with_header(patch: Patch, tree: Tree) -> Patch:
    """The patch, with the releases that its own files say it was verified on, where the entry does not."""
    if patch.deprecated or (patch.verified and patch.verified.basis == "entry"):
        return patch
    for file in list(dict.fromkeys((*((patch.script,) if patch.script else ()), *patch.files)))[:MAX_HEADERS]:
        try:
            text = tree.read(file)
        except UnreadableFile:
            continue
        if text and (stated := verified_by_header(text, file)):
            return replace(patch, verified=stated)
    return patch


def _tied(parts: Iterable[_Part], tree: Tree) -> tuple[Claim, ...]:
    """What notes say of composes, where it is certain which composes they name."""
    parts = [part for part in parts if part.claims]
    if not parts:
        return ()
    slugs = {slug for part in parts for slug in part.slugs}
    slugs |= {
        name for part in parts for patch in part.patches for row in patch.load_bearing_when for name in row.composes
    }
    names = ComposeNames(tree.paths(), slugs)
    return tuple(tied for part in parts for claim in part.claims if (tied := names.tied(claim)).about)


def _put_together(
    configuration: Configuration,
    parts: Iterable[_Part | Problem],
    claims: tuple[Claim, ...],
    own_names: frozenset[str],
    guards: tuple[Guard, ...],
    tables: _Tables,
) -> Catalog:
    models: list[ModelProfile] = []
    engines: dict[str, EngineProfile] = {}
    hardware: dict[str, HardwareProfile] = {}
    drafters: dict[str, DrafterProfile] = {}
    patches: list[Patch] = []
    slugs: dict[str, tuple[str, ...]] = {}
    slug_engines: dict[str, str] = {}
    stated: dict[str, tuple[Stated, ...]] = {}
    problems = list(configuration.problems)
    list_faults: list[Fault] = []
    for part in parts:
        if isinstance(part, Problem):
            problems.append(part)
            continue
        problems += part.problems
        list_faults += part.faults
        if isinstance(part.profile, ModelProfile):
            models.append(part.profile)
        elif isinstance(part.profile, EngineProfile):
            problems += _kept(engines, part.profile)
        elif isinstance(part.profile, HardwareProfile):
            problems += _kept(hardware, part.profile)
        elif isinstance(part.profile, DrafterProfile):
            problems += _kept(drafters, part.profile)
        patches += part.patches
        for slug, paths in part.slugs.items():
            slugs[slug] = tuple(dict.fromkeys((*slugs.get(slug, ()), *paths)))
        slug_engines.update(part.slug_engines)
        for path, said in part.stated.items():
            stated[path] = (*stated.get(path, ()), *said)
    for subject, rows in tables:
        for path in slugs.get(subject, (subject,)):
            stated[path] = (*stated.get(path, ()), *rows)
    problems += unknown_cards(configuration, hardware)
    read = tuple(models), engines, hardware, tuple(patches), slugs, tuple(problems), slug_engines, claims, stated
    return Catalog(configuration, *read, tuple(list_faults), own_names, guards, drafters)


def _kept(known: dict[str, T], profile: T) -> Iterator[Problem]:
    first = known.setdefault(profile.id, profile)
    if first is not profile:
        message = f"a second profile with the id {profile.id!r}; {first.position} is used"
        yield Problem(message, profile.position)


def _near_miss(path: str, text: str) -> Fault | Problem | None:
    if _has_patches(text) or _has_key(text, "services") or _has_key(text, "id"):
        return None
    return near_miss(path, text, describes=bool(_DESCRIPTION.search(text)))


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
