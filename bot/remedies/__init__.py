"""Small edits that are proved to end a finding."""

from bot.remedies.edits import EDITS
from bot.remedies.fixes import Fixes, fixes, standing_fixes
from bot.remedies.model import Answer, Changed, Offer, Refusal
from bot.remedies.offers import Limits, remedies, together
from bot.remedies.patch import patch

__all__ = [
    "EDITS",
    "Answer",
    "Changed",
    "Fixes",
    "Limits",
    "Offer",
    "Refusal",
    "fixes",
    "patch",
    "remedies",
    "standing_fixes",
    "together",
]
