"""Learns releases that pins name and nobody has facts of, before a review is repeated with them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from bot.engine import Pin
from bot.learn.provision import Provision

log = logging.getLogger("seamguard.learning")


async def learnt(pins: Sequence[Pin]) -> bool:
    """Whether any of the releases has facts since: at most a few are fetched, each once in a while.

    It happens in a thread of the server, not in the resolver's process, which has no business with the network; that
    one finds the facts in the cache folder.
    """
    return bool(pins) and bool(await asyncio.to_thread(Provision(log.info).provide, pins))
