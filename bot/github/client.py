"""What Seamguard does at GitHub on behalf of one installation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bot.github import amendments, blobs, conversation, trees, writing
from bot.github.answers import items_of, object_of
from bot.github.blobcache import BlobCache
from bot.github.errors import Conflict, NotFound, UnplaceableComment, Unprocessable
from bot.github.issues import Issues
from bot.github.model import (
    Blob,
    ChangedFile,
    ChangedFiles,
    CheckRun,
    Conversation,
    Edit,
    IssueKey,
    MinimiseReason,
    NewComment,
    OpenPull,
    Permission,
    PostedCheck,
    PullKey,
    Reaction,
    RepositoryName,
    RepositoryTree,
)
from bot.github.objects import is_blob_id
from bot.github.requests import REPOSITORY, SHA, Method, Request, Requests, in_repository
from bot.github.trees import TreeCache

MAX_FILES = 3000
"""GitHub lists no more files of a pull request."""

PER_PAGE = 100
OPEN_PULL_PAGES = 10

_UNPLACEABLE = ("must be part of the", "diff hunk", "could not be resolved", "pull_request_review_thread")


class GitHub:
    """One installation. Every method raises a `GitHubError` of the kind that fits, and has tried again where that is
    safe.
    """

    def __init__(self, requests: Requests, cache: BlobCache, app_id: int, known_trees: TreeCache | None = None) -> None:
        self._requests = requests
        self._cache = cache
        self._app_id = app_id
        self._trees = TreeCache() if known_trees is None else known_trees
        self.issues = Issues(requests, app_id)

    # What is read

    async def pull_files(self, pull: PullKey) -> ChangedFiles:
        """The files that a pull request changes, with the blobs of its head."""
        request = self._pull("GET", pull, "/files?per_page={per_page}", per_page=PER_PAGE)
        files: list[ChangedFile] = []
        head = None
        async for page in self._requests.pages(request, MAX_FILES // PER_PAGE):
            items = items_of(page)
            head = head or next((sha for item in items if (sha := _listed_head(item))), None)
            files += [_changed_file(item) for item in items]
        return ChangedFiles(tuple(files), len(files) < MAX_FILES, head)

    async def conversation(self, pull: PullKey, shas: Sequence[str] = ()) -> tuple[Conversation, Mapping[str, Blob]]:
        """The pull request's state, what this App has said in it, and blobs by their ids; up to 100 that are not in the
        cache cost no request of their own.
        """
        known = await asyncio.to_thread(self._cache.take, shas)
        missing = [sha for sha in dict.fromkeys(shas) if sha not in known][: blobs.BATCH]
        found, fetched = await conversation.read(self._requests, pull, self._app_id, missing)
        await asyncio.to_thread(self._cache.put_all, fetched.values())
        return found, {**known, **fetched}

    async def tree(self, repository: RepositoryName, ref: str) -> RepositoryTree:
        """Every file at a commit, or at the tip of a branch. The tree of a commit is asked for once."""
        key = (self._requests.credential.account, str(repository), ref)
        known = self._trees.get(key)
        if known is not None:
            return known
        try:
            tree = await trees.read(self._requests, repository, ref)
        except Conflict:  # an empty repository
            tree = RepositoryTree({})
        if is_blob_id(ref):
            self._trees.keep(key, tree)
        return tree

    async def tip(self, repository: RepositoryName) -> str | None:
        """The commit of the default branch; None for an empty repository."""
        try:
            answer = await self._requests.send(replace(in_repository("GET", repository, "/commits/HEAD"), accept=SHA))
        except (Conflict, Unprocessable):
            return None
        return bytes(answer.data).decode("ascii").strip()

    async def links(self, repository: RepositoryName, commit: str, paths: Iterable[str]) -> frozenset[str]:
        """Those of the paths that are symbolic links at a commit: a list of changes does not tell."""
        return await trees.links(self._requests, repository, commit, paths)

    async def blobs(self, repository: RepositoryName, shas: Mapping[str, str], ref: str) -> Mapping[str, Blob]:
        """Blobs by their ids; `shas` gives them by their paths at `ref`, a commit."""
        return await blobs.fetch(self._requests, self._cache, repository, shas, ref)

    async def permission(self, repository: RepositoryName, login: str) -> Permission:
        """What a person may do. Triage is `read`, maintain is `write`; somebody unknown is `none`."""
        try:
            answer = await self._requests.send(
                in_repository("GET", repository, "/collaborators/{login}/permission", login=login)
            )
        except NotFound:
            return "none"
        match object_of(answer.data).get("permission"):
            case "admin":
                return "admin"
            case "write" | "maintain":
                return "write"
            case "read" | "triage":
                return "read"
            case _:
                return "none"

    async def pulls_with_head(self, repository: RepositoryName, sha: str) -> tuple[PullKey, ...]:
        """The open pull requests whose head is `sha`, those from forks too: events about checks don't name them."""
        answer = await self._requests.send(
            in_repository("GET", repository, "/commits/{sha}/pulls?per_page=100", sha=sha)
        )
        found = [_open_pull(repository, item) for item in items_of(answer.data) if item.get("state") == "open"]
        return tuple(pull.key for pull in found if pull.head_sha == sha)

    async def open_pulls(self, repository: RepositoryName) -> tuple[OpenPull, ...]:
        """The open pull requests, those changed last first; at most a thousand."""
        request = in_repository("GET", repository, "/pulls?state=open&sort=updated&direction=desc&per_page=100")
        found: list[OpenPull] = []
        async for page in self._requests.pages(request, OPEN_PULL_PAGES):
            found += [_open_pull(repository, item) for item in items_of(page)]
        return tuple(found)

    async def checks(self, repository: RepositoryName, sha: str, name: str) -> tuple[PostedCheck, ...]:
        """The checks of that name that this App has on a commit."""
        request = in_repository(
            "GET",
            repository,
            "/commits/{sha}/check-runs?check_name={name}&app_id={app}&filter=all&per_page=100",
            sha=sha,
            name=name,
            app=self._app_id,
        )
        runs = items_of(object_of((await self._requests.send(request)).data).get("check_runs"))
        return tuple(
            PostedCheck(
                int(run["id"]),
                str(run.get("name") or ""),
                sha,
                str(run.get("status") or ""),
                run.get("conclusion"),
                run.get("external_id"),
            )
            for run in runs
        )

    # What is written

    async def create_check(self, repository: RepositoryName, head_sha: str, check: CheckRun) -> int:
        """A check run on a commit; annotations after the first fifty are added to it. Returns its id."""
        first, *more = writing.batches(check.annotations)
        body = {**writing.check_body(check, first), "head_sha": head_sha}
        answer = await self._requests.send(in_repository("POST", repository, "/check-runs", body=body))
        identity = int(object_of(answer.data)["id"])
        await self._annotate(repository, identity, check, more)
        return identity

    async def update_check(self, repository: RepositoryName, check_id: int, check: CheckRun) -> None:
        """Overwrite a check run; its annotations are added to those that it has."""
        await self._annotate(repository, check_id, check, list(writing.batches(check.annotations)))

    async def _annotate(
        self, repository: RepositoryName, identity: int, check: CheckRun, batches: Sequence[Sequence[Any]]
    ) -> None:
        for batch in batches:
            body = writing.check_body(check, batch)
            await self._requests.send(
                # GitHub appends annotations: sent twice, they would stand there twice.
                in_repository("PATCH", repository, "/check-runs/{id}", id=identity, body=body, repeatable=not batch)
            )

    async def create_review(self, pull: PullKey, commit_sha: str, body: str, comments: Sequence[NewComment]) -> int:
        """A review that neither approves nor blocks, with its comments. Returns its id.

        Raises `UnplaceableComment` when a line is not in the diff: nothing is written then.
        """
        payload = {
            "commit_id": commit_sha,
            "event": "COMMENT",
            "body": writing.cut(body, writing.MAX_BODY_BYTES),
            "comments": [writing.comment_body(comment) for comment in comments],
        }
        try:
            answer = await self._requests.send(self._pull("POST", pull, "/reviews", body=payload))
        except Unprocessable as error:
            raise _unplaceable(error) from error
        return int(object_of(answer.data)["id"])

    async def create_line_comment(self, pull: PullKey, commit_sha: str, comment: NewComment) -> int:
        """One comment on a line. Raises `UnplaceableComment`."""
        payload = {**writing.comment_body(comment), "commit_id": commit_sha}
        return await self._created(pull, payload)

    async def create_file_comment(self, pull: PullKey, commit_sha: str, path: str, body: str) -> int:
        """One comment on a file of the diff. Raises `UnplaceableComment`."""
        payload = {
            "commit_id": commit_sha,
            "path": path,
            "subject_type": "file",
            "body": writing.cut(body, writing.MAX_BODY_BYTES),
        }
        return await self._created(pull, payload)

    async def _created(self, pull: PullKey, payload: Mapping[str, Any]) -> int:
        try:
            answer = await self._requests.send(self._pull("POST", pull, "/comments", body=payload))
        except Unprocessable as error:
            raise _unplaceable(error) from error
        return int(object_of(answer.data)["id"])

    async def create_comment(self, issue: IssueKey, body: str) -> int:
        """A comment in the conversation of a pull request or an issue. Returns its id."""
        return await self.issues.comment(issue.repository, issue.number, body)

    async def amend(
        self, edits: Sequence[Edit] = (), minimise: Sequence[tuple[str, MinimiseReason]] = ()
    ) -> tuple[str, ...]:
        """Edits comments and folds them away, all in one request. Returns the nodes for which that failed.

        A comment that somebody has deleted meanwhile is no error.
        """
        if not edits and not minimise:
            return ()
        return await amendments.write(self._requests, edits, minimise)

    async def react(self, issue: IssueKey, comment_id: int, content: Reaction) -> None:
        """React to a comment in the conversation; a second time is no error."""
        request = in_repository(
            "POST",
            issue.repository,
            "/issues/comments/{id}/reactions",
            id=comment_id,
            body={"content": content},
            repeatable=True,
        )
        await self._requests.send(request)

    def _pull(
        self,
        method: Method,
        pull: PullKey,
        path: str,
        body: Mapping[str, Any] | None = None,
        **variables: str | int,
    ) -> Request:
        where: dict[str, str | int] = {"owner": pull.repository.owner, "repo": pull.repository.name}
        where |= {"number": pull.number, **variables}
        return Request(method, f"{REPOSITORY}/pulls/{{number}}{path}", where, body=body)


def _unplaceable(error: Unprocessable) -> Unprocessable:
    said = str(error).lower()
    if any(words in said for words in _UNPLACEABLE):
        return UnplaceableComment(str(error))
    return error


def _changed_file(item: Mapping[str, Any]) -> ChangedFile:
    return ChangedFile(
        path=str(item["filename"]),
        status=item.get("status") or "modified",
        sha=item.get("sha"),
        previous_path=item.get("previous_filename"),
        patch=item.get("patch"),
    )


def _listed_head(item: Mapping[str, Any]) -> str | None:
    """The commit that a list of files is about stands in the addresses of the files alone."""
    query = parse_qs(urlsplit(str(item.get("contents_url") or "")).query)
    sha = query.get("ref", [""])[0]
    return sha if is_blob_id(sha) else None


def _open_pull(repository: RepositoryName, item: Mapping[str, Any]) -> OpenPull:
    updated = item.get("updated_at")
    return OpenPull(
        PullKey(repository, int(item["number"])),
        head_sha=str((item.get("head") or {}).get("sha") or ""),
        base_ref=str((item.get("base") or {}).get("ref") or ""),
        draft=bool(item.get("draft")),
        updated_at=datetime.fromisoformat(str(updated)) if updated else None,
    )
