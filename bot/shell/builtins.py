"""The shell's own commands."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.shell import bracket, calling, commands, programs, settings
from bot.shell.inputs import getopts, mapfile, read
from bot.shell.numbers import is_digits, whole
from bot.shell.output import echo, printf
from bot.shell.settings import text_of
from bot.shell.state import Exit, Loop, Return, Status, directory_value
from bot.shell.syntax import DECLARATIONS, Simple
from bot.shell.values import Symbol, Value, concatenate

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

Builtin = Callable[["Interpreter", list[Value], Simple], Status]

SPECIAL = frozenset(
    {
        ":",
        ".",
        "break",
        "continue",
        "eval",
        "exec",
        "exit",
        "export",
        "readonly",
        "return",
        "set",
        "shift",
        "trap",
        "unset",
    }
)


def find(on: Interpreter, name: str) -> Builtin | None:
    """The builtin of this name."""
    if on.shell.posix and name in _BASH_ONLY:
        return None
    return _BUILTINS.get(name)


# --- control -------------------------------------------------------------------------------------------------------


def _true(_on: Interpreter, _arguments: list[Value], _node: Simple) -> Status:
    return 0


def _false(_on: Interpreter, _arguments: list[Value], _node: Simple) -> Status:
    return 1


def _status_argument(on: Interpreter, arguments: list[Value]) -> Status:
    if not arguments:
        return on.shell.status
    value = on.way.resolve(arguments[0])
    if value.text is None:
        symbols = value.symbols()
        return symbols[0] if len(value.parts) == 1 else Symbol(value.template())
    if not re.fullmatch(r"\s*[+-]?[0-9]+\s*", value.text):
        return 2
    return whole(value.text) & 0xFF


def _exit(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    raise Exit(_status_argument(on, arguments), why="the script says `exit`", place=on.position())


def _return(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    if not on.shell.frames:
        if on.shell.posix:
            raise Exit(_status_argument(on, arguments))
        return 2
    raise Return(_status_argument(on, arguments))


def _loop_control(again: bool) -> Builtin:
    def control(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
        if on.loops == 0:
            return 0
        levels = 1
        if arguments:
            text = text_of(on, arguments[0], "the number of loops")
            if not is_digits(text):
                raise Exit(128)
            levels = whole(text)
            if levels < 1:
                raise Loop(on.loops, again=False)
        raise Loop(levels, again=again)

    return control


def _shift(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    if any(one.splits for one in on.shell.positional):
        raise on.refusal("shift over a value of unknown length")
    count = 1
    if arguments:
        text = text_of(on, arguments[0], "the argument of shift")
        if not re.fullmatch(r"[+-]?[0-9]+", text):
            return 1
        count = whole(text)
    if not 0 <= count <= len(on.shell.positional):
        if on.shell.posix:
            raise Exit(2)
        return 1
    on.shell.positional = on.shell.positional[count:]
    return 0


# --- the rest ------------------------------------------------------------------------------------------------------


def _test(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    return bracket.builtin_test(on, arguments)


def _bracket(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    if not arguments or arguments[-1].text != "]":
        return 2
    return bracket.builtin_test(on, arguments[:-1])


def _let(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    status: Status = 1
    for argument in arguments:
        status = on.arithmetic_status(text_of(on, argument, "the expression"))
    return status


def _cd(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    arguments = [one for one in arguments if one.text not in ("-P", "-L", "--", "-e")]
    target = on.way.resolve(arguments[0]) if arguments else on.expand.variable("HOME")
    if target is None:
        return 1
    if len(arguments) > 1 and not on.shell.posix:
        return 1
    if target.text is None:
        raise on.refusal(f"cd to a directory that is not known: {target.template()}", node.line)
    text = target.text
    if text == "-":
        old = on.expand.variable("OLDPWD")
        if old is None:
            return 1
        if old.text is None and (on.shell.left is None or old.template() != directory_value(on.shell.left).template()):
            raise on.refusal(f"cd to a directory that is not known: {old.template()}", node.line)
        text = old.text if old.text is not None else on.shell.left or ""
        commands.output(on, concatenate([old, Value("\n", on.here(node.line))]))
    if not text:
        return 0
    path = on.path(text)
    known = on.machine.is_directory(path)
    if known is False:
        return 2 if on.shell.posix else 1
    if known is None:
        on.machine.note(on, f"the directory {path} is assumed to exist", node.line)
    on.assign("OLDPWD", directory_value(on.shell.directory, on.here(node.line)))
    on.shell.left, on.shell.directory = on.shell.directory, path
    on.assign("PWD", directory_value(path, on.here(node.line)))
    return 0


def _pwd(on: Interpreter, _arguments: list[Value], node: Simple) -> Status:
    value = on.way.resolve(directory_value(on.shell.directory, on.here(node.line)))
    return commands.output(on, concatenate([value, Value("\n", value.origin)]))


def _directory_stack(on: Interpreter, _arguments: list[Value], node: Simple) -> Status:
    raise on.refusal("the stack of directories is not followed", node.line)


def _wait(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    wanted = [one for one in arguments if not (one.text or "").startswith("-")]
    if not wanted and not any((one.text or "").startswith("-n") for one in arguments):
        return 0
    return on.shell.background


def _quiet(_on: Interpreter, _arguments: list[Value], _node: Simple) -> Status:
    return 0


def _kill(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if any(one.template() in ("${$$}", "${BASHPID}", "0") for one in arguments[-1:]) and "-0" not in [
        one.text for one in arguments
    ]:
        raise on.refusal("the script sends a signal to itself", node.line)
    if on.condition_depth:
        return programs.other(on, "kill", [Value("kill"), *arguments], node)
    return 0


def _compgen(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    texts = [one.text for one in arguments]
    if texts[:1] == ["-v"] or texts[:2] == ["-A", "variable"]:
        names = on.variable_names()
    elif texts[:1] == ["-e"] or texts[:2] == ["-A", "export"]:
        names = [name for name in on.variable_names() if on.shell.variables[name].exported]
    else:
        raise on.refusal("compgen is not followed", node.line)
    rest = texts[2:] if texts[0] == "-A" else texts[1:]
    prefix = rest[0] if rest else None
    if not prefix:
        raise on.refusal("a list of all variables is not followed", node.line)
    found = sorted(name for name in names if name.startswith(prefix))
    commands.output(on, Value("".join(name + "\n" for name in found), on.here(node.line)))
    return int(not found)


def _unfollowed(on: Interpreter, _arguments: list[Value], node: Simple) -> Status:
    raise on.refusal(f"{node.text} is not followed", node.line)


def _caller(on: Interpreter, _arguments: list[Value], _node: Simple) -> Status:
    return int(not on.shell.frames)


_BUILTINS: dict[str, Builtin] = {
    ":": _true,
    "true": _true,
    "false": _false,
    "exit": _exit,
    "return": _return,
    "break": _loop_control(again=False),
    "continue": _loop_control(again=True),
    "shift": _shift,
    "eval": calling.eval_builtin,
    "exec": calling.exec_builtin,
    ".": calling.source,
    "source": calling.source,
    "command": calling.command,
    "builtin": calling.builtin_builtin,
    "type": calling.type_builtin,
    "hash": calling.hash_builtin,
    "set": settings.set_builtin,
    "shopt": settings.shopt,
    "trap": settings.trap,
    "unset": settings.unset,
    "alias": settings.alias,
    "unalias": _quiet,
    "test": _test,
    "[": _bracket,
    "let": _let,
    "cd": _cd,
    "pwd": _pwd,
    "pushd": _directory_stack,
    "popd": _directory_stack,
    "dirs": _directory_stack,
    "wait": _wait,
    "ulimit": _quiet,
    "umask": _quiet,
    "disown": _quiet,
    "enable": _quiet,
    "times": _quiet,
    "jobs": _quiet,
    "bg": _quiet,
    "fg": _quiet,
    "kill": _kill,
    "caller": _caller,
    "compgen": _compgen,
    **dict.fromkeys(("bind", "complete", "compopt", "fc", "help", "history", "logout", "suspend"), _unfollowed),
    "echo": echo,
    "printf": printf,
    "read": read,
    "mapfile": mapfile,
    "readarray": mapfile,
    "getopts": getopts,
    **dict.fromkeys(DECLARATIONS, _quiet),
}
_BASH_ONLY = frozenset(
    [
        "source",
        "builtin",
        "shopt",
        "let",
        "pushd",
        "popd",
        "dirs",
        "disown",
        "enable",
        "mapfile",
        "readarray",
        "declare",
        "typeset",
        "caller",
    ]
)
