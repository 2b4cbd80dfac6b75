"""Programs: which one a command line comes to through its wrappers, and what is assumed of it."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from bot.shell import catalogue, commands, tools
from bot.shell.grammar import parse
from bot.shell.machine import Call, Done
from bot.shell.model import SourceFile
from bot.shell.state import Exit, Loop, Return, Shell, Sink, Status, variables_of
from bot.shell.syntax import Simple
from bot.shell.values import Source, Symbol, Value
from bot.shell.wrappers import unwrap

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

Environment = dict[str, Value]

_SHEBANG = re.compile(r"#![ \t]*(\S+)(?:[ \t]+(.*?))?[ \t\r]*\Z")


def environment(on: Interpreter, extra: Environment) -> Environment:
    """What a program started here finds in its environment."""
    found = {
        name: value
        for name, variable in on.shell.variables.items()
        if variable.exported and variable.items is None and (value := variable.value) is not None
    }
    found.update(extra)
    return {name: on.way.resolve(value) for name, value in found.items()}


def run(on: Interpreter, argv: list[Value], extra: Environment, node: Simple, *, replace: bool = False) -> Status:
    """Runs a program, or (with `replace`) becomes it."""
    from bot.shell.interpreter import Replaced

    status = _start(on, argv, environment(on, extra), node, replace=replace)
    if replace:
        on.shell.status = status
        if status in (126, 127) and isinstance(status, int):
            raise Exit(status)
        raise Replaced
    return status


def _start(
    on: Interpreter, argv: list[Value], env: Environment, node: Simple, *, replace: bool, depth: int = 0
) -> Status:
    if depth > 12:
        raise on.refusal("wrappers inside wrappers", node.line)
    argv = [on.way.resolve(one) for one in argv]
    name = argv[0].text
    if name is None:
        raise on.refusal(f"the program's name is not known: {argv[0].template()}", node.line)
    base = posixpath.basename(name)
    if on.machine.closed and "/" not in name:
        _check_path(on, env, node)
    if is_engine(on, argv):
        return _engine(on, argv, env)
    if on.machine.closed and not _exists(on, name, base):
        return 127
    inner = unwrap(on, base, argv, env, node)
    if inner is not None:
        rest, inner_env = inner
        return _start(on, rest, inner_env, node, replace=replace, depth=depth + 1)
    if base in catalogue.SHELLS and not (on.machine.closed and base not in ("bash", "sh", "dash")):
        return nested(on, base, argv, env, node, replace=replace)
    script = _script(on, name) if "/" in name else None
    if script is not None:
        return _script_file(on, script, argv, env, node, replace=replace, depth=depth)
    if "/" in name and on.machine.exists(on.path(name)) is False and not _system(name):
        _record_step(on, argv, node)
        return 127
    known = tools.find(base)
    if known is not None and not replace:
        if name == base or _system(name):
            return known(on, argv[1:], node)
    if replace and not on.machine.closed:
        on.machine.calls.append(Call(tuple(argv), env, False, len(on.machine.steps)))
        return 0
    return _other(on, base, argv, node)


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
        return posixpath.basename(text) in catalogue.ENGINE_FILES or posixpath.basename(text) == "vllm"
    return False


def _engine(on: Interpreter, argv: list[Value], env: Environment) -> Status:
    on.machine.calls.append(Call(tuple(argv), env, True, len(on.machine.steps)))
    stream = on.io.get(1)
    if isinstance(stream, Sink) and stream.keep:
        stream.write(Value(None, on.here(on.line), (Symbol(f"output of {argv[0].text}", True),)))
    return 0


_COMMON = frozenset(
    ["numactl", "cat", "ls", "mkdir", "rm", "cp", "mv", "ln", "chmod", "touch", "date", "hostname", "uname", "id", "whoami", "sleep", "env", "nohup", "nice", "timeout", "stdbuf", "tr", "cut", "sed", "grep", "awk", "seq", "head", "tail", "sort", "wc", "tee", "uniq", "basename", "dirname", "readlink", "realpath", "mktemp", "xargs", "find", "bash", "sh", "dash", "setsid", "taskset", "ionice", "chrt", "expr", "true", "false", "printf", "echo", "test", "rev", "tac", "paste", "comm", "fold", "nl", "od", "xxd", "base64", "md5sum", "sha256sum", "egrep", "fgrep", "mawk", "printenv", "nproc", "df", "du", "stat", "sync", "yes", "rmdir", "dd", "stty", "tty", "install", "logname", "which", "egrep", "gzip", "tar", "diff", "cmp", "split", "join", "shuf", "factor", "numfmt", "cksum", "sum", "expand", "unexpand", "pr", "fmt", "truncate", "pwd", "kill", "ps", "["]
) - {"ps"}
"""Programs of a plain Debian system: what a closed world has besides its files."""


def _exists(on: Interpreter, name: str, base: str) -> bool:
    if "/" in name:
        if _system(name):
            return base in _COMMON and base != "numactl"
        return on.machine.exists(on.path(name)) is not False
    return base in _COMMON


def _system(name: str) -> bool:
    return posixpath.dirname(name) in ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin")


def _script(on: Interpreter, name: str) -> tuple[str, str, Source] | None:
    """A script that is known: its path, its text, and its source."""
    path = on.path(name)
    content = on.machine.read(path)
    if content is None:
        return None
    if isinstance(content, SourceFile):
        return path, content.text, source_of(on, content.path, content.text)
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


# --- other shells --------------------------------------------------------------------------------------------------


def nested(
    on: Interpreter, base: str, argv: list[Value], env: Environment, node: Simple, *, replace: bool = False
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
                    options.add(_letter(name))
            elif letter == "l":
                _login(on, node)
            elif letter != "i" and text[0] == "-":
                options.add(letter)
    if "n" in options:
        return 0
    posix = base in ("sh", "dash", "ash")
    if command:
        if at >= len(argv):
            return 2
        script = argv[at]
        if script.text is None or script.splits:
            raise on.refusal(f"{base} -c runs a text that is not known", node.line)
        name = argv[at + 1] if at + 1 < len(argv) else argv[0]
        return _child(
            on, script.text, source_of_value(on, script), argv[at + 2 :], name, env, options, switches, posix, True
        )
    if at >= len(argv) or interactive_input:
        return _from_input(on, argv, at, env, options, switches, posix, node)
    target = argv[at].text
    if target is None:
        raise on.refusal(f"{base} runs a script whose name is not known", node.line)
    found = _script(on, target)
    if found is None:
        if on.machine.exists(on.path(target)) is False or on.machine.closed:
            _record_step(on, argv, node)
            return 127
        return _assumed_step(on, argv, node)
    _, text, source = found
    if replace:
        return _child(on, text, source, argv[at + 1 :], argv[at], env, options, switches, posix, False)
    if not on.machine.closed and not may_start_engine(text, posix):
        return _assumed_step(on, argv, node)
    return _child(on, text, source, argv[at + 1 :], argv[at], env, options, switches, posix, False, argv, node)


def _login(on: Interpreter, node: Simple) -> None:
    """A login shell reads the image's profile, which in plain images sets PATH and nothing else."""
    if on.machine.closed:
        raise on.refusal("a login shell reads a profile that is not known", node.line)
    on.machine.note(on, "the image's login profile is assumed to change nothing", node.line)


def _letter(name: str) -> str:
    from bot.shell.builtins import OPTION_LETTERS

    return OPTION_LETTERS.get(name, name)


def _from_input(
    on: Interpreter,
    argv: list[Value],
    at: int,
    env: Environment,
    options: set[str],
    switches: set[str],
    posix: bool,
    node: Simple,
) -> Status:
    from bot.shell.state import Feed

    stream = on.io.get(0)
    content = stream.rest() if isinstance(stream, Feed) else Value("")
    content = on.way.resolve(content)
    if content.text is None:
        if not on.machine.closed:
            return _assumed_step(on, argv, node)
        raise on.refusal("a shell reads commands that are not known", node.line)
    return _child(
        on, content.text, source_of_value(on, content), argv[at:], argv[0], env, options, switches, posix, False
    )


def _child(
    on: Interpreter,
    text: str,
    source: Source,
    arguments: list[Value],
    name: Value,
    env: Environment,
    options: set[str],
    switches: set[str],
    posix: bool,
    command: bool,
    argv: list[Value] | None = None,
    node: Simple | None = None,
) -> Status:
    """Runs a script in a shell of its own; the caller goes on with its status."""
    from bot.shell.interpreter import Interpreter

    commands.deeper(on)
    shell = Shell(variables_of(env, on.shell.directory, on.shell.variables), list(arguments), name, posix)
    shell.options, shell.switches, shell.directory = set(options), set(switches), on.shell.directory
    shell.command_string = command
    for function, definition in on.shell.functions.items():
        if f"BASH_FUNC_{function}%%" in on.shell.variables:
            shell.functions[function] = definition
    inner = Interpreter(on.machine, shell, source)
    inner.io, inner.guards, inner.naming = dict(on.io), on.guards, on.naming
    calls = len(on.machine.calls)
    step = len(on.machine.steps)
    if argv is not None and node is not None:
        _record_step(on, argv, node)
    try:
        status = inner.main(parse(text, posix=posix))
    finally:
        on.machine.depth -= 1
    if argv is not None and len(on.machine.calls) > calls and len(on.machine.steps) > step:
        # The script was the way to the engine, not a step before it.
        on.machine.steps.pop(step)
        call = on.machine.calls[-1]
        on.machine.calls[-1] = Call(call.argv, call.environment, call.engine, call.steps - 1)
    elif argv is not None and on.machine.failing == step:
        return 1
    return status


def _script_file(
    on: Interpreter,
    script: tuple[str, str, Source],
    argv: list[Value],
    env: Environment,
    node: Simple,
    *,
    replace: bool,
    depth: int,
) -> Status:
    """A script that is run by its name: its first line says by which program."""
    path, _, source = script
    if on.machine.closed:
        return 126
    found = _SHEBANG.match(source.texts[0])
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
    return _start(on, [*prefix, target, *argv[1:]], env, node, replace=replace, depth=depth + 1)


_STARTERS = re.compile(
    r"\b(?:exec|eval|vllm|source|sglang|llama-server|lmcache|ollama|tritonserver|trtllm-serve|bash|sh|python[0-9.]*)\b"
    r"|^\s*[.$\"]|[;&|(]\s*[.$\"]\s",
    re.M,
)


def may_start_engine(text: str, posix: bool) -> bool:
    """Whether a script has a command that could start an engine, so that it has to be followed."""
    script = parse(text, posix=posix)
    from bot.shell.facts import commands_of

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
        if base in catalogue.ENGINES or base in ("exec", "eval", "source", ".", "exit") or base in catalogue.SHELLS:
            return True
        if catalogue.PYTHON.match(base) and re.search(r"-m\s+[\"']?(?:vllm|sglang)|\$", command.text):
            return True
        if base in ("env", "nohup", "numactl", "stdbuf", "taskset", "nice", "timeout", "setsid", "gosu", "tini"):
            return True
    return False


# --- everything else -----------------------------------------------------------------------------------------------


def _other(on: Interpreter, base: str, argv: list[Value], node: Simple) -> Status:
    """A program of which only assumptions can be made."""
    naming = _short(on.naming or node.text)
    stream = on.io.get(1)
    captured = isinstance(stream, Sink) and stream.keep
    if captured and isinstance(stream, Sink):
        if on.machine.closed and base in ("mkdir", "rm", "chmod", "touch", "cp", "mv", "ln"):
            pass
        else:
            stream.write(Value(None, on.here(on.line), (Symbol(_short(node.text), True),)))
    tools.remember_effects(on, base, argv)
    if _is_step(on, base, argv):
        return _assumed_step(on, argv, node)
    if on.condition_depth and base not in catalogue.PREPARATION - catalogue.QUERIES:
        return Symbol(naming)
    if captured and base not in catalogue.PREPARATION - catalogue.QUERIES:
        return Symbol(naming)
    if base not in catalogue.PREPARATION and base not in catalogue.QUERIES:
        on.machine.note(on, f"{base} is assumed to exist and to succeed", node.line)
    return 0


def _is_step(on: Interpreter, base: str, argv: list[Value]) -> bool:
    if base in catalogue.INSTALLERS:
        return True
    if base == "git" and len(argv) > 1 and argv[1].text in ("apply", "am"):
        return True
    if catalogue.PYTHON.match(base) or base in ("perl", "node", "ruby"):
        target = next((one.text for one in argv[1:] if one.text is not None and not one.text.startswith("-")), None)
        if any(one.text == "-m" for one in argv[1:3]):
            return len(argv) > 2 and argv[2].text in ("pip", "ensurepip")
        return target is not None and not any(one.text == "-c" for one in argv[1:])
    name = argv[0].text or ""
    return "/" in name and not _system(name)


def _record_step(on: Interpreter, argv: list[Value], node: Simple) -> int:
    on.machine.steps.append(Done(tuple(argv), on.position(node.line)))
    return len(on.machine.steps) - 1


def _assumed_step(on: Interpreter, argv: list[Value], node: Simple) -> Status:
    """A step: it succeeds, except on the run that asks what happens when it does not."""
    index = _record_step(on, argv, node)
    stream = on.io.get(1)
    if isinstance(stream, Sink) and stream.keep and not stream.values:
        stream.write(Value(None, on.here(on.line), (Symbol(_short(node.text), True),)))
    return 1 if on.machine.failing == index else 0


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:79] + "…"


__all__ = ["Loop", "Return", "environment", "is_engine", "nested", "run"]


def program_exists(on: Interpreter, name: str) -> bool | None:
    """Whether a program of this name would be found; None when only the container knows."""
    base = posixpath.basename(name)
    if on.machine.closed:
        if name in catalogue.CLOSED_STUBS:
            return True
        if "/" in name:
            return _system(name) and base in _COMMON
        return name in _COMMON
    if "/" in name:
        return on.machine.exists(on.path(name))
    if base in _EVERYWHERE:
        return True
    return None


_EVERYWHERE = frozenset(
    {"bash", "sh", "cat", "ls", "grep", "sed", "awk", "env", "python3", "vllm", "mkdir", "cp", "rm"}
)
