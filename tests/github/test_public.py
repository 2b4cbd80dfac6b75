"""What is read of public repositories."""

from __future__ import annotations

import pytest

from bot.github.app import App
from bot.github.errors import Unavailable
from bot.github.hosts import Hosts
from bot.github.model import RepositoryName
from tests.github.scripted import PEM, QUICK, scripted

REPOSITORY = RepositoryName("acme", "serving")


@pytest.mark.parametrize("date", ["soon", None])
async def test_an_issue_without_a_date_can_not_be_had(date: str | None) -> None:
    async with scripted() as server, App("Iv1.test", PEM, Hosts(server.url, ()), None, QUICK) as app:
        server.answers["GET /repos/acme/serving/issues/7"] = (200, {"number": 7, "state": "open", "created_at": date})
        public = await app.public()
        with pytest.raises(Unavailable, match="no date"):
            await public.ticket(REPOSITORY, 7, "")
