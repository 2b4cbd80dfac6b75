"""Tables that state values of composes: in the comments of one about its siblings, and in a `README.md`.

A row counts when its first cell is the path of a compose, its slug, or "(this)"; a cell when it is a value and nothing
else. Everything between the lines (`~`, history, what is struck) is left alone.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from bot.catalog.model import Stated
from bot.provenance import Position

MAX_LINE = 600
"""Characters of a line that are read as part of a table."""

MAX_ROWS = 400
"""Rows of one file that are read."""

_SUBJECTS = frozenset({"file", "slug", "compose", "compose file", "config"})
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "max_model_len": ("ctx", "context", "max ctx", "max context", "context length", "max_model_len", "max-model-len"),
    "kv_cache_dtype": ("kv", "kv cache", "kv format", "kv dtype", "kv_cache_dtype", "kv-cache-dtype"),
    "max_num_seqs": ("max_num_seqs", "max-num-seqs", "max seqs"),
    "tensor_parallel_size": ("tp", "tensor parallel", "tensor-parallel", "tensor_parallel_size"),
    "gpu_memory_utilization": ("mem-util", "mem util", "mem_util", "gpu_memory_utilization"),
    "image": ("image",),
}
"""For each property the heads of columns that state it."""

_PROPERTY = {head: name for name, heads in _COLUMNS.items() for head in heads}
_FORMAT = r"fp8(?:[_/ ]?e[45]m[23])?|bf16|fp16|int8(?:_per_token_head)?|nvfp4|tq[234]|turboquant\w*"
_VALUES = {
    "max_model_len": re.compile(r"\d{1,3}(?:[.,]\d{1,3})?\s?[KM]|\d{4,8}", re.IGNORECASE),
    "kv_cache_dtype": re.compile(_FORMAT, re.IGNORECASE),
    "max_num_seqs": re.compile(r"\d{1,4}"),
    "tensor_parallel_size": re.compile(r"\d{1,3}"),
    "gpu_memory_utilization": re.compile(r"0?\.\d{1,3}"),
    "image": re.compile(r"[\w.-]+(?:/[\w.-]+)+:[\w.-]+"),
}
"""What a cell must be, and nothing else, to state it."""

_COMMENT = re.compile(r"[ \t]*#(.*)")
_GAP = re.compile(r"\s{2,}")
_LINK = re.compile(r"\[[^\]]{0,120}\]\(([^)\s]{1,200})\)")
_MARKS = re.compile(r"[`*]|\s*\(?\bthis(?: (?:file|one|compose))?\)?|[^\w/.()\s-]")
_THIS = re.compile(r"(?:^|[\s(])this(?: (?:file|one|compose))?\b", re.IGNORECASE)
_GONE = re.compile(r"~~|deprecat|archiv|retired|removed|🗑", re.IGNORECASE)
_SLUG = re.compile(r"[\w-]+/[\w.-]+")
_RULE = re.compile(r"[\s|:=-]*")
_HEADS = tuple(
    f"{word}{behind}" for word in ("ile", "lug", "ompose", "onfig") for behind in ("  ", " |", "|", "**", "` |")
)
"""What a text with the head of such a table has: patterns take thirty times as long, and every YAML file is asked."""


def may_have_tables(text: str) -> bool:
    """Whether the head of such a table may be in a text."""
    return any(head in text for head in _HEADS)


def read_tables(path: str, text: str, paths: frozenset[str]) -> Mapping[str, tuple[Stated, ...]]:
    """What the tables of a file state, by the compose: its path, or its slug where the row has that. `paths` are the
    files that are there.
    """
    found: dict[str, list[Stated]] = {}
    for subject, stated in _rows(path, text):
        key = _subject(subject, path, paths)
        if key:
            found.setdefault(key, []).append(stated)
    return {key: tuple(stated) for key, stated in found.items()}


@lru_cache(maxsize=256)
def _rows(path: str, text: str) -> tuple[tuple[str, Stated], ...]:
    """(first cell, what another cell of the row states) of each row."""
    heads: Sequence[str] = ()
    found: list[tuple[str, Stated]] = []
    for number, line in enumerate(text.split("\n"), 1):
        content = line
        if not path.endswith(".md"):
            match = _COMMENT.fullmatch(line.rstrip("\r"))
            content = match[1] if match else ""
        cells = _cells(content[:MAX_LINE])
        lowered = [cell.strip("*` ").lower() for cell in cells]
        if lowered and lowered[0] in _SUBJECTS:
            heads = lowered if any(cell in _PROPERTY for cell in lowered) else ()
        elif not heads or _RULE.fullmatch(content):
            heads = heads if content.strip() else ()
        elif len(cells) < len(heads) - (heads[-1] in ("notes", "note", "strategy", "topology")):
            heads = ()
        elif not _GONE.search(content) and len(found) < MAX_ROWS:
            found += ((cells[0], one) for one in _values(cells, heads, Position(path, number)))
    return tuple(found)


def _cells(content: str) -> list[str]:
    stripped = content.strip()
    if "|" in stripped:
        return [cell.strip() for cell in stripped.strip("|").split("|")]
    return _GAP.split(stripped) if _GAP.search(stripped) else []


def _values(cells: Sequence[str], heads: Sequence[str], position: Position) -> Iterator[Stated]:
    for head, cell in zip(heads, cells, strict=False):
        name = _PROPERTY.get(head)
        value = cell.strip("*` ")
        if name and _VALUES[name].fullmatch(value):
            yield Stated(_plain(cells[0]) or "this file", name, value, position, table=True)


def _plain(cell: str) -> str:
    """A first cell without its marks."""
    link = _LINK.search(cell)
    return _MARKS.sub("", link[1] if link else cell).strip()


def _subject(cell: str, path: str, paths: frozenset[str]) -> str:
    """The compose that a first cell means: its path, or its slug; empty where that cannot be told."""
    if _THIS.search(cell) and path.endswith((".yml", ".yaml")):
        return path
    plain = _plain(cell)
    if not plain.endswith((".yml", ".yaml")):
        return plain if _SLUG.fullmatch(plain) else ""
    return next((place for place in _places(plain, posixpath.dirname(path)) if place in paths), "")


def _places(name: str, folder: str) -> Iterable[str]:
    """Where a path may lead from a folder, and from each above it."""
    while True:
        yield posixpath.normpath(posixpath.join(folder, name))
        if not folder:
            return
        folder = posixpath.dirname(folder)
