"""Resolves in a process of its own: strangers' files must be able to cost neither the server's time nor its memory.

What takes too long is ended, and what takes too much memory fails there. The process is started when it is needed, and
ends when it hasn't been for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import signal
import time
import traceback
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
"""For one question. The largest repository that was seen takes a second; the rest is for a machine that is busy."""

MEMORY_BYTES = 2 * 1024**3
"""Of address space."""

IDLE_SECONDS = 300.0


class ResolverFailed(Exception):
    """There is no answer, and asking again would give none either. The message is for whoever waits."""


class Question(Protocol[Result_co]):
    """What to find out about the two sides of a change. It is sent to another process, and so is its answer."""

    def __call__(self, base: Tree, head: Tree) -> Result_co:
        """The answer."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[Result]):
    """An answer, and the blobs that would have been read and weren't there, by their paths."""

    answer: Result
    missing: Mapping[str, str]


class Resolver:
    """One process, one question at a time; used from any event loop."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1, "seamguard-resolver")
        self._process: Any = None
        self._pipe: Connection | None = None
        self._used = 0.0

    async def ask(
        self,
        question: Question[Result],
        base: Mapping[str, TreeEntry],
        head: Mapping[str, TreeEntry],
        blobs: Mapping[str, Blob],
    ) -> Asked[Result]:
        """The answer to a question. Raises `ResolverFailed`."""
        loop = asyncio.get_running_loop()
        asked: Asked[Result] = await loop.run_in_executor(self._thread, self._ask, question, base, head, blobs)
        loop.call_later(IDLE_SECONDS + 1, self._thread.submit, self._end_when_idle)
        return asked

    def close(self) -> None:
        """End the process. A later question starts it again."""
        self._thread.submit(self._end).result()

    def _ask(self, *question: object) -> Asked[Any]:
        self._used = time.monotonic()
        pipe = self._started()
        try:
            pipe.send(question)
            if not pipe.poll(self._seconds):
                self._end()
                raise ResolverFailed(f"resolving these files takes longer than {self._seconds:.0f} seconds")
            good, answer = pipe.recv()
        except (EOFError, OSError) as error:
            self._end()
            raise ResolverFailed("the resolver has died over these files") from error
        finally:
            self._used = time.monotonic()
        if not good:
            log.error("the resolver failed: %s", answer)
            raise ResolverFailed("a fault in the resolver, which its log tells more about")
        return Asked(*answer)

    def _started(self) -> Connection:
        if self._pipe is not None and self._process.is_alive():
            return self._pipe
        self._end()
        context = multiprocessing.get_context("spawn")  # threads and connections don't survive a fork
        ours, theirs = context.Pipe()
        self._process = context.Process(target=_answer_all, args=(theirs,), daemon=True, name="seamguard-resolver")
        self._process.start()
        theirs.close()
        self._pipe = ours
        return ours

    def _end_when_idle(self) -> None:
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


RESOLVER = Resolver()
"""The one of this process."""


def _answer_all(pipe: Connection) -> None:
    """The other process: answers until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this one
    _limit_memory()
    with contextlib.suppress(EOFError, OSError):
        while True:
            question, base, head, blobs = pipe.recv()
            try:
                sides = FetchedTree(base, blobs), FetchedTree(head, blobs)
                answer = question(*sides)
                reply: tuple[bool, Any] = (True, (answer, {**sides[0].asked, **sides[1].asked}))
            except Exception as error:
                reply = (False, "".join(traceback.format_exception(error))[-4000:])
            pipe.send(reply)


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # a system without such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
