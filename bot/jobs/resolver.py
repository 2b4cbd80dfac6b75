"""Resolves in processes of its own: strangers' files must be able to cost neither the server's time nor its memory.

What takes too long is ended, and what takes too much memory fails there. A process is started when it is needed, and
ends when it hasn't been for a while. No account gets all of them: whoever sends files that take long waits for himself.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar

from bot.github.model import Blob, TreeEntry
from bot.jobs.files import FetchedTree
from bot.tree import Tree

log = logging.getLogger("seamguard.resolver")

Result_co = TypeVar("Result_co", covariant=True)
Result = TypeVar("Result")

SECONDS = 120.0
"""For one review, in all its rounds. The largest repository that was seen takes a second; the rest is for a machine
that is busy.
"""

MEMORY_BYTES = 512 * 1024**2
"""That the work on one question may take beyond what the process has at its start."""

KEEP_BYTES = 256 * 1024**2
"""A process that holds more than this after an answer ends: what it remembers would be missed by the next question."""

PROCESSES = max(2, min(4, os.cpu_count() or 1))
IDLE_SECONDS = 300.0


class ResolverFailed(Exception):
    """There is no answer, and asking again would give none either. The message is for whoever waits."""


class Question(Protocol[Result_co]):
    """What to find out about the two sides of a change. It is sent to another process, and so is its answer."""

    def __call__(self, base: Tree, head: Tree) -> Result_co:
        """The answer."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[Result]):
    """An answer, the blobs that would have been read and weren't there, by their paths, and how long it took."""

    answer: Result
    missing: Mapping[str, str]
    seconds: float = 0.0


class Resolver:
    """Several processes, each for one question at a time; used from any event loop."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY_BYTES, processes: int = PROCESSES) -> None:
        self.seconds = seconds
        self._processes = [_Process(memory) for _ in range(processes)]
        self._free = list(self._processes)
        self._busy: Counter[str] = Counter()
        self._waiting: list[tuple[str, asyncio.AbstractEventLoop, asyncio.Future[_Process]]] = []
        self._lock = threading.Lock()

    async def ask(
        self,
        question: Question[Result],
        base: Mapping[str, TreeEntry],
        head: Mapping[str, TreeEntry],
        blobs: Mapping[str, Blob],
        *,
        account: str = "",
        seconds: float | None = None,
    ) -> Asked[Result]:
        """The answer to a question on behalf of an account, in at most `seconds`. Raises `ResolverFailed`."""
        loop = asyncio.get_running_loop()
        process = await self._turn(account, loop)
        limit = self.seconds if seconds is None else seconds
        try:
            asked: Asked[Result] = await loop.run_in_executor(
                process.thread, process.ask, limit, question, base, head, blobs
            )
        finally:
            self._done(process, account)
        loop.call_later(IDLE_SECONDS + 1, process.end_when_idle)
        return asked

    def close(self) -> None:
        """End the processes. A later question starts one again."""
        for process in self._processes:
            process.close()

    async def _turn(self, account: str, loop: asyncio.AbstractEventLoop) -> _Process:
        """A free process, when it is the account's turn."""
        future: asyncio.Future[_Process] = loop.create_future()
        with self._lock:
            self._waiting.append((account, loop, future))
        self._hand_out()
        try:
            return await future
        except asyncio.CancelledError:
            with self._lock:
                self._waiting = [item for item in self._waiting if item[2] is not future]
            if future.done() and not future.cancelled():
                self._done(future.result(), account)
            raise

    def _done(self, process: _Process, account: str) -> None:
        with self._lock:
            self._busy[account] -= 1
            self._busy += Counter()  # forgets whoever has none
            self._free.append(process)
        self._hand_out()

    def _hand_out(self) -> None:
        """Gives free processes to whoever waits longest, but the last one to nobody who has all the others."""
        most = max(1, len(self._processes) - 1)
        with self._lock:
            for item in list(self._waiting):
                account, loop, future = item
                if not self._free:
                    break
                if self._busy[account] >= most:
                    continue
                self._waiting.remove(item)
                self._busy[account] += 1
                # The warmest: the one that was used last.
                loop.call_soon_threadsafe(self._give, future, self._free.pop(), account)

    def _give(self, future: asyncio.Future[_Process], process: _Process, account: str) -> None:
        if future.done():  # whoever asked has gone
            self._done(process, account)
        else:
            future.set_result(process)


class _Process:
    """One process, and the thread that speaks with it."""

    def __init__(self, memory: int) -> None:
        self.thread = ThreadPoolExecutor(1, "seamguard-resolver")
        self._memory = memory
        self._process: Any = None
        self._pipe: Connection | None = None
        self._fresh = True
        self._used = 0.0

    def ask(self, seconds: float, *question: object) -> Asked[Any]:
        """The answer. What a process that has answered before can't do for want of memory, a new one may."""
        end = time.monotonic() + seconds
        try:
            return self._asked(end, seconds, *question)
        except _OutOfMemory:
            self._end()
            if self._fresh:
                raise ResolverFailed(self._too_large) from None
        try:
            return self._asked(end, seconds, *question)
        except _OutOfMemory:
            self._end()
            raise ResolverFailed(self._too_large) from None

    @property
    def _too_large(self) -> str:
        return f"resolving these files takes more than {self._memory // 1024**2} MB of memory"

    def _asked(self, end: float, limit: float, *question: object) -> Asked[Any]:
        """The answer by `end`, which is the `limit` in seconds from when it was first asked for."""
        self._used = began = time.monotonic()
        pipe = self._started()
        try:
            pipe.send(question)
            if not pipe.poll(max(0.0, end - time.monotonic())):
                self._end()
                raise ResolverFailed(f"resolving these files takes longer than {limit:.0f} seconds")
            kind, answer, held = pipe.recv()
        except (EOFError, OSError) as error:
            self._end()
            raise ResolverFailed("the resolver has died over these files") from error
        finally:
            self._used = time.monotonic()
        if kind == "memory":
            raise _OutOfMemory
        self._fresh = False
        if held > min(KEEP_BYTES, self._memory):
            self._end()
        if kind == "fault":
            log.error("the resolver failed: %s", answer)
            raise ResolverFailed("a fault in the resolver, which its log tells more about")
        found, missing = answer
        return Asked(found, missing, time.monotonic() - began)

    def _started(self) -> Connection:
        if self._pipe is not None and self._process.is_alive():
            return self._pipe
        self._end()
        context = multiprocessing.get_context("spawn")  # threads and connections don't survive a fork
        ours, theirs = context.Pipe()
        arguments = (theirs, self._memory)
        process = context.Process(target=_answer_all, args=arguments, daemon=True, name="seamguard-resolver")
        try:
            process.start()
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._process, self._pipe = process, ours  # only one that has begun can be ended
        self._fresh = True
        return ours

    def end_when_idle(self) -> None:
        """End the process if it hasn't been used for a while."""
        self.thread.submit(self._end_idle)

    def close(self) -> None:
        """End the process."""
        self.thread.submit(self._end).result()

    def _end_idle(self) -> None:
        if time.monotonic() - self._used > IDLE_SECONDS:
            self._end()

    def _end(self) -> None:
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if pipe is not None:
            pipe.close()
        if process is not None:
            process.kill()
            process.join()
            process.close()


class _OutOfMemory(Exception):
    """A question took more memory than it may."""


RESOLVER = Resolver()
"""The one of this process."""


def _answer_all(pipe: Connection, memory: int) -> None:
    """The other process: answers until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this one
    mapped = _limit_memory(memory)
    with contextlib.suppress(EOFError, OSError):
        while True:
            try:
                reply = _answered(*pipe.recv())
            except MemoryError:
                reply = ("memory", "")
            pipe.send((*reply, _mapped_bytes() - mapped))


def _answered(
    question: Question[Any], base: Mapping[str, TreeEntry], head: Mapping[str, TreeEntry], blobs: Mapping[str, Blob]
) -> tuple[str, Any]:
    try:
        sides = FetchedTree(base, blobs), FetchedTree(head, blobs)
        answer = question(*sides)
    except MemoryError:
        raise
    except Exception as error:
        return "fault", "".join(traceback.format_exception(error))[-4000:]
    return "answer", (answer, {**sides[0].asked, **sides[1].asked})


def _limit_memory(memory: int) -> int:
    """Allows so much beyond what the process has now, which is returned; in bytes of address space."""
    mapped = _mapped_bytes()
    with contextlib.suppress(ImportError, OSError, ValueError):  # a system without such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (mapped + memory, mapped + memory))
    return mapped


def _mapped_bytes() -> int:
    """The address space of this process; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as told:
            return int(told.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
