"""Names of the symbols that stand for what a command prints and for how it ends: never the same for both.

A symbol has one value, so a question that may be answered otherwise when it is asked again gets another name: what the
machine and its files are stays as it is until something happens, what a server or the clock says does not.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from bot.shell.facts import commands_in, names_set
from bot.shell.syntax import Assignment, For, HereDocument, Node, Simple
from bot.shell.values import Symbol, Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter
    from bot.shell.machine import LoopRun

MAX_NAME = 80

STEPS_OF_A_NAME = 500
"""What it costs to forget one variable, in the steps of a pattern match."""

_MACHINE = frozenset(
    {
        "nvidia-smi", "rocm-smi", "rocminfo", "uname", "arch", "hostname", "id", "whoami", "nproc", "getconf", "lspci",
        "lscpu", "nvcc", "printenv", "logname", "numactl",
    }
)  # fmt: skip
"""Programs that tell what the machine and its system are."""

_FILES = frozenset({"ls", "find", "stat", "readlink", "realpath", "file", "cmp", "diff", "md5sum", "sha256sum", "jq"})
"""Programs that tell what is in files."""

_FILTERS = frozenset(
    {
        "cat", "grep", "egrep", "fgrep", "sed", "awk", "tr", "cut", "head", "tail", "sort", "uniq", "wc", "rev", "tac",
        "paste", "xargs", "basename", "dirname", "expr", "seq", "echo", "printf", "true", "test", "[",
    }
)  # fmt: skip
"""Programs whose answer follows from what they are given."""

_PASSING = re.compile(
    r"used|free|utili[sz]ation|temp|power|clock|pstate|time|apps|mon|loop|(?-i:^-l)|proc", re.IGNORECASE
)
"""What `nvidia-smi` tells and what changes by the second."""


class Naming:
    """The command, pipeline or substitution by which the questions inside it are named."""

    __slots__ = ("key", "node", "text")

    def __init__(self, text: str, node: Node) -> None:
        self.text = text
        self.node = node
        self.key = object()
        """Tells one run from another."""


def shortened(text: str) -> str:
    """A command on one line, as people can read it."""
    text = " ".join(text.split())
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"


def output_of(on: Interpreter, node: Simple, argv: list[Value] | None = None) -> Symbol:
    """What a command prints."""
    text = f"output of {shortened(node.text)}"
    return Symbol(question(on, text, _state(on, node), (text, _told(argv))), True)


def output_of_substitution(on: Interpreter, naming: Naming, text: str, inner: str) -> str:
    """The name of what a substitution gives, when that is what one command prints: `inner` names that."""
    key = _state(on, naming.node)
    return question(on, shortened(text), inner if key is None else key, (text, inner))


def status_of(on: Interpreter, node: Simple, argv: list[Value] | None = None, *, hopeful: bool = False) -> Symbol:
    """How a command ends, or the pipeline or substitution that it stands in."""
    naming = on.naming
    if naming is None:
        text, key = shortened(node.text), _state(on, node)
    else:
        text, key = shortened(naming.text), _state(on, naming.node)
        key = (naming.key if key is None else key, node)
    return Symbol(question(on, text, key, (text, node, _told(argv))), hopeful=hopeful)


def question(on: Interpreter, text: str, key: Hashable | None, what: Hashable) -> str:
    """The name of the answer to a question: the same one for the same key, another one otherwise, None being no key.

    `what` is asked again in a later round of a loop: nobody knows in which one it is answered otherwise, so that all
    later rounds are taken together, and what the loop sets is forgotten each time: the rounds before this one may have
    been answered otherwise.
    """
    machine = on.machine
    numbers = machine.asked.setdefault(text, {})
    if key is not None and key in numbers:
        return _numbered(text, numbers[key])
    loop = next((one for one in machine.loops if what in one.asked), None)
    if loop is not None:
        key = ("later", id(loop), what)
        number = numbers.setdefault(key, len(numbers) + 1)
        _forget_round(on, loop)
        return f"{_numbered(text, number)} in a later round"
    numbers[object() if key is None else key] = number = len(numbers) + 1
    for one in machine.loops:
        one.asked.add(what)
    return _numbered(text, number)


def _numbered(text: str, number: int) -> str:
    return text if number == 1 else f"{text} ({number})"


def forget(on: Interpreter, node: Node) -> None:
    """After a loop that was not followed nobody knows what it set."""
    _forget_names(on, sorted(_set_by(on, node)))


def _forget_names(on: Interpreter, names: Iterable[str]) -> None:
    for name in names:
        symbol = Symbol(question(on, f"{name} after the loop", None, object()))
        variable = on.own(name)
        if variable.items is None:
            variable.value = Value(None, on.here(on.line), (symbol,))
        else:
            variable.items = {0: Value(None, on.here(on.line), (symbol,), (), True)}


def forget_outside(on: Interpreter) -> None:
    """After a subshell in which something was asked in a later round: forgets here too what the loops around it set."""
    waiting, on.machine.forgotten = list(dict.fromkeys(on.machine.forgotten)), []
    for loop in waiting:
        _forget_round(on, loop)


def _forget_round(on: Interpreter, loop: LoopRun) -> None:
    """Forgets what the rounds of a loop have set so far: in this shell, and later in those between it and the loop.

    In its last round a loop over a list has the last of its values, whatever came before.
    """
    if loop.names is None or loop.functions != len(on.shell.functions):
        loop.names, loop.functions = sorted(_set_by(on, loop.node)), len(on.shell.functions)
        loop.counts = isinstance(loop.node, For) and loop.node.name not in _set_by(on, loop.node.body)
    kept = loop.node.name if loop.counts and loop.last and isinstance(loop.node, For) else None
    on.machine.spend(STEPS_OF_A_NAME * len(loop.names))
    _forget_names(on, (name for name in loop.names if name != kept))
    on.machine.forget_written(loop)
    if on.shell is not loop.shell:
        on.machine.forgotten.append(loop)
    elif len(on.shell.frames) == loop.depth and _moves_arguments(loop.node):
        name = question(on, "arguments after the loop", None, object())
        on.shell.positional = [Value(None, on.here(on.line), (Symbol(name),), (), True)]


@lru_cache(maxsize=1024)
def _moves_arguments(node: Node) -> bool:
    """Whether a loop sets the positional parameters."""
    for command in commands_in(node):
        first, *rest = [getattr(word, "constant", None) for word in command.words] or [None]
        sets = first == "set" and any(one is None or one == "--" or one[:1] not in ("-", "+") for one in rest)
        if sets or first == "shift":
            return True
    return False


def _set_by(on: Interpreter, node: Node) -> set[str]:
    """The variables that a command sets, the functions that it calls included."""
    found: set[str] = set()
    waiting, seen = [node], {id(node)}
    while waiting:
        node = waiting.pop()
        found |= names_set(node)
        for command in commands_in(node):
            name = getattr(command.words[0], "constant", None) if command.words else None
            function = on.shell.functions.get(name) if name is not None else None
            if function is not None and id(function[0]) not in seen:
                seen.add(id(function[0]))
                waiting.append(function[0].body)
    return found


def _told(argv: list[Value] | None) -> tuple[str, ...]:
    return tuple(one.template() for one in argv or ())


def _state(on: Interpreter, node: Node) -> Hashable | None:
    """What must not have changed for the command to answer as before; None when it may answer otherwise at any time."""
    kind = _steadiness(node)
    if not kind:
        return None
    machine = on.machine
    if kind == 2:
        return machine.waited
    return machine.waited, len(machine.steps), len(machine.disturbed), len(machine.overlay)


@lru_cache(maxsize=1024)
def _steadiness(node: Node) -> int:
    """2 for a command that asks what the machine is, 1 for one that looks into files, 0 for all others."""
    steady = 2
    for command in commands_in(node):
        words = [getattr(word, "constant", None) for word in command.words if not isinstance(word, Assignment)]
        targets = [getattr(one.target, "constant", None) for one in command.redirects]
        if command.assignments or len(words) != len(command.words) or not words or None in (*words, *targets):
            return 0
        if any(isinstance(one.target, HereDocument) for one in command.redirects):
            return 0
        base = str(words[0]).rpartition("/")[2]
        if base in _MACHINE:
            if base == "nvidia-smi" and any(_PASSING.search(str(word)) for word in words[1:]):
                return 0
        elif base in _FILES or base in _FILTERS:
            steady = min(steady, 2 if base in _FILTERS and len(words) < 2 else 1)
        else:
            return 0
    return steady
