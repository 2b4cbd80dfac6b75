"""GraphQL: several questions in one request, and an answer of 200 that may still be a refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.github.errors import Forbidden, GitHubError, NotFound, Unavailable, Unprocessable
from bot.github.requests import GRAPHQL, Request, Requests


@dataclass(frozen=True, slots=True)
class Problem:
    """One entry of an answer's `errors`. `path` begins with the alias that it is about."""

    kind: str
    message: str
    path: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What could be answered, and what could not."""

    data: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()

    def about(self, *path: str) -> Problem | None:
        """The problem that concerns a field, if there is one."""
        return next((problem for problem in self.problems if problem.path[: len(path)] == path), None)


async def run(
    requests: Requests, document: str, variables: Mapping[str, Any], *, mutates: bool = False, repeatable: bool = True
) -> Result:
    """Runs a query, or a mutation. Raises a `GitHubError` when nothing at all was answered."""
    body = {"query": document, "variables": dict(variables)}
    answer = await requests.send(Request("POST", GRAPHQL, body=body, repeatable=repeatable, mutates=mutates))
    if not isinstance(answer.data, Mapping):
        raise Unavailable("GitHub's GraphQL answers something else than an object")
    problems = tuple(_problem(error) for error in answer.data.get("errors") or ())
    for problem in problems:
        if problem.kind.startswith("RATE_LIMIT") or "secondary rate limit" in problem.message.lower():
            limited = requests.limits.refused({"x-ratelimit-remaining": "0"}, "API rate limit exceeded")
            if limited is not None:
                raise limited
    data = answer.data.get("data")
    if not isinstance(data, Mapping):
        raise error_of(problems)
    return Result(data, problems)


def error_of(problems: Sequence[Problem]) -> GitHubError:
    """The error that the first of the problems stands for."""
    if not problems:
        return Unavailable("GitHub's GraphQL answers nothing")
    first = problems[0]
    match first.kind:
        case "NOT_FOUND":
            return NotFound(first.message)
        case "FORBIDDEN" | "INSUFFICIENT_SCOPES":
            return Forbidden(first.message)
    if "not accessible by integration" in first.message:
        return Forbidden(first.message)
    if first.kind in ("", "SERVICE_UNAVAILABLE", "INTERNAL") and "Something went wrong" in first.message:
        return Unavailable(first.message)
    return Unprocessable(first.message)


def _problem(error: object) -> Problem:
    if not isinstance(error, Mapping):
        return Problem("", str(error)[:300], ())
    path = error.get("path")
    kind = error.get("type") or (error.get("extensions") or {}).get("code") or ""
    return Problem(str(kind), str(error.get("message") or "")[:300], tuple(path) if isinstance(path, list) else ())
