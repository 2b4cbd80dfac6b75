"""How many composes an entry of a list of patches says to mount it, and how many do."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from bot.catalog import Patch
from bot.provenance import Position
from bot.tree import Tree, text_of

MAX_LINES = 200
"""Lines of one entry that are read: four times the longest known."""

MAX_COUNTS = 20
"""Counts that are held against the composes: each is looked for in all of them."""

MAX_LINE = 4_000
"""Characters of a line that are read: an entry's reasons are long."""

_NUMBER = r"(?P<number>\d{1,3})"
_COUNTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:remove|drop|delete)\s+(?:the|all|its)\s+{_NUMBER}\s+compose\s+mounts\b",
        rf"\ball\s+[\w/-]{{1,30}}(?:\s[\w/-]{{1,30}}){{0,3}}?\s+composes\s+\({_NUMBER}\)\s+(?:now\s+)?mount\s+(?:this|it|the)\b",
        rf"(?<![\w.-]){_NUMBER}\s+composes\s+(?:now\s+)?mount\s+(?:this|it)\b",
    )
)
_HISTORY = re.compile(
    r"\b(?:was|were|had|until|previous(?:ly)?|former(?:ly)?|then|at the time|if|once)\b[^.;]{0,80}$", re.I
)
_PUT_AWAY = re.compile(r"(?:^|/)_?(?:archived?|deprecated|old|attic)/", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
_ELSEWHERE = re.compile(r"^\s*(?:extends|include):", re.MULTILINE)


def wrong_counts(patches: Sequence[Patch], tree: Tree) -> Iterator[tuple[Patch, Position, str, int]]:
    """For each count that is not so: the patch, the place, its words, and how many composes do mount the patch.

    A patch whose folder another one shares is left out, and all are where composes take their mounts from other files.
    """
    by_file: dict[str, list[Patch]] = {}
    for patch in patches:
        by_file.setdefault(patch.position.path, []).append(patch)
    stated = [found for path, listed in by_file.items() for found in _stated(path, listed, tree)]
    if not stated:
        return
    composes = tuple(_composes(tree))
    if any(_ELSEWHERE.search(text) for text in composes if "extends:" in text or "include:" in text):
        return
    shared = Counter(folder for patch in patches for folder in _folders(patch))
    for patch, at, words, number in stated[:MAX_COUNTS]:
        folders = _folders(patch)
        if len(folders) != 1 or shared[next(iter(folders))] > 1:
            continue
        folder = next(iter(folders))
        mount = re.compile(rf"/{re.escape(folder)}(?=[/:\"'\s]|$)", re.MULTILINE)
        actual = sum(mount.search(_COMMENT.sub("", text)) is not None for text in composes if f"/{folder}" in text)
        if actual and actual != number:
            yield patch, at, words, actual


def _stated(path: str, patches: Iterable[Patch], tree: Tree) -> Iterator[tuple[Patch, Position, str, int]]:
    """The counts in the entries of one file: their places, words and numbers."""
    text = text_of(tree, path)
    if "compose" not in text or "mount" not in text:
        return
    lines = text.split("\n")
    entries = sorted(patches, key=lambda patch: patch.position.line)
    ends = [patch.position.line for patch in entries[1:]] + [len(lines) + 1]
    for patch, end in zip(entries, ends, strict=True):
        for number in range(patch.position.line, min(end, patch.position.line + MAX_LINES)):
            line = lines[number - 1][:MAX_LINE]
            if "compose" not in line or "mount" not in line:
                continue
            for pattern in _COUNTS:
                match = pattern.search(line)
                if match is not None and not _HISTORY.search(line, 0, match.start()):
                    yield patch, Position(path, number, match.start() + 1), match[0], int(match["number"])


def _folders(patch: Patch) -> set[str]:
    """The folders that hold a patch alone."""
    return {posixpath.basename(posixpath.dirname(file)) for file in patch.files if file.count("/") > 1}


def _composes(tree: Tree) -> Iterator[str]:
    """The texts of the composes that are in use."""
    for path in tree.paths():
        if path.endswith((".yml", ".yaml")) and not _PUT_AWAY.search(path):
            text = text_of(tree, path)
            if "services:" in text:
                yield text
