"""Redirections: where a command's output goes and its input comes from. Files that the script writes are remembered."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from bot.shell.model import SourceFile
from bot.shell.numbers import is_digits, whole
from bot.shell.state import Feed, ReadOnly, Sink, Stream
from bot.shell.syntax import HereDocument, Node, Redirect, Sequence, Simple, Word
from bot.shell.values import EMPTY, Symbol, Value, concatenate

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter


class Failed(Exception):
    """A redirection that the shell cannot make."""


def applied(on: Interpreter, list_of: tuple[Redirect, ...], *, lasting: bool = False) -> dict[int, Stream]:
    """The streams after these redirections, which are `lasting` where `exec` makes them. Raises `Failed`."""
    io = dict(on.io)
    for redirect in list_of:
        if redirect.variable and (not lasting or on.redirected or len(list_of) > 1):
            # Which number it gets depends on those that bash keeps for itself meanwhile.
            raise on.refusal("{NAME}> beside other redirections is not followed", redirect.line)
        _apply(on, redirect, io)
    return io


def _apply(on: Interpreter, redirect: Redirect, io: dict[int, Stream]) -> None:
    operator = redirect.operator
    on.line = redirect.line
    if redirect.variable:
        _named(on, redirect, io)
        return
    if isinstance(redirect.target, HereDocument):
        body = on.expand.single(redirect.target.body)
        io[redirect.descriptor or 0] = Feed(body)
        return
    target = _target(on, redirect, redirect.target)
    if operator == "<<<":
        io[redirect.descriptor or 0] = Feed(concatenate([target, Value("\n", target.origin)]))
        return
    if target.text is None:
        _unknown_target(on, redirect, target, io)
        return
    if operator in (">&", "<&"):
        _duplicate(on, redirect, target.text, io)
        return
    if operator == "<":
        io[redirect.descriptor or 0] = opened(on, target.text)
        return
    sink = _created(on, target.text, append=operator in (">>", "&>>"), io=io, clobbers=operator in (">|", "<>"))
    if operator in ("&>", "&>>"):
        io[1] = io[2] = sink
    else:
        io[1 if redirect.descriptor is None else redirect.descriptor] = sink
    if operator == "<>":
        io[redirect.descriptor or 0] = sink


FIRST_NAMED = 10
"""The lowest descriptor that bash gives to `{NAME}>`."""


def _named(on: Interpreter, redirect: Redirect, io: dict[int, Stream]) -> None:
    """`{NAME}>file` opens a descriptor that is free and sets NAME to its number; `{NAME}>&-` closes it."""
    word, name = redirect.target, redirect.variable
    if isinstance(word, Word) and word.constant == "-" and redirect.operator in (">&", "<&"):
        held = on.expand.variable(name)
        if held is None or not is_digits(held.text):
            raise Failed
        io.pop(whole(held.text or ""), None)
        return
    free = next(one for one in count(FIRST_NAMED) if one not in io and one not in on.io)
    _apply(on, replace(redirect, variable="", descriptor=free), io)
    try:
        on.assign(name, Value(str(free), on.here(redirect.line)))
    except ReadOnly as error:
        raise Failed from error


def _target(on: Interpreter, redirect: Redirect, word: Word) -> Value:
    """What a redirection names: a word that is split, as any other, and fails where it becomes none or several."""
    if redirect.operator == "<<<" or on.shell.posix or word.constant is not None:
        return on.expand.single(word)
    fields: list[Value] = []
    on.expand.word(word, fields)
    if len(fields) != 1:
        raise Failed
    return fields[0]


def _unknown_target(on: Interpreter, redirect: Redirect, target: Value, io: dict[int, Stream]) -> None:
    """A file whose name is a symbol (`$(mktemp)`): it is remembered under that."""
    name, operator = target.template(), redirect.operator
    if operator in ("<", "<&", "<>"):
        known = on.machine.overlay.get(name)
        unknown = Value(None, target.origin, (Symbol(f"<{name}", True),))
        io[redirect.descriptor or 0] = Feed(known.content() if known is not None else unknown)
        return
    sink = Sink(keep=True)
    if operator in (">>", "&>>"):
        before = on.machine.overlay.get(name)
        sink.write(before.content() if before is not None else Value(None, target.origin, (Symbol(f"<{name}", True),)))
    on.machine.overlay[name] = sink
    if operator in ("&>", "&>>"):
        io[1] = io[2] = sink
    else:
        io[1 if redirect.descriptor is None else redirect.descriptor] = sink


def _duplicate(on: Interpreter, redirect: Redirect, text: str, io: dict[int, Stream]) -> None:
    default = 1 if redirect.operator == ">&" else 0
    descriptor = default if redirect.descriptor is None else redirect.descriptor
    if text == "-":
        io.pop(descriptor, None)
    elif is_digits(text):
        if whole(text) not in io:
            raise Failed
        io[descriptor] = io[whole(text)]
    elif redirect.operator == ">&" and redirect.descriptor is None:
        io[1] = io[2] = _created(on, text, append=False, io=io)
    else:
        raise on.refusal("a redirection that is not followed", redirect.line)


def _created(on: Interpreter, name: str, *, append: bool, io: dict[int, Stream], clobbers: bool = False) -> Sink:
    if name in ("/dev/stdout", "/dev/fd/1", "/dev/stderr", "/dev/fd/2"):
        stream = io.get(1 if name.endswith(("stdout", "1")) else 2)
        return stream if isinstance(stream, Sink) else Sink(keep=False)
    path = on.path(name)
    if path.startswith(("/dev/", "/proc/", "/sys/")):
        return Sink(keep=False)
    if on.machine.is_directory(path):
        raise Failed
    if on.machine.closed and on.machine.is_directory(_parent(path)) is False:
        raise Failed
    if "C" in on.shell.options and not append and not clobbers:
        known = on.machine.exists(path)
        if known is None:
            raise on.refusal(f"whether {path} is there is not known, under `set -C`")
        if known:
            raise Failed
    sink = Sink(keep=True)
    if append:
        before = on.machine.read(path)
        if isinstance(before, SourceFile):
            sink.write(Value(before.text, on.here(on.line)))
        elif before is not None:
            sink.write(before)
        elif on.machine.exists(path) is None:
            sink.write(Value(None, on.here(on.line), (Symbol(f"<{path}", True),)))
    on.machine.removed.discard(path)
    on.machine.overlay[path] = sink
    return sink


def _parent(path: str) -> str:
    return path.rsplit("/", 1)[0] or "/"


def opened(on: Interpreter, name: str) -> Feed:
    """A file as input. Raises `Failed` when there is no such file."""
    path = on.path(name)
    if path == "/dev/null":
        return Feed(EMPTY)
    if path == "/dev/stdin":
        stream = on.io.get(0)
        return stream if isinstance(stream, Feed) else Feed(EMPTY)
    content = on.machine.read(path)
    if isinstance(content, SourceFile):
        return Feed(Value(content.text, on.here(on.line)), path)
    if content is not None:
        return Feed(content, path)
    if on.machine.exists(path) is False:
        raise Failed
    return Feed(Value(None, on.here(on.line), (Symbol(f"<{path}", True),)), path)


def file_only(on: Interpreter, body: Node) -> Value | None:
    """The content that `$(< file)` stands for; None when the substitution is something else."""
    if not isinstance(body, Sequence) or len(body.commands) != 1 or body.background:
        return None
    command = body.commands[0]
    if not isinstance(command, Simple) or command.words or command.assignments or len(command.redirects) != 1:
        return None
    redirect = command.redirects[0]
    if redirect.operator != "<" or redirect.descriptor:
        return None
    io = dict(on.io)
    try:
        _apply(on, redirect, io)
    except Failed:
        return EMPTY
    stream = io[0]
    return stream.rest() if isinstance(stream, Feed) else EMPTY
