"""`grep`, `sed` and `awk`, in the forms that can be computed exactly."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.shell.filters import Unknown, joined_lines, lines_of, options_of, same_end
from bot.shell.numbers import is_digits, whole
from bot.shell.patterns import BadPattern, UnsupportedPattern, match_cost, regular_expression


def extended_of_basic(text: str) -> str:
    """A basic regular expression (with GNU's additions) as an extended one."""
    pieces: list[str] = []
    at = 0
    while at < len(text):
        character = text[at]
        if character == "\\" and at + 1 < len(text):
            following = text[at + 1]
            if following in "(){}|+?":
                pieces.append(following)
            elif following.isdecimal():
                raise Unknown
            else:
                pieces.append("\\" + following)
            at += 2
            continue
        if character == "[":
            end = at + 1
            if text.startswith("^", end):
                end += 1
            if text.startswith("]", end):
                end += 1
            while end < len(text) and text[end] != "]":
                if text[end] == "[" and text[end + 1 : end + 2] in (":", "=", "."):
                    end = text.find(text[end + 1] + "]", end + 2)
                    if end < 0:
                        raise Unknown
                    end += 1
                end += 1
            pieces.append(text[at : end + 1])
            at = end + 1
            continue
        if (
            character in "(){}|+?"
            or (character == "^" and at and not (pieces and pieces[-1] in ("(", "|")))
            or (character == "$" and at + 1 < len(text) and not text.startswith(("\\)", "\\|"), at + 1))
        ):
            pieces.append("\\" + character)
        else:
            pieces.append(character)
        at += 1
    return "".join(pieces)


def _expression(text: str, *, extended: bool, ignore_case: bool = False) -> re.Pattern[str]:
    try:
        found = regular_expression(text if extended else extended_of_basic(text), ignore_case=ignore_case)
    except (BadPattern, UnsupportedPattern) as error:
        raise Unknown from error
    return found


Spend = Callable[[float], None]
"""Told before a match how many steps it may take; raises where these are too many."""


def _announce(spend: Spend, expression: re.Pattern[str], lines: list[str]) -> None:
    """Raises `Unknown` where matching could take too long."""
    try:
        spend(match_cost(expression.pattern, lines))
    except UnsupportedPattern as error:
        raise Unknown from error


def grep(options: list[str], text: str, spend: Spend) -> tuple[str, int]:
    """`grep [-EFiqvoxcw] PATTERN`."""
    letters, values, rest = options_of(options, "EFiqvoxchsn", "em")
    if "n" in letters or ("o" in letters and "v" in letters):
        raise Unknown
    patterns = ([values["e"]] if "e" in values else []) + rest
    if len(patterns) != 1 or "\n" in patterns[0]:
        raise Unknown
    ignore_case = "i" in letters
    if "F" in letters:
        expression = re.compile(re.escape(patterns[0]), re.IGNORECASE if ignore_case else 0)
    else:
        if "o" in letters and "|" in patterns[0]:
            raise Unknown
        expression = _expression(patterns[0], extended="E" in letters, ignore_case=ignore_case)
    _announce(spend, expression, lines_of(text))
    find = expression.fullmatch if "x" in letters else expression.search
    limit = whole(values["m"]) if is_digits(values.get("m")) else 1 << 60
    matched = [line for line in lines_of(text) if (find(line) is not None) != ("v" in letters)][:limit]
    status = int(not matched)
    if "q" in letters:
        return "", status
    if "c" in letters:
        return f"{len(matched)}\n", status
    if "o" in letters:
        return joined_lines(
            [one.group() for line in matched for one in expression.finditer(line) if one.group()]
        ), status
    return joined_lines(matched), status


_SED_COMMAND = re.compile(
    r"\s*(?:(?P<first>[0-9]+|\$|/(?:[^/\\\n]|\\.)+/)(?:,(?P<last>[0-9]+|\$))?\s*)?(?P<command>[sdpqy])", re.S
)


def sed(options: list[str], text: str, spend: Spend) -> tuple[str, int]:
    """`sed` with `s`, `d`, `p` and `q`, on lines given by number, `$` or an expression."""
    letters, values, rest = options_of(options, "nEr", "e")
    scripts = [one[2:] for one in options if one.startswith("-e")] if "e" in values else rest
    if ("e" in values) == bool(rest) or any(one.endswith("\\") for one in scripts):
        raise Unknown
    extended = bool(letters & {"E", "r"})
    edits = _sed_script("\n".join(scripts), extended)
    out: list[str] = []
    lines = lines_of(text)
    for edit in edits:
        for expression in (edit.expression, edit.find):
            if expression is not None:
                _announce(spend, expression, lines)
    for number, line in enumerate(lines, 1):
        last = number == len(lines)
        deleted = stop = False
        for edit in edits:
            if not edit.selects(number, line, last):
                continue
            if edit.command == "d":
                deleted = True
                break
            if edit.command == "p":
                out.append(line)
            elif edit.command == "q":
                stop = True
                break
            else:
                line, printed = edit.substitute(line)
                if printed:
                    out.append(line)
        if not deleted and "n" not in letters:
            out.append(line)
        if stop:
            return joined_lines(out) if number < len(lines) or text.endswith("\n") else same_end(text, out), 0
    return same_end(text, out), 0


class _Edit:
    def __init__(self, command: str, first: str | None, last: str | None, extended: bool) -> None:
        self.command = command
        self.first, self.last = first, last
        self.expression = _expression(first[1:-1], extended=extended) if first and first[0] == "/" else None
        if last is not None and (first is None or not first.isdecimal()):
            raise Unknown
        self.find: re.Pattern[str] | None = None
        self.replacement: list[str | int] = []
        self.everywhere = self.prints = False
        self.which = 1

    def selects(self, number: int, line: str, last: bool) -> bool:
        if self.first is None:
            return True
        if self.expression is not None:
            return self.expression.search(line) is not None
        if self.first == "$":
            return last
        start = whole(self.first)
        if self.last is None:
            return number == start
        if self.last == "$":
            return number >= start
        return start <= number <= max(start, whole(self.last))

    def substitute(self, line: str) -> tuple[str, bool]:
        assert self.find is not None
        pieces: list[str] = []
        at = count = 0
        changed = False
        for found in self.find.finditer(line):
            count += 1
            if count < self.which:
                continue
            pieces.append(line[at : found.start()])
            pieces += [one if isinstance(one, str) else (found.group(one) or "") for one in self.replacement]
            at = found.end()
            changed = True
            if not self.everywhere:
                break
        return "".join(pieces) + line[at:], changed and self.prints


def _sed_script(script: str, extended: bool) -> list[_Edit]:
    edits: list[_Edit] = []
    at = 0
    while True:
        while at < len(script) and script[at] in " \t\n;":
            at += 1
        if at >= len(script):
            return edits
        found = _SED_COMMAND.match(script, at)
        if not found or found["command"] == "y":
            raise Unknown
        edit = _Edit(found["command"], found["first"], found["last"], extended)
        at = found.end()
        if found["command"] == "s":
            at = _sed_substitution(script, at, edit, extended)
        edits.append(edit)
        while at < len(script) and script[at] in " \t":
            at += 1
        if at < len(script) and script[at] not in ";\n":
            raise Unknown


def _sed_substitution(script: str, at: int, edit: _Edit, extended: bool) -> int:
    if at >= len(script):
        raise Unknown
    mark = script[at]
    if mark in "\\\n":
        raise Unknown
    parts: list[str] = []
    at += 1
    for index in range(2):
        piece: list[str] = []
        bracket = False
        while at < len(script) and (script[at] != mark or bracket):
            if script[at] == "\\" and at + 1 < len(script) and not bracket:
                if script[at + 1] == mark:
                    piece.append(mark if mark not in "|+?(){}.*[]^$" or index else "\\" + mark)
                else:
                    piece.append(script[at : at + 2])
                at += 2
                continue
            if not index and script[at] == "[" and not bracket:
                bracket = True
            elif script[at] == "]" and bracket and piece[-1] not in ("[", "^"):
                bracket = False
            piece.append(script[at])
            at += 1
        if at >= len(script):
            raise Unknown
        parts.append("".join(piece))
        at += 1
    flags = re.compile(r"[gpIi0-9]*").match(script, at)
    assert flags is not None
    letters = flags.group()
    digits = re.sub(r"[^0-9]", "", letters)
    edit.everywhere, edit.prints = "g" in letters, "p" in letters
    edit.which = whole(digits) if digits else 1
    if not parts[0]:
        raise Unknown
    if "|" in parts[0]:
        # The first alternative is not always the longest one.
        raise Unknown
    edit.find = _expression(parts[0], extended=extended, ignore_case="i" in letters.lower())
    edit.replacement = _sed_replacement(parts[1], edit.find.groups)
    return flags.end()


def _sed_replacement(text: str, groups: int) -> list[str | int]:
    pieces: list[str | int] = []
    at = 0
    while at < len(text):
        character = text[at]
        if character == "\\" and at + 1 < len(text):
            following = text[at + 1]
            if following.isdecimal():
                if int(following) > groups:
                    raise Unknown
                pieces.append(int(following))
            elif following in "LUElucdox":
                raise Unknown
            else:
                pieces.append({"n": "\n", "t": "\t"}.get(following, following))
            at += 2
            continue
        pieces.append(0 if character == "&" else character)
        at += 1
    return pieces


_MAX_PROGRAM = 200
"""Characters of the longest awk program that is read."""

_AWK_ITEM = re.compile(r'\s*(?:\$(?P<field>NF|[0-9]+)|"(?P<text>[^"\\]*)"|(?P<name>NF|NR))')

_AWK_PROGRAM = re.compile(
    r"\s*(?:(?:NR\s*==\s*(?P<row>[0-9]+)|/(?P<expression>[^/]+)/|(?P<end>END))\s*)?"
    r"(?:\{\s*print(?P<items>[^;{}]*);?\s*(?P<exit>exit)?;?\s*\})?\s*\Z"
)


def awk(options: list[str], text: str, spend: Spend) -> tuple[str, int]:
    """`awk '{print $1}'` and what is as simple: one optional condition, one `print`."""
    _, values, rest = options_of(options, "", "F")
    if len(rest) != 1 or not text.isascii():
        raise Unknown
    found = _AWK_PROGRAM.match(rest[0]) if len(rest[0]) <= _MAX_PROGRAM else None
    if not found or not rest[0].strip():
        raise Unknown
    separator = values.get("F", " ")
    if len(separator) > 1 and not separator.isalnum():
        raise Unknown
    if separator in ("\\", "t") or (found["end"] and "$" in (found["items"] or "")):
        raise Unknown
    expression = _expression(found["expression"], extended=True) if found["expression"] else None
    groups = _awk_items(found["items"] or "")
    out: list[str] = []
    lines = lines_of(text)
    if expression is not None:
        _announce(spend, expression, lines)
    if found["end"]:
        return joined_lines([_awk_row(groups, "", [], len(lines))]), 0
    for number, line in enumerate(lines, 1):
        if (found["row"] and number != whole(found["row"])) or (expression is not None and not expression.search(line)):
            continue
        fields = line.split() if separator == " " else (line.split(separator) if line else [])
        out.append(_awk_row(groups, line, fields, number))
        if found["exit"]:
            break
    return joined_lines(out), 0


def _awk_items(items: str) -> list[list[tuple[str, str]]]:
    groups: list[list[tuple[str, str]]] = []
    for part in re.split(r",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*\Z)", items) if items.strip() else []:
        group: list[tuple[str, str]] = []
        at = 0
        part = part.rstrip()
        while at < len(part):
            found = _AWK_ITEM.match(part, at)
            if not found:
                raise Unknown
            group.append((found.lastgroup or "", found[found.lastgroup or ""]))
            at = found.end()
        if not group:
            raise Unknown
        groups.append(group)
    return groups


def _awk_row(groups: list[list[tuple[str, str]]], line: str, fields: list[str], number: int) -> str:
    def value(kind: str, text: str) -> str:
        if kind == "text":
            return text
        if kind == "name":
            return str(len(fields) if text == "NF" else number)
        index = len(fields) if text == "NF" else whole(text)
        if index == 0:
            return line
        return fields[index - 1] if index <= len(fields) else ""

    if not groups:
        return line
    return " ".join("".join(value(kind, text) for kind, text in group) for group in groups)
