"""One look at upstream (`watch --once`), for tests that kill it: begun by a fork of this process, which has loaded
everything.

For each line on standard input, an environment in JSON, a process begins; its number is printed, and when it ends its
status and what it said.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

from bot.jobs import noticing
from bot.web import settings
from bot.web.watching import watch_once
from tests.end_to_end.harness import UNHURRIED

LAG = "TEST_LAG_SECONDS"
"""How long a new issue may be missing in lists, where a test can't wait for as long as it may at GitHub."""


def look() -> None:
    """One look; what was told, and what went wrong, as one line of JSON."""
    noticing.LAG_SECONDS = float(os.environ.get(LAG, noticing.LAG_SECONDS))
    outcome = asyncio.run(watch_once(settings.load(), timing=UNHURRIED))
    _say({"pid": os.getpid(), "told": outcome.told, "problems": outcome.problems})


def _say(told: dict[str, object]) -> None:
    """A line in one piece: several processes write to the same pipe."""
    os.write(1, f"{json.dumps(told)}\n".encode())


def main() -> None:
    """Begins processes until the input ends."""
    for line in sys.stdin:
        number = os.fork()
        if number == 0:
            os.environ.update(json.loads(line))
            look()
            os._exit(0)
        _say({"begun": number})
        if os.environ.get("TEST_AT_ONCE") is None:
            _, status = os.waitpid(number, 0)
            _say({"ended": number, "status": status})


if __name__ == "__main__":  # the resolver's process imports this file
    main()
