"""Random histories, served by the simulated GitHub: what is recorded answers as git's own content does."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.references import UPSTREAM
from bot.sandbox.github.model import Issue, Pull
from tests.jobs.random_history import BORN, MARK, Made, N, make
from tests.jobs.upstream import Here, upstream


def tell(here: Here, folder: Path, made: Made) -> None:
    """Let GitHub have the history, and the pull request of the fix."""
    record = here.upstream.record
    record.branches, record.tags, record.annotated = record.store.load(folder)
    who, opened = here.hub.user("dev"), datetime.fromtimestamp(BORN, UTC)
    for number in (N,):
        title, mark = made.pulls.get(number, ("[Bugfix] Honour the flag", 0))
        issue = Issue(here.hub.next_id(), number, title, "", who, opened, opened)
        tip = record.branches["main"]
        pull = Pull(issue, here.hub.next_id(), "main", tip, "fix", tip, None)
        if mark:
            pull.merge_commit, pull.merged_at = made.marks[mark], opened
            issue.state, issue.closed_at = "closed", opened
        record.issues[number], record.pulls[number] = issue, pull


def forget(here: Here) -> None:
    """Nothing is recorded any more."""
    here.facts.forget("upstream", UPSTREAM)
    for kind in ("upstream-reference", "upstream-commit"):
        here.facts.records.replace(kind, UPSTREAM, {})


async def check(folder: Path, seeds: range) -> tuple[int, int]:
    """How many pins were asked about, and how many were unknown."""
    asked = unknown = 0
    async with upstream(folder) as here:
        for seed in seeds:
            repository = folder / f"{seed}.git"
            made = make(seed, repository)
            tell(here, repository, made)
            store = here.upstream.record.store
            for name, has in made.truth.items():  # the truth is git's
                assert (store.read(here.upstream.record.tags[name], MARK) is not None) is has
            forget(here)
            polled = await here.poll([N])
            assert polled.problems == ()
            pins = [*made.truth, "v0.99.0"]
            found = here.clock(N, *pins)
            for name, has in made.truth.items():
                asked += 1
                state = found.pins[name].state
                unknown += state == "unknown"
                wanted = ("pinned", "unknown") if has else ("not-pinned", "unknown")
                assert state in wanted, (seed, name, has, found.pins[name], made.told)
            assert found.pins["v0.99.0"].state != "pinned"
            finals = [name for name in made.truth if made.truth[name]]
            if found.first_release is not None:
                assert found.first_release in finals, (seed, found.first_release)
    return asked, unknown


async def test_a_sample_of_histories(tmp_path: Path) -> None:
    asked, unknown = await check(tmp_path, range(12))
    assert asked > 30
    assert unknown <= asked * 0.05


async def check_broken(folder: Path, seeds: range) -> int:
    """Polls that end anywhere: what is known so far never clears a pin wrongly. Returns how many were right at last."""
    right = 0
    async with upstream(folder) as here:
        for seed in seeds:
            dice = random.Random(seed)
            repository = folder / f"{seed}.git"
            made = make(seed, repository)
            tell(here, repository, made)
            forget(here)
            here.time[0] = 0.0  # or the later ones would be older than a history that is recorded
            record = here.upstream.record
            late = {name: record.tags.pop(name) for name in list(record.tags) if dice.random() < 0.3}
            for attempt in range(6):
                if attempt == 4:
                    record.tags |= late
                if attempt < 5:
                    kinds = ("GET /repos/*/commits*", "GET /repos/*/git/*", "GET /repos/*/issues/*", "GET *")
                    here.hub.faults.add(dice.choice(kinds), dice.choice([404, 502, "malformed", "reset"]), times=2,
                                        after=dice.randint(0, 6))  # fmt: skip
                else:
                    here.hub.faults.clear()
                here.time[0] += 8 * 86_400.0
                await here.poll([N])
                found = here.clock(N, *made.truth)
                wrong = {name for name in made.truth if found.pins[name].state == "pinned" and not made.truth[name]}
                assert not wrong, (seed, attempt, wrong, made.told)
            states = {name: found.pins[name].state for name in made.truth}
            right += states == {name: "pinned" if has else "not-pinned" for name, has in made.truth.items()}
    return right


async def test_a_poll_that_ends_anywhere_clears_nothing_wrongly(tmp_path: Path) -> None:
    assert await check_broken(tmp_path, range(100, 108)) == 8


@pytest.mark.soak
async def test_many_polls_that_end_anywhere(tmp_path: Path) -> None:
    assert await check_broken(tmp_path, range(6000, 6100)) == 100


@pytest.mark.soak
async def test_many_histories(tmp_path: Path) -> None:
    asked, unknown = await check(tmp_path, range(1000, 1400))
    assert unknown <= asked * 0.05
