"""The reasons for a value, as Markdown: one line for each place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.markdown import code, prose
from bot.provenance import Reason
from bot.review.links import Links

_ENTRY = re.compile(r"[\w-]+: \S")
"""A line of a profile, as it stands there."""

MAX_TEXTS = 3
"""Texts that are told of one place."""


def chain_lines(chain: Iterable[Reason], links: Links, path: str = "") -> list[str]:
    """A list item for each place, with what is told of it. `path` is the file that the reader has open: its places are
    given by the line alone.
    """
    places: dict[tuple[str, int | None, str], list[Reason]] = {}
    for reason in chain:
        where = (reason.path, reason.line, "" if reason.path else reason.text)
        places.setdefault(where, []).append(reason)
    return [_place(reasons, links, path) for reasons in places.values()]


def _place(reasons: list[Reason], links: Links, path: str) -> str:
    first = reasons[0]
    here = f"line {first.line}" if first.path == path and first.line and first.kind != "engine-default" else ""
    where = links.reason(first, here) or ("assumed" if first.kind == "assumption" else "")
    told = list(dict.fromkeys(_told(reason) for reason in reasons))
    more = [f"{len(told) - MAX_TEXTS} more"] if len(told) > MAX_TEXTS else []
    said = "; ".join([*told[:MAX_TEXTS], *more])
    return f"- {where}: {said}" if where else f"- {said}"


def _told(reason: Reason) -> str:
    """A line of a file is code; a sentence of ours that quotes none of it reads as one."""
    quoted = reason.kind in ("compose", "shell") or (reason.kind == "catalog" and _ENTRY.match(reason.text))
    return code(reason.text) if quoted else prose(reason.text)
