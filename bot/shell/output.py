"""`echo` and `printf`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.shell.machine import STEPS_OF_A_CHARACTER
from bot.shell.numbers import whole
from bot.shell.parts import LocaleDependent, ansi_escape
from bot.shell.quoting import backslash_quoted
from bot.shell.state import Sink, Status
from bot.shell.syntax import Simple
from bot.shell.values import Symbol, Value, concatenate, join_origins

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

_MAX_WIDTH = 10_000
_DIRECTIVE = re.compile(
    r"%(?P<flags>[-+ #0']*)(?P<width>\*|[0-9]+)?(?:\.(?P<precision>\*|-?[0-9]*))?(?P<kind>.|\Z)", re.S
)
_INTEGER = re.compile(r"[ \t\n]*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)(.*)\Z", re.S)
_FLOAT = re.compile(r"[ \t\n]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def _write(on: Interpreter, value: Value) -> Status:
    stream = on.io.get(1)
    if not isinstance(stream, Sink):
        return 1
    stream.write(value)
    return 0


def echo(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`echo`: dash reads escapes always and knows `-n` only."""
    stream = on.io.get(1)
    if isinstance(stream, Sink) and not stream.keep:
        return 0
    try:
        return _echo(on, arguments, node)
    except LocaleDependent as error:
        raise on.refusal(str(error), node.line) from error


def _echo(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    escapes, newline = on.shell.posix or "xpg_echo" in on.shell.switches, True
    while arguments:
        text = arguments[0].text
        if text is None or not re.fullmatch(r"-n" if on.shell.posix else r"-[neE]+", text):
            break
        for letter in text[1:]:
            if letter == "n":
                newline = False
            else:
                escapes = letter == "e"
        arguments = arguments[1:]
    pieces: list[Value] = []
    for index, argument in enumerate(arguments):
        if index:
            pieces.append(Value(" ", argument.origin))
        argument = on.way.resolve(argument)
        if escapes and argument.text is not None and "\\" in argument.text:
            text, stopped = _echo_escapes(argument.text)
            pieces.append(Value(text, argument.origin))
            if stopped:
                newline = False
                break
        else:
            pieces.append(argument)
    if newline:
        pieces.append(Value("\n", pieces[-1].origin if pieces else on.here(node.line)))
    return _write(on, concatenate(pieces)) if pieces else 0


def _echo_escapes(text: str) -> tuple[str, bool]:
    r"""The escapes of `echo -e` and `%b` undone; whether `\c` ended the output."""
    pieces = bytearray()
    at = 0
    while at < len(text):
        if text[at] != "\\" or at + 1 >= len(text):
            pieces += text[at].encode("utf-8", "surrogateescape")
            at += 1
            continue
        letter = text[at + 1]
        if letter == "c":
            return pieces.decode("utf-8", "surrogateescape"), True
        if letter == "0":
            octal = re.compile(r"0[0-7]{0,3}").match(text, at + 1)
            assert octal is not None
            pieces.append(int(octal.group(), 8) & 0xFF)
            at = octal.end()
        elif letter in "'\"?" or letter in "1234567":
            pieces += b"\\" + letter.encode()
            at += 2
        else:
            piece, at = ansi_escape(text, at + 1)
            pieces += piece
    return pieces.decode("utf-8", "surrogateescape"), False


def printf(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`printf [-v NAME] FORMAT ARGUMENT…`."""
    target: str | None = None
    if len(arguments) > 1 and arguments[0].text == "-v" and not on.shell.posix:
        target = on.way.resolve(arguments[1]).text
        if target is None:
            raise on.refusal("the variable that printf sets is not known")
        arguments = arguments[2:]
    if arguments and arguments[0].text == "--":
        arguments = arguments[1:]
    if not arguments:
        return 2
    form = on.way.resolve(arguments[0])
    if form.text is None:
        value = Value(None, form.origin, (Symbol(f"printf {form.template()}"),))
        status: Status = 0
    else:
        formatter = Formatter(on, form, [on.way.resolve(one) for one in arguments[1:]])
        try:
            value = formatter.run()
        except LocaleDependent as error:
            raise on.refusal(str(error), node.line) from error
        status = formatter.status
    if target is not None:
        if value.text is not None and "\0" in value.text:
            value = Value(value.text.partition("\0")[0], value.origin)
        elif any(isinstance(piece, str) and "\0" in piece for piece in value.parts):
            raise on.refusal("printf puts a null character into a variable, behind a value that is not known")
        name, bracket, index = target.partition("[")
        on.assign(name, value, index=index.removesuffix("]") if bracket else None)
        return status
    return _write(on, value) or status


class Formatter:
    """One run of a format over its arguments."""

    def __init__(self, on: Interpreter, form: Value, arguments: list[Value]) -> None:
        self.on = on
        self.form = form
        self.arguments = arguments
        self.at = 0
        self.status = 0
        self.pieces: list[Value] = []
        self.stopped = False

    def run(self) -> Value:
        """The whole output: the format again and again until the arguments are used up."""
        if any(one.splits for one in self.arguments):
            raise self.on.refusal("printf of a value of unknown length")
        while True:
            before = self.at
            self._once(self.form.text or "")
            if self.stopped or self.at >= len(self.arguments) or self.at == before:
                break
            if len(self.pieces) > 100_000:
                raise self.on.refusal("printf makes too much output")
        return concatenate(self.pieces) if self.pieces else Value("", self.form.origin)

    def _put(self, text: str, origin: Value | None = None) -> None:
        self.pieces.append(Value(text, (origin or self.form).origin))

    def _argument(self) -> Value | None:
        if self.at < len(self.arguments):
            self.at += 1
            return self.arguments[self.at - 1]
        return None

    def _once(self, form: str) -> None:
        at = 0
        while at < len(form) and not self.stopped:
            character = form[at]
            if character == "\\" and at + 1 < len(form):
                at = self._escape(form, at)
            elif character == "%":
                found = _DIRECTIVE.match(form, at)
                assert found is not None
                at = found.end()
                while found["kind"] in ("h", "l", "j", "z", "t", "L") and at < len(form):
                    # Length modifiers mean nothing to a shell.
                    form = form[: at - 1] + form[at:]
                    found = _DIRECTIVE.match(form, found.start())
                    assert found is not None
                    at = found.end()
                self._directive(found)
            else:
                end = at
                while end < len(form) and form[end] not in "\\%":
                    end += 1
                self._put(form[at:end])
                at = end

    def _escape(self, form: str, at: int) -> int:
        letter = form[at + 1]
        if letter == "c":
            self.stopped = True
            return len(form)
        if letter in "01234567":
            octal = re.compile(r"[0-7]{1,3}").match(form, at + 1)
            assert octal is not None
            self._put(bytes([int(octal.group(), 8) & 0xFF]).decode("utf-8", "surrogateescape"))
            return octal.end()
        piece, end = ansi_escape(form, at + 1)
        self._put(piece.decode("utf-8", "surrogateescape"))
        return end

    def _number_argument(self) -> int:
        value = self._argument()
        if value is None or value.text is None:
            if value is not None:
                raise self.on.refusal("a width that is not known")
            return 0
        return self._integer(value.text)

    def _directive(self, found: re.Match[str]) -> None:
        kind, flags = found["kind"], found["flags"]
        width = 0
        if found["width"] == "*":
            width = self._number_argument()
            if width < 0:
                flags, width = flags + "-", -width
        elif found["width"]:
            width = whole(found["width"])
        precision: int | None = None
        if found["precision"] == "*":
            precision = self._number_argument()
            precision = None if precision < 0 else precision
        elif found["precision"] is not None:
            text = found["precision"]
            precision = None if text.startswith("-") else whole(text or "0")
        if width > _MAX_WIDTH or (precision or 0) > _MAX_WIDTH:
            raise self.on.refusal("printf with a width without end")
        if kind == "%":
            self._put("%")
            return
        if not kind:
            self.status = 1
            self.stopped = True
            return
        if kind == "(":
            raise self.on.refusal("printf of a time")
        value = self._argument()
        if value is not None and value.text is None:
            self._unknown(value, kind, flags, width, precision)
            return
        text = value.text if value is not None and value.text is not None else ""
        self.on.machine.spend(STEPS_OF_A_CHARACTER * (width + len(text)))
        origin = value or self.form
        if kind in "sbcqQ":
            self._put(_padded(self._string(kind, text, precision), flags, width), origin)
        elif kind in "diouxX":
            self._put(_integer_text(kind, self._integer(text), flags, width, precision), origin)
        elif kind in "eEfFgG":
            self._put(_float_text(kind, self._float(text), flags, width, precision), origin)
        elif kind in "aAn":
            raise self.on.refusal(f"printf %{kind} is not followed")
        else:
            self.status = 1
            self.stopped = True

    def _unknown(self, value: Value, kind: str, flags: str, width: int, precision: int | None) -> None:
        if kind == "s" and not width and precision is None:
            self.pieces.append(value)
            return
        name = f"printf %{flags}{width or ''}{kind} {value.template()}"
        self.pieces.append(Value(None, join_origins([value]), (Symbol(name),)))

    def _string(self, kind: str, text: str, precision: int | None) -> str:
        if kind == "c":
            if text and not text[0].isascii():
                raise self.on.refusal("printf cuts a character into bytes")
            return text[:1] or "\0"
        if kind in "qQ":
            if self.on.shell.posix:
                raise self.on.refusal("printf %q needs bash")
            text = backslash_quoted(text)
        elif kind == "b":
            text, stopped = _echo_escapes(text)
            self.stopped = self.stopped or stopped
        if precision is not None and not text.isascii():
            raise self.on.refusal("printf cuts a text into bytes")
        return text if precision is None else text[:precision]

    def _integer(self, text: str) -> int:
        if text[:1] in ("'", '"'):
            return ord(text[1]) if len(text) > 1 else 0
        found = _INTEGER.match(text)
        if not found:
            if text:
                self.status = 1
            return 0
        digits = found[2]
        base = 16 if digits[:2] in ("0x", "0X") else 8 if digits.startswith("0") and len(digits) > 1 else 10
        value = whole(digits, base) * (-1 if found[1] == "-" else 1)
        if found[3]:
            self.status = 1
        limit = 1 << 63
        if not -limit <= value < limit:
            self.status = 1
            value = max(-limit, min(limit - 1, value))
        return value

    def _float(self, text: str) -> float:
        if text[:1] in ("'", '"'):
            return float(ord(text[1])) if len(text) > 1 else 0.0
        hexadecimal = re.fullmatch(r"\s*[+-]?0[xX][0-9a-fA-F]+", text)
        if hexadecimal:
            return float(whole(text, 16))
        found = _FLOAT.match(text)
        if not found:
            if text:
                if re.match(r"\s*[+-]?(?:inf|nan|0[xX])", text, re.I):
                    raise self.on.refusal("printf of a number that is not followed")
                self.status = 1
            return 0.0
        if found.end() != len(text):
            self.status = 1
        return float(found.group())


def _padded(text: str, flags: str, width: int) -> str:
    size = len(text.encode("utf-8", "surrogateescape")) if not text.isascii() else len(text)
    blanks = " " * max(0, width - size)
    return text + blanks if "-" in flags else blanks + text


def _integer_text(kind: str, value: int, flags: str, width: int, precision: int | None) -> str:
    if kind in "di":
        digits, sign = str(abs(value)), "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
    else:
        unsigned = value & ((1 << 64) - 1)
        digits = {"o": f"{unsigned:o}", "u": str(unsigned), "x": f"{unsigned:x}", "X": f"{unsigned:X}"}[kind]
        sign = ""
    prefix = ""
    if "#" in flags and value:
        prefix = {"x": "0x", "X": "0X"}.get(kind, "")
    if precision is not None:
        digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
    if kind == "o" and "#" in flags and not digits.startswith("0"):
        digits = "0" + digits
    if precision is None and "0" in flags and "-" not in flags:
        digits = digits.rjust(width - len(sign) - len(prefix), "0")
    return _padded(sign + prefix + digits, flags, width)


def _float_text(kind: str, value: float, flags: str, width: int, precision: int | None) -> str:
    form = "%" + "".join(one for one in flags if one in "-+ #0") + (str(width) if width else "")
    form += f".{6 if precision is None else precision}{kind}"
    return form % value
