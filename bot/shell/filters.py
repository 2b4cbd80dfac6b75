"""The computations behind `tools`: text in, text and status out. `Unknown` where a form is not supported exactly."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.shell.numbers import is_digits, whole


class Unknown(Exception):
    """A form of a tool that is not computed."""


_VALUED: dict[str, str] = {
    "cut": "dfbc", "head": "nc", "tail": "nc", "sort": "kt", "paste": "d", "sed": "e", "grep": "em", "awk": "Fv",
}  # fmt: skip


def separate(name: str, words: list[str], files_after: int | None) -> tuple[list[str], list[str]]:
    """The options and leading operands of a tool, each option in the form `-x` or `-xVALUE`, and its files."""
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


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def joined_lines(lines: list[str]) -> str:
    """The text of these lines, each with its end."""
    return "".join(line + "\n" for line in lines)


def same_end(before: str, lines: list[str]) -> str:
    """The lines, with a line end behind the last one if the input had it (as sed does)."""
    text = joined_lines(lines)
    return text if before.endswith("\n") or not text else text[:-1]


def options_of(options: list[str], flags: str, valued: str = "") -> tuple[set[str], dict[str, str], list[str]]:
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
        low = whole(found[1] or "1")
        high = (whole(found[3]) if found[3] else 1 << 60) if found[2] else low
        if low < 1 or high < low:
            raise Unknown
        bounds.append((low, high))
    return lambda number: any(low <= number <= high for low, high in bounds)


def cut(options: list[str], text: str) -> tuple[str, int]:
    """`cut -d X -f LIST`, `cut -c LIST`."""
    letters, values, rest = options_of(options, "s", "dfcb")
    if rest or not text.isascii():
        raise Unknown
    lines: list[str] = []
    if "f" in values:
        delimiter = values.get("d", "\t")
        if len(delimiter) != 1:
            raise Unknown
        wanted = _ranges(values["f"])
        for line in lines_of(text):
            if delimiter not in line:
                if "s" not in letters:
                    lines.append(line)
                continue
            fields = line.split(delimiter)
            lines.append(delimiter.join(one for index, one in enumerate(fields) if wanted(index + 1)))
    elif "c" in values or "b" in values:
        wanted = _ranges(values.get("c", values.get("b", "")))
        lines = ["".join(one for index, one in enumerate(line) if wanted(index + 1)) for line in lines_of(text)]
    else:
        raise Unknown
    return joined_lines(lines), 0


def head(options: list[str], text: str) -> tuple[str, int]:
    """`head -n N`, `head -c N`."""
    _, values, rest = options_of(options, "q", "nc")
    if rest:
        raise Unknown
    if "c" in values:
        if not is_digits(values["c"]) or not text.isascii():
            raise Unknown
        return text[: whole(values["c"])], 0
    count = values.get("n", "10")
    if not re.fullmatch(r"-?[0-9]+", count):
        raise Unknown
    lines = text.splitlines(keepends=True) if "\r" not in text else re.findall(r"[^\n]*\n|[^\n]+", text)
    number = whole(count)
    return "".join(lines[:number] if number >= 0 else lines[: max(0, len(lines) + number)]), 0


def tail(options: list[str], text: str) -> tuple[str, int]:
    """`tail -n N`, `tail -n +N`."""
    _, values, rest = options_of(options, "q", "nc")
    if rest:
        raise Unknown
    if "c" in values:
        if not is_digits(values["c"]) or not text.isascii():
            raise Unknown
        count = whole(values["c"])
        return (text[-count:] if count else ""), 0
    number = values.get("n", "10")
    if not re.fullmatch(r"[+-]?[0-9]+", number):
        raise Unknown
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    if number.startswith("+"):
        return "".join(lines[max(0, whole(number) - 1) :]), 0
    count = abs(whole(number))
    return "".join(lines[-count:] if count else []), 0


_RELEASE = re.compile(r"(?:0|[1-9][0-9]{0,17})(?:\.(?:0|[1-9][0-9]{0,17}))*")


def sort(options: list[str], text: str) -> tuple[str, int]:
    """`sort [-r] [-u] [-n] [-V]`, of ASCII text."""
    letters, values, rest = options_of(options, "runV", "")
    if rest or values or not text.isascii():
        raise Unknown
    lines = lines_of(text)
    if "V" in letters:
        # Of plain release numbers; suffixes have rules of their own.
        if "n" in letters or not all(_RELEASE.fullmatch(line) for line in lines):
            raise Unknown
        if "u" in letters:
            lines = list(dict.fromkeys(lines))
        lines.sort(key=lambda line: [int(one) for one in line.split(".")], reverse="r" in letters)
    elif "n" in letters:
        if not all(re.fullmatch(r"-?[0-9]+", line) for line in lines):
            raise Unknown
        lines.sort(key=whole, reverse="r" in letters)
        if "u" in letters:
            lines = list({whole(line): line for line in reversed(lines)}.values())[::-1]
    else:
        # Other locales sort letters and punctuation otherwise; they agree on words of one kind of letter.
        if not all(re.fullmatch(r"[a-z]*|[0-9]*", line) for line in lines):
            raise Unknown
        if "u" in letters:
            lines = list(dict.fromkeys(lines))
        lines.sort(reverse="r" in letters)
    return joined_lines(lines), 0


def uniq(options: list[str], text: str) -> tuple[str, int]:
    """`uniq` without options."""
    if options:
        raise Unknown
    lines: list[str] = []
    for line in lines_of(text):
        if not lines or lines[-1] != line:
            lines.append(line)
    return joined_lines(lines), 0


def wc(options: list[str], text: str) -> tuple[str, int]:
    """`wc -l`, `wc -w`, `wc -c` of standard input."""
    letters, _, rest = options_of(options, "lwcm")
    if rest or len(letters) != 1 or not text.isascii():
        raise Unknown
    letter = letters.pop()
    counts = {"l": text.count("\n"), "w": len(text.split()), "c": len(text), "m": len(text)}
    return f"{counts[letter]}\n", 0


def rev(options: list[str], text: str) -> tuple[str, int]:
    """`rev`."""
    if options or not text.isascii():
        raise Unknown
    return same_end(text, [line[::-1] for line in lines_of(text)]), 0


def tac(options: list[str], text: str) -> tuple[str, int]:
    """`tac`."""
    if options or (text and not text.endswith("\n")):
        raise Unknown
    return joined_lines(lines_of(text)[::-1]), 0


def paste(options: list[str], text: str) -> tuple[str, int]:
    """`paste -s -d X`."""
    letters, values, rest = options_of(options, "s", "d")
    delimiter = values.get("d", "\t")
    if rest not in ([], ["-"]) or "s" not in letters or len(delimiter) != 1:
        raise Unknown
    return delimiter.join(lines_of(text)) + "\n", 0


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
            if len(words) < 2:
                raise Unknown
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
