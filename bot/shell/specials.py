"""Parameters that the shell itself sets: `$?`, `$#`, `$RANDOM`, `$LINENO`, `${FUNCNAME[@]}`…"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.shell.naming import question
from bot.shell.numbers import MAX_DIGITS
from bot.shell.state import Frame, Status, Variable
from bot.shell.values import Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

UNSEEN = "an environment file that is not in the repository"
"""Who may set what nothing else sets, in a process that is `open`."""

ALWAYS_SET = frozenset({"PATH", "HOME", "HOSTNAME", "LD_LIBRARY_PATH"})
"""Variables that the container runtime or every CUDA image sets: unknown, not unset, when nothing declares them."""

_CONSTANTS = {
    "BASH_VERSION": "5.2.15(1)-release",
    "OPTIND": "1",
    "OPTERR": "1",
    "OSTYPE": "linux-gnu",
    "PS4": "+ ",
}
_SYMBOLS = frozenset(
    [
        "RANDOM",
        "SRANDOM",
        "SECONDS",
        "EPOCHSECONDS",
        "EPOCHREALTIME",
        "HOSTNAME",
        "UID",
        "EUID",
        "PPID",
        "BASHPID",
        "GROUPS",
        "SHLVL",
        "MACHTYPE",
        "HOSTTYPE",
        "BASH",
        "BASH_COMMAND",
        "SHELLOPTS",
        "BASHOPTS",
        "TERM",
    ]
)
_CHANGING = frozenset({"RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "BASH_COMMAND"})
"""Those that are another value each time."""

_POSIX_SYMBOLS = frozenset({"PPID", "SHLVL"})
_DASH_UNSET = frozenset({"OPTERR", "BASH_VERSION", "OSTYPE"})
_ORDER = "abefhkmnptuvxBCEHPT"


def status_value(on: Interpreter, status: Status) -> Value:
    """A status as a value."""
    if isinstance(status, int):
        return Value(str(status), on.here(on.line))
    return on.way.resolve(Value(None, on.here(on.line), (status,)))


def value(on: Interpreter, name: str) -> Value | None:
    """The value of a parameter that is no variable, None when it is unset."""
    shell = on.shell
    if name.isdecimal():
        if len(name) > MAX_DIGITS:
            return None
        number = int(name)
        if number == 0:
            return shell.name
        if number > len(shell.positional):
            return None
        if on.machine.opaque:
            on.machine.touch((shell.positional[number - 1],))
        return on.way.resolve(shell.positional[number - 1])
    if name == "?":
        on.machine.touched.update(dict.fromkeys(shell.judged))
        found = status_value(on, shell.status)
        return found.with_origin((*found.origin, *shell.judged)) if shell.judged else found
    if name == "#":
        return Value(str(len(shell.positional)), on.here(on.line))
    if name in ("$", "!"):
        if name == "!" and not shell.jobs:
            return None
        return on.way.symbol("$" + name, on.here(on.line))
    if name == "-":
        return Value(_flags(on), on.here(on.line))
    if name == "_":
        return shell.last_argument
    if name == "LINENO":
        return Value(str(on.command_line), on.here(on.line))
    if shell.posix and name in _DASH_UNSET:
        return None
    if name in _CONSTANTS:
        return Value(_CONSTANTS[name], on.here(on.line))
    if name in ("FUNCNAME", "BASH_SOURCE", "BASH_LINENO", "BASH_VERSINFO", "PIPESTATUS"):
        variable = array(on, name)
        return variable.scalar() if variable is not None else None
    if name in _CHANGING and not shell.posix and name not in on.way.fixed:
        return on.way.symbol(question(on, name, None, name), on.here(on.line))
    if name in _SYMBOLS and (not shell.posix or name in _POSIX_SYMBOLS):
        return on.way.symbol(name, on.here(on.line))
    if name in ALWAYS_SET:
        if on.machine.closed and name == "LD_LIBRARY_PATH":
            return None
        return on.way.symbol(name, on.here(on.line))
    if name in on.way.fixed:
        return on.way.symbol(name, on.here(on.line))
    if on.machine.open and (name[0].isalpha() or name[0] == "_"):
        if is_public(name) or on.machine.doubting:
            return on.way.symbol(name, on.here(on.line))
        on.machine.rest(on, not_set(name, UNSEEN), on.line)
    if on.machine.opaque and name in on.machine.unset:
        on.machine.rest(on, not_set(name, ", ".join(on.machine.sourced)))
        return None
    if on.machine.opaque and (name[0].isalpha() or name[0] == "_"):
        return on.way.symbol(name, on.here(on.line))
    return None


def not_set(name: str, by: str) -> str:
    """The assumption that files which are not seen leave a variable alone."""
    return f"{name} is assumed not to be set by {by}"


def is_public(name: str) -> bool:
    """Whether a variable is named as one that is meant for others (`NAME`, not `_NAME` or `name`)."""
    return not name.startswith("_") and not name.islower()


def is_own(name: str) -> bool:
    """Whether the shell sets this variable itself."""
    return name in _CONSTANTS or name in _SYMBOLS


def _flags(on: Interpreter) -> str:
    letters = {one for one in on.shell.options if len(one) == 1}
    if not on.shell.posix:
        letters |= {"h", "B"} - ({"B"} if "nobraceexpand" in on.shell.options else set())
    flags = "".join(letter for letter in _ORDER if letter in letters)
    return flags + ("c" if on.shell.command_string and not on.shell.posix else "")


def array(on: Interpreter, name: str) -> Variable | None:
    """An array that the shell keeps itself."""
    shell = on.shell
    if shell.posix:
        return None
    if name == "PIPESTATUS":
        return Variable(None, {index: status_value(on, one) for index, one in enumerate(shell.pipe_status)})
    if name == "BASH_VERSINFO":
        texts = ("5", "2", "15", "1", "release")
        return Variable(None, {index: Value(text) for index, text in enumerate(texts)})
    if name == "FUNCNAME":
        names = [frame.name for frame in reversed(shell.frames)]
        if not any(frame.function for frame in shell.frames):
            return None
        names.append("main")
        return Variable(None, {index: Value(text) for index, text in enumerate(names)})
    if name == "BASH_SOURCE":
        if shell.command_string and not shell.frames:
            return None
        values: list[Value] = [Value(_name_of(on, frame)) for frame in reversed(shell.frames)]
        if not shell.command_string:
            values.append(shell.name)
        return Variable(None, dict(enumerate(values)))
    if name == "BASH_LINENO":
        lines = [Value(str(frame.line)) for frame in reversed(shell.frames)]
        return Variable(None, dict(enumerate([*lines, Value("0")])))
    return None


def _name_of(on: Interpreter, frame: Frame) -> str:
    if not frame.function:
        return frame.name if frame.name != "source" else frame.source.path
    name = on.shell.name.text or ""
    return name if not on.shell.command_string else "environment"


def assigned(on: Interpreter, name: str) -> None:
    """What an assignment to a variable of the shell's own does beside setting it."""
    if name == "OPTIND":
        on.shell.getopts_at = 1
    if name in ("RANDOM", "SECONDS", "LINENO"):
        raise on.refusal(f"{name} is assigned: its later values are not known")
