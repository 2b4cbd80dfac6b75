"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from bot.cli.failure import Failure

F = TypeVar("F", bound=Callable[..., Any])


def assignments(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """`NAME=value` options as a mapping, the last of a name wins."""
    found = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", param=parameter)
        found[name] = text
    return found


def repo_option(function: F) -> F:
    """`--repo DIR`."""
    folder = click.Path(file_okay=False, path_type=Path)
    return click.option("--repo", type=folder, help="The repository; by default the one around FILE.")(function)


def rev_option(function: F) -> F:
    """`--rev REV`."""
    return click.option("--rev", help="A git revision to read instead of the working tree; nothing is checked out.")(
        function
    )


def env_option(function: F) -> F:
    """`--env NAME=VALUE`, many times."""
    return click.option(
        "--env", multiple=True, callback=assignments, metavar="NAME=VALUE", help="A variable that the host sets."
    )(function)


def symbol_option(function: F) -> F:
    """`--symbol NAME=VALUE`, many times."""
    return click.option(
        "--symbol",
        "symbols",
        multiple=True,
        callback=assignments,
        metavar="NAME=VALUE",
        help="A value that only the running container would know.",
    )(function)


def batch_option(function: F) -> F:
    """`--batch FILE.jsonl`, or `-`. The command's own help lists the keys of a request."""
    return click.option(
        "--batch",
        type=click.File("r", encoding="utf-8"),
        metavar="FILE.jsonl",
        help="Requests, one JSON object a line; - for stdin. One answer a line, in their order, with the request's id, "
        "and an error where there is one. The exit status is 0.",
    )(function)


def request_keys(which: str, described: Mapping[str, str]) -> str:
    """The keys of a batch request, for the end of a command's help."""
    width = max(map(len, described)) + 2
    lines = [f"  {name.ljust(width)}{meaning}" for name, meaning in described.items()]
    return "\n".join(["\b", f"Keys of a --batch request; {which}:", *lines])


def format_option(*formats: str) -> Callable[[F], F]:
    """`--format`, the first one is the default."""
    return click.option("--format", "output", type=click.Choice(formats), default=formats[0], show_default=True)


FAIL_ON = ("error", "warning", "notice", "never")


def fail_on_option(function: F) -> F:
    """`--fail-on LEVEL`."""
    return click.option(
        "--fail-on",
        type=click.Choice(FAIL_ON),
        default="error",
        show_default=True,
        help="The lowest level of a finding that makes the exit status 1.",
    )(function)


def url_option(function: F) -> F:
    """`--url URL`."""
    told = "Where the repository is on GitHub: Markdown gets links to it."
    return click.option("--url", default="", metavar="URL", help=told)(function)


def required(value: str | None, name: str) -> str:
    """An argument that only `--batch` can stand in for."""
    if not value:
        raise Failure(f"{name} is missing: name it, or give requests with --batch FILE.jsonl")
    return value
