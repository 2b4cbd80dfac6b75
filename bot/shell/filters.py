"""The computations behind `tools`: text in, text and status out. `Unknown` where a form is not supported exactly."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from bot.shell.patterns import BadPattern, UnsupportedPattern, check_cost, regular_expression


class Unknown(Exception):
    """A form of a tool that is not computed."""


_VALUED: dict[str, str] = {
    "cut": "dfbc", "head": "nc", "tail": "nc", "sort": "kt", "paste": "d", "sed": "e", "grep": "em", "awk": "Fv",
}  # fmt: skip


def separate(compute: Callable[..., object], words: list[str], files_after: int | None) -> tuple[list[str], list[str]]:
    """The options and leading operands of a tool, each option in the form `-x` or `-xVALUE`, and its files."""
    name = getattr(compute, "__name__", "")
    valued = _VALUED.get(name, "")
    options: list[str] = []
    operands: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            operands += words[at:]
            break
        if word.startswith("--") and len(word) > 2:
            options.append(word)
            continue
        if not word.startswith("-") or word == "-" or (name == "tr"):
            operands.append(word)
            if name == "awk":
                operands += words[at:]
                break
            continue
        if name in ("head", "tail") and re.fullmatch(r"-[0-9]+", word):
            options.append("-n" + word[1:])
            continue
        position = 1
        while position < len(word):
            letter = word[position]
            position += 1
            if letter in valued:
                value = word[position:]
                if not value:
                    if at >= len(words):
                        raise Unknown
                    value = words[at]
                    at += 1
                options.append("-" + letter + value)
                break
            options.append("-" + letter)
    if files_after is None:
        return [*options, *operands], []
    needed = files_after
    if name in ("sed", "grep") and any(one.startswith("-e") for one in options):
        needed = 0
    return [*options, *operands[:needed]], operands[needed:]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _text(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


def _same_end(before: str, lines: list[str]) -> str:
    """The lines, with a line end behind the last one if the input had it (as sed does)."""
    text = _text(lines)
    return text if before.endswith("\n") or not text else text[:-1]


def _options(options: list[str], flags: str, valued: str = "") -> tuple[set[str], dict[str, str], list[str]]:
    """The single letters, the options with values, and the operands. Raises `Unknown`."""
    letters: set[str] = set()
    values: dict[str, str] = {}
    rest: list[str] = []
    for option in options:
        if option.startswith("--") and len(option) > 2:
            raise Unknown
        if option.startswith("-") and len(option) > 1:
            if option[1] in valued:
                values[option[1]] = option[2:]
            elif option[1] in flags:
                letters.add(option[1])
            else:
                raise Unknown
        else:
            rest.append(option)
    return letters, values, rest


# --- tr, cut, and other small ones ---------------------------------------------------------------------------------

_TR_CLASSES = {
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "lower": "abcdefghijklmnopqrstuvwxyz", "digit": "0123456789",
    "space": "\t\n\v\f\r ", "blank": "\t ",
    "alpha": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "alnum": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "punct": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
}  # fmt: skip
_TR_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _tr_set(text: str) -> str:
    characters: list[str] = []
    at = 0
    while at < len(text):
        named = re.compile(r"\[:([a-z]+):\]").match(text, at)
        if named:
            if named[1] not in _TR_CLASSES:
                raise Unknown
            characters += _TR_CLASSES[named[1]]
            at = named.end()
            continue
        if re.compile(r"\[=|\[.\*").match(text, at):
            raise Unknown
        if text[at] == "\\" and at + 1 < len(text):
            octal = re.compile(r"[0-7]{1,3}").match(text, at + 1)
            if octal:
                characters.append(chr(int(octal.group(), 8)))
                at = octal.end()
            else:
                characters.append(_TR_ESCAPES.get(text[at + 1], text[at + 1]))
                at += 2
        else:
            characters.append(text[at])
            at += 1
        if text.startswith("-", at) and at + 1 < len(text) and text[at + 1] != "\\":
            low, high = ord(characters[-1]), ord(text[at + 1])
            if low > high:
                raise Unknown
            characters += [chr(code) for code in range(low + 1, high + 1)]
            at += 2
    return "".join(characters)


def tr(words: list[str], text: str) -> tuple[str, int]:
    """`tr [-cds] SET1 [SET2]`."""
    letters = ""
    while words and re.fullmatch(r"-[cCds]+", words[0]):
        letters += words[0][1:]
        words = words[1:]
    if not words or len(words) > 2 or not (text.isascii() and all(one.isascii() for one in words)):
        raise Unknown
    first = _tr_set(words[0])
    complement = "c" in letters.lower()
    if "d" in letters:
        if len(words) > 1 or "s" in letters:
            raise Unknown
        return "".join(one for one in text if (one in first) == complement), 0
    if len(words) == 1:
        if letters not in ("s", "cs", "sc"):
            raise Unknown
        squeezed = first
        return _squeeze(text, lambda one: (one in squeezed) != complement), 0
    second = _tr_set(words[1])
    if not second:
        raise Unknown
    if complement:
        result = "".join(one if one in first else second[-1] for one in text)
    else:
        table: dict[str, str] = {}
        for index, one in enumerate(first):
            table[one] = second[index] if index < len(second) else second[-1]
        result = "".join(table.get(one, one) for one in text)
    if "s" in letters:
        result = _squeeze(result, lambda one: one in second)
    return result, 0


def _squeeze(text: str, wanted: Callable[[str], bool]) -> str:
    pieces: list[str] = []
    for one in text:
        if pieces and pieces[-1] == one and wanted(one):
            continue
        pieces.append(one)
    return "".join(pieces)


def _ranges(text: str) -> Callable[[int], bool]:
    bounds: list[tuple[int, int]] = []
    for one in text.split(","):
        found = re.fullmatch(r"([0-9]+)?(-)?([0-9]+)?", one)
        if not found or not one or one == "-":
            raise Unknown
        low = int(found[1] or 1)
        high = (int(found[3]) if found[3] else 1 << 60) if found[2] else low
        if low < 1 or high < low:
            raise Unknown
        bounds.append((low, high))
    return lambda number: any(low <= number <= high for low, high in bounds)


def cut(options: list[str], text: str) -> tuple[str, int]:
    """`cut -d X -f LIST`, `cut -c LIST`."""
    letters, values, rest = _options(options, "s", "dfcb")
    if rest or not text.isascii():
        raise Unknown
    lines: list[str] = []
    if "f" in values:
        delimiter = values.get("d", "\t")
        if len(delimiter) != 1:
            raise Unknown
        wanted = _ranges(values["f"])
        for line in _lines(text):
            if delimiter not in line:
                if "s" not in letters:
                    lines.append(line)
                continue
            fields = line.split(delimiter)
            lines.append(delimiter.join(one for index, one in enumerate(fields) if wanted(index + 1)))
    elif "c" in values or "b" in values:
        wanted = _ranges(values.get("c", values.get("b", "")))
        lines = ["".join(one for index, one in enumerate(line) if wanted(index + 1)) for line in _lines(text)]
    else:
        raise Unknown
    return _text(lines), 0


def head(options: list[str], text: str) -> tuple[str, int]:
    """`head -n N`, `head -c N`."""
    _, values, rest = _options(options, "q", "nc")
    if rest:
        raise Unknown
    if "c" in values:
        if not values["c"].isdecimal() or not text.isascii():
            raise Unknown
        return text[: int(values["c"])], 0
    count = values.get("n", "10")
    if not re.fullmatch(r"-?[0-9]+", count):
        raise Unknown
    lines = text.splitlines(keepends=True) if "\r" not in text else re.findall(r"[^\n]*\n|[^\n]+", text)
    number = int(count)
    return "".join(lines[:number] if number >= 0 else lines[: max(0, len(lines) + number)]), 0


def tail(options: list[str], text: str) -> tuple[str, int]:
    """`tail -n N`, `tail -n +N`."""
    _, values, rest = _options(options, "q", "nc")
    if rest:
        raise Unknown
    if "c" in values:
        if not values["c"].isdecimal() or not text.isascii():
            raise Unknown
        count = int(values["c"])
        return (text[-count:] if count else ""), 0
    number = values.get("n", "10")
    if not re.fullmatch(r"[+-]?[0-9]+", number):
        raise Unknown
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    if number.startswith("+"):
        return "".join(lines[max(0, int(number) - 1) :]), 0
    count = abs(int(number))
    return "".join(lines[-count:] if count else []), 0


def sort(options: list[str], text: str) -> tuple[str, int]:
    """`sort [-r] [-u] [-n]`, of ASCII text."""
    letters, values, rest = _options(options, "runV", "")
    if rest or values or not text.isascii() or "V" in letters:
        raise Unknown
    lines = _lines(text)
    if "n" in letters:
        if not all(re.fullmatch(r"-?[0-9]+", line) for line in lines):
            raise Unknown
        lines.sort(key=int, reverse="r" in letters)
        if "u" in letters:
            lines = list({int(line): line for line in reversed(lines)}.values())[::-1]
    else:
        # Other locales sort letters and punctuation otherwise; they agree on words of one kind of letter.
        if not all(re.fullmatch(r"[a-z]*|[0-9]*", line) for line in lines):
            raise Unknown
        if "u" in letters:
            lines = list(dict.fromkeys(lines))
        lines.sort(reverse="r" in letters)
    return _text(lines), 0


def uniq(options: list[str], text: str) -> tuple[str, int]:
    """`uniq` without options."""
    if options:
        raise Unknown
    lines: list[str] = []
    for line in _lines(text):
        if not lines or lines[-1] != line:
            lines.append(line)
    return _text(lines), 0


def wc(options: list[str], text: str) -> tuple[str, int]:
    """`wc -l`, `wc -w`, `wc -c` of standard input."""
    letters, _, rest = _options(options, "lwcm")
    if rest or len(letters) != 1 or not text.isascii():
        raise Unknown
    letter = letters.pop()
    counts = {"l": text.count("\n"), "w": len(text.split()), "c": len(text), "m": len(text)}
    return f"{counts[letter]}\n", 0


def rev(options: list[str], text: str) -> tuple[str, int]:
    """`rev`."""
    if options or not text.isascii():
        raise Unknown
    return _same_end(text, [line[::-1] for line in _lines(text)]), 0


def tac(options: list[str], text: str) -> tuple[str, int]:
    """`tac`."""
    if options or (text and not text.endswith("\n")):
        raise Unknown
    return _text(_lines(text)[::-1]), 0


def paste(options: list[str], text: str) -> tuple[str, int]:
    """`paste -s -d X`."""
    letters, values, rest = _options(options, "s", "d")
    delimiter = values.get("d", "\t")
    if rest not in ([], ["-"]) or "s" not in letters or len(delimiter) != 1:
        raise Unknown
    return delimiter.join(_lines(text)) + "\n", 0


# --- regular expressions -------------------------------------------------------------------------------------------


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
        if character in "(){}|+?" or (character == "^" and at and not (pieces and pieces[-1] in ("(", "|"))) or (
            character == "$" and at + 1 < len(text) and not text.startswith(("\\)", "\\|"), at + 1)
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


def _check(expression: re.Pattern[str], lines: list[str]) -> None:
    """Raises `Unknown` where matching could take too long."""
    longest = max(lines, key=len, default="")
    try:
        check_cost(expression.pattern, longest)
    except UnsupportedPattern as error:
        raise Unknown from error


def grep(options: list[str], text: str) -> tuple[str, int]:
    """`grep [-EFiqvoxcw] PATTERN`."""
    letters, values, rest = _options(options, "EFiqvoxchsn", "em")
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
    _check(expression, _lines(text))
    find = expression.fullmatch if "x" in letters else expression.search
    limit = int(values["m"]) if values.get("m", "").isdecimal() else 1 << 60
    matched = [line for line in _lines(text) if (find(line) is not None) != ("v" in letters)][:limit]
    status = int(not matched)
    if "q" in letters:
        return "", status
    if "c" in letters:
        return f"{len(matched)}\n", status
    if "o" in letters:
        return _text([one.group() for line in matched for one in expression.finditer(line) if one.group()]), status
    return _text(matched), status


_SED_COMMAND = re.compile(
    r"\s*(?:(?P<first>[0-9]+|\$|/(?:[^/\\\n]|\\.)+/)(?:,(?P<last>[0-9]+|\$))?\s*)?(?P<command>[sdpqy])", re.S
)


def sed(options: list[str], text: str) -> tuple[str, int]:
    """`sed` with `s`, `d`, `p` and `q`, on lines given by number, `$` or an expression."""
    letters, values, rest = _options(options, "nEr", "e")
    scripts = ([values["e"]] if "e" in values else []) + rest
    if sum(one.startswith("-e") for one in options) > 1 or len(scripts) != 1:
        raise Unknown
    extended = bool(letters & {"E", "r"})
    edits = _sed_script(scripts[0], extended)
    out: list[str] = []
    lines = _lines(text)
    for edit in edits:
        for expression in (edit.expression, edit.find):
            if expression is not None:
                _check(expression, lines)
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
            return _text(out) if number < len(lines) or text.endswith("\n") else _same_end(text, out), 0
    return _same_end(text, out), 0


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
        start = int(self.first)
        if self.last is None:
            return number == start
        if self.last == "$":
            return number >= start
        return start <= number <= max(start, int(self.last))

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
    edit.which = int(digits) if digits else 1
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


_AWK_ITEM = re.compile(r'\s*(?:\$(?P<field>NF|[0-9]+)|"(?P<text>[^"\\]*)"|(?P<name>NF|NR))')
_AWK_PROGRAM = re.compile(
    r"\s*(?:(?:NR\s*==\s*(?P<row>[0-9]+)|/(?P<expression>[^/]+)/|(?P<end>END))\s*)?"
    r"(?:\{\s*print(?P<items>[^;{}]*);?\s*(?P<exit>exit)?;?\s*\})?\s*\Z"
)


def awk(options: list[str], text: str) -> tuple[str, int]:
    """`awk '{print $1}'` and what is as simple: one optional condition, one `print`."""
    _, values, rest = _options(options, "", "F")
    if len(rest) != 1 or not text.isascii():
        raise Unknown
    found = _AWK_PROGRAM.match(rest[0])
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
    lines = _lines(text)
    if expression is not None:
        _check(expression, lines)
    if found["end"]:
        return _text([_awk_row(groups, "", [], len(lines))]), 0
    for number, line in enumerate(lines, 1):
        if (found["row"] and number != int(found["row"])) or (expression is not None and not expression.search(line)):
            continue
        fields = line.split() if separator == " " else (line.split(separator) if line else [])
        out.append(_awk_row(groups, line, fields, number))
        if found["exit"]:
            break
    return _text(out), 0


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
        index = len(fields) if text == "NF" else int(text)
        if index == 0:
            return line
        return fields[index - 1] if index <= len(fields) else ""

    if not groups:
        return line
    return " ".join("".join(value(kind, text) for kind, text in group) for group in groups)


# --- tools without input -------------------------------------------------------------------------------------------


def basename(words: list[str]) -> str:
    """`basename PATH [SUFFIX]`."""
    if not words or words[0].startswith("-") or len(words) > 2:
        raise Unknown
    name = words[0].rstrip("/")
    name = name.rsplit("/", 1)[-1] if name else ("/" if words[0] else "")
    if len(words) == 2 and name.endswith(words[1]) and name != words[1]:
        name = name[: len(name) - len(words[1])]
    return name + "\n"


def dirname(words: list[str]) -> str:
    """`dirname PATH`."""
    if not words or any(one.startswith("-") for one in words):
        raise Unknown
    out: list[str] = []
    for word in words:
        stripped = word.rstrip("/")
        if not stripped:
            out.append("/" if word else ".")
            continue
        head, slash, _ = stripped.rpartition("/")
        out.append((head.rstrip("/") or "/") if slash else ".")
    return "".join(one + "\n" for one in out)


def seq(words: list[str]) -> str:
    """`seq [-s X] [-w] [FIRST [STEP]] LAST`, of whole numbers."""
    separator, width = "\n", False
    while words and (words[0] in ("-w", "-s") or re.match(r"-s.", words[0])):
        if words[0] == "-w":
            width = True
            words = words[1:]
        elif words[0] == "-s":
            separator, words = words[1], words[2:]
        else:
            separator, words = words[0][2:], words[1:]
    if not 1 <= len(words) <= 3 or not all(re.fullmatch(r"-?(?:0|[1-9][0-9]{0,8})", one) for one in words):
        raise Unknown
    numbers = [int(one) for one in words]
    first, step, last = {1: (1, 1, numbers[-1]), 2: (numbers[0], 1, numbers[-1])}.get(len(numbers)) or (
        numbers[0],
        numbers[1],
        numbers[2],
    )
    if step == 0 or width:
        raise Unknown
    found = range(first, last + (1 if step > 0 else -1), step)
    if len(found) > 10_000:
        raise Unknown
    return separator.join(str(one) for one in found) + "\n" if found else ""


def expr(words: list[str]) -> str:
    """`expr A + B` and the other operations of two whole numbers."""
    if len(words) != 3 or not all(re.fullmatch(r"-?[0-9]{1,15}", one) for one in (words[0], words[2])):
        raise Unknown
    left, right = int(words[0]), int(words[2])
    if words[1] == "+":
        value = left + right
    elif words[1] == "-":
        value = left - right
    elif words[1] == "*":
        value = left * right
    else:
        raise Unknown
    if value == 0:
        raise Unknown
    return f"{value}\n"


__all__ = ["Unknown", "posixpath", "separate"]
