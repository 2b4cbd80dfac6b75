"""Where review comments stand: GitHub's rules for new ones, and what becomes of them after a push."""

from __future__ import annotations

from dataclasses import dataclass

from bot.sandbox.github import pulls
from bot.sandbox.github.call import Body, Refused, malformed
from bot.sandbox.github.diffs import DiffLine, FileDiff
from bot.sandbox.github.model import Pull, Repository, ReviewComment, Side

_PART_OF_DIFF = "Pull request review thread line must be part of the diff"
_SAME_HUNK = "Pull request review thread start line must be part of the same hunk as the line."
_NO_HUNK = "Pull request review thread diff hunk can't be blank"
_NO_PATH = "Pull request review thread path is invalid"


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a comment stands in a diff. `line` None: on the file as a whole."""

    path: str
    side: Side = "RIGHT"
    line: int | None = None
    start_line: int | None = None
    start_side: Side | None = None
    position: int | None = None
    hunk: str = ""


def read(body: Body, files: tuple[FileDiff, ...], *, whole_file: bool) -> Anchor:
    """The anchor of a new comment, refused when it is not in the diff (facts, section 3). A comment needs a line, a
    position or, where `whole_file` comments are taken, `subject_type: file`; the description lets it pass without.
    """
    path = body.text("path")
    file = next((file for file in files if file.path == path), None)
    subject = body.one_of("subject_type", "line file", "line") if whole_file else "line"
    if file is None:
        raise _refusal(_NO_PATH, "path")
    if subject == "file":
        return Anchor(path)
    if "position" in body:
        return _at_position(file, body.number("position") or 0)
    line = body.number("line")
    if line is None:
        raise malformed('"line" or "position" wasn\'t supplied.' if not whole_file else '"line" wasn\'t supplied.')
    side: Side = "LEFT" if body.one_of("side", "LEFT RIGHT", "RIGHT") == "LEFT" else "RIGHT"
    return _at_lines(file, side, line, body)


def _at_position(file: FileDiff, position: int) -> Anchor:
    found = next((each for each in file.lines if each.position == position), None)
    if found is None:
        raise _refusal(_PART_OF_DIFF, "position")
    side: Side = "LEFT" if found.right is None else "RIGHT"
    return Anchor(file.path, side, found.right or found.left, None, None, position, file.excerpt(position))


def _at_lines(file: FileDiff, side: Side, line: int, body: Body) -> Anchor:
    if not file.lines:
        raise _refusal(_NO_HUNK, "diff_hunk")
    found = file.find(side, line)
    if found is None:
        raise _refusal(_PART_OF_DIFF, "line")
    start_line, start_side = body.number("start_line"), None
    if start_line is not None:
        chosen = body.one_of("start_side", "LEFT RIGHT side", side)
        start_side = "LEFT" if chosen == "LEFT" else "RIGHT" if chosen == "RIGHT" else side
        _check_range(found, file.find(start_side, start_line))
    excerpt = file.excerpt(found.position)
    return Anchor(file.path, side, line, start_line, start_side, found.position, excerpt)


def _check_range(end: DiffLine, start: DiffLine | None) -> None:
    if start is None:
        raise _refusal(f"{_PART_OF_DIFF.replace('line must', 'start line must')}", "start_line")
    if start.hunk != end.hunk:
        raise _refusal(_SAME_HUNK, "start_line")
    if start.position >= end.position:
        raise _refusal("Pull request review thread start line must precede the end line.", "start_line")


def _refusal(message: str, field: str) -> Refused:
    name = f"pull_request_review_thread.{field}"
    error = {"resource": "PullRequestReviewComment", "code": "custom", "field": name, "message": message}
    return Refused(422, "Validation Failed", [error])


def move(repository: Repository, pull: Pull) -> None:
    """Place the comments anew after the head or the base has changed. One whose lines were changed, or have left the
    diff, is outdated: no `line`, and `commit_id` stays the last commit that it applied to.
    """
    files = {file.path: file for file in pulls.diff(repository, pull)}
    for comment in pull.comments:
        if comment.subject == "file":
            comment.commit = pull.head_sha
            continue
        file = files.get(comment.path)
        line = _moved(repository, pull, comment, comment.side, comment.original_line)
        found = None if file is None or line is None else file.find(comment.side, line)
        if found is None:
            comment.line = comment.start_line = comment.position = None
            continue
        comment.line, comment.position, comment.commit = line, found.position, pull.head_sha
        side = comment.start_side or comment.side
        comment.start_line = _moved(repository, pull, comment, side, comment.original_start_line)


def _moved(repository: Repository, pull: Pull, comment: ReviewComment, side: Side, line: int | None) -> int | None:
    if line is None:
        return None
    store = repository.store
    if side == "RIGHT":
        before, after = comment.original_commit, pull.head_sha
    else:
        before = pulls.merge_base(repository, pull, comment.original_commit)
        after = pulls.merge_base(repository, pull)
    for file in store.diff(before, after):
        if comment.path in (file.path, file.previous):
            return None if file.path != comment.path or file.status == "removed" else file.new_number(line)
    return line
