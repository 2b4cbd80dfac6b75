"""Comments of a compose: where people document its seams."""

from __future__ import annotations

import re
from functools import lru_cache

_COMMENT = re.compile(r"(?:^|(?<=\s))#+(.*)$")


@lru_cache(maxsize=512)
def comments(text: str) -> tuple[tuple[int, str], ...]:
    """(line, text) of every comment, those inside an embedded script too. A `#` inside quotes may be taken for one:
    what is read from a comment is only ever a candidate.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if "#" in line and (match := _COMMENT.search(line)):
            found.append((number, match[1].strip()))
    return tuple(found)
