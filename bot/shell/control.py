"""Compound commands: pipelines, lists, branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from bot.provenance import Reason
from bot.shell import commands, conditions, redirects
from bot.shell.naming import Naming, forget, question, shortened
from bot.shell.patterns import is_literal, unquote
from bot.shell.state import (
    Feed,
    Loop,
    ReadOnly,
    Sink,
    Status,
    Stream,
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
    Pipeline,
    Sequence,
    Simple,
    Subshell,
    Unsupported,
    While,
    Word,
)
from bot.shell.values import EMPTY, Guard, Symbol, Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter


def _pipeline(on: Interpreter, node: Pipeline) -> Status:
    if len(node.stages) == 1:
        if node.negated:
            status = on.negated(node.stages[0])
            return int(on.truth(status))
        return on.execute(node.stages[0])
    statuses: list[Status] = []
    guarded = on.guarded
    on.guarded += node.negated and "e" in on.shell.options
    feed = on.io.get(0)
    naming = on.naming
    pipefail = "pipefail" in on.shell.options
    whole = on.naming or Naming(node.text, node)
    for index, stage in enumerate(node.stages):
        last = index == len(node.stages) - 1
        on.naming = whole if last and not pipefail else None
        io = dict(on.io)
        if feed is not None:
            io[0] = feed
        if not last:
            sink = Sink(keep=True)
            io[1] = sink
            if node.errors[index]:
                io[2] = sink
        statuses.append(on.subshell(stage, io))
        if not last:
            feed = Feed(sink.content())
    on.naming, on.guarded = naming, guarded
    on.shell.pipe_status = statuses
    status = _last_failure(on, statuses, whole) if pipefail else statuses[-1]
    if node.negated:
        return int(on.truth(status))
    return on.check(status, node)


def _last_failure(on: Interpreter, statuses: list[Status], naming: Naming) -> Status:
    """The status of a pipeline under `pipefail`. It is asked which stage failed only where one certainly has."""
    failed = [one for one in statuses if one != 0]
    open_ones = [one for one in failed if isinstance(one, Symbol)]
    if len(open_ones) == len(failed) > 1:
        name = question(on, shortened(naming.text), (naming.key, "pipefail"), naming.text)
        return Symbol(name, hopeful=all(one.hopeful for one in open_ones))
    for status in reversed(failed[1:]):
        if isinstance(status, int) or not on.truth(status):
            return status
    return failed[0] if failed else 0


def _subshell(on: Interpreter, node: Subshell) -> Status:
    status = _apart(on, node.body)
    on.shell.pipe_status = [status]
    return on.check(status, node)


def background(on: Interpreter, node: Node) -> Status:
    """`command &`."""
    io = dict(on.io)
    io[0] = Feed(EMPTY)
    guarded = on.guarded
    if isinstance(node, Pipeline) and node.negated:
        # In the background bash forgets the negation, except that it still shields from `set -e`.
        on.guarded += "e" in on.shell.options
        node = replace(node, negated=False)
    try:
        on.shell.background = _apart(on, node, io)
    finally:
        on.guarded = guarded
    on.shell.jobs += 1
    return 0


def _apart(on: Interpreter, node: Node, io: Mapping[int, Stream] | None = None) -> Status:
    """Runs a command in a subshell.

    A subshell that is `!` and one command as a whole does not shield that command from `set -e`: bash takes the
    negation off before it runs the command, and applies it to the status of the subshell.
    """
    inner = node.commands[0] if isinstance(node, Sequence) and len(node.commands) == 1 else node
    if isinstance(inner, Pipeline) and inner.negated and len(inner.stages) == 1:
        return on.subshell(inner.stages[0], io, inverted=True)
    return on.subshell(node, io)


def _and_or(on: Interpreter, node: AndOr) -> Status:
    guards = on.guards
    last = len(node.rest) - 1
    status, assumed = _judged(on, node.first), on.shell.judged
    try:
        for index, (operator, command) in enumerate(node.rest):
            if on.truth(status) != (operator == "&&"):
                continue
            on.guards = (*guards, Guard(on.source, node.line, (), assumed))
            status = on.execute(command) if index == last else _judged(on, command)
            assumed = tuple(dict.fromkeys((*assumed, *on.shell.judged)))
    finally:
        on.guards = guards
    return status


def _if(on: Interpreter, node: If) -> Status:
    outer = guards = on.guards
    try:
        for index, (condition, body) in enumerate(node.clauses):
            held = _held(on, node.reads[index])
            status = _judged(on, condition)
            decided = Guard(on.source, node.lines[index], held, on.shell.judged)
            if on.truth(status):
                on.guards = (*guards, decided)
                return on.sequence(body)
            guards = (*guards, decided)
        if node.otherwise is not None:
            on.guards = guards
            return on.sequence(node.otherwise)
        return 0
    finally:
        on.guards = outer


def _judged(on: Interpreter, node: Node) -> Status:
    """Runs a condition, whose status is in doubt where it rests on an assumption (`Shell.judged`)."""
    status = on.condition(node)
    return on.doubted(status, on.shell.judged) if on.machine.opaque else status


def _held(on: Interpreter, names: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
    held: list[tuple[str, str | None]] = []
    for name in names:
        variable = on.shell.variables.get(name)
        if variable is None:
            held.append((name, None))
        elif variable.items is None and variable.value is not None and variable.value.text is not None:
            held.append((name, variable.value.text[:60]))
    return tuple(held)


def _case(on: Interpreter, node: Case) -> Status:
    subject = on.way.resolve(on.expand.single(node.subject))
    guards = on.guards
    status: Status = 0
    falls = False
    try:
        for item in node.items:
            if not falls:
                matches = _case_matches(on, subject, item.patterns)
                if not on.truth(on.doubted(0 if matches else 1, tuple(on.machine.touched))):
                    continue
            on.guards = (*guards, Guard(on.source, node.line, _held(on, node.reads), tuple(on.machine.touched)))
            if item.line != node.line:
                on.guards = (*on.guards, (on.source, item.line))
            status = on.sequence(item.body) if item.body is not None else 0
            if item.terminator == ";;":
                break
            falls = item.terminator == ";&"
        return status
    finally:
        on.guards = guards


def _case_matches(on: Interpreter, subject: Value, patterns: tuple[Word, ...]) -> bool:
    """Whether one of the patterns matches; literals are asked about together."""
    ignore_case = "nocasematch" in on.shell.switches
    extended = "extglob" in on.shell.switches
    if subject.text is None and not ignore_case:
        found = [on.expand.pattern(word) for word in patterns]
        literals = [one for one, _ in found if one is not None and is_literal(one, extended=extended)]
        if len(literals) == len(found):
            return on.way.is_one_of(subject, [unquote(one) for one in literals])
    for word in patterns:
        if word.constant is not None and subject.text is not None and not ignore_case:
            if word.constant == subject.text:
                return True
            continue
        pattern, value = on.expand.pattern(word)
        if conditions.matches(on, subject, pattern, value, extended=extended, ignore_case=ignore_case):
            return True
    return False


def _in_loop(on: Interpreter, node: Any, run: Callable[[Interpreter, Any], Status]) -> Status:
    with on.machine.loop(node, on.shell):
        return run(on, node)


def _for(on: Interpreter, node: For) -> Status:
    if node.select:
        raise on.refusal("select asks a person", node.line)
    values = list(on.shell.positional) if node.words is None else on.expand.words(node.words)
    if node.words is None and on.machine.opaque:
        on.machine.touch(values)
    status: Status = 0
    otherwise = _turns_otherwise(on, tuple(on.machine.touched))
    run = on.machine.loops[-1]
    on.loops += 1
    try:
        if otherwise:
            on.assign(node.name, on.way.symbol(f"{node.name} of a list that may be another", on.here(node.line)))
            _run_otherwise(on, node.body, ran=bool(values))
            return 0
        for at, value in enumerate(values, 1):
            run.last = at == len(values)
            if value.splits:
                raise on.refusal(f"a loop over {value.template()}, which is not known", node.line)
            try:
                on.assign(node.name, value)
            except ReadOnly:
                return 1
            try:
                status = on.execute(node.body)
            except Loop as leave:
                status = 0
                if _leave(on, leave):
                    break
    finally:
        on.loops -= 1
    return status


def _leave(on: Interpreter, leave: Loop) -> bool:
    """Whether a loop ends at a `break` or `continue`; raises it again when it is meant for an outer loop."""
    if leave.levels > 1 and on.loops > 1:
        raise Loop(leave.levels - 1, again=leave.again)
    return not leave.again


def _turns_otherwise(on: Interpreter, assumed: tuple[Reason, ...]) -> bool:
    """Whether a loop runs as often as it cannot under an assumption: not at all, or once more than never."""
    return bool(assumed) and on.truth(on.doubted(1, assumed))


def _arithmetic_for(on: Interpreter, node: ArithmeticFor) -> Status:
    status: Status = 0
    if node.start is not None:
        _arithmetic_word(on, node.start)
    on.loops += 1
    try:
        asked = False
        while True:
            goes_on = node.test is None or on.truth(on.judge(partial(_arithmetic_word, on, node.test)))
            if node.test is not None and on.machine.opaque and not asked and on.shell.judged:
                asked = True
                if _turns_otherwise(on, on.shell.judged):
                    _run_otherwise(on, node.body, ran=goes_on)
                    break
            if not goes_on:
                break
            on.machine.step(on)
            try:
                status = on.execute(node.body)
            except Loop as leave:
                status = 0
                if _leave(on, leave):
                    break
            if node.update is not None:
                _arithmetic_word(on, node.update)
    finally:
        on.loops -= 1
    return status


def _counted(on: Interpreter, node: ArithmeticFor) -> Status:
    try:
        return _arithmetic_for(on, node)
    except ReadOnly:
        return 1


def _arithmetic_word(on: Interpreter, word: Word) -> Status:
    value = on.expand.single(word)
    if value.text is None:
        return Symbol(f"(({value.template().strip()}))")
    return on.arithmetic_status(value.text)


def _while(on: Interpreter, node: While) -> Status:
    status: Status = 0
    on.loops += 1
    condition, until = _positive(node.condition, node.until)
    asked = False
    try:
        while True:
            try:
                result = on.condition(condition)
                if not isinstance(result, int) and on.way.known(result) is None:
                    # Waiting for something outside: it is assumed to come, and the body not to matter.
                    on.machine.note(on, "the loop is assumed to end at once", node.line)
                    forget(on, node.body)
                    break
                ends = on.truth(result) == until
                if on.machine.opaque and not asked and on.shell.judged:
                    asked = True
                    if _turns_otherwise(on, on.shell.judged):
                        _run_otherwise(on, node.body, ran=not ends)
                        break
                if ends:
                    break
                status = on.execute(node.body)
            except Loop as leave:
                status = 0
                if _leave(on, leave):
                    break
    finally:
        on.loops -= 1
    return status


def _run_otherwise(on: Interpreter, body: Node, *, ran: bool) -> None:
    """A loop that runs another number of times than it does under an assumption: not at all where it `ran`, else once.

    What it sets is not known then, since that depends on how often it runs.
    """
    if not ran:
        try:
            on.execute(body)
        except Loop as leave:
            if _leave(on, leave):
                return
    forget(on, body)


def _group(on: Interpreter, node: Group) -> Status:
    if not node.redirects:
        return on.sequence(node.body) if isinstance(node.body, Sequence) else on.execute(node.body)
    outer = on.io
    try:
        on.io = redirects.applied(on, node.redirects)
    except redirects.Failed:
        return on.check(1, node)
    on.redirected += 1
    try:
        return on.sequence(node.body) if isinstance(node.body, Sequence) else on.execute(node.body)
    finally:
        on.io = outer
        on.redirected -= 1


def _function(on: Interpreter, node: Function) -> Status:
    on.shell.functions[node.name] = (node, on.source)
    return 0


def _arithmetic_command(on: Interpreter, node: ArithmeticCommand) -> Status:
    on.line = node.line
    try:
        status = _arithmetic_word(on, node.expression)
    except ReadOnly:
        status = 1
    on.shell.pipe_status = [status]
    return on.check(status, node)


def _conditional(on: Interpreter, node: Conditional) -> Status:
    on.line = node.line
    try:
        status = conditions.evaluate(on, node.test)
    except ReadOnly:
        status = 1
    on.shell.pipe_status = [status]
    return on.check(status, node)


def _unsupported(on: Interpreter, node: Unsupported) -> Status:
    raise on.refusal(f"{node.what} is not followed", node.line)


def _positive(condition: Node, until: bool) -> tuple[Node, bool]:
    """The condition of a loop without its negation: `while ! x` is `until x`."""
    inner = condition.commands[0] if isinstance(condition, Sequence) and len(condition.commands) == 1 else condition
    if isinstance(inner, Pipeline) and inner.negated and len(inner.stages) == 1:
        return inner.stages[0], not until
    return condition, until


EXECUTE: dict[type, Callable[[Interpreter, Any], Status]] = {
    Simple: commands.simple,
    Pipeline: _pipeline,
    AndOr: _and_or,
    Sequence: lambda on, node: on.sequence(node),
    If: _if,
    For: lambda on, node: _in_loop(on, node, _for),
    ArithmeticFor: lambda on, node: _in_loop(on, node, _counted),
    While: lambda on, node: _in_loop(on, node, _while),
    Case: _case,
    Group: _group,
    Subshell: _subshell,
    Function: _function,
    ArithmeticCommand: _arithmetic_command,
    Conditional: _conditional,
    Unsupported: _unsupported,
}
