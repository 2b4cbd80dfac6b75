"""What the operators of `${…}` do to a known text."""

from __future__ import annotations

from bot.shell.patterns import compiled, is_literal, quote, unquote
from bot.shell.quoting import single_quoted, unescaped


def cut_slice(text: str, offset: int, length: int | None) -> str:
    """`${X:offset:length}`. Raises ValueError where bash refuses the length."""
    size = len(text)
    if offset < 0:
        offset += size
        if offset < 0:
            return ""
    if offset > size:
        return ""
    if length is None:
        return text[offset:]
    if length < 0:
        end = size + length
        if end < offset:
            raise ValueError("substring expression < 0")
        return text[offset:end]
    return text[offset : offset + length]


def removed(text: str, operator: str, pattern: str, *, extended: bool) -> str:
    """`${X#pattern}` and its kin: the shortest or longest match cut off at the start or the end."""
    if not pattern:
        return text
    if is_literal(pattern, extended=extended):
        literal = unquote(pattern)
        return text.removeprefix(literal) if operator[0] == "#" else text.removesuffix(literal)
    expression = compiled(pattern, extended=extended)
    size = len(text)
    if operator == "##":
        cuts = range(size, -1, -1)
    elif operator in ("#", "%%"):
        cuts = range(size + 1)
    else:
        cuts = range(size, -1, -1)
    for cut in cuts:
        if operator[0] == "#":
            if expression.fullmatch(text, 0, cut):
                return text[cut:]
        elif expression.fullmatch(text, cut):
            return text[:cut]
    return text


def replaced(text: str, operator: str, pattern: str, replacement: str, *, extended: bool, ignore_case: bool) -> str:
    """`${X/pattern/replacement}`: the longest match at the first place, or at all places with `//`.

    In the replacement `&` is what matched, unless a backslash stands before it.
    """
    if not pattern:
        if operator == "/#":
            return _filled(replacement, "") + text
        if operator == "/%":
            return text + _filled(replacement, "")
        return text
    expression = compiled(pattern, extended=extended, ignore_case=ignore_case)
    if operator == "/%":
        for start in range(len(text) + 1):
            if expression.fullmatch(text, start):
                return text[:start] + _filled(replacement, text[start:])
        return text
    if operator == "/#":
        end = _longest(expression, text, 0)
        return text if end is None else _filled(replacement, text[:end]) + text[end:]
    pieces: list[str] = []
    at = 0
    fixed = is_literal(pattern, extended=extended)
    literal = unquote(pattern) if fixed and not ignore_case else None
    while at < len(text) or (at == 0 and not text):
        if literal is not None:
            found = text.find(literal, at)
            if found < 0:
                break
            pieces.append(text[at:found])
            pieces.append(_filled(replacement, literal))
            at = found + len(literal)
            if operator == "/":
                break
            continue
        end = _longest(expression, text, at)
        if end is None or (end == at and text):
            if at < len(text):
                pieces.append(text[at])
            at += 1
            if end is not None and operator == "/" and not text:
                break
            if not text:
                break
            continue
        pieces.append(_filled(replacement, text[at:end]))
        at = end
        if operator == "/" or not text:
            break
    return "".join(pieces) + text[at:]


def _longest(expression, text: str, start: int) -> int | None:  # type: ignore[no-untyped-def]
    """Where the longest match from `start` ends."""
    greedy = expression.match(text, start)
    if greedy is None:
        return None
    for end in range(len(text), greedy.end(), -1):
        if expression.fullmatch(text, start, end):
            return end
    return int(greedy.end())


def _filled(replacement: str, match: str) -> str:
    if "&" not in replacement and "\\" not in replacement:
        return replacement
    pieces: list[str] = []
    at = 0
    while at < len(replacement):
        character = replacement[at]
        if character == "\\" and at + 1 < len(replacement) and replacement[at + 1] in "&\\":
            at += 1
            pieces.append(replacement[at])
        elif character == "&":
            pieces.append(match)
        else:
            pieces.append(character)
        at += 1
    return "".join(pieces)


def changed_case(text: str, operator: str, pattern: str, *, extended: bool) -> str:
    """`${X^pattern}`, `${X^^pattern}`, `${X,pattern}`, `${X,,pattern}`."""
    change = str.upper if operator[0] == "^" else str.lower
    if not text:
        return text
    if not pattern:
        return _ascii(change, text) if len(operator) == 2 else _ascii(change, text[0]) + text[1:]
    expression = compiled(pattern, extended=extended)
    limit = len(text) if len(operator) == 2 else 1
    return "".join(_ascii(change, one) if expression.fullmatch(one) else one for one in text[:limit]) + text[limit:]


def _ascii(change, text: str) -> str:  # type: ignore[no-untyped-def]
    """Changes the letters that every locale changes."""
    if text.isascii():
        return str(change(text))
    return "".join(change(one) if one.isascii() else one for one in text)


def transformed(text: str, letter: str) -> str:
    """`${X@U}` and its kin."""
    if letter == "U":
        return changed_case(text, "^^", "", extended=False)
    if letter == "u":
        return changed_case(text, "^", "", extended=False)
    if letter == "L":
        return changed_case(text, ",,", "", extended=False)
    if letter == "Q":
        return single_quoted(text)
    return unescaped(text)


__all__ = ["changed_case", "cut_slice", "quote", "removed", "replaced", "transformed"]
