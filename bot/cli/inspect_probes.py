"""`bot inspect probes`: which fixes the source of releases contains."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from bot.cli.failure import Failure
from bot.learn.files import open_source
from bot.learn.source import SourceError, SourceTree
from bot.upstream.probefile import BadProbe, load_probes
from bot.upstream.probetable import Column, columns, markdown

SCHEMA = 1
_NAMED = re.compile(r"(?:vllm-)?v?(\d+(?:\.\d+)+\w*?)(?:\.tar\.gz|-[\w.-]+\.whl)?")


def ask(paths: Iterable[Path]) -> tuple[Column, ...]:
    """The answers of every probe for each source, whose release is in its name (`vllm-0.25.1`)."""
    try:
        return columns(load_probes(), _opened(paths))
    except BadProbe as error:
        raise Failure(str(error)) from error


def shown(found: tuple[Column, ...], output: str) -> str | dict[str, Any]:
    """The document, or the answers as plain data."""
    if output == "markdown":
        return markdown(found)
    return {
        "schema": SCHEMA,
        "probes": [
            {
                "reference": column.question.reference,
                "title": column.question.title,
                "beside": column.beside,
                "answers": {
                    release: {"holds": answer.holds, "text": answer.text, "places": list(answer.places)}
                    for release, answer in column.answers.items()
                },
            }
            for column in found
        ],
    }


def _opened(paths: Iterable[Path]) -> Iterator[tuple[str, SourceTree]]:
    for path in paths:
        named = _NAMED.fullmatch(path.resolve().name)
        try:
            release = str(Version(named[1])) if named else None
        except InvalidVersion:
            release = None
        if release is None:
            raise Failure(f"{path}: the name does not say which release it is: call it like vllm-0.25.1")
        try:
            yield release, open_source(path)
        except SourceError as error:
            raise Failure(str(error)) from error
