"""Programs: which one a command line comes to through its wrappers, and what is assumed of it."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from bot.shell import catalogue, shells, tools
from bot.shell.lookup import Hidden, mounted_program
from bot.shell.machine import Call, Done
from bot.shell.model import SourceFile
from bot.shell.naming import output_of, question, status_of
from bot.shell.state import Exit, Feed, Sink, Status
from bot.shell.syntax import Simple
from bot.shell.values import Source, Value
from bot.shell.wrappers import WRAPPERS, unwrap

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

Environment = dict[str, Value]


def environment(on: Interpreter, extra: Environment) -> Environment:
    """What a program started here finds in its environment."""
    resolve = on.way.resolve
    found = {
        name: value if value.text is not None else resolve(value)
        for name, variable in on.shell.variables.items()
        if variable.exported and variable.items is None and (value := variable.value) is not None
    }
    for name, value in extra.items():
        found[name] = resolve(value)
    return found


def run(on: Interpreter, argv: list[Value], extra: Environment, node: Simple, *, replace: bool = False) -> Status:
    """Runs a program, or (with `replace`) becomes it."""
    from bot.shell.interpreter import Replaced

    status = start(on, argv, environment(on, extra), node, replace=replace)
    if replace:
        on.shell.status = status
        if status in (126, 127) and isinstance(status, int):
            raise Exit(status)
        raise Replaced
    return status


def start(
    on: Interpreter, argv: list[Value], env: Environment, node: Simple, *, replace: bool, depth: int = 0
) -> Status:
    """Comes through wrappers and shells to the program that is really started."""
    if depth > 12:
        raise on.refusal("wrappers inside wrappers", node.line)
    argv = [one if one.text is not None else on.way.resolve(one) for one in argv]
    name = argv[0].text
    if name is None:
        raise on.refusal(f"the program's name is not known: {argv[0].template()}", node.line)
    base = posixpath.basename(name)
    if on.machine.closed and "/" not in name:
        _check_path(on, env, node)
    try:
        found = mounted_program(on, name, env)
    except Hidden as hidden:
        if is_engine(on, argv) or base in catalogue.SHELLS or base in WRAPPERS or tools.find(base) is not None:
            raise on.refusal(f"what {name} runs: {hidden.path} is not the image's and not known", node.line) from hidden
        return other(on, base, argv, node)
    if found is not None and (script := script_at(on, found)) is not None:
        called = [Value(found, argv[0].origin), *argv[1:]]
        return shells.script_file(on, script, called, env, node, replace=replace, depth=depth)
    if is_engine(on, argv):
        return _engine(on, argv, env)
    if on.machine.closed and not _exists(on, name, base):
        if base in catalogue.PERHAPS:
            raise on.refusal(f"whether {base} is installed is not known", node.line)
        return 127
    directory = on.shell.directory
    try:
        inner = unwrap(on, base, argv, env, node)
        if inner is not None:
            rest, inner_env = inner
            return start(on, rest, inner_env, node, replace=replace, depth=depth + 1)
    finally:
        on.shell.directory = directory
    if base in catalogue.SHELLS and not (on.machine.closed and base not in ("bash", "sh", "dash")):
        return shells.nested(on, base, argv, env, node, replace=replace)
    script = script_at(on, name) if "/" in name and on.machine.closed else None
    if script is not None:
        return shells.script_file(on, script, argv, env, node, replace=replace, depth=depth)
    if "/" in name and on.machine.exists(on.path(name)) is False and not _system(name):
        record_step(on, argv, node)
        return 127
    known = tools.find(base)
    if known is not None and not replace and (name == base or _system(name)):
        return known(on, argv[1:], node)
    if replace and not on.machine.closed:
        on.machine.calls.append(Call(tuple(argv), env, False, len(on.machine.steps), on.shell.unseen))
        return 0
    return other(on, base, argv, node)


def _check_path(on: Interpreter, env: Environment, node: Simple) -> None:
    """In a closed world programs are found where PATH led at the start, as long as that is still in it."""
    path = env.get("PATH") or on.expand.variable("PATH")
    if path is not None and path.text is not None and "PATH" not in on.way.fixed:
        raise on.refusal("PATH no longer holds what it held at the start", node.line)


def is_engine(on: Interpreter, argv: list[Value]) -> bool:
    """Whether this command line starts an inference server."""
    name = argv[0].text or ""
    if on.machine.closed:
        return name in catalogue.CLOSED_STUBS
    base = posixpath.basename(name)
    if base in catalogue.ENGINES:
        return True
    if not catalogue.PYTHON.match(base):
        return False
    at = 1
    while at < len(argv):
        text = argv[at].text
        if text is None:
            return False
        if text == "-m" and at + 1 < len(argv):
            return bool(catalogue.ENGINE_MODULES.match(argv[at + 1].text or ""))
        if text in ("-c", "-"):
            return False
        if text.startswith("-"):
            at += 2 if text in ("-W", "-X") else 1
            continue
        known = posixpath.basename(text) in catalogue.ENGINE_FILES or posixpath.basename(text) == "vllm"
        return known and on.machine.read(on.path(text)) is None
    return False


def _engine(on: Interpreter, argv: list[Value], env: Environment) -> Status:
    on.machine.calls.append(Call(tuple(argv), env, True, len(on.machine.steps), on.shell.unseen))
    stream = on.io.get(1)
    if isinstance(stream, Sink) and stream.keep:
        node = Simple((), (), (), on.line, argv[0].text or "")
        stream.write(Value(None, on.here(on.line), (output_of(on, node, argv),)))
    return 0


def _exists(on: Interpreter, name: str, base: str) -> bool:
    if "/" in name:
        if _system(name):
            return base in catalogue.COMMON and base != "numactl"
        return on.machine.exists(on.path(name)) is not False
    return base in catalogue.COMMON


def _system(name: str) -> bool:
    return posixpath.dirname(name) in ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin")


def script_at(on: Interpreter, name: str) -> tuple[str, str, Source] | None:
    """A script that is known: its path, its text, and its source."""
    path = on.path(name)
    content = on.machine.read(path)
    if content is None:
        return None
    if isinstance(content, SourceFile):
        return path, content.text, source_of(on, content.path, content.text, content.lines)
    if content.text is None:
        return None
    return path, content.text, source_of(on, path, content.text)


def source_of(on: Interpreter, path: str, text: str, lines: tuple[int, ...] = ()) -> Source:
    """The source of a text, one per text and file."""
    key = (path, text)
    found = on.machine.sources.get(key)
    if found is None:
        found = Source(path, tuple(text.split("\n")), lines)
        on.machine.sources[key] = found
    return found


def source_of_value(on: Interpreter, value: Value) -> Source:
    """The source of a script that was handed over as an argument."""
    text = value.text or ""
    first = value.origin[-1] if value.origin else None
    count = text.count("\n") + 1
    if isinstance(first, tuple):
        outer, line = first
        lines = value.lines or tuple(outer.line(line + index) for index in range(count))
        return source_of(on, outer.path, text, lines)
    place = next((one for one in value.origin if not isinstance(one, tuple) and hasattr(one, "path")), None)
    if place is not None and hasattr(place, "line"):
        line = getattr(place, "line", None) or 1
        return source_of(on, getattr(place, "path", ""), text, value.lines or (line,) * count)
    return source_of(on, on.source.path, text, value.lines or (on.source.line(on.line),) * count)


# --- everything else -----------------------------------------------------------------------------------------------


_SILENT = frozenset({"mkdir", "rm", "chmod", "touch", "cp", "mv", "ln"})
_INTERPRETERS = frozenset({"perl", "node", "ruby"})
_ONLY_PREPARES = catalogue.PREPARATION - catalogue.QUERIES


def other(on: Interpreter, base: str, argv: list[Value], node: Simple) -> Status:
    """A program of which only assumptions can be made."""
    stream = on.io.get(1)
    captured = isinstance(stream, Sink) and stream.keep
    if isinstance(stream, Sink) and captured and not (on.machine.closed and base in _SILENT):
        stream.write(Value(None, on.here(on.line), (output_of(on, node, argv),)))
    tools.forget_changed(on, base, _operands(base, argv))
    if _is_step(base, argv):
        return assumed_step(on, argv, node)
    if base in _ONLY_PREPARES:
        return 0
    if base not in catalogue.PREPARATION and base not in catalogue.QUERIES and not (on.condition_depth or captured):
        on.machine.note(on, f"{base} is assumed to exist and to succeed", node.line)
    return status_of(on, node, argv, hopeful=base not in catalogue.ANSWERS)


def _operands(base: str, argv: list[Value]) -> list[Value]:
    """The arguments of a program, without the script that an interpreter runs."""
    if not (catalogue.PYTHON.match(base) or base in _INTERPRETERS):
        return argv[1:]
    script = next((one for one in argv[1:] if one.text is None or not one.text.startswith("-")), None)
    return [one for one in argv[1:] if one is not script]


def _is_step(base: str, argv: list[Value]) -> bool:
    if base in catalogue.INSTALLERS:
        return True
    if base == "git" and len(argv) > 1 and argv[1].text in ("apply", "am"):
        return True
    if catalogue.PYTHON.match(base) or base in _INTERPRETERS:
        target = next((one.text for one in argv[1:] if one.text is not None and not one.text.startswith("-")), None)
        if any(one.text == "-m" for one in argv[1:3]):
            return len(argv) > 2 and argv[2].text in ("pip", "ensurepip")
        return target is not None and not any(one.text == "-c" for one in argv[1:])
    name = argv[0].text or ""
    return "/" in name and not _system(name)


def record_step(on: Interpreter, argv: list[Value], node: Simple) -> int:
    """Notes a step, and gives its number on this way."""
    feed = on.io.get(0)
    given = feed.path if isinstance(feed, Feed) else None
    on.machine.steps.append(Done(tuple(argv), on.position(node.line), len(on.way.taken), given))
    return len(on.machine.steps) - 1


def assumed_step(on: Interpreter, argv: list[Value], node: Simple) -> Status:
    """A step: it succeeds, except on the run that asks what happens when it does not."""
    index = record_step(on, argv, node)
    stream = on.io.get(1)
    if isinstance(stream, Sink) and stream.keep and not stream.values:
        stream.write(Value(None, on.here(on.line), (output_of(on, node, argv),)))
    return 1 if on.machine.failing == index else 0


def program_exists(on: Interpreter, name: str) -> bool | None:
    """Whether a program of this name would be found; None when only the container knows."""
    base = posixpath.basename(name)
    if on.machine.closed:
        if name in catalogue.CLOSED_STUBS:
            return True
        if "/" in name:
            return _system(name) and base in catalogue.COMMON
        return name in catalogue.COMMON
    if "/" in name:
        return on.machine.exists(on.path(name))
    if base in catalogue.EVERYWHERE:
        return True
    return None


def is_installed(on: Interpreter, name: str) -> bool:
    """Asks whether there is a program of which only the container knows; installers may bring it."""
    text = f"{name} is installed"
    told = question(on, text, len(on.machine.steps), (text, len(on.machine.steps)))
    return on.way.is_one_of(on.way.symbol(told), ("yes",))
