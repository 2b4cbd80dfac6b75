"""Whether vendored patches still fit another release: their targets and anchors, looked for in its source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from bot.catalog import Catalog
from bot.learn.source import SourceTree
from bot.markdown import cell, code, prose
from bot.tree import Tree, UnreadableFile
from bot.upstream.edits import Edit, edits_of, target_of

AnchorState = Literal["present", "applied", "gone", "target-gone", "ambiguous", "unknown"]
"""`present`: once, so the edit fits. `applied`: the source has the new text already. `ambiguous`: more than once."""

MIN_APPLIED = 12
"""Characters that a new text needs to be recognised: shorter ones stand anywhere."""

MAX_SCRIPTS = 500
"""Scripts of a repository that are read."""

_FOLDER = re.compile(r"(?:^|/)(?:patch(?:es|sets?)?|overlays?|vendored)/", re.IGNORECASE)
_ENDINGS = (".py", ".sh", ".bash", ".patch", ".diff")
_PACKAGE = re.compile(r"/(vllm/(?:[\w-]+/)*[\w-]+\.py)$")
_WORDS: dict[AnchorState, str] = {
    "present": "fits",
    "applied": "already in the new source",
    "gone": "**anchor is gone**",
    "target-gone": "**file is gone**",
    "ambiguous": "**anchor is ambiguous**",
    "unknown": "not known",
}


@dataclass(frozen=True, slots=True)
class AnchorCheck:
    """One edit of a vendored script against a source. `target` is the file there, empty when it is not known."""

    script: str
    line: int
    target: str
    state: AnchorState
    why: str


def check_overlays(tree: Tree, catalog: Catalog, source: SourceTree) -> tuple[AnchorCheck, ...]:
    """Every edit of every vendored script of a repository, against the source of a release."""
    found: list[AnchorCheck] = []
    for path in scripts_of(tree, catalog):
        try:
            text = tree.read(path)
        except UnreadableFile as error:
            found.append(AnchorCheck(path, 1, "", "unknown", error.message))
            continue
        found.extend(check_script(path, text or "", source))
    return tuple(found)


def scripts_of(tree: Tree, catalog: Catalog) -> tuple[str, ...]:
    """The files of patches: those that `patches.yml` lists, and what lies in a folder of patches."""
    listed = tuple(file for patch in catalog.patches if not patch.deprecated for file in patch.files)
    paths = (path for path in tree.paths() if path.endswith(_ENDINGS))
    chosen = [
        path
        for path in paths
        if _FOLDER.search(path) or path.startswith(tuple(f"{one}/" for one in listed)) or path in listed
    ]
    return tuple(chosen[:MAX_SCRIPTS])


def check_script(path: str, text: str, source: SourceTree) -> tuple[AnchorCheck, ...]:
    """The edits of one script, in their order: a later one may build on an earlier."""
    if (whole := _PACKAGE.search(f"/{path}")) and path.endswith(".py") and _FOLDER.search(path):
        return (_whole_file(path, text, whole[1], source),)
    working: dict[str, str] = {}
    found = tuple(_check(path, edit, source, working) for edit in edits_of(path, text))
    if "vllm" in f"{path} {text}".lower():
        return found
    return tuple(
        replace(one, state="unknown", why="the script does not say that it is about vLLM")
        if one.state == "target-gone"
        else one
        for one in found
    )


def _whole_file(path: str, text: str, target: str, source: SourceTree) -> AnchorCheck:
    """A file that takes the place of one of the package."""
    there = source.read(target)
    if there is None:
        return AnchorCheck(path, 1, target, "target-gone", "the source has no such file")
    if there.strip() == text.strip():
        return AnchorCheck(path, 1, target, "applied", "the source has this very file")
    return AnchorCheck(path, 1, target, "unknown", "it takes the place of a whole file, which differs: compare them")


def _check(path: str, edit: Edit, source: SourceTree, working: dict[str, str]) -> AnchorCheck:
    if edit.old is None:
        return AnchorCheck(path, edit.line, edit.targets[0] if edit.targets else "", "unknown", edit.why)
    if not edit.targets:
        return AnchorCheck(path, edit.line, "", "unknown", "which file it edits is not understood")
    there = [target for one in edit.targets if (target := _existing(one, source)) is not None]
    if not there:
        return AnchorCheck(path, edit.line, edit.targets[0], "target-gone", "the source has no such file")
    results = [_in_file(path, edit, target, source, working) for target in there]
    best = min(results, key=lambda check: _ORDER.index(check.state))
    if best.state == "gone" and len(there) < len(edit.targets):
        return AnchorCheck(path, edit.line, best.target, "unknown", "one of the files that it may edit is gone")
    if best.state == "present" and edit.new is not None:
        working[best.target] = _now(best.target, source, working).replace(edit.old, edit.new, 1)
    return best


_ORDER: tuple[AnchorState, ...] = ("applied", "present", "ambiguous", "gone", "target-gone", "unknown")


def _existing(target: str, source: SourceTree) -> str | None:
    for path in (target, f"vllm/{target}"):
        if source.read(target_of(path)) is not None:
            return target_of(path)
    return None


def _now(target: str, source: SourceTree, working: dict[str, str]) -> str:
    return working[target] if target in working else source.read(target) or ""


def _in_file(path: str, edit: Edit, target: str, source: SourceTree, working: dict[str, str]) -> AnchorCheck:
    text, old, new = _now(target, source, working), edit.old or "", edit.new
    count = text.count(old)
    if (
        new is not None
        and len(new.strip()) >= MIN_APPLIED
        and new in text
        and count <= text.count(new) * new.count(old)
    ):
        return AnchorCheck(path, edit.line, target, "applied", "the source has the new text already")
    if count == 1:
        return AnchorCheck(path, edit.line, target, "present", "the text that it replaces is there, once")
    if count:
        return AnchorCheck(path, edit.line, target, "ambiguous", f"the text that it replaces is there {count} times")
    return AnchorCheck(path, edit.line, target, "gone", "the text that it replaces is not there")


def overlays_markdown(checks: Iterable[AnchorCheck], release: str) -> str:
    """The table for the summary of a review, what does not fit first; empty without scripts."""
    rows = sorted(checks, key=lambda check: (check.state in ("present",), check.script, check.line))
    if not rows:
        return ""
    lines = [f"Vendored patches against the source of {code(release)}, read and not run:", ""]
    lines += ["| patch | file | |", "|---|---|---|"]
    lines += [line for row in rows for line in _row(row)]
    return "\n".join(lines) + "\n"


def _row(check: AnchorCheck) -> Iterator[str]:
    where = cell(code(f"{check.script}:{check.line}"))
    target = cell(code(check.target)) if check.target else ""
    yield f"| {where} | {target} | {_WORDS[check.state]}: {cell(prose(check.why))} |"
