"""Simple commands: assignments, lookup, functions, and the streams around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bot.shell import builtins, declarations, programs, redirects, settings
from bot.shell.arithmetic import wrap
from bot.shell.machine import FEW, STEPS_OF_A_WORD
from bot.shell.state import Discard, Frame, ReadOnly, Return, Sink, Status, Variable
from bot.shell.syntax import DECLARATIONS, Assignment, Element, Function, Simple, Word
from bot.shell.values import Source, Value, concatenate

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

MAX_ARGUMENTS = 20_000
"""More arguments than any command has: doubling `"$@"` in a loop ends here."""


_READ_COST = 200
"""Steps of a pattern match that take as long as reading a variable in an expression."""


class ArithmeticVariables:
    """The variables of a shell as an expression sees them. `fixed` gives texts in place of some of them."""

    def __init__(self, on: Interpreter, fixed: Mapping[str, str]) -> None:
        self.on = on
        self.fixed = fixed

    def read(self, name: str, index: int | str | None) -> str | None:
        """The text of a variable. Raises `UnknownNumber` where it is a symbol."""
        from bot.shell.expansion import UnknownNumber

        on = self.on
        on.machine.spend(_READ_COST)
        if name in self.fixed:
            return self.fixed[name]
        value = on.expand.variable(name) if index is None else on.expand.element(name, str(index))
        if value is None:
            if "u" in on.shell.options:
                raise on.fatal(f"{name} is not set, under `set -u`")
            return None
        value = on.way.resolve(value)
        if value.text is None:
            raise UnknownNumber(name, value)
        return value.text

    def write(self, name: str, index: int | str | None, value: int) -> None:
        """Sets a variable or element."""
        on = self.on
        text = Value(str(wrap(value)), (*on.here(on.line), *on.machine.touched))
        on.assign(name, text, index=None if index is None else str(index))

    def is_map(self, name: str) -> bool:
        """Whether the variable is a map."""
        variable = self.on.shell.variables.get(name)
        return variable is not None and variable.mapping


def option_is_set(on: Interpreter, name: str) -> bool:
    """Whether `set -o name` is on."""
    letter = settings.OPTION_LETTERS.get(name)
    return (letter or name) in on.shell.options


# --- simple commands -----------------------------------------------------------------------------------------------


def simple(on: Interpreter, node: Simple) -> Status:
    """Runs a simple command."""
    on.line = on.command_line = node.line
    on.substitution_status = None
    status = _simple(on, node)
    on.shell.pipe_status = [status]
    return on.check(status, node)


def _simple(on: Interpreter, node: Simple) -> Status:
    words = node.words
    if not words:
        return _assignments_only(on, node)
    arguments: list[Value] = []
    declared: dict[int, Assignment] = {}
    for word in words:
        if isinstance(word, Assignment):
            declared[len(arguments)] = word
            arguments.append(Value(word.name))
        elif word.constant is not None:
            arguments.append(Value(word.constant, on.here(word.line)))
        else:
            on.expand.word(word, arguments)
    on.line = node.line
    if not arguments:
        return _assignments_only(on, node)
    if len(arguments) > FEW:
        if len(arguments) > MAX_ARGUMENTS or sum(len(one.text or "") for one in arguments) > 2 * on.machine.limits.text:
            raise on.refusal("a command line without end")
        on.machine.spend(STEPS_OF_A_WORD * len(arguments))
    return _dispatch(on, arguments, node, declared)


def _assignments_only(on: Interpreter, node: Simple) -> Status:
    for assignment in node.assignments:
        assign(on, assignment)
    if node.redirects:
        try:
            redirects.applied(on, node.redirects)
        except redirects.Failed:
            return 1
    status = on.substitution_status
    return status if status is not None else 0


def _dispatch(on: Interpreter, arguments: list[Value], node: Simple, declared: Mapping[int, Assignment]) -> Status:
    """Looks a command up and runs it: function, builtin, or program."""
    first = on.way.resolve(arguments[0])
    if first.text is None:
        raise on.refusal(f"the program's name is not known: {first.template()}", node.line)
    name = first.text
    outer = on.io
    function = on.shell.functions.get(name)
    builtin = builtins.find(on, name)
    permanent = name == "exec" and len(arguments) == 1 and function is None
    if node.redirects:
        try:
            on.io = redirects.applied(on, node.redirects, lasting=permanent)
        except redirects.Failed:
            return 1
        on.redirected += not permanent
    try:
        if function is not None and not (on.shell.posix and name in builtins.SPECIAL):
            status = _with_prefix(on, node, lambda: call(on, name, function, arguments[1:], node.line))
        elif builtin is not None:
            if name in DECLARATIONS:
                status = _with_prefix(on, node, lambda: declarations.declare(on, name, arguments[1:], declared))
            elif name in ("command", "builtin") and declared and len(arguments) > 1:
                shifted = {index - 1: one for index, one in declared.items()}
                inner = Simple((), (), (), node.line, node.text)
                return _dispatch(on, arguments[1:], inner, shifted)
            elif name == "exec":
                status = builtin(on, arguments[1:], node)
            else:
                status = _with_prefix(on, node, lambda: _built_in(on, name, lambda: builtin(on, arguments[1:], node)))
        else:
            status = programs.run(on, arguments, prefix_environment(on, node), node)
    finally:
        if not permanent:
            on.io = outer
            on.redirected -= bool(node.redirects)
    on.shell.last_argument = arguments[-1]
    return status


_ASSIGNING = frozenset({"read", "mapfile", "readarray", "printf", "getopts", "let"})


def _built_in(on: Interpreter, name: str, run: Callable[[], Status]) -> Status:
    """Runs a builtin. One that sets variables fails where they are read-only, and nothing else does."""
    try:
        return run()
    except ReadOnly:
        if name not in _ASSIGNING or on.shell.posix:
            raise
        return 2 if name == "getopts" else 1


def prefix_environment(on: Interpreter, node: Simple) -> dict[str, Value]:
    """The values of `A=1 B=2` before a command."""
    found: dict[str, Value] = {}
    for assignment in node.assignments:
        if assignment.elements is not None or assignment.index is not None:
            continue
        value = on.expand.single(assignment.value, assignment=True)
        if assignment.append:
            old = on.expand.variable(assignment.name)
            if old is not None:
                value = concatenate([old, value])
        found[assignment.name] = value
    return found


def _with_prefix(on: Interpreter, node: Simple, run: Callable[[], Status]) -> Status:
    """Runs a function or builtin with assignments that hold for its time only."""
    if not node.assignments:
        return run()
    values = prefix_environment(on, node)
    saved = {name: on.shell.variables.get(name) for name in values}
    fixed = {name for name, one in saved.items() if one is not None and one.readonly}
    if fixed:
        if on.shell.posix:
            raise ReadOnly
        # Bash says so, and runs the command with the others.
        values = {name: value for name, value in values.items() if name not in fixed}
        saved = {name: one for name, one in saved.items() if name not in fixed}
    on.shell.variables.update((name, Variable(value, exported=True)) for name, value in values.items())
    try:
        return run()
    finally:
        restore(on, saved)


def restore(on: Interpreter, saved: Mapping[str, Variable | None]) -> None:
    """Puts variables back."""
    for name, variable in saved.items():
        if variable is None:
            on.shell.variables.pop(name, None)
        else:
            on.shell.variables[name] = variable


def call(on: Interpreter, name: str, function: tuple[Function, Source], arguments: list[Value], line: int) -> Status:
    """Calls a function."""
    node, source = function
    deeper(on)
    shell = on.shell
    outer = shell.positional, on.source, on.loops, on.guards, on.line
    frame = Frame(name, on.source, line)
    shell.frames.append(frame)
    shell.positional = arguments
    on.source, on.loops = source, 0
    try:
        status = on.execute(node.body)
    except Return as ended:
        status = ended.status
    finally:
        shell.positional, on.source, on.loops, on.guards, on.line = outer
        shell.frames.pop()
        restore(on, frame.saved)
        on.machine.depth -= 1
    return status


def deeper(on: Interpreter) -> None:
    """Counts a call, a sourced script, or a program's script inside another. Raises `Refusal`."""
    on.machine.depth += 1
    if on.machine.depth > on.machine.limits.depth:
        raise on.refusal("calls itself too deeply")


# --- assignments ---------------------------------------------------------------------------------------------------


def assign(on: Interpreter, assignment: Assignment) -> None:
    """`NAME=value`, `NAME[i]=value`, `NAME=(…)`."""
    on.line = assignment.line
    if assignment.elements is not None:
        assign_elements(on, assignment.name, assignment.elements, append=assignment.append)
        return
    value = on.expand.single(assignment.value, assignment=True)
    index = subscript(on, assignment.name, assignment.index) if assignment.index is not None else None
    on.assign(assignment.name, with_guards(on, value), append=assignment.append, index=index)


def with_guards(on: Interpreter, value: Value) -> Value:
    """The value with the conditions under which it is assigned, when it does not carry them yet."""
    if not on.guards or value.origin[: len(on.guards)] == on.guards:
        return value
    missing = tuple(one for one in on.guards if one not in value.origin)
    return value.with_origin((*value.origin, *missing)) if missing else value


def subscript(on: Interpreter, name: str, index: Word) -> str:
    """The text of a subscript."""
    value = on.expand.single(index)
    if value.text is None:
        raise on.refusal(f"the subscript of {name} is not known")
    return value.text


def assign_elements(
    on: Interpreter, name: str, elements: tuple[Element, ...], *, append: bool, mapping: bool = False
) -> None:
    """`NAME=(…)` and `NAME+=(…)`."""
    current = on.shell.variables.get(name)
    mapping = mapping or (current is not None and current.mapping)
    pairs: list[tuple[str | None, Value, bool]] = []
    plain: list[Value] = []
    for element in elements:
        if element.plainly is not None and not mapping:
            plain = []
            on.expand.word(element.plainly, plain)
            pairs.extend((None, one, False) for one in plain)
        elif element.index is not None:
            value = on.expand.single(element.value)
            pairs.append((on.expand.single(element.index).text, value, element.append))
        else:
            plain = []
            on.expand.word(element.value, plain)
            pairs.extend((None, one, False) for one in plain)
    if len(pairs) > FEW:
        on.machine.spend(STEPS_OF_A_WORD * len(pairs))
    variable = on.own(name)
    if variable.readonly:
        raise ReadOnly
    variable.bare = False
    if variable.items is None:
        variable.items = {}
        if append and variable.value is not None:
            variable.items[0] = variable.value
        variable.value = None
        variable.mapping = mapping
    elif not append:
        variable.items = {}
    if variable.mapping:
        _fill_map(on, variable, pairs)
    else:
        _fill_array(on, variable, pairs)


def _fill_map(on: Interpreter, variable: Variable, pairs: list[tuple[str | None, Value, bool]]) -> None:
    assert variable.items is not None
    keyed = iter(pairs)
    for key, value, append in keyed:
        if key is None:
            # Without subscripts the words are keys and values in turn.
            if value.text is None:
                raise on.refusal("the key of a map is not known")
            following = next(keyed, None)
            variable.items[value.text] = following[1] if following is not None else Value("")
            continue
        old = variable.items.get(key)
        if append and old is not None:
            value = concatenate([old, value])
        variable.items[key] = with_guards(on, value)


def _fill_array(on: Interpreter, variable: Variable, pairs: list[tuple[str | None, Value, bool]]) -> None:
    items = variable.items
    assert items is not None
    following = _following(items)
    for key, value, append in pairs:
        if key is not None:
            following = on.expand.index_number(key, variable)
            if following < 0:
                raise Discard
            old = items.get(following)
            if append and old is not None:
                value = concatenate([old, value])
        if variable.integer and value.text is not None:
            value = Value(str(on.calculate(value.text)), value.origin)
        items[following] = with_guards(on, value)
        following += 1
    if len(items) > 100_000:
        raise on.refusal("an array grows without end")


def _following(items: dict[int | str, Value]) -> int:
    """The number behind the last element. Arrays that only grew hold their elements in order."""
    if not items:
        return 0
    last = next(reversed(items))
    if isinstance(last, int) and last + 1 == len(items):
        return last + 1
    return max(key for key in items if isinstance(key, int)) + 1


def output(on: Interpreter, value: Value, descriptor: int = 1) -> Status:
    """Writes to a stream; 1 when it is closed."""
    stream = on.io.get(descriptor)
    if not isinstance(stream, Sink):
        return 1
    stream.write(value)
    return 0
