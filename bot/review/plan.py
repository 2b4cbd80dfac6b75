"""What to write into a pull request, given what is there: nothing twice, and nothing that is no longer true.

Every comment begins with a mark that says which finding it is about and what it says. A plan is made from what is there
alone, so that one that was carried out in part, or not at all, is simply made again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.markdown import folded
from bot.review.check import CheckOutput, check, title
from bot.review.comments import Comment, comment_on, comments
from bot.review.compare import Review
from bot.review.diff import FileDiff
from bot.review.limits import GITHUB, Limits
from bot.review.links import OFFLINE, Links
from bot.review.marks import (
    FindingMark,
    ReviewMark,
    Spot,
    State,
    SummaryMark,
    file_key,
    fingerprint,
    key,
    read_mark,
    without_mark,
)
from bot.review.sections import fitted, paragraph
from bot.review.summary import further_sections, main_sections, unplaced_section

Kind = Literal["issue", "review"]
Reason = Literal["OUTDATED", "RESOLVED", "DUPLICATE"]

NO_COMMIT = "0" * 40
"""The commit for which a text is rendered to see whether it says something new."""


@dataclass(frozen=True, slots=True)
class Posted:
    """A comment of the App's own that is there. `kind` is "issue" for the conversation, "review" for a line or a file.
    `line` is None when the line is no longer in the diff, and for a comment on a file.
    """

    id: int
    node_id: str
    kind: Kind
    body: str
    minimised: bool = False
    has_human_reply: bool = False
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class NewComment:
    """A comment to write, on a file as a whole when `line` is None. `key` names it in `plan(refused=…)`."""

    key: str
    path: str
    line: int | None
    side: str
    start_line: int | None
    body: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A new text for a comment that is there."""

    id: int
    kind: Kind
    body: str


@dataclass(frozen=True, slots=True)
class Minimise:
    """A comment to fold away."""

    node_id: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary's text; `edit_id` is the comment that has it, None when it is to be written."""

    body: str
    edit_id: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, in this order: `edits`; `inline` in one review with `review_body`, none when there are none;
    `file_level` one by one; `summary` (None: it is as it should be, or not needed); `minimise`; the `check`.
    """

    check: CheckOutput
    review_body: str = ""
    inline: tuple[NewComment, ...] = ()
    file_level: tuple[NewComment, ...] = ()
    edits: tuple[Edit, ...] = ()
    summary: Summary | None = None
    minimise: tuple[Minimise, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether anything but the check is to be written."""
        return bool(self.inline or self.file_level or self.edits or self.summary or self.minimise)


def plan(
    review: Review,
    head_sha: str,
    diffs: Mapping[str, FileDiff],
    posted: Sequence[Posted],
    limits: Limits = GITHUB,
    *,
    links: Links = OFFLINE,
    commits: Collection[str] | None = None,
    refused: Mapping[str, Spot] | None = None,
) -> Plan:
    """Makes the comments of a pull request say what the review of `head_sha` found.

    `posted` are the App's own comments. `commits` are the pull request's, where they are known: a comment that was
    written for another commit was cut off by a force-push, and is pointed at the new one. `refused` names comments
    (by `NewComment.key`) that GitHub would not take on their line, which go on the file, or not on the file either.
    """
    ours = [(item, mark) for item in posted if (mark := read_mark(item.body)) is not None]
    threads = [(item, mark) for item, mark in ours if isinstance(mark, FindingMark) and item.kind == "review"]
    work = _Threads(review, head_sha, links, limits, commits)
    dismissed = {mark.key for item, mark in threads if item.minimised and mark.state == "open"}
    placed = _placed(review, diffs, refused or {})
    wanted = {comment.key: comment for comment in placed[: limits.inline] if comment.key not in dismissed}
    work.reconcile(threads, wanted)
    missing = [comment for comment in wanted.values() if comment.key not in work.there]
    inline = tuple(work.new(comment) for comment in missing if comment.line is not None)
    beside = {key for comment in placed[: limits.inline] for key in comment.keys}
    in_sight = frozenset({*wanted, *work.there, *dismissed, *beside})
    summary, extra = _summary(review, head_sha, ours, links, limits, in_sight)
    return Plan(
        check=check(review, links, limits),
        review_body=_review_body(review, head_sha, links) if inline else "",
        inline=inline,
        file_level=tuple(work.new(comment) for comment in missing if comment.line is None),
        edits=tuple(work.edits),
        summary=summary,
        minimise=(*work.minimise, *extra),
    )


def _placed(review: Review, diffs: Mapping[str, FileDiff], refused: Mapping[str, Spot]) -> list[Comment]:
    """The comments that have a place, the worst finding first."""
    suggestions = {comment.finding.identity: comment.suggestion for comment in review.comments if comment.suggestion}
    found = []
    for comment in comments(review.told, diffs, review.maybe_older, suggestions, review.fixes):
        where = refused.get(comment.key)
        if where == "file" or (where is not None and comment.path not in diffs):
            continue
        found.append(comment.on_the_file() if where == "line" else comment)
    return found


class _Threads:
    """Works out what becomes of each comment on a line or a file."""

    def __init__(
        self, review: Review, head_sha: str, links: Links, limits: Limits, commits: Collection[str] | None
    ) -> None:
        self.head_sha = head_sha
        self.links = links
        self.limits = limits
        self.commits = commits
        self.standing = {key(finding) for finding in review.told}
        self.elsewhere = {key(finding) for finding in (*review.unchanged, *(after for _, after in review.changed))}
        self.elsewhere |= {key(finding) for finding in review.introduced}
        self.undetermined = {file_key(path) for path in review.undetermined}
        self.texts = {key(finding): finding for finding in review.told}
        self.review = review
        self.edits: list[Edit] = []
        self.minimise: list[Minimise] = []
        self.there: set[str] = set()

    def reconcile(self, threads: Iterable[tuple[Posted, FindingMark]], wanted: Mapping[str, Comment]) -> None:
        """Keeps one comment for each finding that still stands; the others say why they no longer count."""
        by_key: dict[str, list[tuple[Posted, FindingMark]]] = {}
        for item, mark in threads:
            if not (item.minimised and mark.state == "open"):  # a person folded it away: it is left alone
                by_key.setdefault(mark.key, []).append((item, mark))
        for name, items in by_key.items():
            kept = self._kept(name, items, wanted)
            if kept is not None:
                self.there.add(name)
            for item, mark in items:
                if item is not kept:
                    self._close(item, mark, said_elsewhere=kept is not None)

    def _kept(
        self, name: str, items: Sequence[tuple[Posted, FindingMark]], wanted: Mapping[str, Comment]
    ) -> Posted | None:
        """The comment that goes on speaking for a finding, with its text renewed where it says something else now."""
        if name not in self.standing:
            return None
        alive = [(item, mark) for item, mark in items if not item.minimised]
        answered = [(item, mark) for item, mark in alive if item.has_human_reply]
        speaking = answered
        if name in wanted:
            speaking += [(item, mark) for item, mark in alive if _in_place(item, mark)]
        for item, mark in speaking:
            comment = wanted.get(name) or comment_on(self.texts[name], self.review.maybe_older)
            self._renew(item, mark, comment)
            return item
        return None

    def _renew(self, item: Posted, mark: FindingMark, comment: Comment) -> None:
        cut_off = self.commits is not None and mark.sha not in self.commits
        if mark.state != "open" or mark.gist != comment.gist or (cut_off and mark.sha != self.head_sha):
            self.edits.append(Edit(item.id, item.kind, self._body(comment, mark.spot, anew=False)))

    def _close(self, item: Posted, mark: FindingMark, *, said_elsewhere: bool) -> None:
        if item.minimised:
            return
        standing = mark.key in self.standing
        if not standing and mark.key not in self.elsewhere and mark.file in self.undetermined:
            return  # nobody knows what runs there now: what the comment says may still be so
        state: State = "moved" if standing or said_elsewhere else "fixed"
        if mark.state != state:
            self.edits.append(Edit(item.id, item.kind, self._closed(item, mark, state)))
        if not item.has_human_reply:
            duplicate = said_elsewhere and item.line is not None
            self.minimise.append(
                Minimise(item.node_id, "RESOLVED" if state == "fixed" else "DUPLICATE" if duplicate else "OUTDATED")
            )

    def _closed(self, item: Posted, mark: FindingMark, state: State) -> str:
        if state == "moved":
            told = "**Still stands**, and is said in another place of this pull request: the line has changed."
        elif mark.key in self.elsewhere:
            told = f"**No longer due to this change** as of {self.links.commit(self.head_sha)}: see the summary."
        else:
            told = f"**Fixed** as of {self.links.commit(self.head_sha)}."
        changed = FindingMark(mark.key, self.head_sha, mark.file, mark.gist, state, mark.spot)
        before = without_mark(item.body)
        if len(before.encode("utf-8", "replace")) > self.limits.body - 1_000:
            before = ""
        return "\n".join((str(changed), told, "", folded("What stood here", before)))

    def new(self, comment: Comment) -> NewComment:
        """A comment that is not there yet."""
        spot: Spot = "file" if comment.line is None else "line"
        return NewComment(
            comment.key, comment.path, comment.line, comment.side, comment.start, self._body(comment, spot)
        )

    def _body(self, comment: Comment, spot: Spot, *, anew: bool = True) -> str:
        comment_there = comment if anew else comment.in_its_place()
        mark = FindingMark(comment.key, self.head_sha, file_key(comment.finding.path), comment.gist, "open", spot)
        return f"{mark}\n{comment_there.text(self.links, self.limits.body - 400)}"


def _in_place(item: Posted, mark: FindingMark) -> bool:
    """Whether the diff still shows the line of a comment."""
    return mark.spot == "file" or item.line is not None


def _review_body(review: Review, head_sha: str, links: Links) -> str:
    return f"{ReviewMark(head_sha)}\nSeamguard on {links.commit(head_sha)}: {title(review)}."


def _summary(
    review: Review,
    head_sha: str,
    ours: Iterable[tuple[Posted, object]],
    links: Links,
    limits: Limits,
    in_sight: frozenset[str],
) -> tuple[Summary | None, tuple[Minimise, ...]]:
    """The summary, where it says something new; and further summaries, which two runs at once may have written."""
    there = [(item, mark) for item, mark in ours if item.kind == "issue" and isinstance(mark, SummaryMark)]
    there.sort(key=lambda pair: (pair[0].minimised, pair[0].id))
    extra = tuple(Minimise(item.node_id, "DUPLICATE") for item, _ in there[1:] if not item.minimised)
    if not there and not _worth_a_word(review):
        return None, extra
    gist = fingerprint(_summary_text(review, NO_COMMIT, links.of(NO_COMMIT), limits, in_sight))
    if there and there[0][1].gist == gist:
        return None, extra
    text = _summary_text(review, head_sha, links, limits, in_sight)
    return Summary(f"{SummaryMark(head_sha, gist)}\n{text}", there[0][0].id if there else None), extra


def _worth_a_word(review: Review) -> bool:
    """Whether a change deserves a summary: one that introduces nothing, as far as is known, has the check alone."""
    return bool(review.told or review.undecided or (review.configuration and review.configuration.problems))


def _summary_text(review: Review, sha: str, links: Links, limits: Limits, in_sight: frozenset[str]) -> str:
    sections = [
        paragraph("## Seamguard"),
        *main_sections(review, links),
        unplaced_section(review, in_sight, links),
        *further_sections(review, links),
    ]
    foot = (
        f"\n\n<sub>For {links.commit(sha)}. In a comment, `/explain PATH PROPERTY` tells where a value comes from and "
        "`/recheck` looks again.</sub>"
    )
    return fitted(sections, limits.body - len(foot) - 400) + foot
