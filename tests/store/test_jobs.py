"""Jobs are done once, in order, and again after a crash."""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from bot.store import Database, Facts, Job, Jobs, Later, Patience, asking, inbox
from bot.store import jobs as jobs_module
from bot.store.inbox import VERSION
from tests.store.servers import databases

QUICK = Patience(pauses=(0.05, 0.05), polling=0.02)


class Recorder:
    """A handler that notes what it is asked for."""

    def __init__(self, act: Callable[[Job, int], str] | None = None) -> None:
        self.calls: list[str] = []
        self.given_up: list[tuple[str, str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self._act = act

    async def do(self, job: Job) -> str:
        self.calls.append(job.id)
        await self.gate.wait()
        return self._act(job, self.calls.count(job.id)) if self._act else "fine"

    async def give_up(self, job: Job, reason: str) -> str:
        self.given_up.append((job.id, reason))
        return "told"


@asynccontextmanager
async def running(url: str, handler: Recorder, patience: Patience = QUICK) -> AsyncIterator[Jobs]:
    database = Database(url)
    jobs = Jobs(database, {"review": handler, "command": handler}, patience)
    await jobs.start()
    try:
        yield jobs
    finally:
        await jobs.stop()
        database.close()


async def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        await asyncio.sleep(0.01)


async def settled(jobs: Jobs) -> None:
    end = time.monotonic() + 60
    while not await jobs.idle():
        assert time.monotonic() < end, "jobs are left"
        await asyncio.sleep(0.02)


def review(identity: str, partition: str = "acme/serving#1") -> Job:
    return Job(identity, "review", partition, {"head": identity}, latest_wins=True)


def command(identity: str, partition: str = "acme/serving#1") -> Job:
    return Job(identity, "command", partition)


@databases
async def test_a_job_is_done_once_however_often_it_comes(url: str) -> None:
    handler = Recorder()
    async with running(url, handler) as jobs:
        assert await jobs.inbox.accept(command("a")) is True
        assert await jobs.inbox.accept(command("a")) is False
        await settled(jobs)
        assert await jobs.inbox.accept(command("a")) is False
        await settled(jobs)
        assert handler.calls == ["a"]


@databases
async def test_the_newest_push_wins(url: str) -> None:
    handler = Recorder()
    async with running(url, handler) as jobs:
        handler.gate.clear()
        await jobs.inbox.accept(review("first"))
        await until(lambda: handler.calls == ["first"])
        for identity in ("second", "third"):
            await jobs.inbox.accept(review(identity))
        await jobs.inbox.accept(command("help"))
        await jobs.inbox.accept(review("elsewhere", "acme/serving#2"))
        assert await jobs.superseded(review("first"))
        assert not await jobs.superseded(review("third"))
        await until(lambda: "elsewhere" in handler.calls)
        handler.gate.set()
        await settled(jobs)
        assert handler.calls == ["first", "elsewhere", "third", "help"]


@databases
async def test_many_deliveries_at_once_are_all_accepted(url: str) -> None:
    handler = Recorder()
    async with running(url, handler) as jobs:
        new = await asyncio.gather(
            *(jobs.inbox.accept(command(f"{index % 40}", f"p{index % 7}")) for index in range(80))
        )
        assert sum(new) == 40
        await settled(jobs)
        assert sorted(handler.calls) == sorted({str(index) for index in range(40)})


async def test_jobs_that_are_being_stored_are_not_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk may take longer than GitHub waits for an answer."""
    gate, store = threading.Event(), inbox.Inbox.store
    monkeypatch.setattr(inbox.Inbox, "store", lambda *given: (gate.wait(10), store(*given))[1])
    async with running(f"sqlite:///{tmp_path}/x.sqlite", Recorder()) as jobs:
        accepting = asyncio.create_task(jobs.inbox.accept(command("a")))
        await asyncio.sleep(0)
        idle = await jobs.idle()
        gate.set()
        assert await accepting
        assert not idle
        await settled(jobs)


async def test_a_failed_attempt_is_made_again(tmp_path: Path) -> None:
    def act(job: Job, attempt: int) -> str:
        if attempt == 1:
            raise Later("GitHub is away")
        if attempt == 2:
            raise KeyError("a fault of ours")
        return "fine"

    handler = Recorder(act)
    async with running(f"sqlite:///{tmp_path}/jobs.sqlite", handler) as jobs:
        await jobs.inbox.accept(command("a"))
        await settled(jobs)
    assert handler.calls == ["a", "a", "a"]
    assert handler.given_up == []


@pytest.mark.parametrize("asked", ["newest", "again"])
async def test_a_database_that_is_away_for_a_moment_loses_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    def sometimes(job: Job, call: int) -> str:
        if call < 3:
            raise Later("the limit", time.time() + 0.1)
        return "fine"

    real, failures = getattr(inbox.Inbox, asked), iter([True, False, True, True] + [False, True] * 4)

    def fails(*given: Any) -> Any:
        if next(failures, False):
            raise OperationalError("SELECT 1", {}, Exception("database is locked"))
        return real(*given)

    monkeypatch.setattr(inbox.Inbox, asked, fails)
    monkeypatch.setattr(asking, "AWAY_SECONDS", 0.01)
    handler = Recorder(sometimes)
    held = 15.0 if asked == "newest" else 0.0
    async with running(f"sqlite:///{tmp_path}/x.sqlite", handler, replace(QUICK, held=held, waking=0.02)) as jobs:
        await jobs.inbox.accept(command("a"))
        await settled(jobs)
        assert handler.calls == ["a"] * 3
        assert handler.given_up == []


@pytest.mark.parametrize(("asked", "held"), [("newest", 15.0), ("again", 0.0)])
async def test_a_database_that_stays_away_holds_no_job_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, held: float
) -> None:
    """What is asked of it has an end: an attempt's own limit, or the pause that was to be waited for there."""

    def fails(*given: Any) -> Any:
        raise OperationalError("SELECT 1", {}, Exception("the server is gone"))

    def act(job: Job, attempt: int) -> str:
        raise Later("GitHub is away")

    monkeypatch.setattr(inbox.Inbox, asked, fails)
    monkeypatch.setattr(asking, "AWAY_SECONDS", 0.01)
    monkeypatch.setattr(jobs_module, "INSIST_SECONDS", 0.05)
    handler = Recorder(act)
    async with running(f"sqlite:///{tmp_path}/x.sqlite", handler, replace(QUICK, held=held)) as jobs:
        await jobs.inbox.accept(command("a"))
        if asked == "again":
            await settled(jobs)
            assert handler.given_up == [("a", "GitHub is away")]
            assert len(handler.calls) == len(QUICK.pauses) + 1
        else:
            await settled(jobs)
            assert handler.calls == []


async def test_a_pause_is_over_at_its_end_though_the_database_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(job: Job, attempt: int) -> str:
        if attempt == 1:
            monkeypatch.setattr(inbox.Inbox, "newest", fails)
            raise Later("GitHub is away")
        return "fine"

    real, failures = inbox.Inbox.newest, iter(range(4))

    def fails(*given: Any) -> Any:
        if next(failures, None) is not None:
            raise OperationalError("SELECT 1", {}, Exception("the server is gone"))
        return real(*given)

    monkeypatch.setattr(asking, "AWAY_SECONDS", 0.01)
    handler = Recorder(act)
    async with running(f"sqlite:///{tmp_path}/x.sqlite", handler, replace(QUICK, waking=0.02)) as jobs:
        await jobs.inbox.accept(command("a"))
        await settled(jobs)
    assert handler.calls == ["a", "a"]


async def test_a_job_that_always_fails_is_given_up_with_a_word(tmp_path: Path) -> None:
    def act(job: Job, attempt: int) -> str:
        raise Later("GitHub is away")

    handler = Recorder(act)
    async with running(f"sqlite:///{tmp_path}/jobs.sqlite", handler) as jobs:
        await jobs.inbox.accept(command("a"))
        await settled(jobs)
    assert len(handler.calls) == len(QUICK.pauses) + 1
    assert handler.given_up == [("a", "GitHub is away")]


async def test_a_wait_with_an_end_uses_up_no_attempt(tmp_path: Path) -> None:
    def act(job: Job, attempt: int) -> str:
        if attempt <= len(QUICK.pauses) + 3:
            raise Later("the rate limit is used up", time.time() + 0.02)
        return "fine"

    handler = Recorder(act)
    async with running(f"sqlite:///{tmp_path}/jobs.sqlite", handler) as jobs:
        await jobs.inbox.accept(command("a"))
        await settled(jobs)
    assert len(handler.calls) == len(QUICK.pauses) + 4
    assert handler.given_up == []


@databases
async def test_a_pause_ends_when_something_new_is_asked(url: str) -> None:
    def act(job: Job, attempt: int) -> str:
        if job.id == "first":
            raise Later("a fault", time.time() + 3600)
        return "fine"

    handler = Recorder(act)
    async with running(url, handler, Patience(polling=0.02, waking=0.02, held=7200.0)) as jobs:
        await jobs.inbox.accept(review("first"))
        await until(lambda: handler.calls == ["first"])
        await jobs.inbox.accept(review("second"))
        await settled(jobs)
    assert handler.calls == ["first", "second"]


async def test_jobs_in_a_pause_hold_up_no_others(tmp_path: Path) -> None:
    def act(job: Job, attempt: int) -> str:
        if job.id != "last":
            raise Later("the rate limit is used up", time.time() + 3600)
        return "fine"

    handler = Recorder(act)
    patience = Patience(polling=0.02, waking=0.02, at_once=1, begun=10)
    async with running(f"sqlite:///{tmp_path}/jobs.sqlite", handler, patience) as jobs:
        for number in range(3):
            await jobs.inbox.accept(command(f"waits {number}", f"acme/serving#{number}"))
        await until(lambda: len(handler.calls) == 3)
        await jobs.inbox.accept(command("last", "other/repository#1"))
        await until(lambda: handler.calls[-1] == "last")
    assert len(handler.calls) == 4


@databases
async def test_a_long_pause_is_waited_for_in_the_database(url: str) -> None:
    def act(job: Job, attempt: int) -> str:
        if job.id == "a" and attempt <= 2:
            raise Later("the rate limit is used up", time.time() + 0.3)
        if job.id == "a" and attempt == 3:
            raise Later("GitHub is away")
        return "fine"

    handler = Recorder(act)
    async with running(url, handler, replace(QUICK, held=0.1, pauses=(0.2,))) as jobs:
        await jobs.inbox.accept(review("a"))
        await until(lambda: handler.calls == ["a"])
        await jobs.inbox.accept(command("b"))  # about the same thing, and not held up
        await until(lambda: handler.calls[:2] == ["a", "b"])
        await settled(jobs)
    assert handler.calls == ["a", "b", "a", "a", "a"]
    assert handler.given_up == []


async def test_a_job_of_several_turns_is_given_up_in_the_end(tmp_path: Path) -> None:
    def act(job: Job, attempt: int) -> str:
        raise Later("GitHub is away")

    handler = Recorder(act)
    async with running(f"sqlite:///{tmp_path}/jobs.sqlite", handler, replace(QUICK, held=0.0)) as jobs:
        await jobs.inbox.accept(command("a"))
        await settled(jobs)
    assert len(handler.calls) == len(QUICK.pauses) + 1
    assert handler.given_up == [("a", "GitHub is away")]


async def test_an_account_whose_rate_limit_is_used_up_holds_up_no_other(tmp_path: Path) -> None:
    def act(job: Job, attempt: int) -> str:
        if job.account == "busy":
            raise Later("the rate limit is used up", time.time() + 3600)
        return "fine"

    handler = Recorder(act)
    async with running(f"sqlite:///{tmp_path}/jobs.sqlite", handler, Patience(polling=0.02, begun=20)) as jobs:
        for number in range(200):
            await jobs.inbox.accept(replace(review(f"{number}", f"busy/repository#{number}"), account="busy"))
        await until(lambda: len(handler.calls) >= 10, 30)
        await jobs.inbox.accept(replace(review("other", "else/repository#1"), account="else"))
        await until(lambda: "other" in handler.calls, 30)


async def test_an_account_has_not_all_places_at_work(tmp_path: Path) -> None:
    handler = Recorder()
    handler.gate.clear()
    patience = Patience(polling=0.02, at_once=2, begun=10)
    async with running(f"sqlite:///{tmp_path}/jobs.sqlite", handler, patience) as jobs:
        for number in range(8):
            await jobs.inbox.accept(replace(command(f"{number}", f"busy/repository#{number}"), account="busy"))
        await until(lambda: len(handler.calls) == 1)
        await jobs.inbox.accept(replace(command("other", "else/repository#1"), account="else"))
        await until(lambda: len(handler.calls) == 2 and "other" in handler.calls)
        handler.gate.set()


async def test_jobs_of_another_version_begin_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(f"sqlite:///{tmp_path}/jobs.sqlite")
    handler = Recorder()
    handler.gate.clear()
    monkeypatch.setattr(inbox, "VERSION", "of yesterday")
    monkeypatch.setattr(jobs_module, "VERSION", "of yesterday")
    async with running(f"sqlite:///{tmp_path}/jobs.sqlite", handler) as jobs:
        await jobs.inbox.accept(command("begun"))
        await until(lambda: handler.calls == ["begun"])
        await jobs.inbox.accept(command("waits"))
    monkeypatch.undo()
    handler.gate.set()
    async with running(f"sqlite:///{tmp_path}/jobs.sqlite", handler) as jobs:
        await settled(jobs)
    assert sorted(handler.calls) == ["begun", "begun", "waits"]
    database.close()


STEPS = ["attempt", "run_step_async", "run_step_async", "again", "run_step_async", "pause", "give up"]
FIELDS = ["id", "kind", "partition", "data", "latest_wins", "account"]


def test_the_version_changes_with_the_steps() -> None:
    """Whoever changes what the workflow records, or what a stored job is, changes `VERSION`, and then this."""
    source = "".join(inspect.getsource(part) for part in (Jobs._perform, Jobs._telling))
    found = [name or word for word, name in re.findall(r"(run_step_async)|(?<!error\()\"([a-z ]+)\"(?=[,}])", source)]
    assert (VERSION, found) == ("2", STEPS)
    assert [field.name for field in fields(Job)] == FIELDS


async def test_a_kind_that_nobody_knows_ends(tmp_path: Path) -> None:
    async with running(f"sqlite:///{tmp_path}/jobs.sqlite", Recorder()) as jobs:
        await jobs.inbox.accept(Job("a", "of a newer version", "p"))
        await settled(jobs)


WORKER = """
import asyncio, sys
from pathlib import Path
from bot.store import inbox
from bot.store import jobs as jobs_module
from bot.store import Database, Job, Jobs, Patience

class Handler:
    async def do(self, job):
        with open(sys.argv[2], "a") as log:
            log.write(f"begin {job.id}\\n"); log.flush()
            await asyncio.sleep(float(sys.argv[3]))
            log.write(f"end {job.id}\\n"); log.flush()
        return "fine"
    async def give_up(self, job, reason):
        return "told"

async def main():
    jobs = Jobs(Database(sys.argv[1]), {"command": Handler()}, Patience(pauses=(0.1,), polling=0.02))
    await jobs.start()
    for identity in sys.argv[4:]:
        await jobs.inbox.accept(Job(identity, "command", "p" + identity[0]))
    print("accepted", flush=True)
    while not await jobs.idle():
        await asyncio.sleep(0.05)
    await jobs.stop()

asyncio.run(main())
"""


def worker(url: str, log: Path, pause: float, *jobs: str) -> subprocess.Popen[str]:
    script = log.parent / "worker.py"
    script.write_text(textwrap.dedent(WORKER))
    return subprocess.Popen(
        [sys.executable, str(script), url, str(log), str(pause), *jobs],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


@databases
def test_what_was_accepted_is_done_after_a_kill(url: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with worker(url, log, 30.0, "a1", "a2", "b1") as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "accepted\n"
        end = time.monotonic() + 60
        while not log.exists() or log.read_text().count("begin") < 2:
            assert time.monotonic() < end
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
    with worker(url, log, 0.0) as second:
        assert second.wait(30) == 0
    ended = [line for line in log.read_text().splitlines() if line.startswith("end")]
    assert sorted(ended) == ["end a1", "end a2", "end b1"]
    assert ended.index("end a1") < ended.index("end a2")


def test_facts_are_kept(tmp_path: Path) -> None:
    database = Database.file(tmp_path / "facts" / "store.sqlite")
    database.prepare()
    facts = Facts(database)
    assert facts.recall("pull", "a#1") is None
    facts.remember("pull", "a#1", {"head": "1"})
    facts.remember("pull", "a#1", {"head": "2"})
    facts.remember("pull", "b#1", {})
    assert facts.recall("pull", "a#1") == {"head": "2"}
    assert facts.keys("pull") == ("a#1", "b#1")
    assert facts.keys("pull", "a#") == ("a#1",)
    facts.forget("pull", "a#1")
    assert facts.recall("pull", "a#1") is None
    assert facts.forget_older("pull", 1000) == 0
    assert facts.forget_older("pull", -1) == 1
    with pytest.raises(ValueError, match="too large"):
        facts.remember("pull", "k" * 1000, {})
    database.close()


def test_uses_are_limited(tmp_path: Path) -> None:
    database = Database.file(tmp_path / "store.sqlite")
    database.prepare()
    facts = Facts(database)
    assert [facts.may_use("command", "ann", use, 2, 60) for use in ("1", "2", "3", "1")] == [True, True, False, True]
    assert facts.may_use("command", "bob", "3", 2, 60)
    assert facts.may_use("command", "ann", "4", 2, 0)
    database.close()
