"""What to say about a change: two audits compared, and where each comment belongs."""

from bot.review.affected import Affected, affected
from bot.review.comments import Comment
from bot.review.compare import PropertyChange, Review, review
from bot.review.diff import FileDiff, file_diffs
from bot.review.summary import summary

__all__ = ["Affected", "Comment", "FileDiff", "PropertyChange", "Review", "affected", "file_diffs", "review", "summary"]
