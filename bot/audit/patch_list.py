"""What a list of patches says, held against the repository: files and composes that are not there, and entries that
share a file. `bot.catalog` finds what is wrong by its text alone.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches

from bot.audit.mount_counts import wrong_counts
from bot.catalog import Catalog, Fault, Patch
from bot.hazards import Observation
from bot.provenance import Position, Reason
from bot.tree import Tree, UnreadableFile

CODE = (".py", ".sh", ".bash", ".patch", ".diff", ".jinja", ".jinja2", ".j2")
"""Endings of the files that patches are made of."""

MAX_NAMED = 6
"""Names that one sentence lists."""

MAX_CLOSE = 100
"""Names that are not there for which the one that is meant is looked for: it is compared with every other name."""

MAX_KNOWN = 2_000
"""Names that one is compared with; among more, nobody can say which is meant."""

MAX_NAME = 256
"""Characters of a name that is compared: no file system has longer ones."""

_YAML = (".yml", ".yaml")
_FIELDS = ("part", "key", "meant", "also", "file", "compose")


def of_list(catalog: Catalog, tree: Tree) -> Iterator[Observation]:
    """One observation for each thing that the lists of patches say and that is not so."""
    for fault in catalog.faults:
        yield _of_fault(fault)
    living = [patch for patch in catalog.patches if not patch.deprecated and not patch.guard]
    yield from _missing_files(living, tree)
    yield from _unknown_composes(catalog, living, tree)
    yield from _aliases(catalog, living)
    yield from _shared_files(living)
    for patch, at, words, actual in wrong_counts(living, tree):
        yield _observation("wrong-count", patch.id, patch.id, at, words, {"key": words, "meant": str(actual)})


def _of_fault(fault: Fault) -> Observation:
    said = fault.key or fault.patch or fault.about
    more = {"part": fault.part, "key": fault.key, "meant": fault.meant, "also": fault.also}
    return _observation(fault.kind, fault.about, fault.patch, fault.position, said, more, minor=fault.minor)


def _missing_files(patches: Iterable[Patch], tree: Tree) -> Iterator[Observation]:
    """Files that an entry names and that are not there. A state of a repository that holds no code at all, as one that
    was filtered, tells nothing of them.
    """
    exists = _exists(tree)
    named = [(patch, file) for patch in patches for file in dict.fromkeys((*patch.files, *_script(patch)))]
    named = [(patch, file) for patch, file in named if file and "*" not in file and "$" not in file and ":" not in file]
    absent = [(patch, file) for patch, file in named if not exists(file)]
    if not absent:
        return
    if len(absent) == len(named) and not any(path.endswith(CODE) for path in tree.paths()):
        patch, file = absent[0]
        lacking = {"certain": "whether patches are kept here at all: this state of the repository holds no code"}
        at = patch.places.get(file, patch.position)
        more = {"file": file, "also": _others(len(absent) - 1)}
        yield _observation("missing-file", "every file", patch.id, at, file, more, lacking=lacking)
        return
    for number, (patch, file) in enumerate(absent):
        at = patch.places.get(file, patch.position)
        near = _near_file(file, tree) if number < MAX_CLOSE else ""
        yield _observation("missing-file", f"{patch.id}:{file}", patch.id, at, file, {"file": file, "meant": near})


def _others(count: int) -> str:
    return str(count) if count else ""


def _script(patch: Patch) -> tuple[str, ...]:
    return (patch.script,) if patch.script else ()


def _exists(tree: Tree) -> Callable[[str], bool]:
    """Whether a file or folder is there. The list of files knows, but for YAML files that may be left out of it."""
    paths = frozenset(tree.paths())

    def exists(path: str) -> bool:
        path = posixpath.normpath(path)
        if path in paths or tree.is_directory(path):
            return True
        try:
            return path.endswith(_YAML) and tree.read(path) is not None
        except UnreadableFile:
            return True

    return exists


def _near_file(file: str, tree: Tree) -> str:
    """A file of the repository that may be the one: beside it with almost its name, or elsewhere with the same end."""
    folder, name = posixpath.split(file)
    paths = [path for path in tree.paths() if not path.endswith(_YAML)]
    beside = {posixpath.basename(path).lower(): path for path in paths if posixpath.dirname(path) == folder}
    close = _closest(name.lower(), beside, 0.8)
    if close:
        return beside[close]
    tail = "/".join(file.split("/")[-2:])
    moved = [path for path in paths if path.endswith(f"/{tail}")]
    return moved[0] if len(moved) == 1 else ""


def _closest(name: str, known: Collection[str], cutoff: float = 0.6) -> str:
    """The known name that is most like this one; empty where none is, or where looking would take too long."""
    if len(name) > MAX_NAME or len(known) > MAX_KNOWN:
        return ""
    return next(iter(get_close_matches(name, known, 1, cutoff)), "")


def _unknown_composes(catalog: Catalog, patches: Iterable[Patch], tree: Tree) -> Iterator[Observation]:
    """Composes that are named and are not there. A slug is only known to be none where a registry has slugs, and has
    some of those that are named.
    """
    exists = _exists(tree)
    named = [(patch, name) for patch in patches for name in dict.fromkeys(_names(patch))]
    slugs = [(patch, name) for patch, name in named if not name.endswith(_YAML)]
    for patch, name in named:
        if name.endswith(_YAML) and not exists(name.removeprefix("./")):
            yield _unknown(patch, name, "file")
    unknown = [(patch, name) for patch, name in slugs if name not in catalog.slugs and name not in catalog.own_names]
    if {name for _, name in slugs} & catalog.slugs.keys():
        known = [*catalog.slugs, *catalog.own_names]
        for number, (patch, name) in enumerate(unknown):
            yield _unknown(patch, name, "slug", _closest(name, known) if number < MAX_CLOSE else "")
    elif unknown:
        names = list(dict.fromkeys(name for _, name in unknown))
        patch, first = unknown[0]
        lacking = {
            "certain": f"which composes {', '.join(names[:MAX_NAMED])} are: no registry that is read here has them"
        }
        at = patch.places.get(first, patch.position)
        more = {"key": "slug", "compose": first, "also": _others(len(names) - 1)}
        yield _observation("unknown-compose", "every name", patch.id, at, first, more, lacking=lacking)


def _names(patch: Patch) -> Iterator[str]:
    yield from (name for row in patch.load_bearing_when for name in row.composes)
    yield from patch.gaps


def _unknown(patch: Patch, name: str, what: str, near: str = "") -> Observation:
    at = patch.places.get(name, patch.position)
    about = f"{patch.id}:{name}"
    more = {"key": what, "compose": name, "meant": near}
    return _observation("unknown-compose", about, patch.id, at, name, more)


def _aliases(catalog: Catalog, patches: Iterable[Patch]) -> Iterator[Observation]:
    """Two names of one compose in one row: whoever counts composes by the list counts one twice."""
    for patch in patches:
        for row in patch.load_bearing_when:
            first: dict[tuple[str, ...], str] = {}
            for name in dict.fromkeys(name.removeprefix("./") for name in row.composes):
                files = catalog.slugs.get(name, (name,) if name.endswith(_YAML) else ())
                if not files:
                    continue
                other = first.setdefault(tuple(sorted(files)), name)
                if other != name:
                    at = patch.places.get(name, row.position)
                    more = {"compose": name, "also": other, "file": files[0]}
                    yield _observation("alias", f"{patch.id}:{name}", patch.id, at, name, more, minor=True)


def _shared_files(patches: Iterable[Patch]) -> Iterator[Observation]:
    """A file of two patches: whoever drops one of them takes it away from the other."""
    owners: dict[str, Patch] = {}
    for patch in patches:
        if patch.mechanism == "none":
            continue
        for file in patch.files:
            owner = owners.setdefault(file, patch)
            if owner is not patch and owner.id != patch.id:
                at = patch.places.get(file, patch.position)
                other = Reason("catalog", owner.position.path, owner.position.line, f"patches: {owner.id}")
                about = f"{patch.id}:{file}"
                more = {"file": file, "also": owner.id}
                yield _observation("shared-file", about, patch.id, at, file, more, because=(other,), minor=True)


def _observation(
    problem: str,
    about: str,
    patch: str,
    at: Position,
    said: str,
    more: Mapping[str, str],
    *,
    lacking: Mapping[str, str] | None = None,
    because: tuple[Reason, ...] = (),
    minor: bool = False,
) -> Observation:
    """`said` is what stands there; `lacking` says what would have to be known for this to be certain."""
    reasons = (Reason("catalog", at.path, at.line, said[:160]), *because)
    fields: dict[str, object] = {
        **dict.fromkeys(_FIELDS, ""),
        "problem": problem,
        "patch": patch,
        "minor": minor,
        **more,
    }
    fields |= {"lacking": lacking} if lacking else {"certain": True}
    return Observation("patch-list", f"{problem}:{about}", at, reasons, fields)
