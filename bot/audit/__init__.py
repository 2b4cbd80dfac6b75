"""A whole repository, or the part of it that a change touches: every compose resolved, every rule asked."""

from bot.audit.accepted import Contains, shipped, unknown_rules
from bot.audit.audit import Report, audit, audit_unit
from bot.audit.discovery import Discovery, Skipped, Unit, discover
from bot.audit.undecided import Undecided, undecided_json

__all__ = [
    "Contains",
    "Discovery",
    "Report",
    "Skipped",
    "Undecided",
    "Unit",
    "audit",
    "audit_unit",
    "discover",
    "shipped",
    "undecided_json",
    "unknown_rules",
]
