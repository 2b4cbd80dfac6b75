"""`$(…)` and `<(…)`: the output of commands as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.shell import redirects
from bot.shell.naming import Naming, output_of_substitution
from bot.shell.state import (
    Sink,
)
from bot.shell.syntax import (
    ProcessSubstitution,
    Substitution,
)
from bot.shell.values import Symbol, Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter


def substitute(on: Interpreter, part: Substitution) -> Value:
    """The output of `$(…)` without its last line ends."""
    sink = Sink(keep=True)
    io = dict(on.io)
    io[1] = sink
    options = on.shell.options
    naming, own = on.naming, Naming(f"status of {part.text}", part.body)
    on.naming = own
    line = on.line
    condition_depth, on.condition_depth = on.condition_depth, 0
    guarded = on.guarded
    if "e" in options and "inherit_errexit" not in on.shell.switches and not on.shell.posix:
        on.shell.options = options - {"e"}
    try:
        on.substitution_status = None
        content = redirects.file_only(on, part.body)
        if content is not None:
            sink.write(content)
            on.substitution_status = 0
        else:
            on.substitution_status = on.subshell(part.body, io)
    finally:
        on.shell.options = options
        on.naming, on.line = naming, line
        on.condition_depth, on.guarded = condition_depth, guarded
    on.shell.status = on.substitution_status
    value = on.way.resolve(sink.content())
    here = on.here(part.line)
    if value.text is not None:
        return Value(value.text.replace("\0", "").rstrip("\n"), value.origin if value.origin else here)
    if len(value.parts) <= 2 and isinstance(value.parts[0], Symbol) and value.parts[0].output:
        rest = value.parts[1:]
        if not rest or (isinstance(rest[0], str) and not rest[0].strip("\n")):
            return on.way.symbol(output_of_substitution(on, own, part.text, value.parts[0].name), here)
    parts = list(value.parts)
    if isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip("\n")
        if not parts[-1]:
            parts.pop()
    return Value(None, value.origin or here, tuple(parts))


def process_substitution(on: Interpreter, part: ProcessSubstitution) -> Value:
    """The path of a pipe that holds the output of the commands."""
    if part.output:
        # What reads there writes a log, as far as anybody has seen.
        return Value(on.machine.new_pipe(Sink(keep=False)), on.here(part.line))
    sink = Sink(keep=True)
    io = dict(on.io)
    io[1] = sink
    on.subshell(part.body, io)
    path = on.machine.new_pipe(sink)
    return Value(path, on.here(part.line))
