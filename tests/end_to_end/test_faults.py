"""Whatever goes wrong at whichever call of a review: in the end it is there, and it is there once."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.sandbox.github import Faults, PullHandle
from tests.end_to_end.harness import CLEAN, FILES, PERSISTENT, REFUSED, World, open_threads, ours, the_check, world

CALLS = (
    "POST /app/installations/*/access_tokens",
    "GET /repos/*/pulls/*/files",
    "POST /graphql",
    "GET /repos/*/git/trees/*",
    "POST /repos/*/check-runs",
    "POST /repos/*/pulls/*/reviews",
    "POST /repos/*/issues/*/comments",
)
"""All calls of a first review."""

Add = Callable[[Faults, str], object]
FAULTS: dict[str, Add] = {
    "500": lambda faults, match: faults.add(match, 500),
    "502, thrice": lambda faults, match: faults.add(match, 502, times=3),
    "503, for long": lambda faults, match: faults.add(match, 503, times=5),
    "timeout": lambda faults, match: faults.add(match, "timeout"),
    "reset": lambda faults, match: faults.add(match, "reset", times=2),
    "dropped after the write": lambda faults, match: faults.add(match, "drop-after-write"),
    "dropped after the write, twice": lambda faults, match: faults.add(match, "drop-after-write", times=2),
    "half an answer": lambda faults, match: faults.add(match, "malformed"),
    "401": lambda faults, match: faults.add(match, 401, message="Bad credentials"),
    "secondary limit": lambda faults, match: faults.secondary_limit(match, retry_after=1),
    "429": lambda faults, match: faults.secondary_limit(match, retry_after=1, status=429),
}
GRAPHQL: dict[str, Add] = {"errors": lambda faults, match: faults.add(match, "graphql-errors")}


async def _reviewed(here: World, number: int) -> PullHandle:
    pull = here.repository.open_pull({"compose/one.yml": f"# {number}\n{REFUSED}"}, branch=f"change-{number}")
    await here.settle(600)
    return pull


def _sample(call: str) -> list[str]:
    """Every fault at one or two of the calls, and at each call that writes those after which it has been written."""
    turn = CALLS.index(call)
    chosen = list(FAULTS)[turn % 4 :: 4]
    writes = [name for name in FAULTS if "dropped" in name and call.startswith("POST /repos/")]
    return list(dict.fromkeys([*writes, *chosen, *(GRAPHQL if call == "POST /graphql" else ())]))


@pytest.mark.parametrize("call", CALLS)
async def test_a_fault_at_a_call_is_survived(tmp_path: Path, call: str) -> None:
    await _survives(tmp_path, call, _sample(call))


@pytest.mark.soak
@pytest.mark.parametrize("call", CALLS)
async def test_any_fault_at_a_call_is_survived(tmp_path: Path, call: str) -> None:
    await _survives(tmp_path, call, [*FAULTS, *(GRAPHQL if call == "POST /graphql" else ())])


async def _survives(folder: Path, call: str, names: list[str]) -> None:
    async with world(folder) as here:
        for number, name in enumerate(names):
            forget(here)
            {**FAULTS, **GRAPHQL}[name](here.hub.faults, call)
            pull = await _reviewed(here, number)
            here.hub.faults.clear()
            assert (the_check(pull).status, the_check(pull).conclusion) == ("completed", "failure"), name
            assert len(open_threads(pull)) == 1, name
            assert len(ours(pull)) == 1, name
            assert len(the_check(pull).annotations) == 1, name
            runs = [run for run in here.repository.record.runs.values() if run.suite.head_sha == pull.head]
            assert len(runs) == 1, name


async def _many(folder: Path, count: int, seed: int, at_once: int = 1) -> int:
    """Plays pull requests, several at once, with several faults each; each is reviewed and then mended. Returns the
    faulty answers.
    """
    chance = random.Random(seed)
    async with world(folder, patience=PERSISTENT) as here:
        for batch in range(count // at_once):
            forget(here)
            numbers = range(batch * at_once, (batch + 1) * at_once)
            _spoil(here, chance, sum(chance.randint(1, 4) for _ in numbers))
            pulls = {
                number: here.repository.open_pull({"compose/one.yml": f"# {number}\n{REFUSED}"}, branch=f"b{number}")
                for number in numbers
            }
            await here.settle(600)
            for number, pull in pulls.items():
                found = the_check(pull).conclusion, len(open_threads(pull)), len(ours(pull))
                assert found == ("failure", 1, 1), (seed, number)
            _spoil(here, chance, sum(chance.randint(0, 2) for _ in numbers))
            for number, pull in pulls.items():
                pull.push({"compose/one.yml": f"# {number}\n{CLEAN}"})
            await here.settle(600)
            for number, pull in pulls.items():
                found = the_check(pull).conclusion, len(open_threads(pull)), len(ours(pull))
                assert found == ("success", 0, 1), (seed, number)
                pull.close()
            here.hub.faults.clear()
        return len(here.hub.faults.used)


def _spoil(here: World, chance: random.Random, faults: int) -> None:
    for _ in range(faults):
        FAULTS[chance.choice(list(FAULTS))](here.hub.faults, chance.choice(CALLS))


async def test_several_faults_at_once_are_survived(tmp_path: Path) -> None:
    assert await _many(tmp_path, 4, seed=7, at_once=2) > 4


SHARDS = 10
"""Of the long run, for as many processes as there are."""


@pytest.mark.soak
@pytest.mark.parametrize("shard", range(SHARDS))
async def test_ten_thousand_faulty_answers_are_survived(tmp_path: Path, shard: int) -> None:
    faulty, rounds = 0, 0
    while faulty < 10_000 // SHARDS:
        rounds += 1
        faulty += await _many(tmp_path / str(rounds), 60, 1000 * shard + rounds, at_once=20)


def forget(here: World) -> None:
    """Cold again: a tree that is not known, a token that has to be fetched."""
    here.parts.app._installations.clear()
    here.parts.app._trees.clear()


async def test_a_line_that_github_refuses_goes_on_the_file_and_then_into_the_summary(tmp_path: Path) -> None:
    message = "Pull request review thread line must be part of the diff"
    async with world(tmp_path) as here:
        here.hub.faults.add("POST /repos/*/pulls/*/reviews", 422, message="Unprocessable Entity", errors=(message,))
        pull = await _reviewed(here, 1)
        (thread,) = pull.conversation().threads
        assert thread.comment.subject == "file"
        assert the_check(pull).conclusion == "failure"
        assert len(ours(pull)) == 1
        here.hub.faults.add("POST /repos/*/pulls/*/reviews", 422, errors=(message,))
        here.hub.faults.add("POST /repos/*/pulls/*/comments", 422, errors=(message,), times=None)
        pull = await _reviewed(here, 2)
        assert pull.conversation().threads == ()
        assert "no-such-flag" in ours(pull)[0]
        assert the_check(pull).conclusion == "failure"


async def test_one_bad_line_does_not_sink_the_others(tmp_path: Path) -> None:
    message = "Pull request review thread line must be part of the diff"
    async with world(tmp_path) as here:
        here.hub.faults.add("POST /repos/*/pulls/*/reviews", 422, errors=(message,))
        pull = here.repository.open_pull({"compose/one.yml": REFUSED, "compose/two.yml": REFUSED})
        await here.settle()
        assert sorted(thread.comment.path for thread in pull.conversation().threads) == [
            "compose/one.yml",
            "compose/two.yml",
        ]
        assert len(ours(pull)) == 1


async def test_a_review_that_can_not_be_finished_says_so(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.hub.faults.add("GET /repos/*/git/trees/*", 500, times=None)
        pull = await _reviewed(here, 1)
        assert (the_check(pull).status, the_check(pull).conclusion) == ("completed", "neutral")
        assert (ours(pull), open_threads(pull)) == ([], [])


async def test_too_many_files_are_said(tmp_path: Path) -> None:
    async with world(tmp_path, {**FILES, **{f"{n}/x.yml": "a: b\n" for n in range(30)}}) as here:
        here.hub.max_tree_entries = 3
        pull = await _reviewed(here, 1)
        assert the_check(pull).conclusion in ("neutral", "failure")
