"""The files of a commit."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from cachetools import LRUCache

from bot.github import graphql
from bot.github.errors import Unavailable
from bot.github.model import RepositoryName, RepositoryTree, TreeEntry
from bot.github.requests import Request, Requests

MAX_SUBTREES = 200
"""Folders that are asked for one by one when a tree is truncated, at 100,000 entries."""

KEPT_ENTRIES = 120_000
"""Files of all kept trees together, at a few hundred bytes each: one of the largest, or some hundred usual ones."""

MAX_FOLDERS = 20
"""Folders whose files' modes are asked for in one request."""

_SUBMODULE = "160000"
_LINK = 0o120000
_MODES = "... on Tree { entries { name mode } }"


class TreeCache(LRUCache[tuple[str, str, str], RepositoryTree]):
    """Trees of commits, which never change, per account and repository."""

    def __init__(self, entries: int = KEPT_ENTRIES) -> None:
        super().__init__(entries, getsizeof=lambda tree: len(tree.entries) + 1)

    def keep(self, key: tuple[str, str, str], tree: RepositoryTree) -> None:
        """Keep a tree; one that is larger than the cache is not kept."""
        if len(tree.entries) < self.maxsize:
            self[key] = tree


async def read(requests: Requests, repository: RepositoryName, ref: str) -> RepositoryTree:
    """Every file at a commit or branch; folder by folder where GitHub cuts the list off. Raises a `GitHubError`."""
    entries: dict[str, TreeEntry] = {}
    commit, truncated, _ = await _list(requests, repository, ref, "", entries, recursive=True)
    if not truncated:
        return RepositoryTree(entries, truncated=False, commit=commit)
    entries.clear()
    _, cut_off, folders = await _list(requests, repository, ref, "", entries, recursive=False)
    asked = 0
    while folders:
        prefix, sha = folders.pop()
        asked += 1
        if asked > MAX_SUBTREES:
            return RepositoryTree(entries, truncated=True, commit=commit)
        found: dict[str, TreeEntry] = {}
        _, truncated, _ = await _list(requests, repository, sha, prefix, found, recursive=True)
        if truncated:
            found.clear()
            _, still, below = await _list(requests, repository, sha, prefix, found, recursive=False)
            folders += below
            cut_off = cut_off or still
        entries |= found
    return RepositoryTree(entries, truncated=cut_off, commit=commit)


async def links(requests: Requests, repository: RepositoryName, commit: str, paths: Iterable[str]) -> frozenset[str]:
    """Those of the paths that are symbolic links at a commit, in one request; of the first `MAX_FOLDERS` folders."""
    wanted = frozenset(paths)
    folders = sorted({posixpath.dirname(path) for path in wanted})[:MAX_FOLDERS]
    if not folders:
        return frozenset()
    declared = "".join(f", $f{index}: String!" for index in range(len(folders)))
    asked = " ".join(f"f{index}: object(expression: $f{index}) {{ {_MODES} }}" for index in range(len(folders)))
    result = await graphql.run(
        requests,
        f"query($owner: String!, $name: String!{declared}) {{ repository(owner: $owner, name: $name) {{ {asked} }} }}",
        {"owner": repository.owner, "name": repository.name}
        | {f"f{index}": f"{commit}:{folder}" for index, folder in enumerate(folders)},
    )
    found = result.data.get("repository")
    if not isinstance(found, Mapping):
        raise graphql.error_of(result.problems)
    return wanted & {
        posixpath.join(folder, str(entry.get("name")))
        for index, folder in enumerate(folders)
        for entry in (found.get(f"f{index}") or {}).get("entries") or ()
        if entry.get("mode") == _LINK
    }


async def _list(
    requests: Requests,
    repository: RepositoryName,
    ref: str,
    prefix: str,
    entries: dict[str, TreeEntry],
    *,
    recursive: bool,
) -> tuple[str | None, bool, list[tuple[str, str]]]:
    """Adds the files of one tree to `entries`. Returns its id, whether it is cut off, and its folders."""
    path = "/repos/{owner}/{repo}/git/trees/{ref}" + ("?recursive=1" if recursive else "")
    where = {"owner": repository.owner, "repo": repository.name, "ref": ref}
    data = (await requests.send(Request("GET", path, where))).data
    if not isinstance(data, Mapping) or not isinstance(data.get("tree"), list):
        raise Unavailable("GitHub answers something else than a tree")
    folders = []
    listed: list[Mapping[str, Any]] = data["tree"]
    for item in listed:
        name = prefix + str(item["path"])
        if item.get("type") == "tree":
            folders.append((f"{name}/", str(item["sha"])))
        elif item.get("type") == "blob" and item.get("mode") != _SUBMODULE:
            entries[name] = TreeEntry(name, str(item["sha"]), item.get("size"), str(item.get("mode")))
    return data.get("sha"), bool(data.get("truncated")), folders
