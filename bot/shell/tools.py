"""Programs whose output can be computed exactly from known input: `cat`, `tr`, `cut`, `seq`, `basename`…

Each is a function like a builtin. On a form that it does not know, or on unknown input, the output is a symbol.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.shell import editing, filters, globbing
from bot.shell.editing import Spend
from bot.shell.filters import Unknown
from bot.shell.machine import STEPS_OF_A_CHARACTER
from bot.shell.model import SourceFile
from bot.shell.naming import output_of, status_of
from bot.shell.output import echo
from bot.shell.state import Feed, Sink, Status
from bot.shell.syntax import Simple
from bot.shell.values import Symbol, Value, concatenate

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

_NEVER_FAIL = frozenset({"tr", "cut", "head", "tail", "sort", "uniq", "wc", "rev", "tac", "paste"})
"""Filters that succeed whatever they read."""

_EDITORS = frozenset({"sed", "sort", "awk"})
_ANSWERING = re.compile(r"(?:\S*/)?[ef]?grep\b")
_IN_PLACE = re.compile(r"-[a-zA-Z]*[io].*|--in-place.*|--output.*", re.DOTALL)
_WILD = re.compile(r"/[^*?\[]*(?=[*?\[])")

Tool = Callable[["Interpreter", list[Value], Simple], Status]


def find(name: str) -> Tool | None:
    """The tool of this name."""
    return _TOOLS.get(name)


def write(on: Interpreter, value: Value) -> None:
    """Writes to standard output."""
    stream = on.io.get(1)
    if isinstance(stream, Sink):
        stream.write(value)


def unknown(on: Interpreter, node: Simple, arguments: list[Value] | None = None) -> Status:
    """What is left when a tool cannot be computed: an unknown output and status."""
    stream = on.io.get(1)
    if isinstance(stream, Sink) and stream.keep:
        stream.write(Value(None, on.here(node.line), (output_of(on, node, arguments),)))
    return status_of(on, node, arguments, hopeful=not _ANSWERING.match(node.text))


def standard_input(on: Interpreter) -> Value:
    """All that is left on standard input."""
    feed = on.io.get(0)
    return on.way.resolve(feed.rest()) if isinstance(feed, Feed) else Value("")


def file_content(on: Interpreter, name: str) -> Value | None:
    """The content of a file, None when it does not exist. Raises `Unknown`."""
    path = on.path(name)
    if name == "-" or path == "/dev/stdin":
        return standard_input(on)
    if path == "/dev/null":
        return Value("")
    content = on.machine.read(path)
    if isinstance(content, SourceFile):
        return Value(content.text, on.here(on.line))
    if content is not None:
        return on.way.resolve(content)
    if on.machine.exists(path) is False:
        return None
    raise Unknown


def _cat(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if len(arguments) == 1 and arguments[0].text is None and arguments[0].template() in on.machine.overlay:
        write(on, on.machine.overlay[arguments[0].template()].content())
        return 0
    if any(one.text is None for one in arguments):
        return unknown(on, node)
    names = [one.text or "" for one in arguments]
    options = [one for one in names if one.startswith("-") and one != "-"]
    if options:
        return unknown(on, node)
    status: Status = 0
    pieces: list[Value] = []
    for name in names or ["-"]:
        try:
            content = file_content(on, name)
        except Unknown:
            content = Value(None, on.here(node.line), (Symbol(f"<{on.path(name)}", True),))
            status = status_of(on, node, arguments, hopeful=True)
        if content is None:
            status = 1
        else:
            pieces.append(content)
    if pieces:
        write(on, concatenate(pieces))
    return status


def _simple_filter(name: str, compute: Callable[[list[str], str], tuple[str, int]], files_after: int | None) -> Tool:
    """A tool that turns a text into a text in one walk over it."""
    return _text_filter(name, lambda options, text, _spend: compute(options, text), files_after)


def _text_filter(
    name: str, compute: Callable[[list[str], str, Spend], tuple[str, int]], files_after: int | None
) -> Tool:
    """A tool that turns a text into a text. `files_after` operands stand before its files (None: no files)."""

    def tool(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
        arguments = [on.way.resolve(one) for one in arguments]
        if any(one.text is None for one in arguments):
            standard_input(on)
            return unknown(on, node)
        texts = [one.text or "" for one in arguments]
        try:
            options, files = filters.separate(name, texts, files_after)
            if files:
                contents = [file_content(on, one) for one in files]
                if any(one is None for one in contents):
                    return 2 if name == "grep" else 1
                if len(files) > 1 and name != "sort":
                    return unknown(on, node)
                source = concatenate([one for one in contents if one is not None])
            else:
                source = standard_input(on)
            if source.text is None:
                status = unknown(on, node, arguments)
                return 0 if name in _NEVER_FAIL and not files else status
            on.machine.spend(STEPS_OF_A_CHARACTER * len(source.text))
            text, status = compute(options, source.text, on.machine.spend)
        except Unknown:
            if name in _EDITORS and any(_IN_PLACE.fullmatch(one) for one in texts):
                forget_changed(on, name, arguments)
            return unknown(on, node)
        write(on, Value(text, source.origin or on.here(node.line)))
        return status

    return tool


def _plain(compute: Callable[[list[str]], str]) -> Tool:
    """A tool whose output depends on its arguments only."""

    def tool(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
        arguments = [on.way.resolve(one) for one in arguments]
        if any(one.text is None for one in arguments):
            return unknown(on, node)
        try:
            text = compute([one.text or "" for one in arguments])
        except Unknown:
            return unknown(on, node)
        except ValueError:
            return 1
        write(on, Value(text, arguments[-1].origin if arguments else on.here(node.line)))
        return 0

    return tool


def _mkdir(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    status = 0
    parents = any(re.fullmatch(r"-\w*p\w*|--parents", one.text or "") for one in arguments)
    for one in arguments:
        text = on.way.resolve(one).text
        if text is None or text.startswith("-"):
            continue
        path = on.path(text)
        known = on.machine.exists(path)
        if known and not parents:
            status = 1
        parent = posixpath.dirname(path)
        if on.machine.closed and not parents and on.machine.is_directory(parent) is False:
            status = 1
            continue
        while path != "/":
            on.machine.directories.add(path)
            on.machine.removed.discard(path)
            path = posixpath.dirname(path)
    return status


def _rm(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    force = any(re.fullmatch(r"-\w*f\w*|--force", one.text or "") for one in arguments)
    status = 0
    for one in arguments:
        one = on.way.resolve(one)
        if one.text is None:
            _forget(on, one)
            continue
        if one.text.startswith("-"):
            continue
        path = on.path(one.text)
        if on.machine.exists(path) is False and not force:
            status = 1
        on.machine.disturb(path)
        on.machine.directories.discard(path)
        on.machine.removed.add(path)
    return status


def _touch(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    for one in arguments:
        text = on.way.resolve(one).text
        if text is None or text.startswith("-"):
            continue
        path = on.path(text)
        if on.machine.read(path) is None:
            if on.machine.closed and on.machine.is_directory(posixpath.dirname(path)) is False:
                return 1
            if not on.machine.exists(path):
                on.machine.removed.discard(path)
                on.machine.overlay[path] = Sink(keep=True)
    return 0


def _copy(move: bool) -> Tool:
    def tool(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
        names = [on.way.resolve(one).text for one in arguments]
        plain = [one for one in names if one is not None and not one.startswith("-")]
        if None in names or len(plain) != 2:
            if on.machine.closed:
                raise on.refusal(f"{node.text} is not followed", node.line)
            for one in plain[:-1]:
                on.machine.disturb(posixpath.join(on.path(plain[-1]), posixpath.basename(one)))
            return 0
        source, target = on.path(plain[0]), on.path(plain[1])
        if on.machine.is_directory(target):
            target = posixpath.join(target, posixpath.basename(source))
        content = on.machine.read(source)
        if content is None:
            if on.machine.exists(source) is False:
                return 1
            on.machine.disturb(target)
            return 0
        sink = Sink(keep=True)
        sink.write(Value(content.text, on.here(node.line)) if isinstance(content, SourceFile) else content)
        on.machine.overlay[target] = sink
        on.machine.removed.discard(target)
        if move:
            on.machine.overlay.pop(source, None)
            on.machine.removed.add(source)
        return 0

    return tool


def _tee(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    content = standard_input(on)
    append = any(one.text in ("-a", "--append") for one in arguments)
    for one in arguments:
        text = on.way.resolve(one).text
        if text is None or text.startswith("-"):
            continue
        path = on.path(text)
        if path.startswith("/dev/"):
            continue
        sink = Sink(keep=True)
        before = on.machine.read(path) if append else None
        if before is not None:
            sink.write(Value(before.text) if isinstance(before, SourceFile) else before)
        sink.write(content)
        on.machine.overlay[path] = sink
    write(on, content)
    return 0


def _chmod(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    texts = [on.way.resolve(one).text or "" for one in arguments]
    plain = [text for text in texts if not re.fullmatch(r"-[Rcfv]+|--\w+", text)]
    mode = plain[0] if plain else ""
    status = 0
    for name in plain[1:]:
        path = on.path(name)
        if on.machine.exists(path) is False:
            status = 1
        elif re.fullmatch(r"[ugoa]*[+=][rwX]*x\w*|[0-7]*[1357][0-7]*", mode):
            on.machine.executable.add(path)
        else:
            on.machine.executable.discard(path)
    return status


def _sleep(on: Interpreter, _arguments: list[Value], _node: Simple) -> Status:
    on.machine.sleep(on)
    return 0


def _uname(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if [one.text for one in arguments] not in ([], ["-s"]):
        return unknown(on, node)
    write(on, Value("Linux\n", on.here(node.line)))
    return 0


def _which(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    from bot.shell.programs import is_installed, program_exists

    status: Status = 0
    for one in arguments:
        name = one.text or ""
        if name.startswith("-"):
            continue
        known = program_exists(on, name)
        if known is None:
            known = is_installed(on, name)
        if known:
            path = on.way.filled(f"path of {name}", on.here(node.line))
            write(on, concatenate([path, Value("\n", path.origin)]))
        else:
            status = 1
    return status


def _ls(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`ls [-1] [FOLDER]` of a folder that is mounted from the repository."""
    from bot.shell.programs import other

    operands = [one.text for one in arguments if one.text != "-1"]
    named = operands[0] if operands else "."
    shown = None
    if len(operands) < 2 and named is not None and not named.startswith("-") and on.machine.files.listed is None:
        shown = globbing.shown_by_ls(on.machine, on, on.path(named))
    if not shown:
        return other(on, "ls", [Value("ls", on.here(node.line)), *arguments], node)
    write(on, Value("".join(f"{one}\n" for one in shown), on.here(node.line)))
    return 0


_XARGS_WORD = re.compile(r"(?:[^\s'\"\\]|'[^'\n]*'|\"[^\"\n]*\"|\\.)+", re.S)
_XARGS_PIECE = re.compile(r"'([^'\n]*)'|\"([^\"\n]*)\"|\\(.)", re.S)
MAX_XARGS = 200
"""Runs of its program by one `xargs`."""


def _xargs(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`xargs [-0] [-r] [-d C] [-n N] [-I R] [PROGRAM ARGUMENT…]`, by itself `echo`."""
    content = standard_input(on)
    try:
        settings, command = _xargs_options(arguments)
        if content.text is None:
            raise Unknown
        runs = _xargs_runs(content.text, settings)
    except Unknown:
        if arguments and on.machine.closed:
            raise on.refusal("xargs is not followed", node.line) from None
        return unknown(on, node)
    command = command or [Value("echo")]
    if len(runs) > 1 and (len(runs) > MAX_XARGS or find(command[0].text or "") is None):
        raise on.refusal("xargs runs a program many times", node.line)
    status: Status = 0
    for words in runs:
        values = [Value(word, content.origin) for word in words]
        ended = _xargs_run(on, _placed(command, values, settings.get("I")), node)
        if ended != 0:
            status = 123 if isinstance(ended, int) and ended < 126 else ended
            if status != 123:
                break
    return status


def _placed(command: list[Value], values: list[Value], mark: str | None) -> list[Value]:
    if mark is None:
        return [*command, *values]
    return [
        one if one.text is None else Value(one.text.replace(mark, values[0].text or ""), values[0].origin)
        for one in command
    ]


def _xargs_run(on: Interpreter, argv: list[Value], node: Simple) -> Status:
    from bot.shell.programs import environment, start

    outer = on.io
    on.io = {**outer, 0: Feed(Value(""))}
    try:
        return start(on, argv, environment(on, {}), node, replace=False)
    finally:
        on.io = outer


def _xargs_options(arguments: list[Value]) -> tuple[dict[str, str], list[Value]]:
    settings: dict[str, str] = {}
    at = 0
    while at < len(arguments):
        text = arguments[at].text
        if text is None:
            raise Unknown
        if not text.startswith("-") or text == "-":
            break
        at += 1
        if text == "--":
            break
        text = {"--null": "-0", "--no-run-if-empty": "-r"}.get(text, text)
        if text in ("-0", "-r", "-t"):
            settings[text[1]] = ""
        elif text[1:2] in ("n", "I", "d") and text[:2] != "--":
            value = text[2:]
            if not value:
                if at >= len(arguments) or arguments[at].text is None:
                    raise Unknown
                value, at = arguments[at].text or "", at + 1
            settings[text[1]] = value
        else:
            raise Unknown
    return settings, arguments[at:]


def _xargs_runs(text: str, settings: dict[str, str]) -> list[list[str]]:
    """The arguments of each run of the program."""
    delimiter = "\0" if "0" in settings else settings.get("d")
    if delimiter is not None:
        delimiter = {"\\n": "\n", "\\0": "\0", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or "I" in settings:
            raise Unknown
        words = text.removesuffix(delimiter).split(delimiter) if text else []
    elif "I" in settings:
        if re.search(r"['\"\\]", text):
            raise Unknown
        words = [line.lstrip(" \t") for line in text.split("\n") if line.strip(" \t")]
    else:
        words = [_XARGS_PIECE.sub(lambda one: one[1] or one[2] or one[3] or "", word) for word in _xargs_words(text)]
    if sum(map(len, words)) > 100_000:
        raise Unknown
    size = 1 if "I" in settings else len(words)
    if "n" in settings:
        if not settings["n"].isdecimal() or int(settings["n"][:9]) == 0 or "I" in settings:
            raise Unknown
        size = int(settings["n"][:9])
    if not words:
        return [] if "r" in settings or "I" in settings else [[]]
    return [words[at : at + size] for at in range(0, len(words), size)]


def _xargs_words(text: str) -> list[str]:
    if not text.isascii() or _XARGS_WORD.sub("", text).strip():
        # A quote that is not closed is an error of xargs.
        raise Unknown
    return _XARGS_WORD.findall(text)


def _not_computed(on: Interpreter, _arguments: list[Value], node: Simple) -> Status:
    """Takes its input and prints what only the container knows."""
    standard_input(on)
    return unknown(on, node)


_TOOLS: dict[str, Tool] = {
    "cat": _cat,
    "mkdir": _mkdir,
    "rm": _rm,
    "touch": _touch,
    "cp": _copy(False),
    "mv": _copy(True),
    "tee": _tee,
    "chmod": _chmod,
    "sleep": _sleep,
    "uname": _uname,
    "which": _which,
    "echo": echo,
    "xargs": _xargs,
    "ls": _ls,
    "envsubst": _not_computed,
    "realpath": _not_computed,
    "tr": _simple_filter("tr", filters.tr, None),
    "cut": _simple_filter("cut", filters.cut, 0),
    "head": _simple_filter("head", filters.head, 0),
    "tail": _simple_filter("tail", filters.tail, 0),
    "sort": _simple_filter("sort", filters.sort, 0),
    "uniq": _simple_filter("uniq", filters.uniq, 0),
    "wc": _simple_filter("wc", filters.wc, 0),
    "rev": _simple_filter("rev", filters.rev, 0),
    "tac": _simple_filter("tac", filters.tac, 0),
    "paste": _simple_filter("paste", filters.paste, 0),
    "sed": _text_filter("sed", editing.sed, 1),
    "grep": _text_filter("grep", editing.grep, 1),
    "awk": _text_filter("awk", editing.awk, 1),
    "basename": _plain(filters.basename),
    "dirname": _plain(filters.dirname),
    "seq": _plain(filters.seq),
    "expr": _plain(filters.expr),
}


_READERS = frozenset(
    {"ls", "stat", "chmod", "chown", "cat", "grep", "file", "jq", "diff", "cmp", "md5sum", "sha256sum"}
)
"""Programs that leave the content of the files that they name as it is."""


def forget_changed(on: Interpreter, base: str, arguments: list[Value]) -> None:
    """Forgets what a program may have changed: the files that it names."""
    if base in _READERS:
        return
    for argument in arguments[-1:] if base == "ln" else arguments:
        _forget(on, argument)


def _forget(on: Interpreter, argument: Value) -> None:
    text = argument.text
    if text is not None:
        if not text.startswith("-") and not text.endswith("/"):
            on.machine.disturb(on.path(text))
        return
    only = argument.parts[0] if len(argument.parts) == 1 else None
    wild = _WILD.match(only.name) if isinstance(only, Symbol) else None
    on.machine.disturb(on.path(posixpath.dirname(wild.group())) if wild else argument.template())
