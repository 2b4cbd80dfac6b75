"""What to say about a change: two audits compared, and where each comment belongs."""

from bot.review.affected import Affected, affected
from bot.review.bumps import Bump, Knowledge, bumps
from bot.review.check import Annotation, CheckOutput, merge_group_check, nothing_to_review, unfinished
from bot.review.comments import Comment, Fix, Replacement, Suggestion
from bot.review.compare import PropertyChange, Review, review, with_fixes
from bot.review.configuration import ConfigurationEdit, configuration_edit
from bot.review.diff import FileDiff, file_diffs, patch_diffs
from bot.review.limits import Limits
from bot.review.links import OFFLINE, Links
from bot.review.plan import Edit, Minimise, NewComment, Plan, Posted, Summary, plan
from bot.review.summary import looked_at, report, standing, summary
from bot.review.vendoring import vendored

__all__ = [
    "OFFLINE",
    "Affected",
    "Annotation",
    "Bump",
    "CheckOutput",
    "Comment",
    "ConfigurationEdit",
    "Edit",
    "FileDiff",
    "Fix",
    "Knowledge",
    "Limits",
    "Links",
    "Minimise",
    "NewComment",
    "Plan",
    "Posted",
    "PropertyChange",
    "Replacement",
    "Review",
    "Suggestion",
    "Summary",
    "affected",
    "bumps",
    "configuration_edit",
    "file_diffs",
    "looked_at",
    "merge_group_check",
    "nothing_to_review",
    "patch_diffs",
    "plan",
    "report",
    "review",
    "standing",
    "summary",
    "unfinished",
    "vendored",
    "with_fixes",
]
