"""The words for what a comparison found: the same on a terminal and in a comment."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from bot.bootlog.comparison import EFFECTIVE, Comparison, Row, Shift
from bot.engine.model import Value


def shown(value: Value) -> str:
    """A value as people read it."""
    if value is None or isinstance(value, bool):
        return {True: "on", False: "off", None: "none"}[value]
    return str(value)


def setting(world: Mapping[str, str]) -> str:
    """What is set on the host, as a shell takes it: `NAME=value NAME=value`; empty for the default world."""
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in world.items())


def headline(found: Comparison) -> str:
    """One sentence: whether the log is of what the files say."""
    agreed = sum(row.verdict == "agrees" for row in found.rows)
    if found.verdict == "contradicts":
        others = "1 other value" if agreed == 1 else f"{agreed} other values"
        return f"the log contradicts {', '.join(found.against)}, and agrees with {others}"
    if found.beyond:
        return (
            f"the log agrees with all {agreed} values that the files decide; how the worker ends with the CUDA graphs "
            "could only be assumed from them, and is otherwise"
        )
    if found.verdict == "agrees":
        return f"the log agrees with all {agreed} values that both say"
    return "the log says nothing that the files also say"


def proof(found: Comparison) -> str | None:
    """What the log proves of the worker's CUDA graphs, which nothing else can; None where it says nothing of them."""
    row = next((row for row in found.rows if row.name == EFFECTIVE), None)
    if row is None or row.said is None:
        return None
    mode = str(row.said.value)
    how = {
        "lowered": "the worker lowered the configured mode",
        "graphs-finished-v1": "these graphs were captured",
        "graphs-finished-v2": "these graphs were captured",
        "eager": "it runs eagerly",
        "configuration": "the configuration has none",
    }.get(row.said.fact, "the log says so")
    return f"the worker runs with CUDA graph mode {mode} (line {row.said.line}: {how})"


def shifted(shift: Shift) -> str:
    """What becomes of a hazard, in a sentence that begins behind its name."""
    before, after = shift.before, shift.after
    if after is None:
        return "is not there on this stack"
    if before is None:
        return f"is there on this stack ({after.level}), though the files do not show it"
    return f"is {after.status} ({after.level}) on this stack; from the files alone {before.status} ({before.level})"


def told(row: Row) -> str:
    """The log's side of a row."""
    if row.said is not None:
        return shown(row.said.value)
    return row.doubt or "not said"
