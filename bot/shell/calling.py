"""Builtins that run something else: `eval`, `exec`, `source`, `command`, and those that look a name up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.provenance import Reason
from bot.shell import builtins, commands, programs
from bot.shell.declarations import declare
from bot.shell.grammar import RESERVED, parse
from bot.shell.machine import STEPS_OF_A_COMMAND_CHARACTER
from bot.shell.settings import text_of
from bot.shell.state import Discard, Exit, Frame, Return, Status
from bot.shell.syntax import DECLARATIONS, Script, Simple
from bot.shell.values import Source, Value, concatenate

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter


def eval_builtin(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`eval`: only of text that is fully known."""
    arguments = [on.way.resolve(one) for one in arguments]
    if any(one.text is None for one in arguments):
        raise on.refusal("eval of a text that is not known", node.line)
    text = " ".join(one.text or "" for one in arguments)
    if not text.strip():
        return 0
    commands.deeper(on)
    on.machine.spend(STEPS_OF_A_COMMAND_CHARACTER * len(text))
    outer = on.source
    on.source = programs.source_of_value(on, Value(text, arguments[0].origin))
    try:
        return _run_units(on, parse(text, posix=on.shell.posix))
    finally:
        on.source = outer
        on.machine.depth -= 1


def _run_units(on: Interpreter, script: Script) -> Status:
    """Runs a text within another one.

    An error that makes a shell drop the rest of a line drops that of the inner text's line; a subshell ends with it.
    """
    status: Status = 0
    for index, unit in enumerate(script.units):
        on.readable(script, index)
        try:
            status = on.sequence(unit)
        except Discard as problem:
            if on.shell.posix or on.shell.subshell:
                raise
            status = on.shell.status = problem.status
    if script.failure is None:
        return status
    if on.shell.posix:
        raise Exit(2)
    return 2


def exec_builtin(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`exec`: of a program, or of redirections alone."""
    at = 0
    extra = commands.prefix_environment(on, node)
    env_cleared = False
    while at < len(arguments) and (arguments[at].text or "").startswith("-"):
        text = arguments[at].text
        at += 1
        if text == "--":
            break
        if text == "-a":
            at += 1
        elif text in ("-c", "-cl", "-lc"):
            env_cleared = True
        elif text != "-l":
            return 2
    if at >= len(arguments):
        for assignment in node.assignments:
            commands.assign(on, assignment)
        return 0
    if env_cleared:
        raise on.refusal("exec -c is not followed")
    return programs.run(on, arguments[at:], extra, node, replace=True)


def source(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`source` and `.`."""
    if arguments and arguments[0].text == "--":
        arguments = arguments[1:]
    if not arguments:
        return 2
    name = on.way.resolve(arguments[0])
    if name.text is None:
        on.machine.sourced.setdefault(name.template())
        return _unknown_source(on, name.template(), arguments, node)
    found = programs.script_at(on, name.text)
    if found is None:
        path = on.path(name.text)
        on.machine.sourced.setdefault(path)
        if path == "/dev/null":
            return 0
        if on.machine.exists(path) is False or (on.machine.closed and "/" not in name.text):
            if on.shell.posix:
                raise Exit(2)
            return 1
        return _unknown_source(on, path, arguments, node)
    path, text, source = found
    on.machine.sourced.setdefault(path)
    return _sourced(on, text, source, arguments, node)


def _sourced(on: Interpreter, text: str, source: Source, arguments: list[Value], node: Simple) -> Status:
    commands.deeper(on)
    shell = on.shell
    outer = on.source, on.loops, on.guards
    positional = shell.positional
    replaced = len(arguments) > 1
    if replaced:
        shell.positional = arguments[1:]
        given = shell.positional
    frame = Frame("source", source, node.line, function=False)
    shell.frames.append(frame)
    on.source = source
    shell.status = 0
    status: Status = 0
    script = parse(text, posix=shell.posix)
    try:
        status = _run_units(on, script)
    except Return as ended:
        status = ended.status
    finally:
        on.source, on.loops, on.guards = outer
        shell.frames.pop()
        if replaced and shell.positional is given:
            shell.positional = positional
        on.machine.depth -= 1
    return status


def _unknown_source(on: Interpreter, path: str, arguments: list[Value], node: Simple) -> Status:
    """A script that is not in the repository: what it sets are symbols of their own names."""
    if on.machine.closed:
        raise on.refusal(f"source of a file that is not known: {path}", node.line)
    on.machine.opaque = True
    on.shell.unseen = tuple(dict.fromkeys((*on.shell.unseen, path)))
    text = f"{path} is assumed to change nothing that the entrypoint or the environment set"
    on.machine.note(on, text, node.line)
    _rest_on(on, Reason("assumption", "", None, text))
    return programs.assumed_step(on, [Value("source", on.here(node.line)), *arguments], node)


def _rest_on(on: Interpreter, assumption: Reason) -> None:
    """Puts an assumption among the reasons of all that is set: from now on every value of it rests on that."""
    shell = on.shell
    for name, old in list(shell.variables.items()):
        variable = old.copy()
        if variable.value is not None:
            variable.value = variable.value.resting_on(assumption)
        if variable.items is not None:
            variable.items = {key: value.resting_on(assumption) for key, value in variable.items.items()}
        shell.variables[name] = variable
    shell.positional = [value.resting_on(assumption) for value in shell.positional]


def command(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`command`: without functions, or to look a name up."""
    at = 0
    while at < len(arguments) and re.fullmatch(r"-[pvV]+", arguments[at].text or ""):
        if "v" in (arguments[at].text or "").lower():
            return _look_up(on, arguments[at + 1 :], node)
        at += 1
    if at < len(arguments) and arguments[at].text == "--":
        at += 1
    if at >= len(arguments):
        return 0
    return _without_functions(on, arguments[at:], node)


def builtin_builtin(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`builtin`."""
    if not arguments:
        return 0
    name = text_of(on, arguments[0], "the builtin")
    found = builtins.find(on, name)
    if found is None:
        return 1
    if name in DECLARATIONS:
        return declare(on, name, arguments[1:], {})
    return found(on, arguments[1:], node)


def _without_functions(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    name = text_of(on, arguments[0], "the program's name")
    found = builtins.find(on, name)
    if name in DECLARATIONS:
        return declare(on, name, arguments[1:], {})
    if found is not None:
        return found(on, arguments[1:], node)
    return programs.run(on, arguments, {}, node)


def _look_up(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`command -v`, and the status of `type` and `hash`."""
    status: Status = 1
    for argument in arguments:
        name = text_of(on, argument, "the program's name")
        if name in on.shell.functions or builtins.find(on, name) is not None or name in RESERVED:
            commands.output(on, Value(name + "\n", on.here(node.line)))
            status = 0
            continue
        known = programs.program_exists(on, name)
        if known is None:
            known = programs.is_installed(on, name)
        if known:
            if name.startswith("/"):
                commands.output(on, Value(name + "\n", on.here(node.line)))
            else:
                path = on.way.filled(f"path of {name}", on.here(node.line))
                commands.output(on, concatenate([path, Value("\n", path.origin)]))
            status = 0
    return status


def type_builtin(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`type`."""
    at, letters = 0, ""
    while at < len(arguments) and re.fullmatch(r"-[atpPf]+", arguments[at].text or ""):
        letters += (arguments[at].text or "")[1:]
        at += 1
    if "t" in letters:
        name = text_of(on, arguments[at], "the name") if at < len(arguments) else ""
        kind = _kind(on, name)
        if kind:
            commands.output(on, Value(kind + "\n", on.here(node.line)))
        return int(not kind)
    outer = on.io
    if "p" not in letters and "P" not in letters:
        # What `type` prints is prose: nobody reads it but people.
        on.io = {key: one for key, one in on.io.items() if key != 1}
    try:
        return _look_up(on, arguments[at:], node)
    finally:
        on.io = outer


def _kind(on: Interpreter, name: str) -> str:
    if name in RESERVED:
        return "keyword"
    if name in on.shell.functions:
        return "function"
    if builtins.find(on, name) is not None:
        return "builtin"
    known = programs.program_exists(on, name)
    if known is None:
        known = programs.is_installed(on, name)
    return "file" if known else ""


def hash_builtin(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`hash`, for its status."""
    names = [one for one in arguments if not (one.text or "").startswith("-")]
    if not names:
        return 0
    outer, on.io = on.io, {key: one for key, one in on.io.items() if key != 1}
    try:
        return _look_up(on, names, node)
    finally:
        on.io = outer
