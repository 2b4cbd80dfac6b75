"""Learns releases that pins name and nobody has facts of, before a review is repeated with them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from bot.engine import Pin
from bot.learn.excerpts import MAX_ASKED, Excerpts
from bot.learn.provision import Provision

log = logging.getLogger("seamguard.learning")


async def learnt(pins: Sequence[Pin]) -> bool:
    """Whether any of the releases has facts since: at most a few are fetched, each once in a while.

    It happens in a thread of the server, not in the resolver's process, which has no business with the network; that
    one finds the facts in the cache folder.
    """
    return bool(pins) and bool(await asyncio.to_thread(Provision(log.info).provide, pins))


async def read_up(unread: Mapping[str, frozenset[str]]) -> bool:
    """Whether modules of releases are on this machine since, as far as they can be fetched."""
    return bool(unread) and await asyncio.to_thread(_read_up, unread)


def _read_up(unread: Mapping[str, frozenset[str]]) -> bool:
    excerpts = Excerpts(say=log.info)
    asked = [
        excerpts.source(release, sorted(paths)[start : start + MAX_ASKED])
        for release, paths in unread.items()
        for start in range(0, len(paths), MAX_ASKED)
    ]
    return any(not isinstance(found, str) for found in asked)
