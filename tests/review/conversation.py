"""A pull request's conversation that carries out plans, as GitHub would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.engine import Property
from bot.hazards import Finding, World
from bot.provenance import Reason
from bot.review import FileDiff, Plan, Posted, Review
from bot.review.comments import comments
from bot.review.marks import FindingMark, read_mark

FILES = ("a.yml", "b.yml", "c.yml")


def finding(
    rule: str = "unknown-flag",
    path: str = "a.yml",
    line: int = 5,
    cause: str = "",
    level: str = "error",
    status: str = "active",
    message: str = "The server exits.",
) -> Finding:
    return Finding(
        rule=rule,
        title=f"Title of {rule}",
        rule_level="error",
        level=level,  # type: ignore[arg-type]
        status=status,  # type: ignore[arg-type]
        evidence_grade="established",
        path=path,
        line=line,
        service="engine",
        slug=None,
        cause=cause,
        world=World({}),
        properties={"enforce_eager": Property(True, "certain", ())},
        chain=(Reason("compose", path, line, "- --flag"),),
        message=message,
        remedy="Take it out.",
        evidence="",
        upstream=(),
    )


def reviewed(
    introduced: Sequence[Finding],
    diffs: Mapping[str, FileDiff],
    unchanged: Sequence[Finding] = (),
    undetermined: frozenset[str] = frozenset(),
) -> Review:
    conclusion = "failure" if any(f.level == "error" for f in introduced) else "success"
    found = Review(
        conclusion,  # type: ignore[arg-type]
        tuple(introduced),
        (),
        (),
        tuple(unchanged),
        (),
        (),
        composes=len(FILES),
        undetermined=undetermined,
    )
    return replace(found, comments=comments(found.told, diffs, {}))


def shown(*lines: int) -> FileDiff:
    numbers = frozenset(lines)
    return FileDiff(numbers, numbers, frozenset(), tuple(range(line, line + 1) for line in sorted(numbers)))


@dataclass
class Conversation:
    """The App's own comments of a pull request, and plans carried out on them, whole or in part."""

    posted: list[Posted] = field(default_factory=list)
    reviews: int = 0

    def carry_out(self, plan: Plan, steps: int | None = None) -> None:
        for _, step in zip(range(10_000 if steps is None else steps), self._steps(plan), strict=False):
            step()

    def _steps(self, plan: Plan):  # type: ignore[no-untyped-def]
        for edit in plan.edits:
            yield lambda edit=edit: self._change(edit.id, body=edit.body)
        if plan.inline:
            yield lambda: self._review(plan)
        for new in plan.file_level:
            yield lambda new=new: self._add("review", new.body, new.path, None)
        if plan.summary is not None:
            summary = plan.summary
            if summary.edit_id is None:
                yield lambda: self._add("issue", summary.body, None, None)
            else:
                yield lambda: self._change(summary.edit_id, body=summary.body)
        for item in plan.minimise:
            yield lambda item=item: self._minimise(item.node_id)

    def _review(self, plan: Plan) -> None:
        self.reviews += 1
        for new in plan.inline:
            self._add("review", new.body, new.path, new.line)

    def _add(self, kind: str, body: str, path: str | None, line: int | None) -> None:
        number = len(self.posted) + 1
        self.posted.append(Posted(number, f"N{number}", kind, body, path=path, line=line))  # type: ignore[arg-type]

    def _change(self, number: int | None, **changes: object) -> None:
        assert number is not None
        self.posted[number - 1] = replace(self.posted[number - 1], **changes)  # type: ignore[arg-type]

    def _minimise(self, node_id: str) -> None:
        item = next(item for item in self.posted if item.node_id == node_id)
        assert not item.minimised
        assert not item.has_human_reply
        self._change(item.id, minimised=True)

    def outdate(self, number: int) -> None:
        self._change(number, line=None)

    def answer(self, number: int) -> None:
        self._change(number, has_human_reply=True)

    def hide(self, number: int) -> None:
        self._change(number, minimised=True)

    def threads(self) -> Iterator[tuple[Posted, FindingMark]]:
        for item in self.posted:
            mark = read_mark(item.body)
            if isinstance(mark, FindingMark):
                yield item, mark

    def speaking(self) -> list[tuple[str, str, str]]:
        """What a person sees: finding, what is said of it, and where, of every comment that is not folded away."""
        return sorted(
            (mark.key, mark.gist, mark.state)
            for item, mark in self.threads()
            if not item.minimised and mark.state == "open"
        )

    def summaries(self) -> list[str]:
        return [item.body for item in self.posted if item.kind == "issue" and not item.minimised]
