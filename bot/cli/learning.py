"""Releases that the rules do not know, learnt on the way to an answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bot.cli.options import F
from bot.engine import Pin
from bot.engine.cache import OFFLINE_VARIABLE
from bot.engine.missing import missing
from bot.printable import printable
from bot.resolution import ResolvedService

if TYPE_CHECKING:
    from bot.upstream.known import Sources

T = TypeVar("T")


def offline_option(function: F) -> F:
    """`--offline`."""
    return click.option(
        "--offline",
        is_flag=True,
        envvar=OFFLINE_VARIABLE,
        help="Never fetch the source of a vLLM release that a pin names and the rules do not know.",
    )(function)


class Learning:
    """What one run learns, told on standard error. Nothing of it is loaded before a release is missing."""

    def __init__(self, offline: bool) -> None:
        self._offline = offline
        self._provision: Any = None

    def provide(self, pins: Iterable[Pin]) -> bool:
        """Learn the releases that `pins` name and nobody has facts of; whether any has facts since."""
        wanted = tuple(pins)
        if not missing(wanted):
            return False
        if self._provision is None:
            from bot.learn.provision import Provision

            self._provision = Provision(_say, self._offline)
        return bool(self._provision.provide(wanted))


def _say(text: str) -> None:
    click.echo(printable(f"seamguard: {text}"), err=True)


def sources_of(offline: bool) -> Sources:
    """The sources of releases, as far as they are asked for: what this machine has, else fetched unless `offline`."""
    from bot.learn.excerpts import Excerpts

    return Excerpts(offline or bool(os.environ.get(OFFLINE_VARIABLE)), say=_say).source


def informed(work: Callable[[], T], pins: Callable[[T], Iterable[Pin]], learning: Learning) -> T:
    """What `work` gives; once more when releases that it names have been learnt since."""
    found = work()
    return work() if learning.provide(pins(found)) else found


def pins_of(services: Iterable[ResolvedService]) -> Iterator[Pin]:
    """The pins of several services."""
    return (pin for service in services for pin in service.pins)
