"""Lines of history: from commits and their parents to branches, and the places of commits and tags on them.

A branch is the chain of its first parents. Its commits are numbered from 1, the oldest that is recorded; what stands
before the record is at 0. Commits that came in by a merge share the place of the merge: among them no order is known.
Every other line is cut from main, where its own chain meets that of main.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

BEFORE = 0
"""The position on main of what is older than the record."""

MAX_COMMITS = 100_000
"""Commits of one repository that are looked at: some ten years of a busy one."""


@dataclass(frozen=True, slots=True)
class Node:
    """A commit of the record: its parents, the first before all, and its date in seconds since the epoch."""

    parents: tuple[str, ...]
    date: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of history. `places` are the positions of all commits on it that are its own, `chain` of those that it
    consists of; `cut` is the position on main where it begins (None for main itself).

    `gaps` are commits that are not recorded and should be: the line may hold more than is known.
    """

    places: Mapping[str, int]
    chain: Mapping[str, int]
    end: int
    cut: int | None
    gaps: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether everything on it since the record began is known."""
        return not self.gaps


class History:
    """Commits by their ids. `since` is the date since which they are recorded: of an older one the parents may lack."""

    def __init__(self, commits: Mapping[str, Node], main: str, since: float) -> None:
        self._commits = commits
        self._since = since
        self.main = self._line(main, None)

    def line(self, head: str) -> Line:
        """The line that ends in a commit, as it is cut from main."""
        return self._line(head, self.main)

    def _line(self, head: str, main: Line | None) -> Line:
        chain, gaps, cut = self._chain(head, main)
        base = main.places if main is not None and cut is not None else {}
        places: dict[str, int] = {}
        for position, sha in enumerate(reversed(chain), 1):
            for other in self._commits[sha].parents[1:]:
                for side in self._reached(other, sha, places, base, cut, gaps):
                    places[side] = position
            places[sha] = position
        numbered = {sha: places[sha] for sha in chain}
        return Line(places, numbered, len(chain), cut, tuple(dict.fromkeys(gaps)))

    def _chain(self, head: str, main: Line | None) -> tuple[list[str], list[str], int | None]:
        """The first parents from a commit down to main, the newest first; what lacks; and where it was cut."""
        chain: list[str] = []
        here, young = head, True
        while len(chain) < MAX_COMMITS:
            if main is not None and here in main.chain:
                return chain, [], main.chain[here]
            node = self._commits.get(here)
            if node is None:
                return chain, [here] if young else [], None if main is None else BEFORE
            chain.append(here)
            if not node.parents:
                break
            young = node.date >= self._since
            here = node.parents[0]
        lacking = [here] if len(chain) >= MAX_COMMITS else []
        return chain, lacking, None if main is None else BEFORE

    def _reached(
        self, top: str, merge: str, placed: Mapping[str, int], base: Mapping[str, int], cut: int | None, gaps: list[str]
    ) -> Iterator[str]:
        """The commits that a merge brings in: those that its line has not had before."""
        stack, seen = [(top, self._commits[merge].date >= self._since)], {top}
        while stack:
            sha, young = stack.pop()
            if sha in placed or (cut is not None and base.get(sha, cut + 1) <= cut):
                continue
            node = self._commits.get(sha)
            if node is None:
                if young:
                    gaps.append(sha)
                continue
            yield sha
            for parent in node.parents:
                if parent not in seen:
                    seen.add(parent)
                    stack.append((parent, node.date >= self._since))
