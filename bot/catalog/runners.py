"""Lines of scripts that may run files of a mount in ways that are not followed: `find -exec`, `make`, a program that
takes a folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

_HARMLESS = re.compile(
    r"(?:if |elif |while |until |! )*\s*(?:\[\[? |test |echo |printf |ls |cat |cp |mkdir |chmod |chown |"
    r"cd |export |local |stat |head |tail |grep |wc |rm |touch |ln |[A-Za-z_]\w*\+?=|fi\b|done\b|exec\s+vllm |vllm )"
)
"""What a line begins with that only looks at files, or puts them somewhere."""

_RUNS = re.compile(r"-exec(?:dir)?\b|-ok\b|\bxargs\b|\bparallel\b|\brun-parts\b")
_ANYTHING = re.compile(r"(?:^|[;&|(]\s*|\b(?:then|do|exec)\s+)make\b")
_LONGEST = 4_000
"""Characters of a line that are looked at."""


def may_run(target: str, lines: Iterable[str]) -> str:
    """The first line that may run the file at `target` or in it, empty when there is none."""
    place = target.rstrip("/")
    folder = posixpath.dirname(place)
    names = [name for name in (place, folder) if name.count("/") > 0 and len(name) > 1]
    stem = posixpath.basename(place).rpartition(".")[0]
    for line in (line[:_LONGEST].strip() for line in lines):
        if not line or line.startswith("#"):
            continue
        named = any(re.search(rf"{re.escape(name)}(?![\w.-])", line) for name in names)
        module = bool(stem) and re.search(rf"python[\d.]*\s+-[mc]\s.*\b{re.escape(stem)}\b", line) is not None
        if _ANYTHING.search(line) or module or (named and (_RUNS.search(line) or not _HARMLESS.match(line))):
            return line[:160]
    return ""
