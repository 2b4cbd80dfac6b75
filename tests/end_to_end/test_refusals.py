"""Whatever GitHub refuses at whichever call, once or from now on: the job ends, nothing stands there twice, and the
next push is reviewed as if nothing had been.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.harness import CLEAN, REFUSED, open_threads, ours, the_check, world
from tests.end_to_end.test_faults import CALLS, forget

STATUSES = (403, 404, 410, 422, 451)


SAMPLE = [pytest.param(call, marks=() if number % 3 == 0 else pytest.mark.soak) for number, call in enumerate(CALLS)]


@pytest.mark.parametrize("times", [1, None], ids=["once", "always"])
@pytest.mark.parametrize("call", SAMPLE)
async def test_a_refusal_ends_the_job_and_spoils_nothing(tmp_path: Path, call: str, times: int | None) -> None:
    async with world(tmp_path) as here:
        for number, status in enumerate(STATUSES):
            forget(here)
            here.hub.faults.add(call, status, message="Refused", times=times)
            pull = here.repository.open_pull({"compose/one.yml": f"# {number}\n{REFUSED}"}, branch=f"b{number}")
            await here.settle(60)
            here.hub.faults.clear()
            runs = [run for run in here.repository.record.runs.values() if run.suite.head_sha == pull.head]
            found = [run.status for run in runs], len(open_threads(pull)), len(ours(pull))
            assert set(found[0]) <= {"completed"}, (status, found)
            assert len(found[0]) <= 1, (status, found)
            assert found[1] <= 1, (status, found)
            assert found[2] <= 1, (status, found)
            pull.push({"compose/one.yml": f"# {number}, again\n{REFUSED}"})
            await here.settle(60)
            now = the_check(pull).conclusion, len(open_threads(pull)), len(ours(pull))
            assert now == ("failure", 1, 1), (status, found, now)
            pull.close()


@pytest.mark.parametrize("call", CALLS[1:])
async def test_what_is_not_found_for_a_moment_is_asked_for_again(tmp_path: Path, call: str) -> None:
    """GitHub's own copies lag: what was made a second ago is not there yet."""
    async with world(tmp_path) as here:
        here.hub.faults.add(call, 404, message="Not Found")
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        await here.settle(60)
        assert (the_check(pull).conclusion, len(open_threads(pull)), len(ours(pull))) == ("failure", 1, 1)


async def test_a_merge_queue_is_not_kept_waiting_by_a_commit_that_is_not_found_yet(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": CLEAN + "# more\n"}, quiet=True)
        here.hub.faults.add("POST /repos/*/check-runs", 404, message="Not Found", times=2)
        sha = here.repository.add_to_merge_queue(pull)
        await here.settle()
        (run,) = [run for run in here.repository.record.runs.values() if run.suite.head_sha == sha]
        assert (run.status, run.conclusion) == ("completed", "success")
