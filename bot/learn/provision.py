"""Learning on the spot: the releases that pins name and that nobody has facts of.

A pin is a stranger's word. So only plain version numbers are looked up, a few in a run, each at most once in a while;
their source is read as text, never run. Whoever asks the engine stage calls this before, or asks once more after it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bot.engine import Pin, cache
from bot.engine.derivations.basis import readings
from bot.engine.facts import is_known
from bot.engine.missing import missing
from bot.learn import check_complete, learn
from bot.learn.fetch import Listing, NoSuchReleaseError, listing, tagged
from bot.learn.files import dump, open_source
from bot.learn.published import published
from bot.learn.ranges import NoRangesError
from bot.learn.source import SourceError, SourceTree, UnreadableError

MAX_LEARNT = 4
"""Releases that one run learns: half a minute, and at most a gigabyte to download."""

MAX_ASKED = 16
"""Names that one run looks up; a repository names one or two releases that are too new for the rules."""

ABSENT_SECONDS = 3600
"""How long a name that is no release is not asked for again: it may be published any minute."""

FAILED_SECONDS = 600
"""The same after a failure, as without a network."""

PATIENCE = 5.0
"""Seconds that a server may be silent, while someone waits for an answer that does not need it."""

UNREADABLE_SECONDS = 7 * 24 * 3600
"""The same for a release whose source has a form that this program cannot read."""

Say = Callable[[str], None]
"""Told a sentence for a person."""

Source = Callable[[str], AbstractContextManager[Path]]
"""Gives a release's source as a file, for as long as it is needed. Raises `SourceError`."""


_LISTING = partial(listing, patience=PATIENCE)
_TAG = partial(tagged, patience=PATIENCE)


@dataclass(eq=False)
class Provision:
    """Learns what is missing, within the bounds of one run. `say` is told what is done, and what could not be.

    `ask` gives the list of the package index, `tag` the source at a release's tag: some are not on the index.
    """

    say: Say
    offline: bool = field(default_factory=lambda: bool(os.environ.get(cache.OFFLINE_VARIABLE)))
    ask: Callable[[], Listing] = _LISTING
    tag: Source = _TAG
    _settled: set[str] = field(default_factory=set)
    _learnt: int = 0
    _asked: int = 0
    _down: str = ""

    def provide(self, pins: Iterable[Pin]) -> tuple[str, ...]:
        """Learn the releases that `pins` name and that are missing.

        Given are those that have facts now and had none before: what was worked out without them is to be worked
        out again.
        """
        wanted = [name for name in missing(pins) if name not in self._settled]
        self._settled.update(wanted)
        fresh = [name for name in wanted if not self._is_refused(name)]
        if not fresh:
            return ()
        known = self._listing()
        fresh.sort(key=lambda name: known is None or not known.has(name))
        return tuple(name for name in fresh if self._learn(name, known))

    def _is_refused(self, name: str) -> bool:
        """Whether a release is not even looked for."""
        if self.offline:
            self._without(name, "the network is not to be used")
            return True
        why = cache.refusal(name)
        if why is not None:
            self._without(name, why)
        return why is not None

    def _listing(self) -> Listing | None:
        """What the index has; None when it does not say."""
        try:
            return self.ask()
        except SourceError:
            return None

    def _learn(self, name: str, known: Listing | None) -> bool:
        """Learn one release; whether it has facts then."""
        if self._down:
            self._refuse(name, self._down, FAILED_SECONDS)
            return False
        if self._learnt >= MAX_LEARNT or self._asked >= MAX_ASKED:
            self._without(name, "enough others were looked up")
            return False
        self._asked += 1
        self.say(f"vLLM {name} has no facts yet: learning it from its source")
        try:
            tree = self._tree(name, known)
            self._learnt += 1
            text = _facts(name, tree)
        except NoSuchReleaseError as error:
            # Without the index's list, a tag that is not there proves nothing.
            absent = known is not None
            why = "no such release is published" if absent else str(error)
            self._refuse(name, why, ABSENT_SECONDS if absent else FAILED_SECONDS)
        except UnreadableError as error:
            self._refuse(name, f"its source is of a form that is not known ({error})", UNREADABLE_SECONDS)
        except SourceError as error:
            self._down = str(error)
            self._refuse(name, self._down, FAILED_SECONDS)
        else:
            keep(name, text)
            return is_known(name)
        return False

    def _tree(self, name: str, known: Listing | None) -> SourceTree:
        """What the index has, unless that is only half a gigabyte in one piece; else the tag."""
        if known is not None and known.has(name):
            with suppress(NoRangesError):
                return published(name, known, whole=False, patience=PATIENCE)
        with self.tag(name) as path:
            return open_source(path)

    def _refuse(self, name: str, why: str, seconds: float) -> None:
        with suppress(OSError):  # a folder that cannot be written: it is asked again in the next run
            cache.refuse(name, why, seconds)
        self._without(name, why)

    def _without(self, name: str, why: str) -> None:
        self.say(f"vLLM {name} could not be learnt: {why}")


def _facts(name: str, tree: SourceTree) -> str:
    try:
        facts = learn(tree, name, readings().fingerprints)
        check_complete(facts)
        return dump(facts)
    except SourceError as error:
        raise UnreadableError(str(error)) from error
    except Exception as error:  # a form that nobody foresaw must not take the answer with it
        raise UnreadableError(f"{type(error).__name__}: {error}") from error


def keep(name: str, text: str) -> None:
    """Keep the facts of a release: on disk, else for as long as this process lives."""
    try:
        cache.write(name, text)
    except OSError:
        cache.hold(name, text)
