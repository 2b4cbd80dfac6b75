"""Mounts that a patch lacks, put in beside those that are there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile

from ruamel.yaml.nodes import ScalarNode, SequenceNode

from bot.catalog import Patch, runs_at
from bot.compose.model import Mount
from bot.remedies.case import Case
from bot.remedies.flow import Entry, put_behind
from bot.remedies.model import Candidate, Meant, NoEdit, TextEdit
from bot.remedies.patches import end_the_boot

_SHORT = re.compile(r"(?P<source>\.{1,2}/[\w./@+-]*):(?P<target>/[\w./@+-]*)(?P<mode>:[\w,]+)?", re.ASCII)
"""A mount in the short form, of a file beside the compose."""

_PLAIN = re.compile(r"[\w./@+-]+", re.ASCII)


def mount_it(case: Case) -> Iterator[Candidate]:
    """A line below `volumes:` for the file of a patch that the container lacks, in the form of a mount beside it; where
    that is not enough, also `|| exit 1` behind the command that runs it.
    """
    patch = next((one for one in case.catalog.patches if one.id == case.finding.observed.get("patch")), None)
    if patch is None:
        raise NoEdit("no entry of `patches.yml` says which file should be there")
    source, target = _needed(case, patch)
    if not case.tree.is_directory(source):
        case.text(source)  # raises where it is not there
    edit = _beside(case, source, target)
    meant = Meant(frozenset({"volumes"}))
    does = f"Mounts `{source}` at `{target}` beside what is mounted already"
    yield Candidate((edit,), does, meant)
    with suppress(NoEdit):
        for further in end_the_boot(case):
            both = Meant(meant.keys | further.meant.keys)
            yield Candidate((edit, *further.edits), f"{does}, and {further.does[0].lower()}{further.does[1:]}", both)


def _needed(case: Case, patch: Patch) -> tuple[str, str]:
    """What has to be mounted, and where. Raises `NoEdit` where the entry does not say both."""
    about = str(case.finding.observed.get("about", ""))
    if case.finding.observed.get("problem") == "not-mounted":
        found = _declared(patch)
    else:
        found = _beside_the_others(case, patch, about)
    if found is None or not all(_PLAIN.fullmatch(part) for part in found):
        raise NoEdit(f"where {about} belongs is not said")
    return found


def _declared(patch: Patch) -> tuple[str, str] | None:
    """The file or folder that an entry means to be at `mounted_at`, by what it runs there."""
    script = patch.script or (patch.files[0] if len(patch.files) == 1 else "")
    places = runs_at(patch)
    if not script or not places:
        return None
    at = (patch.mounted_at or places[-1]).rstrip("/")
    inside = places[-1].removeprefix(at)
    if not places[-1].startswith(at) or not f"/{script}".endswith(inside or f"/{posixpath.basename(at)}"):
        return None
    source = script.removesuffix(inside.lstrip("/")).rstrip("/") if inside else script
    return (source, at) if source else None


def _beside_the_others(case: Case, patch: Patch, file: str) -> tuple[str, str] | None:
    """Where a file of a patch belongs, by where the others of it are: in the same folder, seen from theirs."""
    found = set()
    for mount in _mounts(case):
        if not any(mount.source == other for other in patch.files):
            continue
        here, there = mount.source.split("/"), mount.target.split("/")
        same = len([*takewhile(lambda pair: pair[0] == pair[1], zip(reversed(here), reversed(there), strict=False))])
        root = "/".join(here[: len(here) - same])
        if same and file.startswith(f"{root}/" if root else ""):
            found.add(
                (file, posixpath.join("/".join(there[: len(there) - same]) or "/", file[len(root) :].lstrip("/")))
            )
    return found.pop() if len(found) == 1 else None


def _mounts(case: Case) -> tuple[Mount, ...]:
    """The files of the repository that the service has by default."""
    described = case.service.worlds[0].realisation.service if case.service else None
    return tuple(one for one in described.mounts if one.type == "bind" and one.in_repository) if described else ()


def _beside(case: Case, source: str, target: str) -> TextEdit:
    """The line for a mount, below that of the nearest one that is written in the short form."""
    layout = case.compose
    volumes = layout.at(*case.field("volumes"))
    if not isinstance(volumes, SequenceNode):
        raise NoEdit("`volumes:` has no line for each mount")
    base = posixpath.dirname((case.finding.files or (case.finding.path,))[0])
    known = {(mount.source, mount.target.rstrip("/")) for mount in _mounts(case)}
    siblings = []
    for at, item in enumerate(volumes.value):
        short = _SHORT.fullmatch(item.value) if isinstance(item, ScalarNode) and layout.own(item) else None
        if short is None or item.start_mark.line != item.end_mark.line:
            continue
        meant = posixpath.normpath(posixpath.join(base, short["source"]))
        if (meant, short["target"].rstrip("/")) in known:
            siblings.append((len(posixpath.commonpath([meant, source])), at, short))
    if not siblings:
        raise NoEdit("no other file of the repository is mounted here in a line like the one that is missing")
    _, at, short = max(siblings, key=lambda found: (found[0], found[1]))
    item = volumes.value[at]
    place = posixpath.relpath(source, base or ".")
    place = place if place.startswith(".") else f"./{place}"
    mount = f"{place}:{target}{short['mode'] or ''}"
    if volumes.flow_style:
        return put_behind(layout, Entry(volumes, at), mount)
    number = item.start_mark.line + 1
    before = layout.line(number)[: item.start_mark.column]
    if not re.fullmatch(r" *- +", before):
        raise NoEdit(f"{layout.path}:{number} has more than a mount")
    quote = item.style or ""
    return layout.below(number, f"{before}{quote}{mount}{quote}")
