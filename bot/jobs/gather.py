"""Fetches what a review has to read, in few requests."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from bot.github.client import GitHub
from bot.github.errors import TooLarge
from bot.github.model import Blob, ChangedFile, RepositoryName, TreeEntry
from bot.jobs.files import perhaps_links, proposed
from bot.jobs.resolver import RESOLVER, SECONDS, Asked, Question
from bot.tree import MAX_FILE_BYTES

ROUNDS = 4
"""How often the resolver is asked what else it needs: once in nearly every repository."""

_ENDINGS = (".yml", ".yaml", ".sh", ".env")
_LINK = "120000"

_IDLE_ENDINGS = (
    ".md", ".rst", ".adoc", ".pdf", ".ipynb", ".csv", ".tsv", ".log", ".lock",
    ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".drawio", ".mp4", ".webm",
)  # fmt: skip
_IDLE_NAMES = (
    "license", "licence", "copying", "notice", "authors", "codeowners", "changelog",
    ".gitignore", ".gitattributes", ".editorconfig",
)  # fmt: skip
_IDLE_TEXT = re.compile(r"(?:requirements|constraints|licen[cs]e|copying|notice|authors|robots|readme)[\w.-]*\.txt")
"""Any other text may be somebody's `env_file`."""

_IDLE_FOLDERS = (".github/workflows/", ".github/issue_template/", ".github/actions/", ".circleci/")

Result = TypeVar("Result")
Entries = Mapping[str, TreeEntry]


def matters(path: str) -> bool:
    """Whether a changed file could concern an engine. Documentation and CI can't, and cost no look at the repository.

    Anything else may be mounted, sourced or included by some compose.
    """
    lowered = path.lower()
    name = posixpath.basename(lowered)
    ending = posixpath.splitext(name)[1]
    idle = ending in _IDLE_ENDINGS or name in _IDLE_NAMES or _IDLE_TEXT.fullmatch(name)
    return not (idle or lowered.startswith(_IDLE_FOLDERS))


def changed_blobs(changes: Iterable[ChangedFile]) -> list[str]:
    """The blobs of the head that a review reads for sure."""
    return [change.sha for change in changes if change.sha and change.status != "removed" and _read_early(change.path)]


class Gathering:
    """The two sides of a change, and what of them has been fetched: the commit `base`, and over it the `changes` that
    are there at the commit `head`. Without changes both sides are the same.
    """

    def __init__(
        self,
        github: GitHub,
        repository: RepositoryName,
        base: str,
        head: str,
        changes: Sequence[ChangedFile] = (),
        known: Mapping[str, Blob] = MappingProxyType({}),
    ) -> None:
        self._github = github
        self._repository = repository
        self._base_sha = base
        self._head_sha = head
        self._changes = changes
        self._blobs = dict(known)
        self._sides: tuple[Entries, Entries] | None = None
        self._seconds = SECONDS

    async def run(self, question: Question[Result]) -> Result:
        """The answer to a question that was given every file that it asked for; it may be put more than once.

        Raises a `GitHubError`, `TooLarge` where GitHub does not list all files of the base; and `ResolverFailed`.
        """
        base, head = self._sides = self._sides or await self._listed()
        await self._fetch({path: entry.sha for side in (base, head) for path, entry in early(side)})
        for attempt in range(1, ROUNDS + 1):
            asked = await self._resolved(question, base, head)
            if not asked.missing or attempt == ROUNDS:
                return asked.answer
            await self._fetch(asked.missing)
        raise AssertionError("unreachable")

    async def _resolved(self, question: Question[Result], base: Entries, head: Entries) -> Asked[Result]:
        """One round of what may take `SECONDS` in all."""
        asked = await RESOLVER.ask(
            question, base, head, self._blobs, account=self._repository.owner, seconds=self._seconds
        )
        self._seconds = max(1.0, self._seconds - asked.seconds)
        return asked

    async def _listed(self) -> tuple[Entries, Entries]:
        """The files of both sides."""
        tree = await self._github.tree(self._repository, self._base_sha)
        if tree.truncated:
            raise TooLarge("the repository has too many files")
        links = await self._github.links(self._repository, self._head_sha, perhaps_links(self._changes))
        return tree.entries, proposed(tree, self._changes, links)

    async def _fetch(self, shas: Mapping[str, str]) -> None:
        missing = {path: sha for path, sha in shas.items() if sha not in self._blobs}
        if not missing:
            return
        self._blobs |= await self._github.blobs(self._repository, missing, self._base_sha)
        for sha in missing.values():
            self._blobs.setdefault(sha, Blob(sha, None, "GitHub does not give the file's content"))


def early(side: Mapping[str, TreeEntry]) -> Iterable[tuple[str, TreeEntry]]:
    """The files that the resolver reads in any repository."""
    return (
        (path, entry)
        for path, entry in side.items()
        if (_read_early(path) or entry.mode == _LINK) and (entry.size or 0) <= MAX_FILE_BYTES
    )


def _read_early(path: str) -> bool:
    """Whether a file is of a kind that the resolver reads in any repository."""
    name = posixpath.basename(path)
    return name.endswith(_ENDINGS) or name.startswith(".env")
