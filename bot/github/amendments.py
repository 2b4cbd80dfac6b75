"""Changes to comments that are there, whatever their number, in one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.github import graphql, writing
from bot.github.errors import Forbidden, Unavailable
from bot.github.model import Edit, MinimiseReason
from bot.github.requests import Requests


async def write(
    requests: Requests, edits: Sequence[Edit], minimise: Sequence[tuple[str, MinimiseReason]]
) -> tuple[str, ...]:
    """Edits comments and folds them away. Returns the nodes for which that failed. Raises a `GitHubError`."""
    document, variables, nodes = _mutation(edits, minimise)
    result = await graphql.run(requests, document, variables, mutates=True)
    failed = tuple(node for alias, node in nodes.items() if result.data.get(alias) is None)
    if result.problems and len(failed) == len(nodes):
        error = graphql.error_of(result.problems)
        if isinstance(error, Forbidden | Unavailable):
            raise error
    return failed


def _mutation(
    edits: Sequence[Edit], minimise: Sequence[tuple[str, MinimiseReason]]
) -> tuple[str, dict[str, Any], dict[str, str]]:
    """The mutation, its variables, and the node that each of its aliases is about."""
    parts: list[str] = []
    declared: list[str] = []
    variables: dict[str, Any] = {}
    nodes: dict[str, str] = {}
    for index, edit in enumerate(edits):
        alias, name = f"e{index}", "UpdateIssueComment" if edit.kind == "issue" else "UpdatePullRequestReviewComment"
        key = "id" if edit.kind == "issue" else "pullRequestReviewCommentId"
        declared.append(f"${alias}: {name}Input!")
        parts.append(f"{alias}: {name[0].lower()}{name[1:]}(input: ${alias}) {{ clientMutationId }}")
        variables[alias] = {key: edit.node_id, "body": writing.cut(edit.body, writing.MAX_BODY_BYTES)}
        nodes[alias] = edit.node_id
    for index, (node, reason) in enumerate(minimise):
        alias = f"m{index}"
        declared.append(f"${alias}: MinimizeCommentInput!")
        parts.append(f"{alias}: minimizeComment(input: ${alias}) {{ clientMutationId }}")
        variables[alias] = {"subjectId": node, "classifier": reason}
        nodes[alias] = node
    return f"mutation({', '.join(declared)}) {{ {' '.join(parts)} }}", variables, nodes
