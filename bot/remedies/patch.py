"""Edits as a unified diff that `git apply` takes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from bot.remedies.model import Changed

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/@,=:~ ")


def patch(files: Iterable[Changed]) -> str:
    """The diff of several files, in git's form. Lines end as they do in the files."""
    return "".join(line for file in files for line in _of(file))


def _of(file: Changed) -> Iterator[str]:
    old, new = _lines(file.before), _lines(file.after)
    names = (_name("a", file.path), _name("b", file.path))
    body = difflib.unified_diff(old, new, "\0", "\0")
    for number, line in enumerate(body):
        if number == 0:
            yield f"diff --git {names[0]} {names[1]}\n"
            yield f"--- {_ended(names[0])}\n"
        elif number == 1:
            yield f"+++ {_ended(names[1])}\n"
        elif line.endswith("\n"):
            yield line
        else:
            yield f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """Lines as git has them: only a line feed ends one."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _name(side: str, path: str) -> str:
    """A path as git writes it in a diff: in quotes where it has characters that could be misread."""
    name = f"{side}/{path}"
    if _PLAIN.issuperset(name):
        return name
    escaped = "".join(_escaped(byte) for byte in name.encode("utf-8", "surrogateescape"))
    return f'"{escaped}"'


def _escaped(byte: int) -> str:
    if byte in (0x22, 0x5C):
        return f"\\{chr(byte)}"
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _ended(name: str) -> str:
    """Git ends a name with blanks by a tab, else what follows a blank would be taken for a date."""
    return f"{name}\t" if " " in name and not name.startswith('"') else name
