"""Issues about upstream fixes: what they say, and when something is said. Pure; knows nothing of GitHub's API."""

from bot.notices.notice import Notice, notice_of
from bot.notices.places import Places
from bot.notices.plan import (
    Existing,
    Opening,
    Revision,
    Step,
    Told,
    adopted,
    is_backlog,
    leave,
    opening,
    revise,
    seen,
    step,
)

__all__ = [
    "Existing",
    "Notice",
    "Opening",
    "Places",
    "Revision",
    "Step",
    "Told",
    "adopted",
    "is_backlog",
    "leave",
    "notice_of",
    "opening",
    "revise",
    "seen",
    "step",
]
