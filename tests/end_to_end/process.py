"""The process behind the App, for tests that kill it: begun by a fork of this one, which has loaded everything.

For each line on standard input, an environment in JSON, a process begins, and prints its number and its address when
it listens.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace

from bot.web import settings
from bot.web.process import running
from tests.end_to_end.harness import PERSISTENT, UNHURRIED


async def serve() -> None:
    async with running(
        settings.load(), timing=UNHURRIED, patience=replace(PERSISTENT, polling=0.1), sweep_seconds=None
    ) as parts:
        print(os.getpid(), parts.url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    for line in sys.stdin:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a killed process is gone, and not a zombie
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.environ.update(json.loads(line))
            asyncio.run(serve())


if __name__ == "__main__":  # the resolver's process imports this file
    main()
