"""Each event of the table: what comes in, and what a person then sees."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.harness import CLEAN, REFUSED, open_threads, ours, the_check, world


async def test_an_opened_pull_request_is_reviewed(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        await here.settle()
        check = the_check(pull)
        print(here.calls())
        print(ours(pull), open_threads(pull))
        assert (check.status, check.conclusion) == ("completed", "failure")
        assert len(open_threads(pull)) == 1
        assert len(ours(pull)) == 1
        assert CLEAN
