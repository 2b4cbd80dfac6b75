"""Shell patterns and POSIX regular expressions, as Python regular expressions.

A pattern arrives as text in which every quoted special character stands behind a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r" \t\n\r\f\v",
    "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "print": r" -~", "graph": r"!-~", "cntrl": r"\x00-\x1f\x7f",
    "xdigit": "0-9A-Fa-f", "word": "a-zA-Z0-9_", "ascii": r"\x00-\x7f",
}  # fmt: skip
SPECIAL = frozenset("*?[]\\")
_EXTENDED = frozenset("?*+@!")


class BadPattern(Exception):
    """A regular expression that the C library would refuse."""


class UnsupportedPattern(Exception):
    """A pattern that cannot be translated exactly."""


def quote(text: str) -> str:
    """The pattern that matches this text and nothing else."""
    if text.isalnum():
        return text
    return "".join("\\" + one if one in "*?[]\\()|!+@-^" else one for one in text)


def is_literal(pattern: str, *, extended: bool) -> bool:
    """Whether the pattern matches one string only: `unquote` of it."""
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 2
            continue
        if character in "*?[":
            return False
        if extended and character in _EXTENDED and pattern.startswith("(", at + 1):
            return False
        at += 1
    return True


def unquote(pattern: str) -> str:
    """The text of a literal pattern."""
    if "\\" not in pattern:
        return pattern
    pieces: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\" and at + 1 < len(pattern):
            at += 1
        pieces.append(pattern[at])
        at += 1
    return "".join(pieces)


def example(pattern: str) -> str:
    """One string that a pattern of the usual kind matches: what a person would write to get into that branch."""
    pieces: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\" and at + 1 < len(pattern):
            pieces.append(pattern[at + 1])
            at += 2
            continue
        if character == "[":
            closing = _bracket_end(pattern, at)
            if closing:
                inside = compiled(pattern[at:closing])
                pieces.append(next((one for one in _SAMPLES if inside.fullmatch(one)), ""))
                at = closing
                continue
        if character == "?":
            pieces.append("x")
        elif character != "*":
            pieces.append(character)
        at += 1
    return "".join(pieces)


_SAMPLES = ("1", "0", "x", "a", "A", "-", "_", " ", ".", *map(chr, range(33, 127)))


@lru_cache(maxsize=4096)
def compiled(
    pattern: str, *, extended: bool = False, path: bool = False, ignore_case: bool = False, shortest: bool = False
) -> re.Pattern[str]:
    """A regular expression for `fullmatch`; its `match` finds the longest (or shortest) match from a place.

    That holds where no extended group is in the pattern. With `path`, no wildcard matches a slash.
    """
    if len(pattern) > MAX_PATTERN:
        raise UnsupportedPattern(pattern)
    if extended and _has_group(pattern):
        body, _ = _translate(pattern, 0, path, inside=False)
    else:
        body = _simple(pattern, path, shortest)
    try:
        return re.compile(body, re.DOTALL | (re.IGNORECASE if ignore_case else 0))
    except (re.error, RecursionError, OverflowError) as error:
        raise UnsupportedPattern(pattern) from error


def is_simple(pattern: str, *, extended: bool) -> bool:
    """Whether the pattern has no extended group."""
    return not (extended and _has_group(pattern))


def matches(pattern: str, text: str, *, extended: bool = False, ignore_case: bool = False) -> bool:
    """Whether the whole text matches. Raises `UnsupportedPattern`, also where a match could take too long."""
    if extended and _has_group(pattern):
        match_cost(pattern, (text,))
    return compiled(pattern, extended=extended, ignore_case=ignore_case).fullmatch(text) is not None


def counts_characters(pattern: str) -> bool:
    """Whether a pattern has a place for one character, whichever: what that is depends on the locale."""
    return "?" in pattern or "[" in pattern


_GROUP = re.compile(r"(?<!\\)[?*+@!]\(")


def _has_group(pattern: str) -> bool:
    return "(" in pattern and _GROUP.search(pattern) is not None


MAX_MATCH_COST = 3e7
"""Steps that a backtracking match may take: about a second."""

MAX_PATTERN = 2_000
"""Characters of the longest pattern that is read; people write dozens."""

_REPEATED_GROUP = re.compile(r"\)[*+{]|[*+]\(")
_PLAIN_GROUP = re.compile(r"[*+]\([^()*+?{|]*\)|\([^()*+?{|]*\)[*+]")
_UNBOUNDED = re.compile(r"(?<!\\)[*+]|(?<!\\)\{[0-9]*,\}")
_MAX_EXPONENT = 60


def match_cost(expression: str, texts: Iterable[str]) -> float:
    """The most steps that backtracking over these texts takes, from every place in them. Raises `UnsupportedPattern`.

    Each wildcard multiplies the steps by the length; a repeated group in which something varies can double them with
    every character.
    """
    plain = _PLAIN_GROUP.sub("*", re.sub(r"\[[^]]*\]", "", expression))
    wildcards = len(_UNBOUNDED.findall(plain))
    repeated = _REPEATED_GROUP.search(plain) is not None
    cost = 0.0
    for text in texts:
        size = float(len(text) + 1)
        cost += 2.0 ** min(len(text), _MAX_EXPONENT) * size if repeated else size ** min(wildcards + 1, 9)
        if cost > MAX_MATCH_COST:
            raise UnsupportedPattern(expression)
    return cost


def _simple(pattern: str, path: bool, shortest: bool) -> str:
    """A pattern without groups. What stands between two stars is matched where it comes first, and never again."""
    pieces: list[str] = [""]
    at = 0
    while at < len(pattern):
        if pattern[at] == "*":
            while pattern.startswith("*", at + 1):
                at += 1
            pieces.append("")
            at += 1
            continue
        piece, at = _one(pattern, at, path)
        pieces[-1] += piece
    anything = "[^/]*" if path else ".*"
    if len(pieces) == 1:
        return pieces[0]
    if path:
        return anything.join(pieces)
    middle = "".join(f"(?>{anything}?{piece})" for piece in pieces[1:-1])
    return pieces[0] + middle + anything + ("?" if shortest else "") + pieces[-1]


def _one(pattern: str, at: int, path: bool) -> tuple[str, int]:
    """The expression of the character, bracket or `?` at a place, and the place behind it."""
    character = pattern[at]
    if character == "?":
        return ("[^/]" if path else "."), at + 1
    if character == "[":
        closing = _bracket_end(pattern, at)
        if closing:
            return _bracket(pattern[at + 1 : closing - 1], path), closing
    if character == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(character), at + 1


def _translate(pattern: str, at: int, path: bool, *, inside: bool) -> tuple[str, int]:
    """The expression for an extended pattern from `at`; `inside` a group it ends at `|` or `)`."""
    pieces: list[str] = []
    while at < len(pattern):
        character = pattern[at]
        if inside and character in "|)":
            break
        if character in _EXTENDED and pattern.startswith("(", at + 1):
            translated = _group(pattern, at, path)
            if translated is not None:
                piece, at = translated
                pieces.append(piece)
                continue
        if character == "*":
            while pattern.startswith("*", at + 1) and not pattern.startswith("*(", at + 1):
                at += 1
            pieces.append("[^/]*" if path else ".*")
            at += 1
            continue
        piece, at = _one(pattern, at, path)
        pieces.append(piece)
    return "".join(pieces), at


def _group(pattern: str, at: int, path: bool) -> tuple[str, int] | None:
    kind, alternatives, end = pattern[at], [], at + 1
    while True:
        body, end = _translate(pattern, end + 1, path, inside=True)
        alternatives.append(body)
        if end >= len(pattern):
            return None
        if pattern[end] == ")":
            break
    choice = "(?:" + "|".join(alternatives) + ")"
    if kind == "!":
        # "Anything but": exact when nothing that varies follows, which is how people use it.
        rest = pattern[end + 1 :]
        if not is_literal(rest, extended=True):
            raise UnsupportedPattern(pattern)
        tail = re.escape(unquote(rest))
        return f"(?!{choice}{tail}\\Z).*", end + 1
    return choice + {"@": ""}.get(kind, kind), end + 1


def _bracket_end(pattern: str, at: int) -> int:
    """The position behind the bracket expression that starts at `at`, 0 when it is none."""
    position = at + 1
    if pattern.startswith(("!", "^"), position):
        position += 1
    if pattern.startswith("]", position):
        position += 1
    while position < len(pattern):
        character = pattern[position]
        if character == "]":
            return position + 1
        if character == "[" and pattern[position + 1 : position + 2] in (":", ".", "="):
            closing = pattern.find(pattern[position + 1] + "]", position + 2)
            if closing >= 0:
                position = closing + 2
                continue
        position += 2 if character == "\\" else 1
    return 0


def _bracket(inside: str, path: bool, *, escapes: bool = True) -> str:
    """The inside of `[…]` as a Python set."""
    negated = inside.startswith(("!", "^") if escapes else "^")
    at = 1 if negated else 0
    pieces: list[str] = []
    while at < len(inside):
        named = re.compile(r"\[([:.=])(.*?)\1\]").match(inside, at)
        if named:
            if named[1] == ":":
                if named[2] not in _CLASSES:
                    raise UnsupportedPattern(inside)
                pieces.append(_CLASSES[named[2]])
            elif len(named[2]) == 1:
                pieces.append(re.escape(named[2]))
            else:
                raise UnsupportedPattern(inside)
            at = named.end()
            continue
        low, at = _member(inside, at, escapes)
        if inside.startswith("-", at) and at + 1 < len(inside):
            high, at = _member(inside, at + 1, escapes)
            if ord(low) <= ord(high):
                pieces.append(f"{re.escape(low)}-{re.escape(high)}")
            continue
        pieces.append(re.escape(low))
    body = "".join(pieces)
    if not body:
        return "." if negated else r"(?!)"
    if negated:
        return f"[^{body}/]" if path else f"[^{body}]"
    return f"[{body}]"


def _member(inside: str, at: int, escapes: bool) -> tuple[str, int]:
    if escapes and inside[at] == "\\" and at + 1 < len(inside):
        return inside[at + 1], at + 2
    return inside[at], at + 1


# --- regular expressions -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def regular_expression(text: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """An extended POSIX regular expression, for `search`. Raises `BadPattern` and `UnsupportedPattern`."""
    if len(text) > MAX_PATTERN:
        raise UnsupportedPattern(text)
    pieces: list[str] = []
    at, level = 0, 0
    repeatable = False
    while at < len(text):
        character = text[at]
        if character == "\\":
            if at + 1 >= len(text):
                raise BadPattern(text)
            following = text[at + 1]
            if following in "wWsSbB":
                pieces.append("\\" + following)
            elif following in "<>`'" or following.isdecimal():
                raise UnsupportedPattern(text)
            else:
                pieces.append(re.escape(following))
            at += 2
            repeatable = True
            continue
        if character == "[":
            closing = _expression_bracket_end(text, at)
            pieces.append(_bracket(text[at + 1 : closing - 1], False, escapes=False))
            at = closing
            repeatable = True
            continue
        if character in "*+?" or (character == "{" and re.compile(r"\{[0-9]*(?:,[0-9]*)?\}").match(text, at)):
            if not repeatable:
                raise BadPattern(text)
            end = text.index("}", at) + 1 if character == "{" else at + 1
            repetition = text[at:end]
            if repetition.startswith("{,"):
                repetition = "{0" + repetition[1:]
            if pieces[-1][-1:] in "*+?}" and pieces[-1] not in (r"\*", r"\+", r"\?", r"\}"):
                raise UnsupportedPattern(text)
            pieces.append(repetition)
            at = end
            continue
        if character == "(":
            level += 1
            repeatable = False
            pieces.append("(")
        elif character == ")" and level:
            level -= 1
            repeatable = True
            pieces.append(")")
        elif character == "|":
            repeatable = False
            pieces.append("|")
        elif character == "^":
            repeatable = False
            pieces.append("^")
        elif character == "$":
            repeatable = True
            pieces.append(r"\Z")
        elif character == ".":
            repeatable = True
            pieces.append(".")
        else:
            repeatable = True
            pieces.append(re.escape(character))
        at += 1
    if level:
        raise BadPattern(text)
    try:
        return re.compile("".join(pieces), re.DOTALL | re.ASCII | (re.IGNORECASE if ignore_case else 0))
    except (re.error, OverflowError, ValueError) as error:
        raise BadPattern(text) from error
    except RecursionError as error:
        raise UnsupportedPattern(text) from error


def _expression_bracket_end(text: str, at: int) -> int:
    position = at + 1
    if text.startswith("^", position):
        position += 1
    if text.startswith("]", position):
        position += 1
    while position < len(text):
        if text[position] == "]":
            return position + 1
        if text[position] == "[" and text[position + 1 : position + 2] in (":", ".", "="):
            closing = text.find(text[position + 1] + "]", position + 2)
            if closing >= 0:
                position = closing + 2
                continue
        position += 1
    raise BadPattern(text)


def longest_groups_are_certain(text: str) -> bool:
    """Whether Python's first match and the longest one of POSIX have the same groups: true without alternatives."""
    return "|" not in re.sub(r"\[[^\]]*\]|\\.", "", text)
