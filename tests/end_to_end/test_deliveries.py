"""Deliveries as they really come: twice, late, in the wrong order, or not at all."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest

from bot.jobs.kinds import SWEEP
from bot.store import Job
from tests.end_to_end.harness import CLEAN, FILES, REFUSED, World, open_threads, ours, the_check, world


async def test_a_delivery_that_comes_again_changes_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        await here.settle()
        before = len(here.hub.requests)
        first = here.hub.hooks.deliveries[0]
        for _ in range(3):
            here.hub.hooks.redeliver(first)
        await here.settle()
        assert {delivery.status_code for delivery in here.hub.hooks.deliveries} <= {200, 202}
        assert here.calls(before) == []
        assert len(open_threads(pull)) == len(ours(pull)) == 1


async def test_two_pushes_in_quick_succession_make_one_review_of_the_newest(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.hub.faults.add("GET /repos/*/pulls/*/files", "slow", seconds=0.4)
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        await asyncio.sleep(0.2)
        for number in range(4):
            pull.push({"compose/one.yml": REFUSED + f"# {number}\n"})
        await here.settle()
        assert the_check(pull).conclusion == "failure"
        assert len(open_threads(pull)) == len(ours(pull)) == 1
        assert sum("/files" in call for call in here.calls()) <= 3
        heads = [run.suite.head_sha for run in here.repository.record.runs.values()]
        assert heads.count(pull.head) == 1


async def test_deliveries_in_the_wrong_order_end_in_the_same_state(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.hub.hooks.held = True
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        pull.push({"compose/one.yml": REFUSED + "# more\n"})
        pull.push({"compose/one.yml": CLEAN + "# fixed\n"})
        for delivery in reversed(here.hub.hooks.deliveries):
            here.hub.hooks.send(delivery)
            await here.hub.settled()
            await asyncio.sleep(0.05)
        await here.settle()
        assert the_check(pull).conclusion == "success"
        assert (open_threads(pull), ours(pull)) == ([], [])


async def test_a_force_push_repoints_the_comment(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        await here.settle()
        pull.force_push({"compose/one.yml": REFUSED})
        await here.settle()
        assert the_check(pull).conclusion == "failure"
        assert len(open_threads(pull)) == 1
        assert pull.head in open_threads(pull)[0] or pull.head[:7] in ours(pull)[0]


async def test_a_pull_request_that_is_gone_ends_the_job(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.hub.hooks.held = True
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        del here.repository.record.pulls[pull.number], here.repository.record.issues[pull.number]
        here.hub.hooks.release()
        await here.settle()
        assert [entry.status for entry in here.hub.requests if "/pulls/" in entry.path] == [404]


async def test_a_closed_pull_request_is_left_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.hub.hooks.held = True
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        pull.close()
        here.hub.hooks.release()
        await here.settle()
        assert (ours(pull), pull.conversation().threads, pull.conversation().checks) == ([], (), ())


@pytest.mark.parametrize("how", ["revoked", "suspended"])
async def test_an_installation_without_access_ends_the_job(tmp_path: Path, how: str) -> None:
    async with world(tmp_path) as here:
        here.hub.hooks.held = True
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        installation = here.repository.installation
        (here.hub.revoke if how == "revoked" else here.hub.suspend)(installation)
        here.hub.hooks.release()
        await here.settle()
        assert pull.conversation().checks == ()


async def test_missing_permission_for_checks_is_said_in_the_summary(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        installation = here.repository.installation
        here.hub.set_permissions(installation, {**installation.permissions, "checks": "read"})
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        await here.settle()
        assert pull.conversation().checks == ()
        assert len(open_threads(pull)) == 1
        assert "may not write checks" in ours(pull)[0]
        here.hub.set_permissions(installation, {**installation.permissions, "checks": "write"})
        pull.push({"compose/one.yml": REFUSED + "# again\n"})
        await here.settle()
        assert the_check(pull).conclusion == "failure"
        assert len(ours(pull)) == 1
        assert "may not write checks" not in ours(pull)[0]


async def test_missing_permission_for_checks_is_said_once_where_there_is_no_summary(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        installation = here.repository.installation
        here.hub.set_permissions(installation, {**installation.permissions, "checks": "read"})
        pulls = []
        for number in range(2):
            change = {"compose/one.yml": CLEAN.replace("8192", f"409{number}")}
            pulls.append(here.repository.open_pull(change, branch=f"b{number}"))
            await here.settle()
            pulls[0].push({"compose/one.yml": CLEAN.replace("8192", f"204{number}")})
            await here.settle()
        assert [["may not write checks" in body for body in ours(pull)] for pull in pulls] == [[True], []]


async def test_missing_permission_for_comments_is_said_in_the_check(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        installation = here.repository.installation
        less = {**installation.permissions, "pull_requests": "read", "issues": "read"}
        here.hub.set_permissions(installation, less)
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        await here.settle()
        assert ours(pull) == []
        assert the_check(pull).conclusion == "failure"
        assert "may not comment" in str(the_check(pull).summary)
        assert len(the_check(pull).annotations) == 1


async def test_a_renamed_repository_is_still_served(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.hub.hooks.held = True
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        here.hub.rename(here.repository.record, "serving-2")
        here.hub.hooks.release()
        await here.settle()
        assert the_check(pull).conclusion == "failure"


async def test_a_delivery_with_a_wrong_signature_is_refused(tmp_path: Path) -> None:
    async with world(tmp_path) as here, aiohttp.ClientSession() as session:
        headers = {"X-GitHub-Event": "pull_request", "X-GitHub-Delivery": "d", "X-Hub-Signature-256": "sha256=00"}
        async with session.post(f"{here.parts.url}/webhook", data=b"{}", headers=headers) as answer:
            assert answer.status == 401
        assert await here.parts.jobs.idle()


async def sweep(here: World) -> None:
    await here.parts.jobs.inbox.accept(Job(f"sweep {len(here.hub.requests)}", SWEEP, "sweep"))
    await here.settle()


async def test_a_failed_delivery_is_asked_for_again(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        url = here.app.hook_url
        here.app.hook_url = "http://127.0.0.1:1/webhook"
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        await here.settle()
        assert pull.conversation().checks == ()
        here.app.hook_url = url
        here.hub.clock.advance(timedelta(minutes=5).total_seconds())
        for delivery in here.hub.hooks.deliveries:
            delivery.created_at -= timedelta(minutes=10)
        await sweep(here)
        assert the_check(pull).conclusion == "failure"
        before = len(here.hub.hooks.deliveries)
        await sweep(here)
        assert len(here.hub.hooks.deliveries) == before, "what has arrived is not asked for again"


async def test_a_pull_request_that_nobody_told_of_is_reviewed(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": REFUSED}, quiet=True)
        pull.record.issue.updated_at -= timedelta(minutes=10)
        await sweep(here)
        assert the_check(pull).conclusion == "failure"
        before = len(here.hub.requests)
        await sweep(here)
        assert [call for call in here.calls(before) if "/pulls/" in call] == []


async def test_the_configuration_of_the_default_branch_counts(tmp_path: Path) -> None:
    files = {**FILES, ".github/seamguard.yml": "ignore: ['compose/two.yml']\n"}
    async with world(tmp_path, files) as here:
        pull = here.repository.open_pull(
            {"compose/one.yml": REFUSED, "compose/two.yml": REFUSED, ".github/seamguard.yml": "ignorre: ['**']\n"}
        )
        await here.settle()
        assert [thread.comment.path for thread in pull.conversation().threads] == ["compose/one.yml"]
        assert "ignorre" in ours(pull)[0]
