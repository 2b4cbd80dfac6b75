"""A database that goes away: what the operator sees, what GitHub is told, and that nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.end_to_end.harness import REFUSED, open_threads, ours, the_check, world
from tests.end_to_end.test_deliveries import sweep


class Cable:
    """Between a process and its database; it can be cut."""

    def __init__(self, port: int, loop: asyncio.AbstractEventLoop) -> None:
        self._port = port
        self._loop = loop
        self._ends: set[asyncio.StreamWriter] = set()
        self.whole = True

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carries a connection's bytes both ways."""
        if not self.whole:
            writer.close()
            return
        there, away = await asyncio.open_connection("127.0.0.1", self._port)
        self._ends |= {writer, away}
        with contextlib.suppress(OSError):
            await asyncio.gather(self._carry(reader, away), self._carry(there, writer))
        self._ends -= {writer, away}

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()

    def cut(self) -> None:
        """Nothing gets through any more."""
        self.whole = False
        self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        for end in self._ends:
            end.transport.abort()

    def mend(self) -> None:
        """New connections work again."""
        self.whole = True


@contextmanager
def cable(url: str) -> Iterator[tuple[Cable, str]]:
    """A cable to a PostgreSQL database, and the address behind it. It lies in a thread: some who ask a database hold up
    their loop meanwhile.
    """
    parts = urlsplit(url)
    assert parts.port is not None
    loop = asyncio.new_event_loop()
    laid = Cable(parts.port, loop)
    thread = Thread(target=loop.run_forever)
    thread.start()
    listening = asyncio.start_server(laid.connect, "127.0.0.1", 0)
    server = asyncio.run_coroutine_threadsafe(listening, loop).result(10)
    port = server.sockets[0].getsockname()[1]
    try:
        yield laid, url.replace(f":{parts.port}/", f":{port}/")
    finally:
        laid.cut()
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.call_later, 0.2, loop.stop)
        thread.join()
        loop.close()


async def ready(url: str | None) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/readyz") as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_a_database_that_goes_away_is_told_and_costs_nothing(
    tmp_path: Path, url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.web.server.READY_FOR", 0.0)
    with cable(url) as (laid, behind):
        async with world(tmp_path, database_url=behind) as here:
            assert await ready(here.parts.url) == (200, "ready\n")
            here.hub.faults.add("GET /repos/*/pulls/*/files", "slow", seconds=0.5)
            begun = here.repository.open_pull({"compose/one.yml": REFUSED}, branch="begun")
            await here.hub.settled()
            laid.cut()
            status, said = await ready(here.parts.url)
            assert (status, "the database does not work" in said) == (503, True)
            told = here.repository.open_pull({"compose/one.yml": REFUSED}, branch="told")
            await here.hub.settled()
            assert here.hub.hooks.deliveries[-1].status_code == 503
            await asyncio.sleep(2)
            laid.mend()
            for delivery in here.hub.hooks.deliveries:
                delivery.created_at -= timedelta(minutes=10)
            await sweep(here)
            await here.settle(60)
            for pull in (begun, told):
                assert (the_check(pull).conclusion, len(open_threads(pull)), len(ours(pull))) == ("failure", 1, 1)
            assert await ready(here.parts.url) == (200, "ready\n")
    assert "a delivery could not be stored" in caplog.text
    assert "the database does not work" in caplog.text
