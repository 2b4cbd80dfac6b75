"""The answer of one run in several forms: one on standard output, others in files."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from bot.cli.failure import Failure
from bot.cli.options import F

Form = Callable[[], str]
"""Makes an answer in one form, as a whole text."""

Also = tuple[tuple[str, Path], ...]
"""Forms that go to files."""


def also_option(*formats: str) -> Callable[[F], F]:
    """`--also FORMAT=FILE`, many times."""

    def parsed(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> Also:
        found = []
        for value in values:
            name, _, file = value.partition("=")
            if name not in formats or not file:
                raise click.BadParameter(
                    f"{value!r} is not FORMAT=FILE with one of {', '.join(formats)}", param=parameter
                )
            found.append((name, Path(file)))
        return tuple(found)

    told = (
        "Write the same answer to a file in another format (its folder is made where it is not there); may be given "
        "more than once."
    )
    return click.option("--also", multiple=True, callback=parsed, metavar="FORMAT=FILE", help=told)


def as_json(answer: Mapping[str, Any]) -> str:
    """JSON in ASCII, indented: no character of a file acts on what shows it."""
    return json.dumps(answer, indent=2) + "\n"


def as_lines(lines: Iterable[str]) -> str:
    """Lines, each ended."""
    return "".join(f"{line}\n" for line in lines)


def write_also(forms: Mapping[str, Form], also: Also) -> None:
    """Writes what was asked for besides. Raises `Failure`."""
    for name, file in also:
        write(file, forms[name]())


def write(file: Path, text: str) -> None:
    """Puts a whole text in a file's place in one step. A link that stands there is replaced, never followed: it may be
    a stranger's. Raises `Failure`.
    """
    part = file.with_name(f".{file.name[:100]}.{os.urandom(8).hex()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as opened:
            opened.write(text)
        part.replace(file)
    except (OSError, ValueError) as error:
        with contextlib.suppress(OSError, ValueError):
            part.unlink(missing_ok=True)
        raise Failure(f"{file}: cannot be written: {error}") from None
