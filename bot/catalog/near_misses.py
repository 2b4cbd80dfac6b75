"""Files that look like a part of the catalog by their place, and are not read because a word is missing or misspelt."""

from __future__ import annotations

import posixpath
import re
from difflib import get_close_matches

from bot.catalog.model import Fault, Problem
from bot.catalog.patches import MARKS
from bot.provenance import Position

_PATCHES = frozenset({"patches.yml", "patches.yaml"})
_KEY = re.compile(r"^[ \t]*(?:-[ \t]+)?([A-Za-z_][A-Za-z0-9_-]{0,60})[ \t]*:", re.MULTILINE)

MAX_KEYS = 2_000
"""Keys of a file that are compared with the known ones."""


def near_miss(path: str, text: str, *, describes: bool) -> Fault | Problem | None:
    """What keeps a file from being read that stands where patches or profiles do; None for any other file.

    `describes` says that the text has the fields of a profile.
    """
    if posixpath.basename(path) in _PATCHES:
        return _misspelt(path, text)
    if describes and "profiles" in posixpath.dirname(path).split("/"):
        return Problem("a profile without an `id`: it is not read", Position(path, 1))
    return None


def _misspelt(path: str, text: str) -> Fault | None:
    for count, found in enumerate(_KEY.finditer(text)):
        if count >= MAX_KEYS:
            break
        close = get_close_matches(found[1].lower().replace("-", "_"), MARKS, 1, 0.8)
        if close:
            line = text.count("\n", 0, found.start(1)) + 1
            return Fault("not-read", found[1], Position(path, line), key=found[1], meant=close[0])
    return None
