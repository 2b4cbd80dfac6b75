"""The process behind the App, for tests that kill it. Prints its address when it listens."""

from __future__ import annotations

import asyncio

from bot.web import settings
from bot.web.process import running
from tests.end_to_end.harness import PATIENCE, TIMING


async def main() -> None:
    async with running(settings.load(), timing=TIMING, patience=PATIENCE, sweep_seconds=None) as parts:
        print(parts.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":  # the resolver's process imports this file
    asyncio.run(main())
