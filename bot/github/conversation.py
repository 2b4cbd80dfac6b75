"""A pull request's state and what was said in it, with blobs of its head, in one GraphQL request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bot.github import blobs, graphql
from bot.github.errors import NotFound
from bot.github.model import Blob, Conversation, PostedCheck, PostedComment, PullKey, Reply
from bot.github.requests import Requests

MAX_PAGES = 20
"""Further pages of 100 comments, or threads, that are read of one pull request."""

_COMMENT = "fullDatabaseId id body isMinimized viewerDidAuthor author { __typename login }"
_COMMENTS = f"nodes {{ {_COMMENT} }} pageInfo {{ hasPreviousPage startCursor }}"
_THREADS = (
    "nodes { id path line originalLine isOutdated "
    f"comments(first: 50) {{ nodes {{ {_COMMENT} originalCommit {{ oid }} }} }} }} "
    "pageInfo { hasPreviousPage startCursor }"
)

_QUERY = (
    "query($owner: String!, $name: String!, $number: Int!, $app: Int!) { repository(owner: $owner, name: $name) {"
    " defaultBranchRef { name }"
    " pullRequest(number: $number) {"
    " state isDraft merged author { __typename login } headRefOid baseRefName baseRefOid baseRef { target { oid } }"
    " headRepository { nameWithOwner }"
    f" comments(last: 100) {{ {_COMMENTS} }}"
    f" reviewThreads(last: 100) {{ {_THREADS} }}"
    " pushed: commits(last: 100) { nodes { commit { oid } } }"
    " reviews(last: 50) { nodes { body viewerDidAuthor state } }"
    " commits(last: 1) { nodes { commit { oid checkSuites(first: 10, filterBy: { appId: $app }) { nodes {"
    " checkRuns(last: 20) { nodes { databaseId name status conclusion externalId } } } } } } }"
    " } %s } }"
)

_PAGES = {
    "comments": f"comments(last: 100, before: $before) {{ {_COMMENTS} }}",
    "reviewThreads": f"reviewThreads(last: 100, before: $before) {{ {_THREADS} }}",
}


async def read(
    requests: Requests, pull: PullKey, app: int, shas: Sequence[str]
) -> tuple[Conversation, dict[str, Blob]]:
    """The conversation of `pull`, as the App with the id `app` sees it, and up to `blobs.BATCH` blobs.

    Raises `NotFound` for a pull request that is gone.
    """
    where = {"owner": pull.repository.owner, "name": pull.repository.name, "number": pull.number}
    result = await graphql.run(requests, _QUERY % blobs.selection(shas), {**where, "app": app})
    repository = result.data.get("repository")
    if not isinstance(repository, Mapping) or not isinstance(repository.get("pullRequest"), Mapping):
        raise graphql.error_of(result.problems) if result.problems else NotFound(f"{pull} does not exist")
    state = repository["pullRequest"]
    comments, all_comments = await _all(requests, where, "comments", state["comments"])
    threads, all_threads = await _all(requests, where, "reviewThreads", state["reviewThreads"])
    conversation = Conversation(
        head_sha=str(state["headRefOid"]),
        base_ref=str(state["baseRefName"]),
        base_sha=_base(state),
        is_open=state.get("state") == "OPEN",
        draft=bool(state.get("isDraft")),
        author=_login(state.get("author")),
        head_repository=(state.get("headRepository") or {}).get("nameWithOwner"),
        comments=(*(_issue_comment(node) for node in comments), *_thread_comments(threads)),
        checks=tuple(_checks(state)),
        complete=all_comments and all_threads,
        default_branch=(repository.get("defaultBranchRef") or {}).get("name"),
        merged=bool(state.get("merged")),
        commits=frozenset(
            str(oid) for node in _nodes(state.get("pushed")) if (oid := (node.get("commit") or {}).get("oid"))
        ),
        review_bodies=tuple(
            str(review.get("body") or "")
            for review in _nodes(state.get("reviews"))
            if review.get("viewerDidAuthor") and review.get("body")
        ),
    )
    return conversation, await blobs.blobs_of(requests, pull.repository, repository, len(shas))


async def _all(
    requests: Requests, where: Mapping[str, Any], field: str, newest: Mapping[str, Any]
) -> tuple[list[Mapping[str, Any]], bool]:
    """All nodes of a connection, oldest first, and whether these are all."""
    nodes = list(_nodes(newest))
    page = newest.get("pageInfo") or {}
    document = (
        "query($owner: String!, $name: String!, $number: Int!, $before: String!) {"
        " repository(owner: $owner, name: $name) { pullRequest(number: $number) { " + _PAGES[field] + " } } }"
    )
    for _ in range(MAX_PAGES):
        if not page.get("hasPreviousPage"):
            return nodes, True
        result = await graphql.run(requests, document, {**where, "before": page.get("startCursor")})
        connection = ((result.data.get("repository") or {}).get("pullRequest") or {}).get(field)
        if connection is None:
            raise graphql.error_of(result.problems)
        nodes = [*_nodes(connection), *nodes]
        page = connection.get("pageInfo") or {}
    return nodes, False


def _nodes(connection: Mapping[str, Any] | None) -> Iterable[Mapping[str, Any]]:
    return [node for node in (connection or {}).get("nodes") or () if node]


def _base(state: Mapping[str, Any]) -> str:
    """The tip of the base branch; what the pull request was opened against, when the branch is gone."""
    tip = ((state.get("baseRef") or {}).get("target") or {}).get("oid")
    return str(tip or state["baseRefOid"])


def _login(author: Mapping[str, Any] | None) -> str:
    """A login as REST writes it: GraphQL leaves out a bot's `[bot]`. A deleted account is `ghost`."""
    if not author or not author.get("login"):
        return "ghost"
    login = str(author["login"])
    return f"{login}[bot]" if author.get("__typename") == "Bot" and not login.endswith("[bot]") else login


def _issue_comment(node: Mapping[str, Any]) -> PostedComment:
    return PostedComment(
        id=int(node.get("fullDatabaseId") or 0),
        node_id=str(node["id"]),
        body=str(node.get("body") or ""),
        author_is_app=bool(node.get("viewerDidAuthor")),
        author_login=_login(node.get("author")),
        kind="issue",
        minimised=bool(node.get("isMinimized")),
    )


def _thread_comments(threads: Iterable[Mapping[str, Any]]) -> Iterable[PostedComment]:
    for thread in threads:
        nodes = list(_nodes(thread.get("comments")))
        if not nodes:
            continue
        first, rest = nodes[0], nodes[1:]
        yield PostedComment(
            id=int(first.get("fullDatabaseId") or 0),
            node_id=str(first["id"]),
            body=str(first.get("body") or ""),
            author_is_app=bool(first.get("viewerDidAuthor")),
            author_login=_login(first.get("author")),
            kind="review",
            path=thread.get("path"),
            line=thread.get("line"),
            original_commit=(first.get("originalCommit") or {}).get("oid"),
            minimised=bool(first.get("isMinimized")),
            replies=tuple(_reply(node) for node in rest),
        )


def _reply(node: Mapping[str, Any]) -> Reply:
    author = node.get("author") or {}
    return Reply(
        int(node.get("fullDatabaseId") or 0),
        _login(author),
        author.get("__typename") == "Bot",
        str(node.get("body") or ""),
    )


def _checks(state: Mapping[str, Any]) -> Iterable[PostedCheck]:
    for commit in _nodes(state.get("commits")):
        sha = str((commit.get("commit") or {}).get("oid") or state["headRefOid"])
        for suite in _nodes((commit.get("commit") or {}).get("checkSuites")):
            for run in _nodes(suite.get("checkRuns")):
                conclusion = run.get("conclusion")
                yield PostedCheck(
                    id=int(run["databaseId"]),
                    name=str(run.get("name") or ""),
                    head_sha=sha,
                    status=str(run.get("status") or "").lower(),
                    conclusion=str(conclusion).lower() if conclusion else None,
                    external_id=run.get("externalId"),
                )
