"""`watch`: one poll for a cron job, with the App's credentials or with a token."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.github.client import GitHub
from bot.github.model import RepositoryName
from bot.jobs.standing import Standing, Standings
from bot.references import UPSTREAM
from bot.sandbox.github import App, Hub, RepositoryHandle, simulated_github
from tests.end_to_end.harness import CLEAN, SECRET
from tests.sandbox.github.caller import Caller

N = 48375
FILES = {"compose/one.yml": CLEAN, "docs/UPSTREAM.md": f"Drop the overlay when vllm#{N} merges (fix PR).\n"}


class Elsewhere:
    """A simulated GitHub in a thread of its own: commands make their own event loops."""

    hub: Hub
    app: App
    token: str
    upstream: RepositoryHandle
    repository: RepositoryHandle

    def __enter__(self) -> Elsewhere:
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._ended = asyncio.Event()

        async def run() -> None:
            async with simulated_github() as self.hub:
                self.app = self.hub.register_app(webhook_secret=SECRET)
                self.upstream = self.hub.repository(UPSTREAM, {"vllm/a.py": "old\n"})
                pull = self.upstream.open_pull({"vllm/a.py": "new\n"}, title="Honour the flag", number=N)
                self.upstream.tag("v0.25.1")
                pull.merge(squash=True)
                self.repository = mine = self.hub.repository("acme/serving", FILES, installed=True)
                self.hub.repository("acme/broken", {"README.md": "# Broken\n"}, installed=True)
                async with Caller(self.hub, mine.installation) as caller:
                    self.token = caller.token
                    ready.set()
                    await self._ended.wait()

        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(run(),))
        self._thread.start()
        assert ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(30)
        self._loop.close()


@pytest.fixture(scope="module")
def github() -> Iterator[Elsewhere]:
    with ExitStack() as stack:
        yield stack.enter_context(Elsewhere())


@pytest.fixture
def setting(github: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Where GitHub is, and where things are kept."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_TOKEN", "CLIENT_ID", "APP_ID", "PRIVATE_KEY", "WEBHOOK_SECRET", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITHUB_API_URL", github.hub.url)
    monkeypatch.setenv("GITHUB_DOWNLOAD_URLS", github.hub.archive_url)
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/store.sqlite")
    return monkeypatch


def as_app(github: Elsewhere, setting: pytest.MonkeyPatch) -> None:
    setting.setenv("CLIENT_ID", github.app.client_id)
    setting.setenv("PRIVATE_KEY", github.app.private_key)
    setting.setenv("WEBHOOK_SECRET", SECRET)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["watch", "--once", *arguments])
    error = "" if result.exception is None or isinstance(result.exception, SystemExit) else repr(result.exception)
    return result.exit_code, result.output + error


def test_what_it_would_tell(github: Elsewhere, setting: pytest.MonkeyPatch) -> None:
    as_app(github, setting)
    status, output = run("--dry-run")
    assert status == 1, output  # the rules wait for more than this upstream has
    assert "acme/serving" in output
    line = next(line for line in output.splitlines() if f"#{N}" in line)
    assert "merged" in line
    assert "#41800: GET" in output
    assert "rules wait for these" in output
    assert "would open a new issue [upstream-fix]" in output
    assert f"  Upstream fix vLLM {N}" in output
    assert "docs/UPSTREAM.md" in output
    assert "<!--" not in output
    assert "](http" not in output
    assert github.repository.record.issues == {}


def test_it_tells_and_then_has_nothing_to_tell(github: Elsewhere, setting: pytest.MonkeyPatch) -> None:
    as_app(github, setting)
    for _ in range(3):
        status, output = run("--repo", "ACME/serving")
        assert status in (0, 1), output
    assert "acme/serving: nothing to tell" in output or "left for later" in output


def test_a_repository_where_it_is_not_installed(github: Elsewhere, setting: pytest.MonkeyPatch) -> None:
    as_app(github, setting)
    status, output = run("--repo", "acme/serving", "--repo", "acme/other")
    assert (status, "not installed for acme/other" in output) == (1, True), output


def test_a_token_reads_and_does_not_write(github: Elsewhere, setting: pytest.MonkeyPatch) -> None:
    setting.setenv("GITHUB_TOKEN", github.token)
    assert "--dry-run works with any" in run("--repo", "acme/serving")[1]
    assert "name a repository" in run("--dry-run")[1]
    status, output = run("--dry-run", "--repo", "acme/serving", "--format", "json")
    assert status == 1
    assert f'"reference": "{UPSTREAM}#{N}"' in output
    (written,) = json.loads(output)["would"]
    assert (written["repository"], written["what"], written["labels"]) == ("acme/serving", "open", ["upstream-fix"])
    assert written["body"].startswith("<!-- seamguard:upstream v1 ")


def test_one_repository_that_can_not_be_read_stops_no_other(github: Elsewhere, setting: pytest.MonkeyPatch) -> None:
    as_app(github, setting)
    look = Standings.look

    async def failing(self: Standings, client: GitHub, installation: int, name: RepositoryName, sha: str) -> Standing:
        if str(name) == "acme/broken":
            raise ValueError("what it holds is odd")
        return await look(self, client, installation, name, sha)

    setting.setattr(Standings, "look", failing)
    status, output = run("--dry-run")
    assert status == 1
    assert "acme/broken: it could not be read (ValueError)" in output
    assert output.startswith("acme/serving\n")


def test_without_credentials_it_says_what_to_set(setting: pytest.MonkeyPatch) -> None:
    assert "set GITHUB_TOKEN" in run()[1]
    assert "not OWNER/NAME" in run("--repo", "serving")[1]


def test_clocks_of_a_folder_by_what_upstream_says_now(
    github: Elsewhere, setting: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    refused = CliRunner().invoke(cli, ["clocks", "--live"])
    assert "forbids" in repr(refused.exception)
    setting.delenv("SEAMGUARD_OFFLINE")
    setting.setenv("SEAMGUARD_CACHE", str(tmp_path / "cache"))
    setting.setenv("GITHUB_TOKEN", github.token)
    for _ in range(2):
        result = CliRunner().invoke(cli, ["clocks", "--live", "--repo", str(tmp_path)])
        assert result.exit_code == 0, result.output
        line = next(line for line in result.output.splitlines() if f"#{N} " in line)
        assert "merged" in line


def test_a_failure_is_not_told_as_nothing_to_wait_for(setting: pytest.MonkeyPatch) -> None:
    setting.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    setting.setenv("GITHUB_TOKEN", "x")
    answer = CliRunner().invoke(cli, ["watch", "--once", "--dry-run", "--repo", "acme/serving"])
    assert answer.exit_code == 1
    assert "no repository waits for anything" not in answer.output
    assert "acme/serving: " in answer.output
