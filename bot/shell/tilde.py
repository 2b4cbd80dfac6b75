"""Tilde expansion."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.shell.syntax import (
    Double,
    Parameter,
    Part,
    Text,
    Word,
)
from bot.shell.values import Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter


class TildeExpander:
    """Expands the tildes of one interpreter."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.on = interpreter

    def variable(self, name: str) -> Value | None:
        """The value of `$name`, None when it is unset: given by the class above."""
        raise NotImplementedError

    def _tilde(self, parts: tuple[Part, ...], line: int) -> tuple[Part, ...]:
        first = parts[0]
        if not isinstance(first, Text) or first.quoted or not first.text.startswith("~"):
            return parts
        name, slash, rest = first.text[1:].partition("/")
        if not slash and len(parts) > 1:
            return parts
        home = self._home(name, line)
        return parts if home is None else (*home, Text(slash + rest, False), *parts[1:])

    def _tilde_assignment(self, word: Word) -> tuple[Part, ...]:
        """Tildes at the start of a value and behind each colon of it."""
        out: list[Part] = []
        after_prefix = word.assignment_like
        for index, part in enumerate(word.parts):
            last = index == len(word.parts) - 1
            if not isinstance(part, Text) or part.quoted or "~" not in part.text:
                out.append(part)
                continue
            at = 0
            starts = [0] if index == 0 and not after_prefix else []
            if index == 0 and after_prefix:
                starts = [after_prefix]
            pieces = part.text
            positions = sorted({*starts, *(found.end() for found in re.finditer(":", pieces))})
            for position in positions:
                if position < at or not pieces.startswith("~", position):
                    continue
                end = position
                while end < len(pieces) and pieces[end] not in "/:":
                    end += 1
                if end == len(pieces) and not last:
                    continue
                home = self._home(pieces[position + 1 : end], word.line)
                if home is None:
                    continue
                if position > at:
                    out.append(Text(pieces[at:position], False))
                out.extend(home)
                at = end
            out.append(Text(pieces[at:], False))
        return tuple(out)

    def _home(self, name: str, line: int) -> tuple[Part, ...] | None:
        wanted = {"": "HOME", "+": "PWD", "-": "OLDPWD"}.get(name)
        if wanted is not None:
            if wanted == "OLDPWD" and self.variable(wanted) is None:
                return None
            return (Double((Parameter(wanted, line),)),)
        if name == "root":
            return (Text("/root", True),)
        if re.fullmatch(r"[+-]?[0-9]+", name):
            raise self.on.refusal("the stack of directories is not followed", line)
        if re.fullmatch(r"[a-z_][a-z0-9_-]*", name):
            raise self.on.refusal(f"the home directory of {name} is not known", line)
        return None
