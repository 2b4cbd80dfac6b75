"""Programs that only start another one: `env`, `numactl`, `nohup`, `tini --`, `timeout 5`…"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.shell.grammar import Reader
from bot.shell.syntax import Simple
from bot.shell.values import Symbol, Value, concatenate

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

Environment = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How a wrapper reads its own arguments.

    `valued` are its options that take the next argument; `operands` the arguments that stand before the program.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0


def names(text: str) -> frozenset[str]:
    """A set of names or options, written one after the other."""
    return frozenset(text.split())


WRAPPERS = {
    "numactl": Wrapper(
        names(
            "-i --interleave -m --membind -N --cpunodebind -C --physcpubind -p --preferred -w --weighted-interleave "
            "-L --length -o --offset -f --file -S --shm -I --shmid -P --preferred-many"
        )
    ),
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "tini": Wrapper(names("-p")),
    "dumb-init": Wrapper(names("-r --rewrite")),
    "catatonit": Wrapper(),
    "stdbuf": Wrapper(names("-i --input -o --output -e --error")),
    "nice": Wrapper(names("-n --adjustment")),
    "ionice": Wrapper(names("-c --class -n --classdata -p --pid")),
    "chrt": Wrapper(names("-T --sched-runtime -P --sched-period -D --sched-deadline"), operands=1),
    "taskset": Wrapper(frozenset(), operands=1),
    "timeout": Wrapper(names("-k --kill-after -s --signal"), operands=1),
    "gosu": Wrapper(frozenset(), operands=1),
    "su-exec": Wrapper(frozenset(), operands=1),
    "unbuffer": Wrapper(),
    "prlimit": Wrapper(),
    "setpriv": Wrapper(names("--reuid --regid --groups --inh-caps --ambient-caps --bounding-set")),
    "sudo": Wrapper(names("-u --user -g --group")),
    "ld.so": Wrapper(),
    "nsys": Wrapper(operands=1),
    "catchsegv": Wrapper(),
    "pasta": Wrapper(),
    "opentelemetry-instrument": Wrapper(names("--traces_exporter --metrics_exporter --service_name")),
    "ddtrace-run": Wrapper(),
    "jemalloc.sh": Wrapper(),
}
"""The wrappers that people put before an engine. `env` and `time` are read by their own rules."""

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def unwrap(
    on: Interpreter, base: str, argv: list[Value], env: Environment, node: Simple
) -> tuple[list[Value], Environment] | None:
    """The command line behind a wrapper, and its environment; None when this is no wrapper, or it starts nothing."""
    if base == "env":
        return _env(on, argv, env, node)
    if base in ("uv", "poetry", "pdm", "conda", "mamba", "micromamba") and len(argv) > 2 and argv[1].text == "run":
        return _runner(argv, env)
    wrapper = WRAPPERS.get(base)
    if wrapper is None or (on.machine.closed and base not in _CLOSED):
        return None
    at, operands = 1, wrapper.operands
    while at < len(argv):
        text = argv[at].text
        if text is None:
            raise on.refusal(f"the options of {base} are not known", node.line)
        if text == "--":
            at += 1
            break
        if not text.startswith("-") or text == "-":
            break
        at += 1
        if base == "taskset" and text in ("-p", "--pid"):
            return None
        if base in ("ionice", "chrt") and text in ("-p", "--pid"):
            return None
        if base == "chrt" and text in ("-m", "--max"):
            return None
        if base == "numactl" and text in ("-s", "--show", "-H", "--hardware"):
            return None
        if text in wrapper.valued:
            at += 1
    at += operands
    if at >= len(argv):
        return None
    return argv[at:], (_buffered(argv[1:at], env) if base == "stdbuf" else env)


def _buffered(options: list[Value], env: Environment) -> Environment:
    """What `stdbuf -oL` puts into the environment of its program."""
    added = dict(env)
    texts = iter(one.text or "" for one in options)
    for text in texts:
        found = re.fullmatch(r"(?:-([ioe])|--(input|output|error)=?)(.*)", text)
        if found is not None:
            mode = found[3] or next(texts, "")
            added[f"_STDBUF_{(found[1] or found[2][0]).upper()}"] = Value(mode.upper() if mode == "l" else mode)
    before = env.get("LD_PRELOAD")
    library = Value(None, (), (Symbol("the library of stdbuf"),))
    added["LD_PRELOAD"] = library if before is None or before.text == "" else concatenate([before, Value(":"), library])
    return added


_CLOSED = frozenset({"numactl", "nohup", "setsid", "stdbuf", "nice", "ionice", "chrt", "taskset", "timeout", "setpriv"})


def _runner(argv: list[Value], env: Environment) -> tuple[list[Value], Environment] | None:
    """`uv run …`, `conda run -n NAME …`."""
    at = 2
    while at < len(argv):
        text = argv[at].text
        if text is None or not text.startswith("-"):
            break
        at += 1
        if text == "--":
            break
        if text in ("-n", "--name", "-p", "--prefix", "--python", "--with", "--project", "--directory", "--env-file"):
            at += 1
    return (argv[at:], env) if at < len(argv) else None


def _env(on: Interpreter, argv: list[Value], env: Environment, node: Simple) -> tuple[list[Value], Environment] | None:
    argv = list(argv)
    env = dict(env)
    at = 1
    while at < len(argv):
        text = argv[at].text
        if text is None:
            if argv[at].splits or not isinstance(argv[at].parts[0], str):
                raise on.refusal("the arguments of env are not known", node.line)
            head = str(argv[at].parts[0])
            if not _ASSIGNMENT.match(head):
                raise on.refusal("the arguments of env are not known", node.line)
            name, _, rest = head.partition("=")
            env[name] = Value(None, argv[at].origin, (rest, *argv[at].parts[1:]) if rest else argv[at].parts[1:])
            at += 1
            continue
        if text in ("-i", "--ignore-environment", "-"):
            env = {}
        elif text in ("-u", "--unset"):
            at += 1
            if at < len(argv):
                env.pop(argv[at].text or "", None)
        elif text.startswith("--unset="):
            env.pop(text.removeprefix("--unset="), None)
        elif text.startswith("-u") and len(text) > 2:
            env.pop(text[2:], None)
        elif text in ("-C", "--chdir") or text.startswith("--chdir="):
            at += text in ("-C", "--chdir")
            _change_directory(on, argv[at] if at < len(argv) else Value(""), node)
        elif text in ("-S", "--split-string") or text.startswith(("-S", "--split-string=")):
            split, taken = _split_string(on, argv, at, text, node)
            argv[at : at + taken] = split
            continue
        elif text == "--":
            at += 1
            while at < len(argv) and _ASSIGNMENT.match(argv[at].text or ""):
                _put(env, argv[at])
                at += 1
            break
        elif text.startswith("-"):
            if text in ("-v", "--debug"):
                at += 1
                continue
            raise on.refusal(f"env {text} is not followed", node.line)
        elif "=" in text:
            while at < len(argv) and "=" in (argv[at].text or ""):
                _put(env, argv[at])
                at += 1
            break
        else:
            break
        at += 1
    return (argv[at:], env) if at < len(argv) else None


def _change_directory(on: Interpreter, argument: Value, node: Simple) -> None:
    """`env -C DIRECTORY`: whoever starts the program puts the shell's own directory back."""
    text = on.way.resolve(argument).text
    if text is None:
        raise on.refusal(f"env -C to a directory that is not known: {argument.template()}", node.line)
    on.shell.directory = on.path(text.removeprefix("--chdir="))


def _put(env: Environment, argument: Value) -> None:
    name, _, rest = (argument.text or "").partition("=")
    env[name] = Value(rest, argument.origin)


def _split_string(on: Interpreter, argv: list[Value], at: int, text: str, node: Simple) -> tuple[list[Value], int]:
    """The words of `env -S "a b"`, and how many arguments they stand for."""
    taken = 1
    if text in ("-S", "--split-string"):
        taken = 2
        value = argv[at + 1] if at + 1 < len(argv) else Value("")
        whole = value.text
    else:
        value = argv[at]
        whole = text.removeprefix("--split-string=") if text.startswith("--") else text[2:]
    if whole is None:
        raise on.refusal("the arguments of env are not known", node.line)
    if "\\" in whole or "$" in whole:
        raise on.refusal("env -S with escapes is not followed", node.line)
    words = Reader(whole, node.line).words()
    return [Value(one.text if one.constant is None else one.constant, value.origin) for one in words], taken
