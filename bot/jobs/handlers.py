"""Who does which job."""

from __future__ import annotations

from bot.jobs import kinds, noticing
from bot.jobs.commanding import Commanding
from bot.jobs.context import Context
from bot.jobs.events import Index, Installations, MergeGroups, Reruns
from bot.jobs.guarding import guarded
from bot.jobs.polling import Looking, Notice, Polling
from bot.jobs.reviewing import Reviewing
from bot.jobs.sweeping import Sweeping
from bot.store import Handler

notice: Notice = noticing.notice
"""Tells a repository what the clocks of upstream fixes say."""


def handlers(context: Context) -> dict[str, Handler]:
    """A handler for each kind of job."""
    reviewing = Reviewing(context)
    merge_groups = MergeGroups(context)
    return guarded(
        {
            kinds.REVIEW: reviewing,
            kinds.COMMAND: Commanding(context, reviewing),
            kinds.RERUN: Reruns(context, merge_groups),
            kinds.MERGE_GROUP: merge_groups,
            kinds.INDEX: Index(context),
            kinds.INSTALLATION: Installations(context),
            kinds.SWEEP: Sweeping(context),
            kinds.POLL: Polling(context, notice),
            kinds.STAND: Looking(context, notice),
        }
    )
