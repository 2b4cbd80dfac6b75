"""What happens to a pull request and its repository: in either order, twice, or in the middle of a review."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bot.sandbox.github import CheckRun, PullHandle
from tests.end_to_end.harness import CLEAN, REFUSED, World, open_threads, ours, the_check, world
from tests.end_to_end.test_deliveries import sweep

State = tuple[str | None, int, int]
"""The check's conclusion, the open threads, and the App's comments."""

REVIEWED: State = ("failure", 1, 1)
FIXED: State = ("success", 0, 1)
QUIET: State = ("success", 0, 0)
NOTHING: State = (None, 0, 0)


def state(pull: PullHandle) -> State:
    checks = pull.conversation().checks
    assert len(checks) <= 1
    assert {check.status for check in checks} <= {"completed"}
    return (checks[0].conclusion if checks else None), len(open_threads(pull)), len(ours(pull))


def opened(here: World, *, fork: bool = False, draft: bool = False) -> PullHandle:
    return here.repository.open_pull({"compose/one.yml": REFUSED}, fork=fork, draft=draft)


async def reviewed(here: World) -> PullHandle:
    pull = opened(here)
    await here.settle()
    assert state(pull) == REVIEWED
    return pull


def clean(pull: PullHandle) -> None:
    pull.push({"compose/one.yml": CLEAN + "# fixed\n"})


def to_next(pull: PullHandle) -> None:
    """To a base that has the same change already."""
    pull.rebase_onto("next")


Acts = tuple[bool, Callable[[PullHandle], object], Callable[[PullHandle], object] | None, State]
"""Whether the pull request is reviewed before, what happens then, and what is seen in the end."""

ACTS: dict[str, Acts] = {
    "opened, pushed": (False, clean, None, QUIET),
    "opened, closed": (False, lambda pull: pull.close(), None, NOTHING),
    "opened, merged": (False, lambda pull: pull.merge(), None, NOTHING),
    "opened, /recheck": (False, lambda pull: pull.comment("maintainer", "/recheck"), None, REVIEWED),
    "pushed, /recheck": (True, clean, lambda pull: pull.comment("maintainer", "/recheck"), FIXED),
    "pushed, check asked for": (True, clean, lambda pull: pull.rerequest(the_first(pull)), FIXED),
    "pushed, base changed": (True, clean, to_next, FIXED),
    "closed, reopened": (True, lambda pull: pull.close(), lambda pull: pull.reopen(), REVIEWED),
    "pushed, merged": (True, clean, lambda pull: pull.merge(), (None, 0, 1)),
    "pushed, forced back": (True, clean, lambda pull: pull.force_push({"compose/one.yml": REFUSED}), REVIEWED),
}


def the_first(pull: PullHandle) -> CheckRun:
    return next(iter(pull.repository.runs.values()))


@pytest.mark.parametrize("backwards", [False, True], ids=["in order", "backwards"])
@pytest.mark.parametrize("name", ACTS)
async def test_two_events_in_either_order_end_alike(tmp_path: Path, name: str, backwards: bool) -> None:
    before, first, second, expected = ACTS[name]
    async with world(tmp_path) as here:
        here.repository.commit({"compose/one.yml": REFUSED}, branch="next", quiet=True)
        pull = await reviewed(here) if before else None
        here.hub.hooks.held = True
        pull = pull or opened(here)
        first(pull)
        if second is not None:
            second(pull)
        waiting = [delivery for delivery in here.hub.hooks.deliveries if delivery.status == "queued"]
        assert len(waiting) >= 2
        for delivery in reversed(waiting) if backwards else waiting:
            here.hub.hooks.send(delivery)
            await here.hub.settled()
        await here.settle(60)
        assert state(pull) == expected


async def test_everything_that_is_delivered_again_changes_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = opened(here, draft=True)
        await here.settle()
        pull.ready()
        pull.comment("maintainer", "/help")
        await here.settle()
        pull.rerequest(the_check(pull))
        await here.settle()
        pull.rerequest_all(the_check(pull))
        clean(pull)
        here.repository.add_to_merge_queue(pull)
        here.repository.commit({"README.md": "# More\n"})
        here.hub.repository("acme/other", {"a": "b"}, installed=True)
        pull.close()
        pull.reopen()
        await here.settle()
        kinds = {delivery.event for delivery in here.hub.hooks.deliveries}
        assert kinds >= {"pull_request", "issue_comment", "check_run", "check_suite", "push", "merge_group"}
        before, seen = len(here.hub.requests), state(pull)
        for delivery in reversed(list(here.hub.hooks.deliveries)):
            here.hub.hooks.redeliver(delivery)
        await here.settle()
        assert (here.calls(before), state(pull)) == ([], seen)


async def test_a_base_that_has_the_change_already_ends_the_finding(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.repository.commit({"compose/one.yml": REFUSED}, branch="next")
        pull = await reviewed(here)
        to_next(pull)
        await here.settle()
        assert state(pull) == FIXED


@pytest.mark.parametrize("call", ["POST /graphql", "GET /repos/*/git/trees/*", "POST /repos/*/issues/*/comments"])
@pytest.mark.parametrize("what", ["deleted", "closed", "revoked", "suspended", "transferred", "repository deleted"])
async def test_what_goes_away_in_the_middle_of_a_review_ends_it(tmp_path: Path, what: str, call: str) -> None:
    async with world(tmp_path) as here:
        here.hub.faults.add(call, "slow", seconds=0.3)
        pull = opened(here)
        while not here.hub.faults.used:
            await asyncio.sleep(0.01)
        record, installation = here.repository.record, here.repository.installation
        match what:
            case "deleted":
                del record.pulls[pull.number], record.issues[pull.number]
            case "closed":
                pull.close()
            case "revoked":
                here.hub.revoke(installation)
            case "suspended":
                here.hub.suspend(installation)
            case "transferred":
                here.hub.transfer(record, "elsewhere")
            case _:
                here.hub.delete(record)
        await here.settle()
        assert {run.status for run in record.runs.values()} <= {"completed"}
        before = len(here.hub.requests)
        await sweep(here)
        assert [call for call in here.calls(before) if call.startswith("POST /repos")] == []


@pytest.mark.parametrize("how", ["suspended", "transferred"])
async def test_where_access_comes_back_the_sweep_reviews(tmp_path: Path, how: str) -> None:
    async with world(tmp_path) as here:
        here.hub.hooks.held = True
        pull, installation = opened(here), here.repository.installation
        if how == "suspended":
            here.hub.suspend(installation)
        else:
            here.hub.transfer(here.repository.record, "elsewhere")
        here.hub.hooks.release()
        await here.settle()
        assert state(pull) == NOTHING
        if how == "suspended":
            here.hub.suspend(installation, suspended=False)
        else:
            here.hub.install(here.app, "elsewhere")
        pull.record.issue.updated_at -= timedelta(minutes=10)
        await sweep(here)
        assert state(pull) == REVIEWED


async def test_a_renamed_repository_keeps_what_was_said(tmp_path: Path) -> None:
    """What is remembered goes by the old name; what stands in the pull request counts."""
    async with world(tmp_path) as here:
        pull = await reviewed(here)
        here.hub.rename(here.repository.record, "serving-2")
        pull.force_push({"README.md": "# Nothing else\n"})
        await here.settle()
        assert state(pull) == FIXED
        (thread,) = pull.conversation().threads
        assert "Fixed" in thread.comment.body


async def test_the_author_of_a_fork_may_ask_again(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = opened(here, fork=True)
        await here.settle()
        first = the_check(pull)
        pull.comment("contributor", "/recheck")
        await here.settle()
        assert the_check(pull).id != first.id
        assert state(pull) == REVIEWED


async def test_pushes_elsewhere_and_deleted_comments_ask_for_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"README.md": "x"}, quiet=True)
        here.hub.hooks.held = True
        asked = pull.comment("maintainer", "/help")
        pull.delete_comment(asked, "maintainer")
        here.repository.commit({"compose/one.yml": REFUSED}, branch="other")
        here.repository.tag("v1")
        for delivery in here.hub.hooks.deliveries:
            if delivery.action != "created":
                here.hub.hooks.send(delivery)
        await here.settle()
        assert here.calls() == []
        assert {delivery.status_code for delivery in here.hub.hooks.deliveries} <= {0, 200}


async def test_a_check_that_could_not_be_told_is_made_up_for_by_the_sweep(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.hub.faults.add("* /repos/*", 503, times=None)
        here.hub.faults.add("POST /graphql", 503, times=None)
        pull = opened(here)
        await here.settle(60)
        assert state(pull) == NOTHING
        here.hub.faults.clear()
        pull.record.issue.updated_at -= timedelta(minutes=10)
        await sweep(here)
        assert state(pull) == REVIEWED
