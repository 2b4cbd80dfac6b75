"""Shells inside the shell: `bash -c`, `sh script`, and scripts that are run by their name."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import TYPE_CHECKING

from bot.shell import catalogue, commands, programs, startup
from bot.shell.facts import commands_of
from bot.shell.grammar import parse
from bot.shell.lookup import Hidden, mounted_program
from bot.shell.settings import OPTION_LETTERS
from bot.shell.state import Feed, Shell, Status
from bot.shell.syntax import Simple
from bot.shell.values import Source, Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

_SHEBANG = re.compile(r"#![ \t]*(\S+)(?:[ \t]+(.*?))?[ \t\r]*\Z")


@dataclass(frozen=True, slots=True)
class _Setup:
    """How a shell is started: its options and switches, whether it is dash, and whether by `-c`."""

    options: frozenset[str]
    switches: frozenset[str]
    posix: bool
    command: bool


def nested(
    on: Interpreter, base: str, argv: list[Value], env: programs.Environment, node: Simple, *, replace: bool = False
) -> Status:
    """`bash -c text`, `bash file`, `sh -s`: a shell of its own."""
    options: set[str] = set()
    switches: set[str] = set()
    command = interactive_input = False
    at = 1
    while at < len(argv):
        text = argv[at].text
        if text is None:
            raise on.refusal("the options of a shell are not known", node.line)
        if text in ("--", "-"):
            at += 1
            break
        if text.startswith("--"):
            if text == "--login":
                _login(on, node)
            at += 2 if text in ("--rcfile", "--init-file") else 1
            continue
        if not text.startswith(("-", "+")) or len(text) < 2:
            break
        at += 1
        for letter in text[1:]:
            if letter == "c":
                command = True
            elif letter == "s":
                interactive_input = True
            elif letter in "oO":
                name = argv[at].text if at < len(argv) else None
                at += 1
                if letter == "O":
                    switches.add(name or "")
                elif name:
                    options.add(OPTION_LETTERS.get(name, name))
            elif letter == "l":
                _login(on, node)
            elif letter != "i" and text[0] == "-":
                options.add(letter)
    if "n" in options:
        return 0
    setup = _Setup(frozenset(options), frozenset(switches), base in ("sh", "dash", "ash"), command)
    if command:
        if at >= len(argv):
            return 2
        script = argv[at]
        if script.text is None or script.splits:
            raise on.refusal(f"{base} -c runs a text that is not known", node.line)
        called = argv[at + 1] if at + 1 < len(argv) else argv[0]
        return _child(on, setup, script.text, programs.source_of_value(on, script), [called, *argv[at + 2 :]], env)
    if at >= len(argv) or interactive_input:
        return _from_input(on, setup, argv, at, env, node)
    target = argv[at].text
    if target is None:
        raise on.refusal(f"{base} runs a script whose name is not known", node.line)
    found = programs.script_at(on, target)
    if found is None:
        if on.machine.exists(on.path(target)) is False or on.machine.closed:
            programs.record_step(on, argv, node)
            return 127
        return programs.assumed_step(on, argv, node)
    _, text, source = found
    if replace:
        return _child(on, setup, text, source, argv[at:], env)
    if not on.machine.closed and not may_start_engine(on, text, setup.posix):
        return programs.assumed_step(on, argv, node)
    return _as_step(on, setup, text, source, argv[at:], env, argv, node)


def _login(on: Interpreter, node: Simple) -> None:
    """A login shell reads the image's profile, which in plain images sets PATH and nothing else."""
    if on.machine.closed:
        raise on.refusal("a login shell reads a profile that is not known", node.line)
    on.machine.note(on, "the image's login profile is assumed to change nothing", node.line)


def _from_input(
    on: Interpreter, setup: _Setup, argv: list[Value], at: int, env: programs.Environment, node: Simple
) -> Status:
    stream = on.io.get(0)
    content = stream.rest() if isinstance(stream, Feed) else Value("")
    content = on.way.resolve(content)
    if content.text is None:
        if not on.machine.closed:
            return programs.assumed_step(on, argv, node)
        raise on.refusal("a shell reads commands that are not known", node.line)
    return _child(on, setup, content.text, programs.source_of_value(on, content), [argv[0], *argv[at:]], env)


def _child(
    on: Interpreter, setup: _Setup, text: str, source: Source, arguments: list[Value], env: programs.Environment
) -> Status:
    """Runs a script in a shell of its own; `arguments` begin with `$0`. The caller goes on with its status."""
    from bot.shell.interpreter import Interpreter

    commands.deeper(on)
    variables = startup.variables_at_start(env, on.shell.directory, setup.posix, on.shell.variables)
    shell = Shell(variables, arguments[1:], arguments[0], setup.posix)
    shell.options, shell.switches, shell.directory = set(setup.options), set(setup.switches), on.shell.directory
    shell.command_string, shell.unseen = setup.command, on.shell.unseen
    for function, definition in on.shell.functions.items():
        if f"BASH_FUNC_{function}%%" in on.shell.variables:
            shell.functions[function] = definition
    if not setup.posix:
        startup.obey(on, shell, env)
    inner = Interpreter(on.machine, shell, source)
    inner.io, inner.guards, inner.naming = dict(on.io), on.guards, on.naming
    try:
        reads = "BASH_ENV" in env and not setup.posix and "p" not in setup.options
        return inner.main(parse(text, posix=setup.posix), startup.read_startup_file if reads else None)
    finally:
        on.machine.depth -= 1


def _as_step(
    on: Interpreter, setup: _Setup, text: str, source: Source, arguments: list[Value], env: programs.Environment,
    argv: list[Value], node: Simple,
) -> Status:  # fmt: skip
    """Runs a script that is a step, unless it turns out to be the way to the engine."""
    calls, step = len(on.machine.calls), programs.record_step(on, argv, node)
    status = _child(on, setup, text, source, arguments, env)
    if len(on.machine.calls) > calls:
        on.machine.steps.pop(step)
        call = on.machine.calls[-1]
        on.machine.calls[-1] = changed(call, steps=call.steps - 1)
        return status
    return 1 if on.machine.failing == step else status


def script_file(
    on: Interpreter,
    script: tuple[str, str, Source],
    argv: list[Value],
    env: programs.Environment,
    node: Simple,
    *,
    replace: bool,
    depth: int,
) -> Status:
    """A script that is run by its name: its first line says by which program."""
    path, _, source = script
    if on.machine.closed and path not in on.machine.executable:
        return 126
    found = _SHEBANG.match(source.texts[0])
    if found is not None and source.texts[0].endswith("\r"):
        if found[2]:
            raise on.refusal("the first line of a script ends with a carriage return", node.line)
        # The kernel looks for a program whose name ends so.
        return 127
    if found is None:
        shell, options = "sh", ""
    else:
        shell, options = found[1], found[2] or ""
    base = posixpath.basename(shell)
    words = options.split()
    if base == "env":
        words = [one for one in words if one != "-S"]
        base, words = (posixpath.basename(words[0]), words[1:]) if words else ("sh", [])
    prefix = [Value(base, argv[0].origin), *(Value(one, argv[0].origin) for one in words)]
    target = Value(path, argv[0].origin)
    if base in catalogue.SHELLS:
        whole = [*prefix, Value(argv[0].text, argv[0].origin), *argv[1:]]
        return nested(on, base, whole, env, node, replace=replace)
    return programs.start(on, [*prefix, target, *argv[1:]], env, node, replace=replace, depth=depth + 1)


def may_start_engine(on: Interpreter, text: str, posix: bool) -> bool:
    """Whether a script has a command that could start an engine, so that it has to be followed."""
    script = parse(text, posix=posix)
    if script.failure is not None:
        return True
    for command in commands_of(script):
        first = command.words[0] if command.words else None
        if first is None or not hasattr(first, "constant"):
            continue
        name = first.constant
        if name is None:
            return True
        base = posixpath.basename(name)
        if on.machine.read(on.path(name)) is not None or _is_mounted(on, name):
            return True
        if base in catalogue.ENGINES or base in ("exec", "eval", "source", ".", "exit") or base in catalogue.SHELLS:
            return True
        if catalogue.PYTHON.match(base) and re.search(r"-m\s+[\"']?(?:vllm|sglang)|\$", command.text):
            return True
        if base in ("env", "nohup", "numactl", "stdbuf", "taskset", "nice", "timeout", "setsid", "gosu", "tini"):
            return True
    return False


def _is_mounted(on: Interpreter, name: str) -> bool:
    try:
        return mounted_program(on, name, programs.environment(on, {})) is not None
    except Hidden:
        return True
