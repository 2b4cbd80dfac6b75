"""What a plain YAML scalar is to Docker Compose, and how Go prints it again.

Compose reads YAML 1.2 with the octal numbers, underscores and merge keys of 1.1: `yes`, `on` and `12:30:45` are
strings, `017` and `0o17` are 15, `1_000` is 1000, and a date is a date (which no field accepts).
"""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
import struct
from dataclasses import dataclass

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A date: a YAML value that no field of a compose accepts."""

    text: str


_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_FIRST = frozenset("0123456789+-.")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOTTED = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))"
)
_DATE = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?:[Tt](?P<time>[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"| +(?P<local>[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})(?:[.,][0-9]+)?)?"
)
_LARGEST = 2**64 - 1
_SMALLEST = -(2**63)


def resolve(text: str) -> Scalar | Timestamp:
    """The value of a plain scalar without a tag."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST:
        return text
    if text[0] == ".":
        return _float(text.replace("_", ""), text) if _DOTTED.fullmatch(text) else text
    if "-" in text[4:5] and _is_date(text):
        return Timestamp(text)
    return _number(text.replace("_", ""), text)


def resolve_tagged(tag: str, text: str) -> Scalar | Timestamp:
    """The value of a scalar with one of YAML's own tags (`!!int`). Raises ValueError with Compose's message."""
    if tag == "str":
        return text
    if tag == "binary":
        return _decode_binary(text)
    value = resolve(text)
    actual = _tag_of(value)
    if actual == tag:
        return value
    if tag == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f"cannot decode !!{actual} `{text}` as a !!{tag}")


def _tag_of(value: Scalar | Timestamp) -> str:
    if value is None:
        return "null"
    if isinstance(value, Timestamp):
        return "timestamp"
    return {bool: "bool", int: "int", float: "float"}.get(type(value), "str")


def _decode_binary(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except binascii.Error:
        raise ValueError("!!binary value contains invalid base64 data") from None


def _number(plain: str, text: str) -> Scalar:
    found = _INTEGER.fullmatch(plain)
    if found:
        value = _integer(found)
        if _SMALLEST <= value <= _LARGEST:
            return value
    return _float(plain, text) if _FLOAT.fullmatch(plain) else text


def _integer(found: re.Match[str]) -> int:
    for name, base in (("dec", 10), ("hex", 16), ("oct", 8), ("bin", 2)):
        digits = found[name]
        if digits:
            # Longer numbers are out of range whatever they are; converting them would only take time.
            value = int(digits, base) if len(digits) <= 64 else _LARGEST + 1
            return -value if found["sign"] == "-" else value
    return 0


def _float(plain: str, text: str) -> float | str:
    value = float(plain)
    return text if math.isinf(value) else value


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if not found:
        return False
    try:
        datetime.date(
            int(found["year"]) or 4, int(found["month"]), int(found["day"])
        )  # Go knows a year 0, and it leaps
        hour, minute, second = map(int, (found["time"] or found["local"] or "0:0:0").split(":"))
        datetime.time(hour, minute, second)
    except ValueError:
        return False
    return True


def go_text(value: object) -> str:
    """A value as Go's `fmt.Sprint` writes it: what Compose puts in an environment or a label."""
    if isinstance(value, str):
        return value
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return "<nil>"
    if isinstance(value, float):
        return _go_float(value)
    return str(value)


def _go_float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    digits, _, scale = repr(abs(value)).partition("e")
    sign = "-" if value < 0 else ""
    whole, _, fraction = digits.partition(".")
    significant = (whole + fraction).lstrip("0")
    exponent = int(scale or 0) + len(whole) - 1 - (len(whole + fraction) - len(significant))
    significant = significant.rstrip("0")
    if not -4 <= exponent < 6:
        point = f".{significant[1:]}" if len(significant) > 1 else ""
        return f"{sign}{significant[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{significant}"
    whole, fraction = significant[: exponent + 1].ljust(exponent + 1, "0"), significant[exponent + 1 :]
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


_QUOTED = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


def go_quoted(text: str) -> str:
    """A string as Go's `%q` writes it in messages."""
    return f'"{"".join([_QUOTED.get(character) or _printable(character) for character in text])}"'


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def round_to_float32(value: float) -> float:
    """The shortest decimal that names the same 32-bit number: what Compose prints for `cpus`."""
    try:
        narrow = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return value
    for digits in range(1, 10):
        shortest = float(f"{narrow:.{digits}g}")
        if struct.unpack("f", struct.pack("f", shortest))[0] == narrow:
            return shortest
    return float(narrow)
