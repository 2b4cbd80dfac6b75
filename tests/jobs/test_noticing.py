"""Issues about upstream fixes in the simulated GitHub: each once, whatever goes wrong on the way."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.github.errors import GitHubError, Unavailable
from bot.jobs.noticing import LABEL, MAX_BACKLOG, MAX_OPENED
from bot.upstream.watch import Watched
from tests.jobs.noticing import Killed, Life, World, world
from tests.notices.scene import BOTH, MERGED, OPEN, OTHER, RELEASED, UPSTREAM, files, watched
from tests.upstream.timeline import REFERENCE, TITLE, Fact, N, branch, commit, probe, pull, revert, supersedes, tag

OLD, NEW = files("0.33.0"), files("0.34.0")
Story = list[tuple[Watched, ...]]

LANDED_OTHER: list[Fact] = [pull(46324), commit("fix", 11, "Other (#46324)"), tag("v0.34.0", 20)]
CLOSED: list[Fact] = [pull(state="closed"), probe("v0.33.0", False, "never reads drop_eagle_block")]
SUPERSEDED: list[Fact] = [pull(state="open"), supersedes("#50991"), pull(50991, state="open", title="Another way")]
REVERTED = [*MERGED, revert(15)]
AGAIN = [*REVERTED, commit("again", 18, f'Reapply "{TITLE} (#{N})" (#50200)')]
PICKED = [
    *MERGED,
    branch("releases/v0.33.1", 5),
    commit("pick", 1, f"{TITLE} (#{N})", branch="releases/v0.33.1"),
    tag("v0.33.1", 1, "releases/v0.33.1"),
]
LOST_ON_BRANCH = [
    *RELEASED,
    branch("releases/v0.34.1", 20),
    revert(1, "releases/v0.34.1"),
    tag("v0.34.1", 1, "releases/v0.34.1"),
]
SQUASHED: list[Fact] = [pull(commit=None), commit("squash", 12, f"{TITLE} (#{N})"), tag("v0.34.0", 20)]

STORIES: dict[str, tuple[Story, list[str]]] = {
    "open, merged, released, pinned": (
        [watched(OLD, OPEN), watched(OLD, MERGED), watched(OLD, RELEASED), watched(NEW, RELEASED)],
        ["merged upstream, not released yet", "released upstream, not pinned here", "its caveats may go"],
    ),
    "a cherry-pick to a release branch": (
        [watched(OLD, OPEN), watched(OLD, PICKED), watched(files("0.33.1"), PICKED)],
        ["released upstream, not pinned here", "its caveats may go"],
    ),
    "a squash": ([watched(OLD, OPEN), watched(NEW, SQUASHED)], ["its caveats may go"]),
    "a revert on main only": (
        [watched(OLD, OPEN), watched(NEW, RELEASED), watched(NEW, [*RELEASED, revert(25)])],
        ["its caveats may go", "in the pinned release, and reverted upstream since"],
    ),
    "a revert on the release branch only": (
        [watched(OLD, OPEN), watched(NEW, RELEASED), watched(files("0.34.1"), LOST_ON_BRANCH)],
        ["its caveats may go", "reverted upstream"],
    ),
    "a revert of the revert": (
        [
            watched(OLD, OPEN),
            watched(OLD, MERGED),
            watched(OLD, REVERTED),
            watched(OLD, AGAIN),
            watched(NEW, [*AGAIN, tag("v0.34.0", 20)]),
        ],
        [
            "merged upstream, not released yet",
            "reverted upstream",
            "merged upstream again, not released yet",
            "its caveats may go",
        ],
    ),
    "superseded by another one": ([watched(OLD, OPEN), watched(OLD, SUPERSEDED)], ["superseded upstream"]),
    "closed without a fix": ([watched(OLD, OPEN), watched(OLD, CLOSED)], ["closed upstream, and not fixed"]),
    "a pin moved back": (
        [watched(OLD, OPEN), watched(NEW, RELEASED), watched(OLD, RELEASED), watched(NEW, RELEASED)],
        ["its caveats may go", "released upstream, not pinned here", "its caveats may go"],
    ),
    "what waited for it is gone": (
        [watched(OLD, OPEN), watched(OLD, MERGED), ()],
        ["merged upstream, not released yet", "nothing here waits for it any more"],
    ),
    "two fixes on independent clocks": (
        [
            watched(files("0.34.0", drop=BOTH), {REFERENCE: OPEN, OTHER: [pull(46324, state="open")]}),
            watched(files("0.34.0", drop=BOTH), {REFERENCE: RELEASED, OTHER: [pull(46324, state="open")]}),
        ],
        ["its caveats may go"],
    ),
}


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        yield made


@pytest.mark.parametrize("name", STORIES)
async def test_a_story_is_one_issue_with_a_comment_for_each_turn(scene: World, name: str) -> None:
    steps, ends = STORIES[name]
    seen: list[str] = []
    for step in steps:
        await scene.tell(step)
        before = len(scene.hub.requests)
        assert await scene.tell(step) == "nothing to tell"
        assert scene.calls(before) == []  # a poll without news costs nothing here
        if scene.ours():
            seen.append(scene.only().title.partition(": ")[2])
    assert len(seen) == len(ends)
    assert all(title.endswith(end) for title, end in zip(seen, ends, strict=True)), seen
    assert len(scene.comments()) == len(ends) - 1
    assert [label.name for label in scene.only().labels] == [LABEL]


SOAK = pytest.mark.soak


async def killed(folder: Path, name: str, point: int) -> bool:
    """A story in which one process dies at a point of its work; whether there was such a point."""
    steps, ends = STORIES[name]
    async with world(folder) as made:
        made.hub.list_lag = 600.0
        life, died = Life(point), False
        for step in steps:
            try:
                await made.tell(step, life)
            except Killed:
                died, life = True, Life()
                with contextlib.suppress(Unavailable):
                    await made.tell(step)  # the next process, at once, before any list shows anything
                assert len(made.ours()) <= 1
            made.hub.list_lag = 0.0
            await made.until_done(step)
            made.hub.list_lag = 600.0
        assert made.only().title.endswith(ends[-1])
        assert len(made.comments()) == len(ends) - 1, made.comments()
    return died


@pytest.mark.parametrize("point", range(0, 45, 3))
async def test_killed_at_a_step_and_begun_again(tmp_path: Path, point: int) -> None:
    assert await killed(tmp_path, "open, merged, released, pinned", point)


@SOAK
@pytest.mark.parametrize("name", STORIES)
async def test_killed_at_any_step_and_begun_again(tmp_path: Path, name: str) -> None:
    points = 0
    while await killed(tmp_path / str(points), name, points):
        points += 1
    assert points > 12


async def faulty(folder: Path, name: str, status: int | str, point: int, times: int) -> bool:
    """A story in which requests go wrong from one on; whether there was such a request."""
    steps, ends = STORIES[name]
    async with world(folder) as made:
        made.hub.list_lag = 600.0
        fault = made.hub.faults.add("* /repos/*", status, after=point, times=times)  # type: ignore[arg-type]
        if status in (403, 429):
            fault.message, fault.headers = "You have exceeded a secondary rate limit.", {"Retry-After": "0"}
        for step in steps:
            for _ in range(3):
                with contextlib.suppress(GitHubError):
                    await made.tell(step)
            assert len(made.ours()) <= 1
            made.hub.list_lag = 0.0
            for _ in range(2):
                with contextlib.suppress(GitHubError):
                    await made.until_done(step)
            made.hub.list_lag = 600.0
        await made.until_done(steps[-1])
        assert made.only().title.endswith(ends[-1])
        assert len(made.comments()) == len(ends) - 1, made.comments()
        return bool(made.hub.faults.used)


@pytest.mark.parametrize("point", range(14))
async def test_a_fault_at_every_call(tmp_path: Path, point: int) -> None:
    status = ("drop-after-write", 502, "malformed", 403)[point % 4]
    assert await faulty(tmp_path, "open, merged, released, pinned", status, point, 2)
    assert await faulty(tmp_path / "more", "open, merged, released, pinned", "drop-after-write", point, 1)


@SOAK
@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize("status", [500, 502, "reset", "drop-after-write", "malformed", "timeout", 403, 429])
@pytest.mark.parametrize("name", STORIES)
async def test_any_fault_at_every_call(tmp_path: Path, name: str, status: int | str, times: int) -> None:
    point = 0
    while await faulty(tmp_path / str(point), name, status, point, times):
        point += 1


@pytest.mark.parametrize("workers", [2, 5])
async def test_workers_at_once_make_one_issue_and_one_comment(scene: World, workers: int) -> None:
    steps, ends = STORIES["open, merged, released, pinned"]
    for step in steps:
        ends_of = await asyncio.gather(*(scene.tell(step) for _ in range(workers)), return_exceptions=True)
        assert all(isinstance(end, str | Unavailable) for end in ends_of)
        await scene.until_done(step)
    assert scene.only().title.endswith(ends[-1])
    assert len(scene.comments()) == 2


async def test_a_new_issue_that_the_list_does_not_show_yet_is_not_made_again(scene: World) -> None:
    scene.hub.list_lag = 600.0
    await scene.tell(watched(OLD, OPEN))
    scene.hub.faults.add("POST /repos/*/issues", "drop-after-write")
    with pytest.raises(GitHubError):
        await scene.tell(watched(OLD, MERGED))
    with pytest.raises(Unavailable, match="1 notices are begun"):
        await scene.tell(watched(OLD, MERGED))
    scene.late = 901
    scene.hub.list_lag = 0.0
    assert await scene.tell(watched(OLD, MERGED)) == "1 found again"
    scene.only()


async def test_a_lost_store_finds_its_issues_again(tmp_path: Path) -> None:
    async with world(tmp_path) as made:
        await made.tell(watched(OLD, OPEN))
        await made.tell(watched(OLD, MERGED))
        made.database.engine.dispose()
        made.database = type(made.database).file(tmp_path / "other.sqlite")
        made.database.prepare()
        assert await made.tell(watched(OLD, MERGED)) == "1 found again"
        made.only()
        made.repository.close_issue(made.only().number)
        await made.tell(watched(NEW, RELEASED))
        assert made.only().state == "closed"
        assert len(made.comments()) == 1
        made.database.close()


async def test_the_mark_of_somebody_else_counts_for_nothing(scene: World) -> None:
    await scene.tell(watched(OLD, OPEN))
    await scene.tell(watched(OLD, MERGED))
    copied = scene.only()
    forged = scene.repository.open_issue("mine", copied.body, author="stranger")
    forged.labels = list(copied.labels)
    scene.repository.delete_issue(copied.number)
    with scene.database.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM seamguard_facts")
    await scene.tell(watched(OLD, MERGED))
    assert scene.only().number > forged.number
    assert forged.body == copied.body


async def test_what_people_closed_is_opened_again_only_when_the_fix_is_lost(scene: World) -> None:
    await scene.tell(watched(OLD, OPEN))
    await scene.tell(watched(OLD, MERGED))
    number = scene.only().number
    scene.repository.close_issue(number)
    await scene.tell(watched(OLD, RELEASED))
    await scene.tell(watched(NEW, RELEASED))
    assert scene.only().state == "closed"
    assert await scene.tell(watched(NEW, [*RELEASED, revert(25)])) == "1 comments, 1 reopened"
    assert (scene.only().state, scene.only().state_reason) == ("open", "reopened")
    assert "open again because of that" in scene.comments()[-1]
    scene.repository.close_issue(number)
    await scene.tell(watched(OLD, RELEASED))
    assert scene.only().state == "open"


async def test_a_deleted_issue_stays_deleted(scene: World) -> None:
    await scene.tell(watched(OLD, OPEN))
    await scene.tell(watched(OLD, MERGED))
    scene.repository.delete_issue(scene.only().number)
    assert await scene.tell(watched(OLD, RELEASED)) == "1 gone"
    assert await scene.tell(watched(NEW, RELEASED)) == "nothing to tell"
    assert scene.ours() == []


async def test_ticks_that_come_between_reading_and_writing_are_kept(scene: World) -> None:
    two = {"one": "0.34.0", "two": "0.33.0"}
    await scene.tell(watched(files({"one": "0.33.0", "two": "0.33.0"}), OPEN))
    await scene.tell(watched(files(two), RELEASED))
    issue = scene.only()
    line = next(line for line in issue.body.split("\n") if line.startswith("- [ ]") and "mount" in line)
    scene.repository.edit_issue(issue.number, "Plan\n\n" + issue.body.replace(line, line.replace("[ ]", "[x]")))
    scene.repository.comment_on_issue(issue.number, "maintainer", "on it")
    await scene.tell(watched(files({"one": "0.34.0", "two": "0.34.0"}), RELEASED))
    assert issue.body.startswith("Plan\n\n<!-- seamguard:upstream")
    assert issue.body.count("- [x]") == 1
    assert len(scene.comments()) == 1


async def test_a_locked_issue_is_edited_without_a_comment(scene: World) -> None:
    await scene.tell(watched(OLD, OPEN))
    await scene.tell(watched(OLD, MERGED))
    scene.only().locked = True
    assert await scene.tell(watched(NEW, RELEASED)) == "1 changed"
    assert await scene.tell(watched(NEW, RELEASED)) == "nothing to tell"
    assert scene.only().title.endswith("its caveats may go")


async def test_a_repository_without_issues_and_one_that_permits_none(scene: World) -> None:
    await scene.tell(watched(OLD, OPEN))
    scene.repository.record.has_issues = False
    assert await scene.tell(watched(OLD, MERGED)) == "1 not permitted"
    scene.repository.record.has_issues = True
    permissions = scene.repository.installation.permissions
    scene.hub.set_permissions(scene.repository.installation, {**permissions, "issues": "read"})
    assert await scene.tell(watched(OLD, MERGED)) == "1 not permitted"
    scene.hub.set_permissions(scene.repository.installation, permissions)
    assert await scene.tell(watched(OLD, MERGED)) == "1 opened"


def many(count: int, state: list[Fact] | None = None) -> tuple[Watched, ...]:
    """A repository that waits for many fixes, all in its pin."""
    names = [48375 + n for n in range(count)]
    tree = {
        "compose/one.yml": "services:\n  engine:\n    image: vllm/vllm-openai:v0.34.0\n"
        + "".join(f"# vendored vllm#{number}: drop when vllm#{number} lands\n" for number in names)
    }
    facts: dict[str, list[Fact]] = {}
    for index, number in enumerate(names):
        landed = [pull(number, commit=f"c{number}"), commit(f"c{number}", 10 + index, f"Fix (#{number})")]
        facts[f"{UPSTREAM}#{number}"] = state or [*landed, tag("v0.34.0", 90)]
    return watched(tree, facts)


async def test_the_first_sight_of_a_repository_is_no_flood(scene: World) -> None:
    first = many(12)
    assert await scene.tell(first) == f"{12 - MAX_BACKLOG} left for later, {MAX_BACKLOG} opened"
    assert await scene.tell(first) == f"{12 - MAX_BACKLOG} left for later"
    assert len(scene.ours()) == MAX_BACKLOG
    for issue in scene.ours()[:2]:
        scene.repository.close_issue(issue.number)
    assert await scene.tell(first) == f"{12 - MAX_BACKLOG - 2} left for later, 2 opened"


async def test_news_is_told_whatever_waits_and_no_more_than_some_at_once(scene: World) -> None:
    await scene.tell(many(12, OPEN))
    after = many(12)
    assert await scene.tell(after) == f"{12 - MAX_OPENED} left for later, {MAX_OPENED} opened"
    assert await scene.tell(after) == f"{12 - 2 * MAX_OPENED} left for later, {MAX_OPENED} opened"
    await scene.tell(after)
    assert len({issue.title for issue in scene.ours()}) == 12


async def test_what_github_refuses_holds_nothing_else_up(scene: World) -> None:
    await scene.tell(many(2, OPEN))
    scene.hub.faults.add("POST /repos/*/issues", 422, message="Validation Failed")
    assert await scene.tell(many(2)) == "1 opened, 1 refused"
    assert await scene.tell(many(2)) == "1 opened"
    assert len(scene.ours()) == 2


async def test_a_label_is_made_once(scene: World) -> None:
    await scene.tell(many(2, OPEN))
    await scene.tell(many(2))
    assert [label.name for label in scene.repository.record.labels.values()] == [LABEL]
    assert sum("POST /labels" in call for call in scene.calls()) == 1
