"""Follows a script command by command: control flow, scopes, `set -e`, subshells and pipelines.

Nothing is executed. What the interpreter cannot know becomes a symbol, and a branch on a symbol is decided by the
`Way` of this run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from posixpath import join, normpath

from bot.provenance import Position, Reason
from bot.shell import arithmetic, commands, conditions, control, specials
from bot.shell.arithmetic import ArithmeticFailure
from bot.shell.expansion import Expander, UnknownNumber
from bot.shell.facts import commands_of
from bot.shell.grammar import parse
from bot.shell.machine import Machine
from bot.shell.model import CONTRARY_TO, Unresolved
from bot.shell.naming import Naming, forget_outside
from bot.shell.patterns import UnsupportedPattern
from bot.shell.reader import UNFOLLOWED
from bot.shell.state import (
    Discard,
    Exit,
    Feed,
    Loop,
    ReadOnly,
    Refusal,
    Return,
    Shell,
    Sink,
    Status,
    Stream,
    Variable,
)
from bot.shell.syntax import (
    Node,
    Parameter,
    Script,
    Sequence,
    Word,
)
from bot.shell.values import EMPTY, Origin, Source, Symbol, Value, concatenate

_LONG = 4_000
"""Characters of a text that takes time to copy."""

_DEFAULT_SEPARATORS = " \t\n"


SUCCEEDS = "is assumed to succeed: its failure would end the script"
"""Stands in the note of an assumption behind the name of a status."""


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
        self.naming: Naming | None = None
        self.condition_depth = 0
        self.unchecked: Node | None = None
        self.redirected = 0

    # --- small services ---------------------------------------------------------------------------------------

    def here(self, line: int) -> tuple[Origin, ...]:
        """The origin of a literal on this line: the conditions that led here, and the line."""
        return (*self.guards, (self.source, line))

    def position(self, line: int | None = None) -> Position:
        """The place of a line in its file."""
        return self.source.position(self.line if line is None else line)

    def fatal(self, why: str) -> Exit:
        """The end of a shell that asks for a variable which is not set: `${X:?}`, or `set -u`."""
        shell = self.shell
        plain = shell.command_string and not shell.subshell and "e" not in shell.options
        return Exit(2 if shell.posix else 127 if plain else 1, why=why, place=self.position())

    def refusal(self, reason: str, line: int | None = None) -> Refusal:
        """What to raise where the interpreter does not guess."""
        return Refusal(reason, self.line if line is None else line, self.source)

    def truth(self, status: Status) -> bool:
        """Whether a status means success; an unknown one is decided."""
        if isinstance(status, int):
            return status == 0
        return self.way.is_one_of(Value(None, (), (status,)), ("0",))

    def separators(self) -> str:
        """The value of IFS."""
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

    def countable(self, text: str) -> str:
        """The text, when its characters are the same in every locale that the shell may have. Raises `Refusal`."""
        if text.isascii():
            return text
        for name in ("LC_ALL", "LC_CTYPE", "LANG"):
            value = self.expand.variable(name)
            if value is not None and value.text:
                if value.text.upper().endswith((".UTF-8", ".UTF8")):
                    return text
                break
        raise self.refusal("what counts as a character of a text beyond ASCII is decided by the image's locale")

    def ascii_only(self, text: str) -> str:
        """The text, when its letters have one upper and one lower case in every locale. Raises `Refusal`."""
        if not text.isascii():
            raise self.refusal("the case of letters beyond ASCII is decided by the image's locale")
        return text

    def special(self, name: str) -> Value | None:
        """A parameter that the shell itself sets."""
        return specials.value(self, name)

    def special_array(self, name: str) -> Variable | None:
        """An array that the shell itself keeps."""
        return specials.array(self, name)

    def variable_names(self) -> list[str]:
        """The names of all variables that are set."""
        return [name for name, one in self.shell.variables.items() if one.value is not None or one.items is not None]

    def attributes(self, name: str) -> str:
        """The letters of `${NAME@a}`."""
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
            raise ReadOnly
        key = self._key(variable, index)
        if variable.integer:
            number = self._integer(value)
            if append:
                old = variable.items.get(key) if variable.items is not None and key is not None else variable.value
                number = arithmetic.wrap(number + self._integer(old or EMPTY))
            value = Value(str(number), value.origin)
        elif append:
            old = (variable.items or {}).get(key) if key is not None else variable.scalar()
            if old is not None:
                value = concatenate([old, value])
        if value.text is not None and len(value.text) > self.machine.limits.text:
            raise self.refusal("a variable grows without end")
        if value.text is not None and len(value.text) > _LONG:
            self.machine.spend(len(value.text) / 100)
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
            specials.assigned(self, name)

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
        return self.calculate(value.text)

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

    def calculate(self, text: str) -> int:
        """The value of an expression; an error drops the rest of the line."""
        try:
            return arithmetic.evaluate(text, commands.ArithmeticVariables(self, {}))
        except ArithmeticFailure as error:
            if "u" in self.shell.options:
                # A variable that is unset would have been found before the error.
                raise self.refusal("an expression that is wrong, under `set -u`") from error
            raise Discard(lenient=True) from error

    def calculate_word(self, word: Word, line: int) -> int:
        """The value of an expression that is expanded first."""
        value = self.expand.single(word)
        if value.text is None:
            raise self.refusal(f"the number {word.text} is not known", line)
        try:
            return self.calculate(value.text)
        except UnknownNumber as unknown:
            raise self.refusal(f"the number {unknown.text} is not known", line) from unknown

    def arithmetic_status(self, text: str) -> Status:
        """The status of `((text))`: 0 when the value is not zero."""
        try:
            return int(not arithmetic.evaluate(text, commands.ArithmeticVariables(self, {})))
        except ArithmeticFailure as error:
            if "u" in self.shell.options:
                raise self.refusal("an expression that is wrong, under `set -u`") from error
            return 1
        except UnknownNumber as unknown:
            return conditions.unknown_arithmetic(self, text, unknown)

    # --- running ----------------------------------------------------------------------------------------------

    def main(self, script: Script, before: Callable[[Interpreter], None] | None = None) -> Status:
        """Runs a script as the whole of this shell, and gives its exit status. `before` runs ahead of it."""
        try:
            if before is not None:
                before(self)
            self.run_script(script)
            self.machine.ended = None
            return self.run_exit_trap()
        except Exit as ended:
            self.machine.ended = Unresolved(ended.why, ended.place) if ended.why else None
            return self.ended(ended)
        except (Return, Loop):
            return self.run_exit_trap()
        except Replaced:
            return self.shell.status

    def run_script(self, script: Script) -> None:
        """Runs a whole text. Raises what ends it; `shell.status` is the status when it ends by itself."""
        for index, unit in enumerate(script.units):
            self.readable(script, index)
            try:
                self.sequence(unit)
            except Discard as problem:
                if self.shell.posix:
                    raise Exit(2) from problem
                self.shell.status = problem.status
                if "e" in self.shell.options and not self.guarded and not problem.lenient:
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

    def readable(self, script: Script, index: int) -> None:
        """Refuses a unit that is a syntax error in this state of the shell."""
        if index in script.extended and "extglob" not in self.shell.switches and not self.shell.posix:
            line = script.units[index].line
            raise self.refusal("an extended pattern without `shopt -s extglob` is a syntax error", line)

    def execute(self, node: Node) -> Status:
        """Runs one command and gives its status, which is `$?` from then on."""
        self.machine.step(self)
        pipes = self.machine.pipes
        try:
            run = control.EXECUTE[type(node)]
            status = self.judge(lambda: run(self, node)) if self.machine.opaque else run(self, node)
        except Refusal as refusal:
            if refusal.source is None:
                refusal.line, refusal.source = self.line, self.source
            raise
        except UnsupportedPattern as pattern:
            raise self.refusal(f"a pattern that is not supported: {str(pattern)[:60]}") from pattern
        self.shell.status = status
        self.machine.pipes = pipes
        return status

    def sequence(self, node: Sequence) -> Status:
        """Runs commands one after the other."""
        status: Status = 0
        background = node.background
        for index, command in enumerate(node.commands):
            if background and index in background:
                status = control.background(self, command)
                self.shell.status = status
            else:
                status = self.execute(command)
        return status

    def check(self, status: Status, node: Node) -> Status:
        """What `set -e` and an ERR trap do about a failed command."""
        if status == 0 or self.guarded or not ("e" in self.shell.options or "ERR" in self.shell.traps):
            return status
        if node is self.unchecked:
            return status
        if isinstance(status, Symbol):
            if status.hopeful and self.way.known(status) is None:
                self.machine.note(self, f"{status.name} {SUCCEEDS}")
                return status
            if self.truth(status):
                return status
        if "ERR" in self.shell.traps and (not self.shell.frames or "E" in self.shell.options):
            self.shell.status = status
            if not _only_tells(self.shell.traps["ERR"]):
                # How often it runs for one failure depends on the command, in ways that are not worth following.
                raise self.refusal("a trap on ERR that does more than to tell and to exit")
            self.run_trap("ERR")
        if "e" in self.shell.options:
            raise Exit(
                status, failed=True, why=f"a command fails with status {status}, under `set -e`", place=self.position()
            )
        return status

    def judge(self, run: Callable[[], Status]) -> Status:
        """Runs something, and keeps the assumptions in all that it reads as those on which its status rests."""
        with self.machine.reading() as assumed:
            try:
                return run()
            finally:
                self.shell.judged = tuple(assumed)

    def doubted(self, status: Status, assumed: tuple[Reason, ...]) -> Status:
        """The status of a condition, which may be the opposite where it rests on an assumption that is in doubt.

        Each time is another question: a variable may be changed to anything.
        """
        for reason in assumed:
            self.machine.rests_on.setdefault(reason.text)
        if not assumed or not self.machine.doubting:
            return status
        opposite = self.truth(Symbol(f"{CONTRARY_TO}{assumed[0].text} ({self.line}, {self.machine.count})"))
        return int(self.truth(status)) if opposite else status

    def condition(self, node: Node) -> Status:
        """Runs a command whose failure does not end the shell."""
        self.guarded += 1
        self.condition_depth += 1
        try:
            return self.execute(node)
        finally:
            self.guarded -= 1
            self.condition_depth -= 1

    def negated(self, node: Node) -> Status:
        """Runs the command behind `!`, and gives its own status.

        Under `set -e` it is a condition as a whole. Else only its own failure ends nothing: where something inside of
        it says `set -e`, or there is a trap on ERR, what fails in there is a failure.
        """
        if "e" in self.shell.options:
            return self.condition(node)
        outer, self.unchecked = self.unchecked, node
        self.condition_depth += 1
        try:
            return self.execute(node)
        finally:
            self.unchecked = outer
            self.condition_depth -= 1

    def run_trap(self, signal: str) -> None:
        """Runs the commands of a trap."""
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

    def subshell(self, node: Node, io: Mapping[int, Stream] | None = None, *, inverted: bool = False) -> Status:
        """Runs a command in a copy of the shell. `inverted` turns its status round, unless it was told to exit."""
        outer, outer_io = self.shell, self.io
        guarded, guards, loops, source = self.guarded, self.guards, self.loops, self.source
        self.shell = outer.copy()
        self.loops = 0
        self.io = dict(outer_io if io is None else io)
        status: Status
        try:
            try:
                status = self.execute(node)
                self.run_exit_trap()
            except Exit as ended:
                inverted = inverted and ended.failed
                status = self.ended(ended)
            except (Return, Loop) as ended:
                status = ended.status if isinstance(ended, Return) else 0
            except Discard as problem:
                status, inverted = problem.status, inverted and problem.lenient
            except Replaced:
                status = self.shell.status
        finally:
            self.shell, self.io = outer, outer_io
            self.guarded, self.guards, self.loops, self.source = guarded, guards, loops, source
        if self.machine.forgotten:
            forget_outside(self)
        return int(self.truth(status)) if inverted else status

    def ended(self, ended: Exit) -> Status:
        """Runs the EXIT trap of a shell that ends, and gives its last status."""
        self.shell.status = ended.status
        return self.run_exit_trap()

    def run_exit_trap(self) -> Status:
        """Runs the EXIT trap, if any, and gives the last status."""
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

    # --- files ------------------------------------------------------------------------------------------------

    def path(self, path: str) -> str:
        """An absolute path."""
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


def _only_tells(trap: str) -> bool:
    """Whether the commands of a trap only print or exit."""
    told = ("echo", "printf", "exit", ":", "true")
    simple = list(commands_of(parse(trap)))
    return all(one.words and getattr(one.words[0], "constant", None) in told and not one.assignments for one in simple)
