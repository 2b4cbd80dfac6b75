"""What happened around an issue or a pull request: the comments, and the other ones that name it."""

from __future__ import annotations

import re
from datetime import datetime

from bot.sandbox.github import comments, issues, shapes
from bot.sandbox.github.call import Answer, Call, Routes
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.model import Issue, Json

ROUTES = Routes()


@ROUTES.add("GET", "/repos/{owner}/{repo}/issues/{issue_number}/timeline", "issues:read", "pull_requests:read")
def list_timeline(call: Call) -> Answer:
    """Oldest first. Of the many events that GitHub tells, those with words."""
    which = issues.find(call)
    found: list[tuple[datetime, Json]] = []
    for one in which.comments:
        said = comments.comment(call.hub, call.repository, which, one)
        found.append((one.created_at, {**said, "event": "commented", "actor": said["user"]}))
    found += [
        (other.created_at, _cross_referenced(call, other))
        for other in call.repository.issues.values()
        if other is not which and _names(other, which.number)
    ]
    found.sort(key=lambda item: item[0])
    return Answer([event for _, event in call.page(found)])


def _names(other: Issue, number: int) -> bool:
    texts = (other.title, other.body, *(one.body for one in other.comments))
    return any(re.search(rf"(?:#|/pull/|/issues/){number}\b", text) for text in texts)


def _cross_referenced(call: Call, other: Issue) -> Json:
    source = {
        **issues.issue(call.hub, call.repository, other),
        "repository": shapes.repository(call.hub, call.repository, full=True),
    }
    return {
        "event": "cross-referenced",
        "actor": shapes.user(call.hub, other.user),
        "created_at": stamp(other.created_at),
        "updated_at": stamp(other.created_at),
        "source": {"type": "issue", "issue": source},
    }
