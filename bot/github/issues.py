"""What Seamguard reads of issues and writes to them, on behalf of one installation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.github.answers import items_of, object_of
from bot.github.errors import NotFound, Unprocessable
from bot.github.model import IssueComment, PostedIssue, RepositoryName
from bot.github.requests import Requests, in_repository
from bot.github.writing import MAX_BODY_BYTES, cut

MAX_PAGES = 20
"""Pages of 100 that are read of a list: of the issues with our label, or of one issue's comments."""

MAX_TITLE = 256

_ISSUES = "/issues"


class Issues:
    """The issues of the repositories of an installation. Every method raises a `GitHubError` of the kind that fits."""

    def __init__(self, requests: Requests, app_id: int) -> None:
        self._requests = requests
        self._app_id = app_id

    async def labelled(self, repository: RepositoryName, label: str) -> tuple[PostedIssue, ...]:
        """The issues of this App that have a label, open and closed, the oldest first. Pull requests are left out.

        A list, not a search: the index of the search lags by minutes.
        """
        path = f"{_ISSUES}?state=all&labels={{label}}&sort=created&direction=asc&per_page=100"
        found: list[PostedIssue] = []
        async for page in self._requests.pages(in_repository("GET", repository, path, label=label), MAX_PAGES):
            found += [self._posted(item) for item in items_of(page) if "pull_request" not in item]
        return tuple(issue for issue in found if issue.author_is_app)

    async def get(self, repository: RepositoryName, number: int) -> PostedIssue:
        """One issue. Raises `NotFound` for one that was deleted, or moved to another repository."""
        answer = await self._requests.send(in_repository("GET", repository, f"{_ISSUES}/{{number}}", number=number))
        issue = self._posted(object_of(answer.data))
        if issue.number != number:
            raise NotFound(f"issue {number} of {repository} was moved")
        return issue

    async def create(self, repository: RepositoryName, title: str, body: str, label: str) -> PostedIssue:
        """A new issue with a label."""
        content = {"title": cut(title, MAX_TITLE, "…"), "body": cut(body, MAX_BODY_BYTES), "labels": [label]}
        return self._posted(
            object_of((await self._requests.send(in_repository("POST", repository, _ISSUES, body=content))).data)
        )

    async def edit(
        self,
        repository: RepositoryName,
        number: int,
        *,
        title: str | None = None,
        body: str | None = None,
        reopen: bool = False,
    ) -> PostedIssue:
        """Another title or text; with `reopen`, an issue that is open again. The text is not cut, since people may have
        written its end; one that is too long GitHub drops silently.
        """
        content: dict[str, Any] = {}
        if title is not None:
            content["title"] = cut(title, MAX_TITLE, "…")
        if body is not None:
            content["body"] = body
        if reopen:
            content["state"] = "open"
        request = in_repository(
            "PATCH", repository, f"{_ISSUES}/{{number}}", body=content, repeatable=True, number=number
        )
        return self._posted(object_of((await self._requests.send(request)).data))

    async def comments(self, repository: RepositoryName, number: int) -> tuple[IssueComment, ...]:
        """The comments of this App on an issue, the oldest first."""
        path = f"{_ISSUES}/{{number}}/comments?per_page=100"
        found: list[IssueComment] = []
        async for page in self._requests.pages(in_repository("GET", repository, path, number=number), MAX_PAGES):
            found += [
                IssueComment(int(item["id"]), str(item.get("body") or ""))
                for item in items_of(page)
                if self._is_ours(item)
            ]
        return tuple(found)

    async def comment(self, repository: RepositoryName, number: int, body: str) -> int:
        """A comment on an issue. Returns its id."""
        content = {"body": cut(body, MAX_BODY_BYTES)}
        request = in_repository("POST", repository, f"{_ISSUES}/{{number}}/comments", body=content, number=number)
        return int(object_of((await self._requests.send(request)).data)["id"])

    async def ensure_label(self, repository: RepositoryName, name: str, color: str, description: str) -> None:
        """Make a label that is missing; one that is there stays as it is."""
        try:
            await self._requests.send(in_repository("GET", repository, "/labels/{name}", name=name))
        except NotFound:
            content = {"name": name, "color": color, "description": description}
            request = in_repository("POST", repository, "/labels", body=content, repeatable=True)
            try:
                await self._requests.send(request)
            except Unprocessable as error:
                if "already_exists" not in str(error):  # somebody else was faster
                    raise

    def _posted(self, item: Mapping[str, Any]) -> PostedIssue:
        return PostedIssue(
            number=int(item["number"]),
            title=str(item.get("title") or ""),
            body=str(item.get("body") or ""),
            is_open=item.get("state") != "closed",
            state_reason=item.get("state_reason"),
            author_is_app=self._is_ours(item),
            labels=tuple(_name(label) for label in item.get("labels") or ()),
        )

    def _is_ours(self, item: Mapping[str, Any]) -> bool:
        return (item.get("performed_via_github_app") or {}).get("id") == self._app_id


def _name(label: object) -> str:
    return str(label.get("name") or "") if isinstance(label, Mapping) else str(label)
