"""What to do about a notice: open an issue, change its text, say something in it, or nothing.

Pure: from what was told, what is there and what there is to say. Carried out and asked again, it is nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from bot.notices import marks, text
from bot.notices.marks import Mark, Parts
from bot.notices.news import left_comment, news
from bot.notices.notice import Notice
from bot.notices.places import Places
from bot.notices.standing import OPENS, Stage, went_back

MAX_BODY_BYTES = 60_000
"""Of an issue's text; GitHub takes 65,536 characters, and on an edit drops a longer text without a word."""

LEAST_ROOM = 10_000
"""Bytes that a notice needs. Where people's own text leaves less, the issue's text is left to them."""

MAX_USERS_BYTES = 200_000
"""What is remembered of a fix names its users twice, those that have it and those that wait, each in at most so many
bytes of JSON: a fact holds a million. Of a user that is not remembered, no comment says that its pin has moved.
"""

STAGES: tuple[Stage, ...] = get_args(Stage)

Step = Literal["nothing", "note", "open", "look"]
"""`note`: remember, without a request. `open`: look for an issue that nothing is remembered of, and where there is none
open it if that is worth it. `look`: read the issue, then `revise`.
"""


@dataclass(frozen=True, slots=True)
class Told:
    """What was told of a fix. `number` is its issue's (None: none was opened), `count` the comments so far.

    `backlog`: it was as far when it was first seen, and waits for its turn. `gone`: people deleted the issue. `left`:
    its issue says that nothing in the repository names it any more.
    `opening` and `telling` are when something was begun of which it is not known whether it was done, in seconds since
    the epoch.
    """

    stage: Stage
    by: str = ""
    having: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    gist: str = ""
    number: int | None = None
    count: int = 0
    backlog: bool = False
    gone: bool = False
    left: bool = False
    opening: float | None = None
    telling: float | None = None

    def as_json(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "stage": self.stage,
            "by": self.by,
            "having": list(self.having),
            "waiting": list(self.waiting),
            "gist": self.gist,
            "number": self.number,
            "count": self.count,
            "backlog": self.backlog,
            "gone": self.gone,
            "left": self.left,
            "opening": self.opening,
            "telling": self.telling,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Told:
        """Back from where it was stored, perhaps by another version."""
        return cls(
            stage=_stage(stored.get("stage")),
            by=str(stored.get("by") or ""),
            having=tuple(stored.get("having") or ()),
            waiting=tuple(stored.get("waiting") or ()),
            gist=str(stored.get("gist") or ""),
            number=stored.get("number"),
            count=int(stored.get("count") or 0),
            backlog=bool(stored.get("backlog")),
            gone=bool(stored.get("gone")),
            left=bool(stored.get("left")),
            opening=stored.get("opening"),
            telling=stored.get("telling"),
        )


@dataclass(frozen=True, slots=True)
class Existing:
    """An issue as it stands at GitHub."""

    number: int
    title: str
    body: str
    is_open: bool
    state_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Opening:
    """A new issue, and what is remembered once it is there (without its number)."""

    title: str
    body: str
    told: Told


@dataclass(frozen=True, slots=True)
class Revision:
    """What to change in an issue, in this order: say `comment`, then write `title` and `body` and reopen. None: leave
    it. `told` is remembered once all is done.
    """

    told: Told
    comment: str | None = None
    title: str | None = None
    body: str | None = None
    reopen: bool = False

    @property
    def changes(self) -> bool:
        """Whether there is something to write."""
        return self.comment is not None or self.writes

    @property
    def writes(self) -> bool:
        """Whether the issue itself changes."""
        return self.title is not None or self.body is not None or self.reopen


def step(told: Told | None, notice: Notice) -> Step:
    """The first step. An issue that people deleted is not made again."""
    if told is not None and (told.number is not None or told.opening is not None):
        if told.gone:
            return "nothing"
        if told.number is None:
            return "open"
        if told.telling is not None or told.left or told.gist != text.gist(notice) or _change(told, notice).any:
            return "look"
        return "nothing" if kept(told, notice) == told else "note"
    if told is None or (notice.worth_opening and (told.backlog or _is_news(told, notice))):
        return "open"
    return "nothing" if told is not None and seen(told, notice) == told else "note"


def is_backlog(told: Told | None, notice: Notice) -> bool:
    """Whether a fix was already as far when Seamguard first saw it: no news, and no hurry."""
    return told is None or (told.backlog and not _is_news(told, notice))


def seen(told: Told | None, notice: Notice) -> Told:
    """What is remembered of a fix that has no issue."""
    if told is not None and not _is_news(told, notice):
        return told
    if told is not None and notice.standing.stage == "unknown":
        return told  # what was known is compared with what will be
    # What came so far unnoticed is told once something here waits for it.
    return Told(notice.standing.stage, notice.standing.by, backlog=notice.standing.stage in OPENS)


def opening(notice: Notice, places: Places) -> Opening:
    """The issue that is opened for a notice."""
    told = _told(notice, None)
    title = text.title(notice)
    mark = _mark(notice, told, title)
    content = text.body(notice, places, {}, MAX_BODY_BYTES - 500)
    return Opening(title, marks.joined(Parts("", None, "", ""), mark, content), told)


def adopted(notice: Notice, existing: Existing) -> Told | None:
    """What was told according to an issue's own mark; None for an issue that is not about this fix."""
    mark = marks.read_mark(existing.body, notice.key)
    if mark is None:
        return None
    having, waiting = _remembered(notice.standing.having), _remembered(notice.standing.waiting)
    return Told(_stage(mark.stage), mark.by, having, waiting, mark.gist, existing.number, mark.count)


def revise(told: Told, notice: Notice, existing: Existing, places: Places) -> Revision:
    """What to change in the issue of a fix.

    What people closed stays closed, unless the fix was lost. What they closed as not planned is not commented on
    either. Without news a closed issue is not touched at all.
    """
    change = _change(told, notice)
    after = kept(told, notice) if not change.any else _told(notice, told)
    muted = not existing.is_open and existing.state_reason in ("not_planned", "duplicate") and not change.lost
    if not existing.is_open and not change.any:
        return Revision(replace(after, gist=text.gist(notice), telling=None))
    count = told.count + 1 if change.any and not muted else told.count
    after = replace(after, count=count, gist=text.gist(notice), telling=None)
    parts = marks.split(existing.body, notice.key)
    title = text.title(notice)
    ours = parts.mark is None or not parts.mark.title or marks.fingerprint(existing.title) == parts.mark.title
    mark = _mark(notice, after, title if ours else existing.title)
    if not ours and parts.mark is not None:
        mark = replace(mark, title=parts.mark.title)  # people renamed it: theirs
    room = MAX_BODY_BYTES - 500 - len((parts.before + parts.after).encode("utf-8", "replace"))
    body = existing.body
    if room >= LEAST_ROOM:
        body = marks.joined(parts, mark, text.body(notice, places, marks.ticks(parts.block), room))
    comment = None
    if change.any and not muted:
        words = news(notice, told.stage, told.by, len(change.gained), _names(change.moved_back))
        comment = f"{marks.said(notice.key, count)}\n{words}"
        if change.lost and not existing.is_open:
            comment += "\n\nThis issue is open again because of that."
    return Revision(
        told=after,
        comment=comment,
        title=title if ours and title != existing.title else None,
        body=body if body != existing.body else None,
        reopen=change.lost and not existing.is_open,
    )


def leave(told: Told, name: str, existing: Existing) -> Revision:
    """What to change, once, in the issue of a fix that nothing in the repository names any more. `name` is the fix."""
    key = marks.key_of(name)
    parts = marks.split(existing.body, key)
    count = told.count + 1 if existing.is_open else told.count
    after = replace(told, count=count, gist="", telling=None, left=True)
    if not existing.is_open:
        return Revision(after)
    mark = parts.mark or Mark(key, told.stage, told.by, count, "", "")
    ours = not mark.title or marks.fingerprint(existing.title) == mark.title
    title = text.left_title(existing.title) if ours else existing.title
    mark = replace(mark, count=count, gist="", title=marks.fingerprint(title) if ours else mark.title)
    note, block = text.left_note(name), parts.block.strip()
    body = marks.joined(parts, mark, block if block.startswith(note) else f"{note}\n\n{block}")
    fits = len(body.encode("utf-8", "replace")) <= MAX_BODY_BYTES
    return Revision(
        told=after,
        comment=f"{marks.said(key, count)}\n{left_comment(name)}",
        title=title if title != existing.title else None,
        body=body if fits and body != existing.body else None,
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """What happened since something was told. `lost` says that a fix is gone which somebody had, or was about to."""

    stage: bool
    gained: tuple[str, ...]
    moved_back: tuple[str, ...]
    lost: bool

    @property
    def any(self) -> bool:
        """Whether there is something to say."""
        return self.stage or bool(self.gained) or bool(self.moved_back)


def _change(told: Told, notice: Notice) -> _Change:
    """Unknown is no change: it is written into the text, and what was told before is compared with what comes next."""
    now = notice.standing
    if now.stage == "unknown":
        return _Change(False, (), (), False)
    moved = now.stage != told.stage or now.by != told.by
    reverted = now.by != told.by and bool(now.by) and now.stage != "superseded"
    gained = tuple(user for user in now.having if user in set(told.waiting)) if now.stage == "pinned" else ()
    back = tuple(user for user in told.having if user in set(now.waiting))
    return _Change(moved, gained, back, bool(back) or reverted or went_back(told.stage, now.stage))


def _stage(name: object) -> Stage:
    """A stage that was written down, perhaps by another version."""
    return next((stage for stage in STAGES if stage == name), "unknown")


def _is_news(told: Told, notice: Notice) -> bool:
    return notice.standing.stage != told.stage and notice.standing.stage != "unknown"


def _told(notice: Notice, before: Told | None) -> Told:
    now = notice.standing
    number, count = (before.number, before.count) if before else (None, 0)
    having, waiting = _remembered(now.having), _remembered(now.waiting)
    return Told(now.stage, now.by, having, waiting, text.gist(notice), number, count)


def kept(told: Told, notice: Notice) -> Told:
    """What is remembered when there was nothing to say: who has the fix changes with the services that there are."""
    if notice.standing.stage == "unknown":
        return told
    having, waiting = _remembered(notice.standing.having), _remembered(notice.standing.waiting)
    return replace(told, having=having, waiting=waiting, left=False)


def _remembered(users: tuple[str, ...]) -> tuple[str, ...]:
    """As many users as are remembered, always the same of the same ones."""
    room = MAX_USERS_BYTES
    for count, user in enumerate(users):
        room -= len(json.dumps(user, ensure_ascii=False).encode("utf-8", "replace")) + 2
        if room < 0:
            return users[:count]
    return users


def _mark(notice: Notice, told: Told, title: str) -> Mark:
    return Mark(notice.key, told.stage, told.by, told.count, told.gist, marks.fingerprint(title))


def _names(users: tuple[str, ...]) -> tuple[str, ...]:
    """The names of users that are remembered with their paths."""
    return tuple(user.partition("\t")[2] or user for user in users)
