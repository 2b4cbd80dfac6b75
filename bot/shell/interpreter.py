"""Follows a script command by command: control flow, scopes, `set -e`, subshells and pipelines.

Nothing is executed. What the interpreter cannot know becomes a symbol, and a branch on a symbol is decided by the
`Way` of this run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.provenance import Position
from bot.shell import arithmetic, commands, conditions, redirects, specials
from bot.shell.arithmetic import ArithmeticFailure
from bot.shell.expansion import Expander, UnknownNumber
from bot.shell.grammar import UNFOLLOWED, parse
from bot.shell.machine import Limits, Machine
from bot.shell.patterns import UnsupportedPattern, compiled, is_literal, unquote
from bot.shell.state import (
    Discard,
    Exit,
    Feed,
    Loop,
    Refusal,
    Return,
    Shell,
    Sink,
    Status,
    Stream,
    Variable,
)
from bot.shell.syntax import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Case,
    Conditional,
    For,
    Function,
    Group,
    If,
    Node,
    Parameter,
    Pipeline,
    ProcessSubstitution,
    Script,
    Sequence,
    Simple,
    Subshell,
    Substitution,
    Unsupported,
    While,
    Word,
)
from bot.shell.values import EMPTY, Guard, Origin, Source, Symbol, Value, concatenate

_DEFAULT_SEPARATORS = " \t\n"


class Replaced(Exception):
    """The process became another program (`exec`)."""


class Interpreter:
    """One shell process and its children, on one way."""

    def __init__(self, machine: Machine, shell: Shell, source: Source) -> None:
        self.machine = machine
        self.way = machine.way
        self.shell = shell
        self.source = source
        self.line = 0
        self.command_line = 0
        self.guards: tuple[Origin, ...] = ()
        self.guarded = 0
        self.loops = 0
        self.io: dict[int, Stream] = {0: Feed(EMPTY), 1: Sink(keep=False), 2: Sink(keep=False)}
        self.expand = Expander(self)
        self.substitution_status: Status | None = None
        self.naming = ""
        self.condition_depth = 0

    # --- small services ---------------------------------------------------------------------------------------

    def here(self, line: int) -> tuple[Origin, ...]:
        """The origin of a literal on this line: the conditions that led here, and the line."""
        return (*self.guards, (self.source, line))

    def position(self, line: int | None = None) -> Position:
        return self.source.position(self.line if line is None else line)

    def refusal(self, reason: str, line: int | None = None) -> Refusal:
        return Refusal(reason, self.line if line is None else line, self.source)

    def truth(self, status: Status) -> bool:
        """Whether a status means success; an unknown one is decided."""
        if isinstance(status, int):
            return status == 0
        return self.way.is_one_of(Value(None, (), (status,)), ("0",))

    def separators(self) -> str:
        variable = self.shell.variables.get("IFS")
        if variable is None:
            return _DEFAULT_SEPARATORS
        value = variable.scalar()
        if value is None:
            return _DEFAULT_SEPARATORS
        value = self.way.resolve(value)
        if value.text is None:
            raise self.refusal("IFS is not known")
        return value.text

    def special(self, name: str) -> Value | None:
        return specials.value(self, name)

    def special_array(self, name: str) -> Variable | None:
        return specials.array(self, name)

    def variable_names(self) -> list[str]:
        return [name for name, one in self.shell.variables.items() if one.value is not None or one.items is not None]

    def attributes(self, name: str) -> str:
        variable = self.shell.variables.get(name)
        if variable is None:
            return ""
        letters = ("A" if variable.mapping else "a") if variable.items is not None else ""
        letters += "i" if variable.integer else ""
        letters += "r" if variable.readonly else ""
        return letters + ("x" if variable.exported else "") + variable.letters

    # --- variables --------------------------------------------------------------------------------------------

    def own(self, name: str) -> Variable:
        """The variable of this name, to be changed: a copy takes its place, since a subshell may share the old one."""
        variable = self.shell.variables.get(name)
        seen = 0
        while variable is not None and variable.reference and variable.value is not None and seen < 8:
            name = variable.value.text or ""
            variable = self.shell.variables.get(name)
            seen += 1
        if variable is None:
            variable = Variable(exported="a" in self.shell.options)
        elif variable.items is None:
            variable = variable.copy()
        self.shell.variables[name] = variable
        return variable

    def assign(self, name: str, value: Value, *, append: bool = False, index: str | None = None) -> None:
        """`name=value`, with everything that the variable's attributes make of it. Raises `Discard` if read-only."""
        variable = self.own(name)
        if variable.readonly:
            raise Discard
        key = self._key(variable, index)
        if variable.integer:
            number = self._integer(value)
            if append:
                old = variable.items.get(key) if variable.items is not None and key is not None else variable.value
                number = arithmetic.wrap(number + self._integer(old or EMPTY))
            value = Value(str(number), value.origin)
        elif append:
            if key is not None:
                old = (variable.items or {}).get(key)
            else:
                old = variable.scalar()
            if old is not None:
                value = concatenate([old, value])
        if value.text is not None and len(value.text) > self.machine.limits.text:
            raise self.refusal("a variable grows without end")
        if variable.letters:
            value = self._lettered(value, variable.letters)
        if key is not None:
            if variable.items is None:
                variable.items = {} if variable.value is None else {0: variable.value}
                variable.value = None
            variable.items[key] = value
        elif variable.items is not None:
            variable.items["0" if variable.mapping else 0] = value
        else:
            variable.value = value
        if name in _WATCHED:
            specials.assigned(self, name, value)

    def _key(self, variable: Variable, index: str | None) -> int | str | None:
        if index is None:
            return None
        if variable.mapping:
            return index
        number = self.expand.index_number(index, variable)
        if number < 0:
            raise Discard
        return number

    def _integer(self, value: Value) -> int:
        value = self.way.resolve(value)
        if value.text is None:
            raise self.refusal("an integer variable takes a value that is not known")
        return self.calculate(value.text, self.line)

    def _lettered(self, value: Value, letters: str) -> Value:
        from bot.shell.transforms import changed_case

        operator = "^^" if "u" in letters else ",,"
        return self.expand.computed(
            value, operator, lambda text: changed_case(text, operator, "", extended=False), self.line
        )

    def assign_parameter(self, part: Parameter, value: Value) -> None:
        """`${NAME:=value}`."""
        index = None
        if isinstance(part.index, Word):
            index = self.expand.single(part.index).text
        self.assign(part.name, value, index=index)

    def unset(self, name: str) -> None:
        """Removes a variable. One that is local to a function stays local, without a value."""
        self.shell.variables.pop(name, None)

    # --- arithmetic -------------------------------------------------------------------------------------------

    def calculate(self, text: str, line: int) -> int:
        """The value of an expression; an error drops the rest of the line."""
        try:
            return arithmetic.evaluate(text, commands.ArithmeticVariables(self, {}))
        except ArithmeticFailure as error:
            raise Discard from error

    def calculate_word(self, word: Word, line: int) -> int:
        value = self.expand.single(word)
        if value.text is None:
            raise self.refusal(f"the number {word.text} is not known", line)
        try:
            return self.calculate(value.text, line)
        except UnknownNumber as unknown:
            raise self.refusal(f"the number {unknown.text} is not known", line) from unknown

    def arithmetic_status(self, text: str, line: int) -> Status:
        """The status of `((text))`: 0 when the value is not zero."""
        try:
            return int(not arithmetic.evaluate(text, commands.ArithmeticVariables(self, {})))
        except ArithmeticFailure:
            return 1
        except UnknownNumber as unknown:
            return conditions.unknown_arithmetic(self, text, unknown)

    # --- running ----------------------------------------------------------------------------------------------

    def main(self, script: Script) -> Status:
        """Runs a script as the whole of this shell, and gives its exit status."""
        try:
            self.run_script(script)
            return self.run_exit_trap()
        except Exit as ended:
            return self.ended(ended)
        except (Return, Loop):
            return self.run_exit_trap()
        except Replaced:
            return self.shell.status

    def run_script(self, script: Script) -> None:
        """Runs a whole text. Raises what ends it; `shell.status` is the status when it ends by itself."""
        for unit in script.units:
            try:
                self.sequence(unit)
            except Discard as problem:
                self.shell.status = problem.status
                if "e" in self.shell.options and not self.guarded:
                    raise Exit(problem.status) from problem
        if script.failure is not None:
            if script.failure.message.startswith(UNFOLLOWED):
                raise Refusal(script.failure.message, script.failure.line, self.source)
            if self.shell.posix:
                raise Refusal(
                    f"sh may be another shell than bash, and this needs bash: {script.failure.message}",
                    script.failure.line,
                    self.source,
                )
            raise Exit(2)

    def execute(self, node: Node) -> Status:
        """Runs one command and gives its status, which is `$?` from then on."""
        self.machine.step(self)
        status = _EXECUTE[type(node)](self, node)
        self.shell.status = status
        return status

    def sequence(self, node: Sequence) -> Status:
        status: Status = 0
        background = node.background
        for index, command in enumerate(node.commands):
            if background and index in background:
                status = self._background(command)
                self.shell.status = status
            else:
                status = self.execute(command)
        return status

    def check(self, status: Status) -> Status:
        """What `set -e` and an ERR trap do about a failed command."""
        if status == 0 or self.guarded or not isinstance(status, int):
            return status
        if "ERR" in self.shell.traps and (not self.shell.frames or "E" in self.shell.options):
            self.shell.status = status
            self.run_trap("ERR")
        if "e" in self.shell.options:
            raise Exit(status)
        return status

    def condition(self, node: Node) -> Status:
        """Runs a command whose failure does not end the shell."""
        self.guarded += 1
        self.condition_depth += 1
        try:
            return self.execute(node)
        finally:
            self.guarded -= 1
            self.condition_depth -= 1

    def run_trap(self, signal: str) -> None:
        text = self.shell.traps.pop(signal, "")
        if not text:
            return
        status = self.shell.status
        try:
            self.run_script(parse(text, posix=self.shell.posix))
        finally:
            if signal != "EXIT":
                self.shell.traps[signal] = text
                self.shell.status = status

    # --- compound commands ------------------------------------------------------------------------------------

    def _pipeline(self, node: Pipeline) -> Status:
        if len(node.stages) == 1:
            if node.negated:
                status = self.condition(node.stages[0])
                return int(self.truth(status))
            return self.execute(node.stages[0])
        statuses: list[Status] = []
        feed = self.io.get(0)
        naming = self.naming
        self.naming = self.naming or node.text
        for index, stage in enumerate(node.stages):
            last = index == len(node.stages) - 1
            io = dict(self.io)
            if feed is not None:
                io[0] = feed
            if not last:
                sink = Sink(keep=True)
                io[1] = sink
                if node.errors[index]:
                    io[2] = sink
            statuses.append(self.subshell(stage, io, count=False))
            if not last:
                feed = Feed(sink.content())
        self.naming = naming
        self.shell.pipe_status = statuses
        status = statuses[-1]
        if "pipefail" in self.shell.options:
            failed = [one for one in statuses if one != 0]
            status = failed[-1] if failed else 0
        if node.negated:
            return int(self.truth(status))
        return self.check(status)

    def subshell(self, node: Node, io: Mapping[int, Stream] | None = None, *, count: bool = True) -> Status:
        """Runs a command in a copy of the shell."""
        outer, outer_io = self.shell, self.io
        guarded, guards, loops, source = self.guarded, self.guards, self.loops, self.source
        self.shell = outer.copy()
        self.loops = 0
        if io is not None:
            self.io = dict(io)
        else:
            self.io = dict(self.io)
        status: Status
        try:
            try:
                status = self.execute(node)
                self.run_exit_trap()
            except Exit as ended:
                status = self.ended(ended)
            except (Return, Loop) as ended:
                status = ended.status if isinstance(ended, Return) else 0
            except Discard as problem:
                status = problem.status
            except Replaced:
                status = self.shell.status
        finally:
            self.shell, self.io = outer, outer_io
            self.guarded, self.guards, self.loops, self.source = guarded, guards, loops, source
        return status

    def ended(self, ended: Exit) -> Status:
        """Runs the EXIT trap of a shell that ends, and gives its last status."""
        self.shell.status = ended.status
        return self.run_exit_trap()

    def run_exit_trap(self) -> Status:
        if "EXIT" in self.shell.traps:
            status = self.shell.status
            guarded, self.guarded = self.guarded, 1
            try:
                self.run_trap("EXIT")
                self.shell.status = status
            except Exit as again:
                self.shell.status = again.status
            finally:
                self.guarded = guarded
        return self.shell.status

    def _subshell(self, node: Subshell) -> Status:
        return self.check(self.subshell(node.body))

    def _background(self, node: Node) -> Status:
        io = dict(self.io)
        io[0] = Feed(EMPTY)
        guarded, self.guarded = self.guarded, self.guarded
        self.machine.background += 1
        try:
            self.shell.background = self.subshell(node, io)
        finally:
            self.machine.background -= 1
            self.guarded = guarded
        self.shell.jobs += 1
        return 0

    def _and_or(self, node: AndOr) -> Status:
        guards = self.guards
        last = len(node.rest) - 1
        status = self.condition(node.first)
        for index, (operator, command) in enumerate(node.rest):
            if self.truth(status) != (operator == "&&"):
                continue
            self.guards = (*guards, Guard(self.source, node.line))
            status = self.execute(command) if index == last else self.condition(command)
        self.guards = guards
        return status

    def _if(self, node: If) -> Status:
        outer = guards = self.guards
        try:
            for index, (condition, body) in enumerate(node.clauses):
                held = self._held(node.reads[index])
                decided = Guard(self.source, node.lines[index], held)
                if self.truth(self.condition(condition)):
                    self.guards = (*guards, decided)
                    return self.sequence(body)  # type: ignore[arg-type]
                guards = (*guards, decided)
            if node.otherwise is not None:
                self.guards = guards
                return self.sequence(node.otherwise)  # type: ignore[arg-type]
            return 0
        finally:
            self.guards = outer

    def _held(self, names: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
        held: list[tuple[str, str | None]] = []
        for name in names:
            variable = self.shell.variables.get(name)
            if variable is None:
                held.append((name, None))
            elif variable.items is None and variable.value is not None and variable.value.text is not None:
                held.append((name, variable.value.text[:60]))
        return tuple(held)

    def _case(self, node: Case) -> Status:
        subject = self.way.resolve(self.expand.single(node.subject))
        guards = self.guards
        status: Status = 0
        falls = False
        try:
            for item in node.items:
                if not falls and not self._case_matches(subject, item.patterns):
                    continue
                self.guards = (*guards, Guard(self.source, node.line, self._held(node.reads)))
                if item.line != node.line:
                    self.guards = (*self.guards, (self.source, item.line))
                status = self.sequence(item.body) if item.body is not None else 0  # type: ignore[arg-type]
                if item.terminator == ";;":
                    break
                falls = item.terminator == ";&"
            return status
        finally:
            self.guards = guards

    def _case_matches(self, subject: Value, patterns: tuple[Word, ...]) -> bool:
        """Whether one of the patterns matches; literals are asked about together."""
        ignore_case = "nocasematch" in self.shell.switches
        extended = "extglob" in self.shell.switches
        if subject.text is None and not ignore_case:
            found = [self.expand.pattern(word) for word in patterns]
            literals = [one for one, _ in found if one is not None and is_literal(one, extended=extended)]
            if len(literals) == len(found):
                return self.way.is_one_of(subject, [unquote(one) for one in literals])
        for word in patterns:
            if word.constant is not None and subject.text is not None and not ignore_case:
                if word.constant == subject.text:
                    return True
                continue
            pattern, value = self.expand.pattern(word)
            if conditions.matches(self, subject, pattern, value, extended=extended, ignore_case=ignore_case):
                return True
        return False

    def _for(self, node: For) -> Status:
        if node.select:
            raise self.refusal("select asks a person", node.line)
        values = list(self.shell.positional) if node.words is None else self.expand.words(node.words)
        status: Status = 0
        self.loops += 1
        try:
            for value in values:
                if value.splits:
                    raise self.refusal(f"a loop over {value.template()}, which is not known", node.line)
                self.assign(node.name, value)
                try:
                    status = self.execute(node.body)
                except Loop as leave:
                    status = 0
                    if self._leave(leave):
                        break
        finally:
            self.loops -= 1
        return status

    def _leave(self, leave: Loop) -> bool:
        """Whether a loop ends at a `break` or `continue`; raises it again when it is meant for an outer loop."""
        if leave.levels > 1 and self.loops > 1:
            raise Loop(leave.levels - 1, again=leave.again)
        return not leave.again

    def _arithmetic_for(self, node: ArithmeticFor) -> Status:
        status: Status = 0
        if node.start is not None:
            self._arithmetic_word(node.start, node.line)
        self.loops += 1
        try:
            while node.test is None or self.truth(self._arithmetic_word(node.test, node.line)):
                self.machine.step(self)
                try:
                    status = self.execute(node.body)
                except Loop as leave:
                    status = 0
                    if self._leave(leave):
                        break
                if node.update is not None:
                    self._arithmetic_word(node.update, node.line)
        finally:
            self.loops -= 1
        return status

    def _arithmetic_word(self, word: Word, line: int) -> Status:
        value = self.expand.single(word)
        if value.text is None:
            return Symbol(f"(({value.template().strip()}))")
        return self.arithmetic_status(value.text, line)

    def _while(self, node: While) -> Status:
        status: Status = 0
        self.loops += 1
        condition, until = _positive(node.condition, node.until)
        try:
            while True:
                try:
                    result = self.condition(condition)
                    if not isinstance(result, int) and self.way.known(result) is None:
                        # Waiting for something outside: it is assumed to come, and the body not to matter.
                        self.machine.note(self, "the loop is assumed to end at once", node.line)
                        break
                    if self.truth(result) == until:
                        break
                    status = self.execute(node.body)
                except Loop as leave:
                    status = 0
                    if self._leave(leave):
                        break
        finally:
            self.loops -= 1
        return status

    def _group(self, node: Group) -> Status:
        if not node.redirects:
            return self.sequence(node.body) if isinstance(node.body, Sequence) else self.execute(node.body)
        outer = self.io
        try:
            self.io = redirects.applied(self, node.redirects)
        except redirects.Failed:
            return self.check(1)
        try:
            return self.sequence(node.body) if isinstance(node.body, Sequence) else self.execute(node.body)
        finally:
            self.io = outer

    def _function(self, node: Function) -> Status:
        self.shell.functions[node.name] = (node, self.source)
        return 0

    def _arithmetic_command(self, node: ArithmeticCommand) -> Status:
        self.line = node.line
        return self.check(self._arithmetic_word(node.expression, node.line))

    def _conditional(self, node: Conditional) -> Status:
        self.line = node.line
        return self.check(conditions.evaluate(self, node.test))

    def _simple(self, node: Simple) -> Status:
        return commands.simple(self, node)

    def _unsupported(self, node: Unsupported) -> Status:
        raise self.refusal(f"{node.what} is not followed", node.line)

    # --- substitutions ----------------------------------------------------------------------------------------

    def substitute(self, part: Substitution) -> Value:
        """The output of `$(…)` without its last line ends."""
        sink = Sink(keep=True)
        io = dict(self.io)
        io[1] = sink
        options = self.shell.options
        naming, self.naming = self.naming, part.text
        line = self.line
        condition_depth, self.condition_depth = self.condition_depth, 0
        guarded = self.guarded
        if "e" in options and "inherit_errexit" not in self.shell.switches and not self.shell.posix:
            self.shell.options = options - {"e"}
        try:
            self.substitution_status = None
            content = redirects.file_only(self, part.body)
            if content is not None:
                sink.write(content)
                self.substitution_status = 0
            else:
                self.substitution_status = self.subshell(part.body, io)
        finally:
            self.shell.options = options
            self.naming, self.line = naming, line
            self.condition_depth, self.guarded = condition_depth, guarded
        value = self.way.resolve(sink.content())
        here = self.here(part.line)
        if value.text is not None:
            return Value(value.text.replace("\0", "").rstrip("\n"), value.origin if value.origin else here)
        if len(value.parts) <= 2 and isinstance(value.parts[0], Symbol) and value.parts[0].output:
            rest = value.parts[1:]
            if not rest or (isinstance(rest[0], str) and not rest[0].strip("\n")):
                return self.way.symbol(_shortened(part.text), here)
        parts = list(value.parts)
        if isinstance(parts[-1], str):
            parts[-1] = parts[-1].rstrip("\n")
            if not parts[-1]:
                parts.pop()
        return Value(None, value.origin or here, tuple(parts))

    def process_substitution(self, part: ProcessSubstitution) -> Value:
        """The path of a pipe that holds the output of the commands."""
        if part.output:
            raise self.refusal(f"{part.text} is not followed", part.line)
        sink = Sink(keep=True)
        io = dict(self.io)
        io[1] = sink
        self.subshell(part.body, io)
        path = self.machine.new_pipe(sink)
        return Value(path, self.here(part.line))

    # --- files ------------------------------------------------------------------------------------------------

    def path(self, path: str) -> str:
        """An absolute path."""
        from posixpath import join, normpath

        return normpath(join(self.shell.directory, path))

    def file_names(self, pattern: str | None, whole: Value, line: int) -> list[Value]:
        """What a pattern of file names becomes: the names, or itself when nothing matches."""
        if pattern is None or whole.text is None:
            return [Value(None, whole.origin, whole.pieces, (), True)]
        names = self.machine.glob(self, pattern, line)
        if names is None:
            return [Value(None, whole.origin, (Symbol(whole.text),), (), True)]
        if names:
            return [Value(name, whole.origin) for name in names]
        if "failglob" in self.shell.switches:
            raise Discard
        return [] if "nullglob" in self.shell.switches else [whole]


_WATCHED = frozenset({"OPTIND", "RANDOM", "SECONDS", "LINENO", "HOSTNAME"})


def _positive(condition: Node, until: bool) -> tuple[Node, bool]:
    """The condition of a loop without its negation: `while ! x` is `until x`."""
    inner = condition.commands[0] if isinstance(condition, Sequence) and len(condition.commands) == 1 else condition
    if isinstance(inner, Pipeline) and inner.negated and len(inner.stages) == 1:
        return inner.stages[0], not until
    return condition, until


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:79] + "…"


_EXECUTE: dict[type, Callable[[Interpreter, Any], Status]] = {
    Simple: Interpreter._simple,
    Pipeline: Interpreter._pipeline,
    AndOr: Interpreter._and_or,
    Sequence: Interpreter.sequence,
    If: Interpreter._if,
    For: Interpreter._for,
    ArithmeticFor: Interpreter._arithmetic_for,
    While: Interpreter._while,
    Case: Interpreter._case,
    Group: Interpreter._group,
    Subshell: Interpreter._subshell,
    Function: Interpreter._function,
    ArithmeticCommand: Interpreter._arithmetic_command,
    Conditional: Interpreter._conditional,
    Unsupported: Interpreter._unsupported,
}

__all__ = ["Interpreter", "Limits", "Replaced", "UnsupportedPattern", "compiled"]
