"""Progress of long work, on standard error: a bar for a person, now and then a line for a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

import click

from bot.printable import printable

Advance = Callable[[str, int], None]
"""Told the item that comes next, and the number of items in all."""

PATIENCE = 15.0
"""Seconds of silence that nobody takes for a hang; most repositories are done long before."""

PACE = 15.0
"""Seconds between two lines where there is no terminal to draw a bar on."""


@contextmanager
def announced(message: Callable[[], str]) -> Iterator[Callable[[], None]]:
    """Says what is being done when it takes longer than `PATIENCE`. What it gives stops that, and so does the end."""
    timer = Timer(PATIENCE, lambda: _say(message()))
    timer.daemon = True
    timer.start()
    try:
        yield timer.cancel
    finally:
        timer.cancel()


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """Calls back with the item that comes next and the number of items in all."""
    if not sys.stderr.isatty():
        yield lines(what, time.monotonic)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("")

        def advance(item: str, total: int) -> None:
            bar.update(task, description=printable(item), total=total, advance=1)

        yield advance


@contextmanager
def lines_of() -> Iterator[Callable[[str], None]]:
    """Says what is being done now: the last line on a terminal, a line now and then for a log."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status("") as status:
            yield lambda text: status.update(printable(text).replace("[", r"\["))
        return
    said = time.monotonic()

    def say(text: str) -> None:
        nonlocal said
        if time.monotonic() - said >= PACE:
            said = time.monotonic()
            _say(text)

    yield say


def lines(what: str, clock: Callable[[], float]) -> Advance:
    """A line every `PACE` seconds, none for work that is done before."""
    said, done = clock(), 0

    def advance(item: str, total: int) -> None:
        nonlocal said, done
        if clock() - said >= PACE:
            said = clock()
            _say(f"{what}: {done} of {total} done, next is {item}")
        done += 1

    return advance


def _say(line: str) -> None:
    click.echo(f"seamguard: {printable(line)}", err=True)
