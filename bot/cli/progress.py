"""Progress of long work: on standard error, and only for a person."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bot.printable import printable


@contextmanager
def progress(what: str) -> Iterator[Callable[[str, int], None]]:
    """Calls back with the item that comes next and the number of items in all; silent when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _item, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("")

        def advance(item: str, total: int) -> None:
            bar.update(task, description=printable(item), total=total, advance=1)

        yield advance
