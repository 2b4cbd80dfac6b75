"""What a script's text says about its seams: every variable that it reads, compares or sets, on all branches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache

from bot.shell.grammar import parse
from bot.shell.syntax import Node, Script, Simple
from bot.shell.walker import ComparisonFact, ReadFact, Walker


@dataclass(frozen=True, slots=True)
class Facts:
    """Reads and comparisons in the order of the text, and all names that are set."""

    reads: tuple[ReadFact, ...]
    comparisons: tuple[ComparisonFact, ...]
    writes: frozenset[str]


def commands_of(script: Script) -> Iterator[Simple]:
    """Every simple command of a script, those in substitutions and functions included."""
    return commands_in(script.units)


def commands_in(node: Node | tuple[Node, ...]) -> Iterator[Simple]:
    """Every simple command in a command, itself included."""
    waiting: list[object] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Simple):
            yield one
        if isinstance(one, tuple):
            waiting.extend(reversed(one))
        elif is_dataclass(one) and not isinstance(one, type):
            waiting.extend(getattr(one, field.name) for field in reversed(fields(one)))


@lru_cache(maxsize=1024)
def facts(text: str) -> Facts:
    """The facts of a script."""
    walker = Walker()
    script = parse(text)
    for unit in script.units:
        walker.node(unit)
    try:
        for function in list(walker.functions.values()):
            walker.body_of(function)
    except RecursionError:
        pass  # functions that call each other a thousand deep: what was seen so far are facts all the same
    return Facts(tuple(dict.fromkeys(walker.reads)), tuple(dict.fromkeys(walker.comparisons)), frozenset(walker.writes))


@lru_cache(maxsize=1024)
def names_set(node: Node) -> frozenset[str]:
    """The variables that a command sets, on any branch."""
    walker = Walker()
    walker.node(node)
    return frozenset(walker.writes)
