"""`declare`, `local`, `export`, `readonly`: variables with attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bot.shell.state import Exit, ReadOnly, Status, Variable
from bot.shell.syntax import Assignment
from bot.shell.values import Value, concatenate

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

_TARGET = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(.*?)\])?(?:(\+?)=(.*))?\Z", re.DOTALL)


def declare(on: Interpreter, command: str, arguments: list[Value], assigned: Mapping[int, Assignment]) -> Status:
    """Runs a declaration builtin. `assigned` are the arguments (counted with the command's name as 0) that the reader
    saw as assignments.
    """
    options, removed, at = _options(on, arguments)
    if command == "local" and not any(frame.function for frame in on.shell.frames):
        if on.shell.posix:
            raise Exit(2)
        return 1
    names = arguments[at:]
    if not names:
        return 0
    if "p" in options or (command in ("declare", "typeset") and ("F" in options or "f" in options)):
        return _print(on, options, names)
    if command == "export" and "f" in options:
        for name in names:
            if (name.text or "") not in on.shell.functions:
                return 1
            variable = f"BASH_FUNC_{name.text}%%"
            on.shell.variables[variable] = Variable(on.way.symbol(variable), exported=True)
        return 0
    status = 0
    for offset, argument in enumerate(names):
        assignment = assigned.get(at + offset + 1)
        try:
            if not _one(on, command, options, removed, argument, assignment):
                status = 1
        except ReadOnly:
            if on.shell.posix:
                raise
            status = 1
    return status


def _options(_on: Interpreter, arguments: list[Value]) -> tuple[set[str], set[str], int]:
    options: set[str] = set()
    removed: set[str] = set()
    at = 0
    while at < len(arguments):
        text = arguments[at].text
        if text == "--":
            at += 1
            break
        if text is None or len(text) < 2 or text[0] not in "-+" or not text[1:].isalpha():
            break
        (options if text[0] == "-" else removed).update(text[1:])
        at += 1
    return options, removed, at


def _print(on: Interpreter, options: set[str], names: list[Value]) -> Status:
    """The forms that print; their output is read by people only."""
    from bot.shell.commands import output

    status = 0
    for name in names:
        text = name.text or ""
        if "f" in options or "F" in options:
            if text in on.shell.functions:
                if "F" in options:
                    output(on, Value(text + "\n", name.origin))
            else:
                status = 1
        elif text not in on.shell.variables:
            status = 1
        else:
            shown = on.way.symbol(f"declare -p {text}", name.origin)
            output(on, concatenate([shown, Value("\n", name.origin)]))
    return status


def _one(
    on: Interpreter,
    command: str,
    options: set[str],
    removed: set[str],
    argument: Value,
    assignment: Assignment | None,
) -> bool:
    from bot.shell import commands

    index: str | None = None
    append = False
    value: Value | None = None
    if assignment is not None:
        name = assignment.name
        append = assignment.append
        if assignment.index is not None:
            index = commands.subscript(on, name, assignment.index)
        if assignment.elements is None:
            # The right side is expanded before the name becomes local.
            value = on.expand.single(assignment.value, assignment=True)
    else:
        text = on.way.resolve(argument).text
        if text is None:
            name, value = _partly_known(on, argument)
        else:
            found = _TARGET.match(text)
            if not found:
                return False
            name, index, append = found[1], found[2], bool(found[3])
            if found[4] is not None:
                value = Value(found[4], argument.origin)
                if found[4].startswith("(") and found[4].endswith(")") and ("a" in options or "A" in options):
                    raise on.refusal("an array in a quoted declaration is not followed")
    local = command == "local" or (command in ("declare", "typeset") and "g" not in options)
    elements = assignment.elements if assignment is not None else None
    before = on.shell.variables.get(name)
    if local and before is not None and before.readonly:
        if not _is_global(on, name):
            raise on.refusal(f"{name} is local and read-only in a function that called this one, or in this one")
        if command == "local" or value is not None or elements is not None:
            raise ReadOnly
    if local:
        _make_local(on, name, inherit="I" in options or on.shell.posix)
    variable = on.shell.variables.get(name)
    if variable is not None and variable.readonly and (value is not None or elements is not None):
        if command == "export":
            variable.exported = "n" not in options
        raise ReadOnly
    if "n" in options:
        on.shell.variables[name] = Variable(value, reference=True)
        return True
    _shape(on, name, options)
    changed = on.own(name)
    changed.integer = (changed.integer or "i" in options) and "i" not in removed
    for letter in "lu":
        if letter in options:
            changed.letters = letter
        if letter in removed:
            changed.letters = changed.letters.replace(letter, "")
    if elements is not None:
        commands.assign_elements(on, name, elements, append=append, mapping="A" in options)
    elif value is not None:
        on.assign(name, commands.with_guards(on, value), append=append, index=index)
    changed = on.own(name)
    if command == "export":
        changed.exported = "n" not in options
    else:
        changed.exported = (changed.exported or "x" in options) and "x" not in removed
    if command == "readonly" or "r" in options:
        changed.readonly = True
    return True


def _partly_known(on: Interpreter, argument: Value) -> tuple[str, Value]:
    """`NAME=…` whose right side holds a symbol."""
    head = argument.parts[0]
    found = re.match(r"([A-Za-z_][A-Za-z0-9_]*)=", head) if isinstance(head, str) else None
    if found is None or not isinstance(head, str):
        raise on.refusal(f"a declaration of a name that is not known: {argument.template()}")
    rest = head[found.end() :]
    parts = (rest, *argument.parts[1:]) if rest else argument.parts[1:]
    return found[1], Value(None, argument.origin, parts)


def _is_global(on: Interpreter, name: str) -> bool:
    return not any(name in frame.saved for frame in on.shell.frames)


def _make_local(on: Interpreter, name: str, *, inherit: bool) -> None:
    frame = next((one for one in reversed(on.shell.frames) if one.function), None)
    if frame is None or name in frame.saved:
        return
    old = on.shell.variables.get(name)
    frame.saved[name] = old
    if inherit and old is not None:
        on.shell.variables[name] = old.copy()
    else:
        on.shell.variables[name] = Variable(
            exported=old.exported if old is not None else False, readonly=old.readonly if old is not None else False
        )


def _shape(on: Interpreter, name: str, options: set[str]) -> None:
    """Makes the variable an array or a map where the options ask for it."""
    if "A" not in options and "a" not in options:
        return
    variable = on.own(name)
    if variable.items is None:
        variable.items = {}
        variable.bare = variable.value is None
        if variable.value is not None:
            variable.items["0" if "A" in options else 0] = variable.value
        variable.value = None
        variable.mapping = "A" in options
