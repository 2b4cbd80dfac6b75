"""The whole process and upstream: what happens there becomes one issue in the repository that waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from bot.jobs.kinds import POLL
from bot.references import UPSTREAM
from bot.sandbox.github import RepositoryHandle, simulated_github
from bot.sandbox.github.model import Issue
from bot.store import Job
from bot.web.process import running
from tests.contract.middleware import Contract
from tests.end_to_end.harness import PATIENCE, SECRET, TIMING, World, settings
from tests.notices.scene import files
from tests.upstream.timeline import TITLE, N

OLD: Mapping[str, str] = files("0.33.0")
LATER = "0.99.0"
"""A release that no rule knows: its history decides."""


class Upstreamed:
    """A server that watches, a repository that waits, and the upstream that both look at."""

    def __init__(self, world: World, upstream: RepositoryHandle) -> None:
        self.world = world
        self.upstream = upstream
        self.polls = 0

    async def poll(self) -> None:
        """One poll, with what follows from it."""
        await asyncio.to_thread(self.world.parts.facts.records.replace, "upstream-reference", UPSTREAM, {})
        self.polls += 1
        await self.world.parts.context.accept(Job(f"poll:test:{self.polls}", POLL, POLL, {}))
        await self.world.settle(60)

    async def pin(self, release: str) -> None:
        """Moves the pin of the repository."""
        self.world.repository.commit({"compose/one.yml": files(release)["compose/one.yml"]})
        await self.world.settle(60)
        await self.poll()

    @property
    def issues(self) -> list[Issue]:
        """What the App opened about the fix."""
        every = self.world.repository.record.issues.values()
        return [issue for issue in every if issue.app is not None and str(N) in issue.title]

    def only(self) -> tuple[str, int]:
        """How the title of the only issue ends, and how many comments there are."""
        (issue,) = self.issues
        return issue.title.partition(": ")[2], len(issue.comments)


@asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[Upstreamed]:
    """Everything, until the context ends."""
    contract = Contract()
    async with simulated_github(*contract.middlewares) as hub:
        app = hub.register_app(webhook_secret=SECRET)
        upstream = hub.repository(UPSTREAM, {"vllm/a.py": "old\n"})
        upstream.tag("v0.33.0")
        repository = hub.repository("acme/serving", OLD, installed=True)
        async with running(
            settings(hub, app, folder), timing=TIMING, patience=PATIENCE, sweep_seconds=None, poll_seconds=3600.0
        ) as parts:
            app.hook_url = f"{parts.url}/webhook"
            here = Upstreamed(World(hub, app, repository, parts), upstream)
            await here.world.settle(60)
            yield here
    contract.assert_kept()


async def test_from_open_to_pinned_and_a_revert_on_main(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        pull = here.upstream.open_pull({"vllm/a.py": "new\n"}, title=TITLE, number=N)
        await here.poll()
        assert here.issues == []
        sha = pull.merge(squash=True)
        await here.poll()
        assert here.only() == ("merged upstream, not released yet", 0)
        assert sha[:10] in here.issues[0].body
        here.upstream.tag(f"v{LATER}")
        await here.poll()
        assert here.only() == ("released upstream, not pinned here", 1)
        await here.poll()
        assert here.only() == ("released upstream, not pinned here", 1)
        await here.pin(LATER)
        assert here.only() == ("in the pinned release: its caveats may go", 2)
        blob = f"/acme/serving/blob/{here.world.repository.tip}/compose/one.yml#L8"
        assert blob in here.issues[0].body
        here.upstream.revert(sha, number=N + 100)
        await here.poll()
        assert here.only() == ("in the pinned release, and reverted upstream since", 3)
        assert "another release may not have it" in here.issues[0].comments[-1].body
        await here.pin("0.33.0")
        assert here.only()[0] == "reverted upstream"


async def test_a_cherry_pick_and_its_revert_on_the_release_branch(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        pull = here.upstream.open_pull({"vllm/a.py": "new\n"}, title=TITLE, number=N)
        await here.poll()
        here.upstream.branch("releases/v0.99.0")
        sha = pull.merge(squash=True)
        picked = here.upstream.cherry_pick(sha, "releases/v0.99.0")
        here.upstream.tag("v0.99.0", picked)
        await here.poll()
        assert here.only() == ("released upstream, not pinned here", 0)
        await here.pin("0.99.0")
        assert here.only() == ("in the pinned release: its caveats may go", 1)
        lost = here.upstream.revert(picked, "releases/v0.99.0", number=N + 100)
        here.upstream.tag("v0.99.1", lost)
        here.world.repository.close_issue(here.issues[0].number)
        await here.pin("0.99.1")
        assert here.issues[0].state == "open"
        assert here.only()[0] == "reverted upstream"
        assert "- [ ]" not in here.issues[0].body
