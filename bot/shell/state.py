"""What a running shell holds: variables, functions, options, and where its output goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from posixpath import join, normpath

from bot.provenance import Position, Reason
from bot.shell.syntax import Function
from bot.shell.values import EMPTY, Origin, Source, Symbol, Value, concatenate

MAX_OUTPUT = 1 << 20
"""Characters that one variable, file or pipe may hold: doubling a string in a loop ends here."""

UNKNOWN_DIRECTORY = "."
"""The image's working directory. Paths below or beside it stay relative: they are no path that is known otherwise."""

Status = int | Symbol
"""An exit status; a symbol where only the running container would know it."""


class Refusal(Exception):
    """Something that the interpreter does not guess: the way ends here, unresolved."""

    def __init__(self, reason: str, line: int = 0, source: Source | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.source = source


class Exit(Exception):
    """The shell ends. `failed` says that `set -e` ended it, not a command that was told to. `why` is for people, and
    `place` where that is; both are empty where there is nothing to say.
    """

    def __init__(self, status: Status, *, failed: bool = False, why: str = "", place: Position | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.failed = failed
        self.why = why
        self.place = place


class Return(Exception):
    """A function or a sourced script ends."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status = status


class Loop(Exception):
    """`break` and `continue`. `levels` counts the loops that are still to be left."""

    def __init__(self, levels: int, *, again: bool) -> None:
        super().__init__(levels)
        self.levels = levels
        self.again = again


class Discard(Exception):
    """An error after which a shell drops the rest of the line and goes on with the next one.

    Under `set -e` it ends the shell, unless it was an error in a number (`lenient`).
    """

    def __init__(self, *, lenient: bool = False) -> None:
        super().__init__()
        self.status = 1
        self.lenient = lenient


class ReadOnly(Discard):
    """An assignment to a read-only variable. Where a builtin makes it, only that builtin fails."""


@dataclass(slots=True)
class Variable:
    """A variable. `items` holds the elements of an array (by number) or of a map (by key).

    `bare` is an array that was declared and never assigned: `set -u` tells it from an empty one.
    """

    value: Value | None = None
    items: dict[int | str, Value] | None = None
    mapping: bool = False
    exported: bool = False
    readonly: bool = False
    integer: bool = False
    letters: str = ""
    reference: bool = False
    bare: bool = False

    def copy(self) -> Variable:
        """A copy whose elements can be changed."""
        return Variable(
            self.value,
            dict(self.items) if self.items is not None else None,
            self.mapping,
            self.exported,
            self.readonly,
            self.integer,
            self.letters,
            self.reference,
            self.bare,
        )

    def scalar(self) -> Value | None:
        """What `$NAME` gives: element 0 of an array."""
        if self.items is None:
            return self.value
        return self.items.get("0" if self.mapping else 0)

    def elements(self) -> list[Value]:
        """The values of all elements, in order."""
        if self.items is None:
            return [] if self.value is None else [self.value]
        if self.mapping:
            return list(self.items.values())
        return [self.items[key] for key in sorted(self.items)]

    def keys(self) -> list[str]:
        """The subscripts of all elements, in order."""
        if self.items is None:
            return [] if self.value is None else ["0"]
        return [str(key) for key in (self.items if self.mapping else sorted(self.items))]


class Sink:
    """Where output goes. One that does not `keep` drops it."""

    __slots__ = ("keep", "size", "values")

    def __init__(self, *, keep: bool) -> None:
        self.keep = keep
        self.values: list[Value] = []
        self.size = 0

    def write(self, value: Value) -> None:
        """Adds to what was written. Raises `Refusal` when it is too much."""
        if not self.keep:
            return
        self.size += len(value.text) if value.text is not None else 1
        if self.size > MAX_OUTPUT:
            raise Refusal("more output than is kept")
        self.values.append(value)

    def content(self) -> Value:
        """All that was written."""
        if len(self.values) > 1:
            self.values = [concatenate(self.values)]
        return self.values[0] if self.values else EMPTY


class Feed:
    """Where input comes from: a text that is read step by step, or something unknown. `path` is the file it is."""

    __slots__ = ("at", "path", "value")

    def __init__(self, value: Value, path: str | None = None) -> None:
        self.value = value
        self.path = path
        self.at = 0

    def rest(self) -> Value:
        """All that is left; nothing is left afterwards."""
        value = self.value
        if value.text is not None:
            value = Value(value.text[self.at :], value.origin)
            self.at = len(self.value.text or "")
        else:
            self.value = EMPTY
        return value


Stream = Sink | Feed


@dataclass(slots=True)
class Frame:
    """A function call, or a sourced script: what `local` put aside, and where the call stands."""

    name: str
    source: Source
    line: int
    saved: dict[str, Variable | None] = field(default_factory=dict)
    function: bool = True


def variables_of(environment: Mapping[str, Value], known: Mapping[str, Variable] | None = None) -> dict[str, Variable]:
    """The variables of an environment.

    `known` may hold such variables already; plain ones are shared, since nobody changes them in place.
    """
    known = known or {}
    variables: dict[str, Variable] = {}
    for name, value in environment.items():
        same = known.get(name)
        if same is not None and same.value is value and not (same.letters or same.integer or same.readonly):
            variables[name] = same
        else:
            variables[name] = Variable(value, exported=True)
    return variables


def directory_value(directory: str, origin: tuple[Origin, ...] = ()) -> Value:
    """A directory as `$PWD` tells it."""
    if directory.startswith("/"):
        return Value(directory, origin)
    start = Value(None, origin, (Symbol("PWD"),))
    if directory == UNKNOWN_DIRECTORY:
        return start
    step = Symbol(f"PWD/{directory}", False, start, lambda base: normpath(join(base, directory)))
    return Value(None, origin, (step,))


@dataclass(slots=True)
class Shell:
    """A shell process. A subshell works on a copy. `left` is the directory that `cd` came from.

    `unseen` are files that it, or a shell above it, has sourced and that nobody here has seen. `judged` are the
    assumptions in what the last command read, on which its status rests.
    """

    variables: dict[str, Variable]
    positional: list[Value]
    name: Value
    posix: bool = False
    functions: dict[str, tuple[Function, Source]] = field(default_factory=dict)
    options: set[str] = field(default_factory=set)
    switches: set[str] = field(default_factory=set)
    traps: dict[str, str] = field(default_factory=dict)
    directory: str = "/"
    left: str | None = None
    status: Status = 0
    frames: list[Frame] = field(default_factory=list)
    pipe_status: list[Status] = field(default_factory=lambda: [0])
    last_argument: Value = EMPTY
    background: Status = 0
    jobs: int = 0
    command_string: bool = False
    inherited_names: frozenset[str] = frozenset()
    getopts_at: int = 1
    subshell: bool = False
    unseen: tuple[str, ...] = ()
    judged: tuple[Reason, ...] = ()

    def copy(self) -> Shell:
        """The state of a subshell."""
        return Shell(
            {name: one if one.items is None else one.copy() for name, one in self.variables.items()},
            list(self.positional),
            self.name,
            self.posix,
            dict(self.functions),
            set(self.options),
            set(self.switches),
            {},
            self.directory,
            self.left,
            self.status,
            [Frame(one.name, one.source, one.line, dict(one.saved), one.function) for one in self.frames],
            list(self.pipe_status),
            self.last_argument,
            self.background,
            self.jobs,
            self.command_string,
            self.inherited_names,
            self.getopts_at,
            True,
            self.unseen,
            self.judged,
        )

    def assign(self, name: str, value: Value) -> None:
        """Sets a plain variable, whatever it was, as a builtin does. Scalars are replaced, never changed in place."""
        old = self.variables.get(name)
        if old is None:
            self.variables[name] = Variable(value)
        elif old.items is not None:
            old.items["0" if old.mapping else 0] = value
        else:
            self.variables[name] = Variable(
                value, None, old.mapping, old.exported, old.readonly, old.integer, old.letters, old.reference
            )
