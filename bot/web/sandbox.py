"""The server without credentials: with a simulated GitHub in the same process, and a pull request to look at."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.github.limits import Timing
from bot.sandbox.scenario import Sandbox, sandbox
from bot.store import Patience
from bot.web.process import Parts, running
from bot.web.settings import Settings

TIMING = Timing(between_writes=0.0)
PATIENCE = Patience(pauses=(0.5, 1, 2), polling=0.05)


@asynccontextmanager
async def running_sandbox(settings: Settings, page_port: int | None = None) -> AsyncIterator[tuple[Sandbox, Parts]]:
    """Runs both until the context ends; nothing is kept. The page is at the next port, or at any that is free."""
    wanted = page_port if page_port is not None else settings.port + 1
    with TemporaryDirectory(prefix="seamguard-sandbox-") as name:
        async with sandbox() as hub:
            port = _free(wanted)
            own = replace(
                settings,
                issuer=hub.app.client_id,
                private_key=hub.app.private_key,
                webhook_secret=hub.app.webhook_secret,
                api_url=hub.hub.url,
                download_urls=(hub.hub.archive_url,),
                database_url=f"sqlite:///{Path(name) / 'store.sqlite'}",
                cache_folder=None,
                port=_free(settings.port),
            )
            own = replace(own, public_url=settings.public_url or f"http://{own.host}:{own.port}")
            async with running(
                own,
                timing=TIMING,
                patience=PATIENCE,
                sweep_seconds=None,
                web_url=f"http://127.0.0.1:{port}",
                sandbox=True,
            ) as parts:
                await hub.begin(f"{parts.url}/webhook", port=port)
                yield hub, parts


def _free(port: int) -> int:
    """`port`, or another when somebody listens there."""
    for candidate in (port, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", candidate))
            except OSError:
                continue
            number: int = probe.getsockname()[1]
            return number
    raise OSError("no port is free")
