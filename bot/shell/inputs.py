"""`read`, `mapfile` and `getopts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.shell.machine import STEPS_OF_A_CHARACTER, STEPS_OF_A_WORD
from bot.shell.numbers import is_digits, whole
from bot.shell.state import Feed, ReadOnly, Status, Variable
from bot.shell.syntax import Simple
from bot.shell.values import Symbol, Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

_BLANKS = " \t\n"


def read(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`read`: one line (or up to a delimiter), split into variables."""
    raw, delimiter, array, count, exact = False, "\n", "", 0, False
    descriptor, at = 0, 0
    while at < len(arguments) and (arguments[at].text or "").startswith("-") and len(arguments[at].text or "") > 1:
        text = arguments[at].text or ""
        at += 1
        if text == "--":
            break
        position = 1
        while position < len(text):
            letter = text[position]
            position += 1
            if letter in "adnNptui":
                value = text[position:]
                if not value:
                    value = arguments[at].text or "" if at < len(arguments) else ""
                    at += 1
                if letter == "a":
                    array = value
                elif letter == "d":
                    delimiter = value[:1] or "\0"
                elif letter in "nN":
                    count, exact = whole(value) if is_digits(value) else 0, letter == "N"
                elif letter == "u":
                    descriptor = whole(value) if is_digits(value) else 0
                break
            if letter == "r":
                raw = True
    names = [one.text or "" for one in arguments[at:]]
    feed = on.io.get(descriptor)
    if not isinstance(feed, Feed):
        return 1
    feed.value = on.way.resolve(feed.value)
    if feed.value.text is None:
        return _unknown(on, feed, names, array, node)
    line, found = _line(feed, raw, delimiter, count, exact)
    on.machine.spend(STEPS_OF_A_CHARACTER * len(line))
    origin = feed.value.origin or on.here(node.line)
    separators = on.separators()
    if array:
        variable = on.own(array)
        if variable.readonly:
            raise ReadOnly
        variable.value, variable.mapping = None, False
        pieces = _split(line, separators, 0)
        variable.items = {index: Value(text, origin) for index, text in enumerate(pieces)}
    elif not names:
        on.assign("REPLY", Value("".join(one for one, _ in line), origin))
    else:
        texts = _split(line, separators, len(names)) if not exact else ["".join(one for one, _ in line)]
        for index, name in enumerate(names):
            on.assign(name, Value(texts[index] if index < len(texts) else "", origin))
    return int(not found)


def _unknown(on: Interpreter, feed: Feed, names: list[str], array: str, node: Simple) -> Status:
    template = feed.value.template()
    whole = feed.value
    feed.value = Value("")
    if array:
        on.own(array).items = {0: Value(None, whole.origin, whole.parts, (), True)}
        raise on.refusal(f"an array is read from {template}, which is not known", node.line)
    if on.loops:
        raise on.refusal(f"a loop reads from {template}, which is not known", node.line)
    for name in names or ["REPLY"]:
        only = len(names) <= 1
        value = on.way.symbol(template.removeprefix("${").removesuffix("}") if only else f"{name} read from {template}")
        on.assign(name, Value(value.text, whole.origin, value.parts))
    return 0


def _line(feed: Feed, raw: bool, delimiter: str, count: int, exact: bool) -> tuple[list[tuple[str, bool]], bool]:
    """The characters up to the delimiter (each with whether a backslash protects it), and whether it was there."""
    text = feed.value.text or ""
    line: list[tuple[str, bool]] = []
    while feed.at < len(text):
        if count and len(line) >= count:
            return line, True
        character = text[feed.at]
        feed.at += 1
        if character == "\\" and not raw and feed.at < len(text):
            following = text[feed.at]
            feed.at += 1
            if following != "\n":
                line.append((following, True))
            continue
        if character == delimiter and not exact:
            return line, True
        if character != "\0":
            line.append((character, False))
    return line, bool(count and len(line) >= count)


def _split(line: list[tuple[str, bool]], separators: str, limit: int) -> list[str]:
    """The fields of a line; with a limit the last one keeps what is left."""
    blanks = frozenset(one for one in separators if one in _BLANKS)
    hard = frozenset(separators) - blanks
    size = len(line)

    def is_in(at: int, kind: frozenset[str]) -> bool:
        return at < size and not line[at][1] and line[at][0] in kind

    at = 0
    while is_in(at, blanks):
        at += 1
    fields: list[str] = []
    while at < size:
        if limit and len(fields) == limit - 1:
            fields.append(_last(line, at, blanks, hard))
            return fields
        start = at
        while at < size and not is_in(at, blanks) and not is_in(at, hard):
            at += 1
        fields.append("".join(one for one, _ in line[start:at]))
        while is_in(at, blanks):
            at += 1
        if is_in(at, hard):
            at += 1
            while is_in(at, blanks):
                at += 1
    return fields


def _last(line: list[tuple[str, bool]], at: int, blanks: frozenset[str], hard: frozenset[str]) -> str:
    """What the last variable gets: one field when there is no more, else all that is left, less blanks at its end."""
    size = len(line)

    def skip(position: int, kind: frozenset[str]) -> int:
        while position < size and not line[position][1] and line[position][0] in kind:
            position += 1
        return position

    end = at
    while end < size and (line[end][1] or line[end][0] not in blanks | hard):
        end += 1
    behind = skip(end, blanks)
    if behind < size and not line[behind][1] and line[behind][0] in hard:
        behind = skip(behind + 1, blanks)
    if behind < size:
        end = size
        # A backslash does not save a blank here.
        while end > at and line[end - 1][0] in blanks:
            end -= 1
    return "".join(one for one, _ in line[at:end])


def mapfile(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`mapfile`: the lines of the input as an array."""
    trim, delimiter, limit, skip, origin_index, descriptor = False, "\n", 0, 0, -1, 0
    at = 0
    while at < len(arguments) and (arguments[at].text or "").startswith("-"):
        text = arguments[at].text or ""
        at += 1
        if text == "-t":
            trim = True
            continue
        letter, value = text[1:2], text[2:]
        if not value and at < len(arguments):
            value = arguments[at].text or ""
            at += 1
        number = whole(value) if is_digits(value) else -1
        if letter == "d":
            delimiter = value[:1] or "\0"
        elif letter in "nsOu" and number < 0:
            return 1 if value else 2
        elif letter == "n":
            limit = number
        elif letter == "s":
            skip = number
        elif letter == "O":
            origin_index = number
        elif letter == "u":
            descriptor = number
        else:
            raise on.refusal(f"mapfile {text} is not followed", node.line)
    name = (arguments[at].text or "") if at < len(arguments) else "MAPFILE"
    feed = on.io.get(descriptor)
    if not isinstance(feed, Feed):
        return 1
    content = on.way.resolve(feed.rest())
    variable = on.own(name)
    if variable.readonly:
        raise ReadOnly
    variable.value = None
    if variable.items is None or origin_index < 0:
        variable.items = {}
    if content.text is None:
        variable.items[max(origin_index, 0)] = Value(None, content.origin, (Symbol(content.template()),), (), True)
        return 0
    lines = content.text.split(delimiter)
    tail = lines.pop()
    kept = [one if trim else one + delimiter for one in lines] + ([tail] if tail else [])
    kept = kept[skip : skip + limit] if limit else kept[skip:]
    if len(kept) > 100_000:
        raise on.refusal("mapfile reads too many lines", node.line)
    on.machine.spend(STEPS_OF_A_WORD * len(kept))
    for index, one in enumerate(kept):
        variable.items[max(origin_index, 0) + index] = Value(
            one.split("\0", 1)[0], content.origin or on.here(node.line)
        )
    return 0


def getopts(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`getopts`: the next option of the arguments."""
    if len(arguments) < 2:
        return 2
    spec, name = arguments[0].text or "", arguments[1].text or ""
    words = arguments[2:] if len(arguments) > 2 else on.shell.positional
    current = on.expand.variable("OPTIND")
    index = whole(current.text or "") if current is not None and is_digits(current.text) else 1
    quiet = spec.startswith(":")
    on.shell.variables.pop("OPTARG", None)
    position = on.shell.getopts_at

    def finish(letter: str, index: int, position: int, status: int) -> Status:
        on.shell.variables["OPTIND"] = Variable(Value(str(index)))
        on.shell.getopts_at = position
        on.assign(name, Value(letter, on.here(node.line)))
        return status

    if index > len(words):
        return finish("?", index, 1, 1)
    word = words[index - 1]
    text = on.way.resolve(word).text
    if text is None:
        raise on.refusal("getopts over a value that is not known", node.line)
    if position == 1 and (not text.startswith("-") or text == "-"):
        return finish("?", index, 1, 1)
    if position == 1 and text == "--":
        return finish("?", index + 1, 1, 1)
    letter = text[position : position + 1]
    at_end = position + 1 >= len(text)
    where = spec.lstrip(":").find(letter)
    if letter == ":" or where < 0:
        if quiet:
            on.assign("OPTARG", Value(letter, word.origin))
        return finish("?", index + 1 if at_end else index, 1 if at_end else position + 1, 0)
    takes = spec.lstrip(":")[where + 1 : where + 2] == ":"
    if not takes:
        return finish(letter, index + 1 if at_end else index, 1 if at_end else position + 1, 0)
    if not at_end:
        on.assign("OPTARG", Value(text[position + 1 :], word.origin))
        return finish(letter, index + 1, 1, 0)
    if index < len(words):
        on.assign("OPTARG", words[index])
        return finish(letter, index + 2, 1, 0)
    if quiet:
        on.assign("OPTARG", Value(letter, word.origin))
        return finish(":", index + 1, 1, 0)
    return finish("?", index + 1, 1, 0)
