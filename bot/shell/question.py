"""The question and its answer: runs the interpreter once per way and puts the ways together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from bot.deferred import Deferred
from bot.provenance import Word
from bot.shell import programs
from bot.shell.facts import Facts, facts
from bot.shell.interpreter import Interpreter, Replaced
from bot.shell.machine import Answers, Budget, Call, Limits, Machine, NeverEnds
from bot.shell.model import Comparison, ContainerFiles, Outcome, Process, Read, Run, Step, Unresolved
from bot.shell.state import UNKNOWN_DIRECTORY, Discard, Exit, Loop, Refusal, Return, Shell, variables_of
from bot.shell.syntax import Simple
from bot.shell.values import Source, Symbol, Value, reasons
from bot.shell.way import Decision, Way, assumed

_SHELLS_OWN = frozenset({"PWD", "OLDPWD", "SHLVL", "_"})
"""Variables that every shell sets for its children: no change of the script's."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    """The end of one way."""

    decisions: tuple[Decision, ...]
    outcome: Outcome | None
    problem: Unresolved | None


def run(
    process: Process,
    files: ContainerFiles,
    *,
    symbols: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Run:
    """Follows a process from its ENTRYPOINT to the engine.

    `symbols` fixes values that only the running container would know, by the names under which they are reported.
    """
    return _Question(process, files, dict(symbols or {}), limits or Limits()).answer()


class _Question:
    def __init__(self, process: Process, files: ContainerFiles, fixed: dict[str, str], limits: Limits) -> None:
        self.process = process
        self.files = Answers(files)
        self.fixed = fixed
        self.limits = limits
        self.budget = Budget(limits.all_commands, limits.work)
        self.sources: dict[tuple[str, str], Source] = {}
        self.sourced: dict[str, None] = {}
        self.found_set: set[str] = set()
        self.found_unset: set[str] = set()
        self.argv = [_value(word) for word in process.argv]
        environment = {name: _value(word) for name, word in process.environment.items()}
        self.directory = process.directory or fixed.get("PWD") or UNKNOWN_DIRECTORY
        self.variables = variables_of(environment)
        self.stops: dict[tuple[tuple[bool, ...], int], bool | None] = {}

    def answer(self) -> Run:
        if not self.process.argv:
            return Run((), (Unresolved("the process has no command", None),))
        leaves: list[_Leaf] = []
        waiting: list[tuple[bool, ...]] = [()]
        cut = False
        while waiting:
            if len(leaves) >= self.limits.outcomes:
                cut = True
                break
            answers = waiting.pop()
            leaf = self._follow(answers)
            taken = [one.answer for one in leaf.decisions]
            waiting.extend((*taken[:at], False) for at in range(len(answers), len(taken)))
            leaves.append(leaf)
        outcomes = tuple(_merged(leaves, 0))
        problems = list(dict.fromkeys(leaf.problem for leaf in leaves if leaf.problem is not None))
        if cut:
            problems.append(Unresolved(f"more than {self.limits.outcomes} ways through the script", None))
        return self._with_facts(outcomes, tuple(problems))

    # --- one way ----------------------------------------------------------------------------------------------

    def _machine(self, answers: tuple[bool, ...], failing: int = -1) -> Machine:
        way = Way(answers, self.fixed, self.limits.decisions)
        machine = Machine(way, self.files, self.limits, self.process.closed, self.budget, failing)
        machine.sources = self.sources
        machine.sourced = self.sourced
        machine.found_set, machine.found_unset = self.found_set, self.found_unset
        machine.unset = self.process.unset
        machine.doubting = self.process.doubting
        machine.open = self.process.open
        return machine

    def _execute(self, machine: Machine) -> tuple[int | Symbol, Unresolved | None]:
        process = self.process
        shell = Shell(dict(self.variables), [], self.argv[0], directory=self.directory)
        source = self._told()
        interpreter = Interpreter(machine, shell, source)
        node = Simple((), (), (), 1, " ".join(word.text for word in process.argv)[:200])
        try:
            try:
                programs.run(interpreter, self.argv, {}, node, replace=True)
            except (Replaced, Exit, Return, Loop, Discard) as ended:
                return getattr(ended, "status", shell.status), None
            return shell.status, None
        except Refusal as refusal:
            where = refusal.source or source
            return 0, Unresolved(refusal.reason, where.position(refusal.line) if where.path else None)
        except RecursionError:
            return 0, Unresolved("nested too deeply to be followed", None)

    def _told(self) -> Source:
        """Where the first process is told, as the text in which whatever it does by itself stands."""
        reasons = (reason for word in self.process.argv for reason in word.because)
        place = next((one for one in reasons if one.path and one.line), None)
        return Source(place.path, ("",), (place.line or 1,)) if place is not None else Source("", ("",))

    def _follow(self, answers: tuple[bool, ...]) -> _Leaf:
        machine = self._machine(answers)
        try:
            status, problem = self._execute(machine)
        except NeverEnds:
            decisions = tuple(machine.way.taken)
            engine = _engine_call(machine)
            if engine is not None:
                return _Leaf(decisions, self._outcome(machine, 0), None)
            if decisions:
                return _Leaf(decisions, None, None)
            return _Leaf((), None, Unresolved("the script waits for ever", None))
        decisions = tuple(machine.way.taken)
        if problem is not None:
            return _Leaf(decisions, None, problem)
        return _Leaf(decisions, self._outcome(machine, status), None)

    def _outcome(self, machine: Machine, status: int | Symbol) -> Outcome:
        call = _engine_call(machine) or (machine.calls[-1] if machine.calls else None)
        final = status if isinstance(status, int) else None
        answers = tuple(one.answer for one in machine.way.taken)
        steps = tuple(
            Step(
                tuple(_word(machine.way, one) for one in done.run),
                call is not None and index < call.steps,
                partial(self._stops, answers[: done.decisions], index)
                if call and call.engine and index < call.steps
                else False,
                done.position,
                done.standard_input,
            )
            for index, done in enumerate(machine.steps)
        )
        notes, rests_on = machine.unresolved_notes(), tuple(machine.rests_on)
        if call is None:
            return Outcome(None, None, final, {}, {}, steps, {}, notes, final, machine.ended, rests_on)
        words = [_word(machine.way, one) for one in call.argv]
        environment = {name: _word(machine.way, value) for name, value in call.environment.items()}
        exported = {
            name: word
            for name, word in environment.items()
            if name not in _SHELLS_OWN and not _same(self.process.environment.get(name), word)
        }
        return Outcome(
            words[0], tuple(words[1:]), None, environment, exported, steps, {}, notes, final,
            rests_on=rests_on, unseen=call.unseen,
        )  # fmt: skip

    def _stops(self, answers: tuple[bool, ...], index: int) -> bool | None:
        """Whether the engine does not start when a step fails: the same way again, with the step failing.

        None where that way is not followed to its end, or holds another open question.
        """
        key = (answers, index)
        if key not in self.stops:
            machine = self._machine(answers, failing=index)
            try:
                _, problem = self._execute(machine)
            except NeverEnds:
                problem = None
            unsure = problem is not None or len(machine.way.taken) > len(answers)
            self.stops[key] = False if _engine_call(machine) else None if unsure else True
        return self.stops[key]

    # --- what the text says -----------------------------------------------------------------------------------

    def _with_facts(self, outcomes: tuple[Outcome, ...], problems: tuple[Unresolved, ...]) -> Run:
        """The facts are looked for when somebody asks: mostly in the default world alone."""
        said = [(source, facts(text)) for (_, text), source in self.sources.items()]
        return Run(
            outcomes,
            problems,
            Deferred(partial(_reads, said)),
            Deferred(partial(_comparisons, said)),
            frozenset[str]().union(*(found.writes for _, found in said)),
            tuple(self.sourced),
            frozenset(self.found_set - self.found_unset),
        )


def _reads(said: Iterable[tuple[Source, Facts]]) -> list[Read]:
    return [
        Read(one.name, one.operator, one.argument, one.inherited, source.position(one.line), one.after_source)
        for source, found in said
        for one in found.reads
    ]


def _comparisons(said: Iterable[tuple[Source, Facts]]) -> list[Comparison]:
    return [
        Comparison(one.name, one.value, source.position(one.line))
        for source, found in said
        for one in found.comparisons
    ]


def _engine_call(machine: Machine) -> Call | None:
    return next((call for call in reversed(machine.calls) if call.engine), None)


def _value(word: Word) -> Value:
    if word.symbols:
        return Value(None, word.because, _pieces(word), (), word.splits)
    value = Value(word.text, word.because, (), word.lines)
    value.word = word
    return value


def _pieces(word: Word) -> tuple[str | Symbol, ...]:
    """The parts of a word that is not known: its symbols stand in its text as `${NAME}`."""
    names = "|".join(re.escape(name) for name in word.symbols)
    parts = re.split(rf"\$\{{({names})\}}", word.text)
    return tuple(Symbol(part) if at % 2 else part for at, part in enumerate(parts) if part or at % 2)


def _word(way: Way, value: Value) -> Word:
    if value.word is not None:
        return value.word
    if value.text is not None:
        value.word = Word(value.text, reasons(value.origin), value.lines)
        return value.word
    value = way.resolve(value)
    names = tuple(dict.fromkeys(symbol.name for symbol in value.symbols()))
    return Word(value.template(), reasons(value.origin), value.lines, names, value.splits and bool(names))


def _same(before: Word | None, after: Word) -> bool:
    return before is not None and before.text == after.text and before.symbols == after.symbols


# --- merging ways --------------------------------------------------------------------------------------------------


def _key(outcome: Outcome) -> tuple[object, ...]:
    return (
        outcome.program.text if outcome.program is not None else None,
        tuple(word.text for word in outcome.argv) if outcome.argv is not None else None,
        outcome.exit,
        outcome.status,
        tuple(sorted((name, word.text) for name, word in outcome.exported.items())),
        tuple((tuple(word.text for word in step.run), step.before_engine) for step in outcome.steps),
    )


def _merged(leaves: list[_Leaf], depth: int) -> list[Outcome]:
    return [
        Outcome(
            one.program, one.argv, one.exit, one.environment, one.exported, one.steps, assumed(decisions), one.notes,
            one.status, one.ended, one.rests_on, one.unseen,
        )
        for one, decisions in _collapse(leaves, depth)
    ]  # fmt: skip


def _resting(one: Outcome, other: Outcome) -> Outcome:
    """An outcome that two ways come to alike: it rests on what either rests on, behind what either has not seen."""
    rests_on = tuple(dict.fromkeys((*one.rests_on, *other.rests_on)))
    unseen = tuple(dict.fromkeys((*one.unseen, *other.unseen)))
    if (rests_on, unseen) == (one.rests_on, one.unseen):
        return one
    return replace(one, rests_on=rests_on, unseen=unseen)


def _collapse(leaves: list[_Leaf], depth: int) -> list[tuple[Outcome, tuple[Decision, ...]]]:
    """The outcomes of a tree of decisions, without the decisions that make no difference."""
    if len(leaves) == 1 and len(leaves[0].decisions) <= depth:
        outcome = leaves[0].outcome
        return [(outcome, ())] if outcome is not None else []
    deeper = [leaf for leaf in leaves if len(leaf.decisions) > depth]
    if not deeper:
        return []
    yes = [leaf for leaf in deeper if leaf.decisions[depth].answer]
    no = [leaf for leaf in deeper if not leaf.decisions[depth].answer]
    left, right = (_collapse(yes, depth + 1) if yes else []), (_collapse(no, depth + 1) if no else [])
    unresolved = any(leaf.problem is not None for leaf in deeper)
    if not unresolved and [_key(one) for one, _ in left] == [_key(one) for one, _ in right] and yes and no:
        return [(_resting(one, other), made) for (one, made), (other, _) in zip(left, right, strict=True)]
    first = yes[0].decisions[depth] if yes else None
    second = no[0].decisions[depth] if no else None
    found = [(one, (first, *decisions)) for one, decisions in left if first is not None]
    found += [(one, (second, *decisions)) for one, decisions in right if second is not None]
    return found
