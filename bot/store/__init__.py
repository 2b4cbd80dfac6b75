"""What outlives the process: jobs that are still to be done, and small facts about what was done."""

from bot.store.database import Database, DatabaseError
from bot.store.facts import Facts
from bot.store.inbox import Inbox
from bot.store.job import CURRENT, Job, Later
from bot.store.jobs import Handler, Jobs, Patience
from bot.store.records import Records

__all__ = [
    "CURRENT",
    "Database",
    "DatabaseError",
    "Facts",
    "Handler",
    "Inbox",
    "Job",
    "Jobs",
    "Later",
    "Patience",
    "Records",
]
