"""The reasons for a value, as Markdown: one line for each place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bot.markdown import code, sentence
from bot.provenance import QUOTED, Reason
from bot.review.links import Links

_ENTRY = re.compile(r"[\w-]+: \S")
"""A line of a profile, as it stands there."""

_ENOUGH = 80
"""Characters by which a text is known again in a message, which may quote it cut."""

MAX_TEXTS = 3
"""Texts that are told of one place."""


def chain_lines(
    chain: Iterable[Reason], links: Links, source: Mapping[Reason, str], path: str = "", said: str = ""
) -> list[str]:
    """A list item for each place, with what is told of it. `source` has the addresses of reasons that stand in an
    engine's source. `path` is the file that the reader has open: its places are given by the line alone. What has been
    `said` before is not told again.
    """
    places: dict[tuple[str, int | None, str], list[Reason]] = {}
    for reason in chain:
        where = (reason.path, reason.line, "" if reason.path else reason.text)
        places.setdefault(where, []).append(reason)
    return [line for reasons in places.values() if (line := _place(reasons, links, source, path, said))]


def _place(reasons: list[Reason], links: Links, source: Mapping[Reason, str], path: str, said: str) -> str:
    first = reasons[0]
    here = f"line {first.line}" if first.path == path and first.line and first.kind != "engine-default" else ""
    where = links.reason(first, source, here) or (
        "assumed" if first.kind == "assumption" and "assumed" not in first.text else ""
    )
    new = (reason for reason in reasons if not (reason.path and reason.text[:_ENOUGH] in said))
    told = list(dict.fromkeys(map(_told, new)))
    more = [f"{len(told) - MAX_TEXTS} more"] if len(told) > MAX_TEXTS else []
    text = "; ".join([*told[:MAX_TEXTS], *more])
    if not text and here:
        return ""  # nothing but the line that the reader sees
    return f"- {': '.join(part for part in (where, text) if part)}"


def _told(reason: Reason) -> str:
    """A line of a file is code; a sentence of ours that quotes none of it reads as one."""
    if reason.kind == "catalog" and reason.text.startswith(QUOTED):
        return QUOTED + code(reason.text.removeprefix(QUOTED))
    quoted = reason.kind in ("compose", "shell") or (reason.kind == "catalog" and _ENTRY.match(reason.text))
    return code(reason.text) if quoted else sentence(reason.text)
