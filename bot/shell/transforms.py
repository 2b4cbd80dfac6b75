"""What the operators of `${…}` do to a known text."""

from __future__ import annotations

from bot.shell.patterns import UnsupportedPattern, compiled, is_literal, is_simple, match_cost, unquote
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


MAX_SEARCH = 4_000
"""Characters in which a match is looked for place by place."""


def removed(text: str, operator: str, pattern: str, *, extended: bool) -> str:
    """`${X#pattern}` and its kin: the shortest or longest match cut off at the start or the end."""
    if not pattern:
        return text
    if is_literal(pattern, extended=extended):
        literal = unquote(pattern)
        return text.removeprefix(literal) if operator[0] == "#" else text.removesuffix(literal)
    if operator[0] == "#" and is_simple(pattern, extended=extended):
        found = compiled(pattern, shortest=operator == "#").match(text)
        return text[found.end() :] if found else text
    expression = compiled(pattern, extended=extended)
    size = len(text)
    cuts = range(size + 1) if operator in ("#", "%%") else range(size, -1, -1)
    for cut in cuts:
        if operator[0] == "#":
            if expression.fullmatch(text, 0, cut):
                return text[cut:]
        elif expression.fullmatch(text, cut):
            return text[:cut]
    return text


def search_cost(pattern: str, text: str, *, extended: bool) -> float:
    """The most steps that `removed` and `replaced` take. Raises `UnsupportedPattern` where these are too many."""
    if is_literal(pattern, extended=extended):
        return 0
    if is_simple(pattern, extended=extended):
        if "*" not in pattern:
            return len(text)
        if len(text) > MAX_SEARCH:
            raise UnsupportedPattern(pattern)
        return len(text) ** 2
    return match_cost(pattern, (text,)) * (len(text) + 1)


def replaced(text: str, operator: str, pattern: str, replacement: str, *, extended: bool, ignore_case: bool) -> str:
    """`${X/pattern/replacement}`: the longest match at the first place, or at all places with `//`.

    In the replacement `&` is what matched, unless a backslash stands before it.
    """
    if not pattern:
        if operator == "/#":
            return _filled(replacement, "") + text
        return text + _filled(replacement, "") if operator == "/%" else text
    if is_literal(pattern, extended=extended) and not ignore_case:
        return _replaced_literal(text, operator, unquote(pattern), replacement)
    search = _Search(pattern, text, extended, ignore_case)
    if operator == "/%":
        start = search.suffix()
        return text if start is None else text[:start] + _filled(replacement, text[start:])
    if operator == "/#":
        end = search.longest(0)
        return text if end is None else _filled(replacement, text[:end]) + text[end:]
    if not text:
        return _filled(replacement, "") if search.longest(0) is not None else ""
    pieces: list[str] = []
    at = 0
    while at < len(text):
        end = search.longest(at)
        if end is None or end == at:
            pieces.append(text[at])
            at += 1
            continue
        pieces.append(_filled(replacement, text[at:end]))
        at = end
        if operator == "/":
            break
    return "".join(pieces) + text[at:]


def _replaced_literal(text: str, operator: str, literal: str, replacement: str) -> str:
    filled = _filled(replacement, literal)
    if operator == "/#":
        return filled + text[len(literal) :] if text.startswith(literal) else text
    if operator == "/%":
        return text[: len(text) - len(literal)] + filled if text.endswith(literal) else text
    return text.replace(literal, filled, 1 if operator == "/" else -1)


class _Search:
    """Looks for the longest match of one pattern in one text."""

    def __init__(self, pattern: str, text: str, extended: bool, ignore_case: bool) -> None:
        self.text = text
        self.simple = is_simple(pattern, extended=extended)
        self.expression = compiled(pattern, extended=extended, ignore_case=ignore_case)

    def longest(self, start: int) -> int | None:
        """Where the longest match from `start` ends."""
        first = self.expression.match(self.text, start)
        if first is None or self.simple:
            return first.end() if first else None
        for end in range(len(self.text), first.end(), -1):
            if self.expression.fullmatch(self.text, start, end):
                return end
        return first.end()

    def suffix(self) -> int | None:
        """Where the longest match at the end of the text starts."""
        return next((at for at in range(len(self.text) + 1) if self.expression.fullmatch(self.text, at)), None)


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
    """`${X^pattern}`, `${X^^pattern}`, `${X,pattern}`, `${X,,pattern}`, of a text in ASCII."""
    change = str.upper if operator[0] == "^" else str.lower
    if not text:
        return text
    if not pattern:
        return change(text) if len(operator) == 2 else change(text[0]) + text[1:]
    expression = compiled(pattern, extended=extended)
    limit = len(text) if len(operator) == 2 else 1
    return "".join(change(one) if expression.fullmatch(one) else one for one in text[:limit]) + text[limit:]


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
