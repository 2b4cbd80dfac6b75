"""The sandbox's story: a small repository, a pull request that looks harmless, and the fix for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from bot.sandbox.github import App, Hub, PullHandle, RepositoryHandle, simulated_github
from bot.sandbox.sample import FILES

REPOSITORY = "otter-club/serving"
TITLE = "Serve Otter faster: prefix caching back on, and vLLM 0.28.0 for two cards"
BODY = """\
The single-card compose passes no drafter argument, so the old warning about prefix caching does not apply to it. \
Long prompts answer about twice as fast with it.

The dual-card compose only moves to vLLM 0.28.0, nothing else changes there.
"""

_PEOPLE = (
    ("maintainer", "may write"),
    ("contributor", "opened the pull request"),
    ("passer-by", "may only read"),
)


@dataclass
class Scenario:
    """A pull request that is open, and what can be done about it. `people` are those who may comment, with what each
    may do.
    """

    hub: Hub
    repository: RepositoryHandle
    pull: PullHandle
    fix: dict[str, str]
    people: tuple[tuple[str, str], ...] = _PEOPLE
    commands: tuple[str, ...] = ("/recheck", "/explain compose/otter-single.yml prefix_caching", "/help")

    @property
    def fixed(self) -> bool:
        """Whether the fix is in."""
        store = self.repository.record.store
        return all(store.read(self.pull.head, path) == text.encode("utf-8") for path, text in self.fix.items())

    def push_fix(self) -> None:
        """Push the prepared fix, once, as the author would."""
        if not self.fixed:
            self.pull.push(self.fix, "Leave prefix caching off where there is a drafter")


def open_scenario(hub: Hub, *, quiet: bool = False) -> Scenario:
    """The repository with the App installed, and the pull request, about which the App is told unless `quiet`."""
    before, after, fix = (_texts(FILES / side) for side in ("before", "after", "fix"))
    repository = hub.repository(REPOSITORY, before, installed=True)
    for name in ("contributor", "passer-by"):
        repository.collaborator(name, "read")
    branch = "faster"
    repository.record.branches[branch] = repository.tip
    steps = (("Turn prefix caching back on", "otter-single"), ("Move two cards to vLLM 0.28.0", "otter-dual"))
    for message, part in steps:
        changed = {path: text for path, text in after.items() if part in path and text != before.get(path)}
        repository.commit(changed, message, branch=branch, author="contributor", quiet=True)
    pull = repository.open_pull(branch=branch, title=TITLE, body=BODY, author="contributor", quiet=quiet)
    return Scenario(hub, repository, pull, fix)


def _texts(folder: Path) -> dict[str, str]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}


@dataclass
class Sandbox:
    """A simulated GitHub with a registered App, whose credentials are in `app`. `begin` starts the story."""

    hub: Hub
    app: App
    scenario: Scenario | None = None
    page_url: str = ""
    _runner: web.AppRunner | None = None

    async def begin(self, hook_url: str, host: str = "127.0.0.1", port: int = 0) -> str:
        """Open the pull request, now that the App listens at `hook_url`, and serve the page; its address."""
        from bot.sandbox.page import application

        self.app.hook_url = hook_url
        self.scenario = open_scenario(self.hub, quiet=True)
        self._runner = web.AppRunner(application(self.scenario), shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        self.hub.web_url = f"http://{host}:{self._runner.addresses[0][1]}"
        pull = self.scenario.pull
        self.hub.events.pull(pull.repository, pull.record, "opened", pull.record.issue.user)
        self.page_url = f"{self.hub.web_url}/{REPOSITORY}/pull/{pull.number}/"
        return self.page_url

    async def close(self) -> None:
        """Stop serving the page."""
        self.hub.closing.set()
        if self._runner is not None:
            await self._runner.cleanup()


@asynccontextmanager
async def sandbox(port: int = 0) -> AsyncIterator[Sandbox]:
    """Start a simulated GitHub with an App, on a local port. The App's own server is somebody else's to start: with
    `app.id`, `app.private_key`, `app.webhook_secret` and `hub.url`; then comes `begin`.
    """
    async with simulated_github(port=port) as hub:
        made = Sandbox(hub, hub.register_app())
        try:
            yield made
        finally:
            await made.close()
