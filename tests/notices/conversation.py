"""A repository's issues as plans change them, without GitHub."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from bot.notices import Existing, Notice, Places, Told, adopted, notice_of, opening, plan, revise, seen, step
from bot.upstream.watch import Watched

PLACES = Places("https://github.com/acme/serving", "a" * 40)


def notices(watched: Iterable[Watched], rules: tuple[str, ...] = ()) -> dict[str, Notice]:
    every = {item.reference: item for item in watched}
    return {name: notice_of(item, every, rules) for name, item in every.items()}


@dataclass
class Issue:
    number: int
    title: str
    body: str
    is_open: bool = True
    state_reason: str | None = None
    comments: list[str] = field(default_factory=list)

    @property
    def existing(self) -> Existing:
        return Existing(self.number, self.title, self.body, self.is_open, self.state_reason)


@dataclass
class Conversation:
    """Carries plans out. `told` is what is remembered; forget it, and the issues' own marks are read."""

    issues: list[Issue] = field(default_factory=list)
    told: dict[str, Told] = field(default_factory=dict)
    places: Places = PLACES

    def tell(self, watched: Iterable[Watched], rules: tuple[str, ...] = ()) -> None:
        for notice in notices(watched, rules).values():
            self.one(notice)

    def one(self, notice: Notice) -> None:
        told = self.told.get(notice.reference)
        match step(told, notice):
            case "note":
                has_issue = told is not None and told.number is not None
                self.told[notice.reference] = plan.kept(told, notice) if has_issue else seen(told, notice)  # type: ignore[arg-type]
            case "open":
                self._open(notice)
            case "look":
                assert told is not None
                self._revise(notice, told)

    def leave(self, reference: str) -> None:
        """Nothing names a fix any more."""
        told = self.told[reference]
        if not told.left:
            issue = next(issue for issue in self.issues if issue.number == told.number)
            self._carry_out(issue, reference, plan.leave(told, reference, issue.existing))

    def _open(self, notice: Notice) -> None:
        for issue in self.issues:
            known = adopted(notice, issue.existing)
            if known is not None:
                self.told[notice.reference] = known
                if step(known, notice) == "look":
                    self._revise(notice, known)
                return
        if not notice.worth_opening:
            self.told[notice.reference] = seen(None, notice)
            return
        new = opening(notice, self.places)
        issue = Issue(len(self.issues) + 1, new.title, new.body)
        self.issues.append(issue)
        self.told[notice.reference] = replace(new.told, number=issue.number)

    def _revise(self, notice: Notice, told: Told) -> None:
        issue = next(issue for issue in self.issues if issue.number == told.number)
        self._carry_out(issue, notice.reference, revise(told, notice, issue.existing, self.places))

    def _carry_out(self, issue: Issue, reference: str, revision: plan.Revision) -> None:
        if revision.comment is not None:
            issue.comments.append(revision.comment)
        issue.title = issue.title if revision.title is None else revision.title
        issue.body = issue.body if revision.body is None else revision.body
        if revision.reopen:
            issue.is_open, issue.state_reason = True, "reopened"
        self.told[reference] = revision.told

    def only(self) -> Issue:
        (issue,) = self.issues
        return issue

    def state(self) -> object:
        return [(i.title, i.body, i.is_open, tuple(i.comments)) for i in self.issues], dict(self.told)
