"""Opens and keeps the issues about upstream fixes.

What was told is remembered before and after each thing that can't be done twice: an issue is opened, and a comment is
written, by whoever first notes that it begins to. A process that finds such a note of another, living or dead, looks
at GitHub; what is not there it does itself only when GitHub's lists can no longer lag.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from bot.github.client import GitHub
from bot.github.errors import (
    Conflict,
    Forbidden,
    NotFound,
    RateLimited,
    Suspended,
    Unauthorised,
    Unavailable,
    Unprocessable,
)
from bot.github.issues import Issues
from bot.github.model import PostedIssue, RepositoryName
from bot.hazards import load_rules
from bot.jobs.context import Context
from bot.jobs.waiting import MAX_REFERENCES
from bot.notices import Existing, Notice, Places, Told, adopted, is_backlog, notice_of, opening, plan
from bot.notices.marks import has_said, key_of
from bot.notices.standing import Stage
from bot.upstream.watch import Watched

log = logging.getLogger("seamguard.notices")

NOTICE = "notice"
"""The kind of fact that says what a repository was told of a fix; its key is `owner/name owner/name#number`."""

NOTHING = "nothing to tell"

LABEL = "upstream-fix"
LABEL_COLOR = "1d76db"
LABEL_TEXT = "An upstream fix that something here waits for"

LAG_SECONDS = 15 * 60.0
"""So long a new issue or comment may be missing in GitHub's lists: up to twelve minutes were seen."""

MAX_BACKLOG = 3
"""Open issues of ours beside which no further one is opened about what happened before Seamguard was there."""

MAX_OPENED = 5
"""Issues that are opened in one run, news or not. The rest follows in the next one."""

REFUSALS = (Conflict, Forbidden, NotFound, RateLimited, Unauthorised, Unprocessable)
"""What shows that nothing was written. After any other error it may have been."""

_FIRST: Mapping[Stage, int] = {"pinned": 0, "not-fixed": 1, "released": 2, "superseded": 3, "relanded": 4, "merged": 5}
"""What can be acted on comes first."""


async def notice(
    context: Context, github: GitHub, repository: RepositoryName, head_sha: str, watched: tuple[Watched, ...]
) -> str:
    """Brings the issues about the fixes that a repository waits for up to date; says in a few words what it did.

    May be called again at any time, by any process, with the same facts or later ones. Raises a `GitHubError` when
    GitHub can't be reached, or when something was begun of which it can't be told yet whether it was done.
    """
    places = Places(f"{context.web_url}/{repository}", head_sha)
    return await Noticing(context, github.issues, repository, places).run(watched)


class Noticing:
    """One run for one repository."""

    def __init__(
        self,
        context: Context,
        issues: Issues,
        repository: RepositoryName,
        places: Places,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._facts = context.facts
        self._issues = issues
        self._repository = repository
        self._places = places
        self._now = now
        self._done: Counter[str] = Counter()
        self._waits = 0
        self._listed: tuple[PostedIssue, ...] | None = None

    async def run(self, watched: tuple[Watched, ...]) -> str:
        """All fixes, each alone: what is refused for one does not hold up the others."""
        known = await self._known()
        every = {item.reference: item for item in watched}
        rules = await asyncio.to_thread(_waiting_rules)
        notices = [notice_of(item, every, rules.get(item.reference, ())) for item in every.values()]
        try:
            for one in sorted(notices, key=lambda one: _order(one, known.get(one.reference))):
                try:
                    await self._one(one, known.get(one.reference))
                except Unprocessable as error:
                    log.error("GitHub refuses a notice: %s", error, extra={"reference": one.reference})
                    self._done["refused"] += 1
            for reference, told in known.items():
                # Where there are too many, one that is missing may be named still.
                if reference not in every and len(every) < MAX_REFERENCES:
                    await self._leave(reference, told)
        except Suspended:
            raise
        except Forbidden as error:
            log.warning("issues can't be written: %s", error, extra={"needs": error.needs})
            self._done["not permitted"] += 1
        said = ", ".join(f"{count} {what}" for what, count in sorted(self._done.items()))
        if self._waits:
            raise Unavailable(
                f"{self._waits} notices are begun, and GitHub may not show them yet; {said or 'no other'}"
            )
        return said or NOTHING

    async def _known(self) -> dict[str, Told]:
        prefix = f"{self._repository} "
        stored = await asyncio.to_thread(self._facts.all, NOTICE, prefix)
        known = {key: Told.from_json(value) for key, value in stored.items()}
        for key, told in known.items():
            if told.as_json() != stored[key]:  # of another version: from here on it is compared in this one's form
                await asyncio.to_thread(self._facts.replace, NOTICE, key, stored[key], told.as_json())
        return {key.removeprefix(prefix): told for key, told in known.items()}

    async def _one(self, notice: Notice, told: Told | None) -> None:
        match plan.step(told, notice):
            case "note":
                if told is not None:
                    after = plan.seen(told, notice) if told.number is None else plan.kept(told, notice)
                    await self._replace(notice.reference, told, after)
            case "open":
                await self._open(notice, told)
            case "look":
                if told is not None and told.number is not None:
                    await self._revise(notice, told, told.number)

    # A new issue

    async def _open(self, notice: Notice, told: Told | None) -> None:
        there = await self._found(notice)
        if there is not None:
            await self._adopt(notice, told, there)
            return
        if told is not None and told.opening is not None and self._now() - told.opening < LAG_SECONDS:
            self._waits += 1  # somebody is at it, or was: the list may not have it yet
            return
        if not notice.worth_opening:
            await self._replace(
                notice.reference, told, replace(told, opening=None) if told else plan.seen(None, notice)
            )
            return
        if not await self._may_open(notice, told):
            return
        await self._issues.ensure_label(self._repository, LABEL, LABEL_COLOR, LABEL_TEXT)
        begun = replace(told or plan.seen(None, notice), opening=self._now())
        if not await self._replace(notice.reference, told, begun):
            self._waits += 1
            return
        try:
            new = opening(notice, self._places)
            posted = await self._issues.create(self._repository, new.title, new.body, LABEL)
        except REFUSALS as error:
            await self._replace(notice.reference, begun, replace(begun, opening=None))
            if isinstance(error, NotFound):
                raise Forbidden(f"this repository has no issues: {error}") from error
            raise
        await self._replace(notice.reference, begun, replace(new.told, number=posted.number))
        self._done["opened"] += 1

    async def _may_open(self, notice: Notice, told: Told | None) -> bool:
        """Whether it is this one's turn. What is not news waits until few of ours are open."""
        if self._done["opened"] >= MAX_OPENED:
            self._done["left for later"] += 1
            return False
        if not is_backlog(told, notice):
            return True
        open_now = sum(issue.is_open for issue in await self._list()) + self._done["opened"]
        if open_now < MAX_BACKLOG:
            return True
        self._done["left for later"] += 1
        if told is None:
            await self._replace(notice.reference, None, plan.seen(None, notice))
        return False

    async def _list(self) -> tuple[PostedIssue, ...]:
        if self._listed is None:
            self._listed = await self._issues.labelled(self._repository, LABEL)
        return self._listed

    async def _found(self, notice: Notice) -> PostedIssue | None:
        """The first issue that carries the mark of a fix. A lost store, or another process, may have left one."""
        found = (issue for issue in await self._list() if adopted(notice, _existing(issue)) is not None)
        return min(found, key=lambda issue: issue.number, default=None)

    async def _adopt(self, notice: Notice, told: Told | None, there: PostedIssue) -> None:
        known = adopted(notice, _existing(there))
        if known is not None and await self._replace(notice.reference, told, known):
            self._done["found again"] += 1
            if plan.step(known, notice) == "look":
                await self._revise(notice, known, there.number)

    # An issue that is there

    async def _revise(self, notice: Notice, told: Told, number: int) -> None:
        await self._bring(notice.reference, told, number, lambda t, there: plan.revise(t, notice, there, self._places))

    async def _leave(self, reference: str, told: Told) -> None:
        """Says once that nothing here names a fix any more."""
        if told.number is not None and not told.gone and not told.left:
            await self._bring(reference, told, told.number, lambda t, there: plan.leave(t, reference, there))

    async def _bring(
        self, reference: str, told: Told, number: int, draw: Callable[[Told, Existing], plan.Revision]
    ) -> None:
        """Brings an issue to what is drawn from what was told and from how it stands."""
        try:
            there = await self._issues.get(self._repository, number)
        except NotFound:
            await self._replace(reference, told, replace(told, gone=True))
            self._done["gone"] += 1
            return
        revision = draw(told, _existing(there))
        if revision.comment is not None:
            begun = await self._say(reference, told, number, revision)
            if begun is None:
                self._waits += 1
                return
            told = begun
            # People may have ticked something meanwhile.
            there = await self._issues.get(self._repository, number)
            revision = replace(draw(replace(told, telling=None), _existing(there)), comment=None)
        if revision.writes:
            await self._issues.edit(
                self._repository, number, title=revision.title, body=revision.body, reopen=revision.reopen
            )
            self._done["reopened" if revision.reopen else "changed"] += 1
        if revision.told != told:
            await self._replace(reference, told, revision.told)

    async def _say(self, reference: str, told: Told, number: int, revision: plan.Revision) -> Told | None:
        """Writes a comment that is not there yet. What is remembered meanwhile; None when somebody else is at it."""
        earlier = told.telling
        if await self._is_said(reference, number, revision.told.count):
            return told
        if earlier is not None and self._now() - earlier < LAG_SECONDS:
            return None
        begun = replace(told, telling=self._now())
        if not await self._replace(reference, told, begun):
            return None
        try:
            await self._issues.comment(self._repository, number, revision.comment or "")
        except Forbidden as error:
            if isinstance(error, Suspended) or "locked" not in str(error).lower():
                await self._replace(reference, begun, told)
                raise
            log.info("a locked issue takes no comments", extra={"reference": reference})
        except REFUSALS:
            await self._replace(reference, begun, told)
            raise
        else:
            self._done["comments"] += 1
        return begun

    async def _is_said(self, reference: str, number: int, count: int) -> bool:
        comments = await self._issues.comments(self._repository, number)
        return any(has_said(comment.body, key_of(reference), count) for comment in comments)

    async def _replace(self, reference: str, before: Told | None, after: Told) -> bool:
        """Remembers something, unless another process was faster."""
        known = None if before is None else before.as_json()
        key = f"{self._repository} {reference}"
        return await asyncio.to_thread(self._facts.replace, NOTICE, key, known, after.as_json())


def _existing(issue: PostedIssue) -> Existing:
    return Existing(issue.number, issue.title, issue.body, issue.is_open, issue.state_reason)


def _order(notice: Notice, told: Told | None) -> tuple[bool, int, int, str]:
    """News before what was there already; then what can be acted on, and what most waits for."""
    first = _FIRST.get(notice.standing.stage, len(_FIRST))
    return is_backlog(told, notice), first, -len(notice.caveats), notice.reference


def _waiting_rules() -> dict[str, tuple[str, ...]]:
    """The hazard rules that wait for each fix."""
    found: dict[str, list[str]] = {}
    for rule in load_rules().rules:
        for reference in rule.upstream:
            found.setdefault(reference, []).append(rule.id)
    return {reference: tuple(sorted(names)) for reference, names in found.items()}
