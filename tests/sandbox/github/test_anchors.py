"""Where comments go under any sequence of pushes, held against the files themselves."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sandbox.github import Hub, PullHandle, pulls, reviews
from bot.sandbox.github.anchors import Anchor

PATH = "compose/one.yml"


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _edited(lines: list[str], data: st.DataObject, word: str) -> list[str]:
    """Some lines dropped, some put between; every line is unique, so that it can be recognised."""
    kept = [line for line in lines if data.draw(st.integers(0, 9)) < 8]
    made: list[str] = []
    for line in [*kept, ""]:
        if data.draw(st.integers(0, 9)) < 2:
            made.append(f"{word}-{len(made)}")
        made += [line] if line else []
    return made or [f"{word}-only"]


def _comment_on_everything(hub: Hub, pull: PullHandle) -> None:
    """A comment on every line of the right side that can carry one."""
    for file in pulls.diff(pull.repository, pull.record):
        for line in file.lines:
            if line.right is not None:
                anchor = Anchor(file.path, "RIGHT", line.right, position=line.position)
                reviews.place(hub, pull.record, hub.user("reader"), None, anchor, "x", pull.head, 0)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_comment_stays_with_its_line_or_is_outdated(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder, closing(Hub(Path(folder))) as hub:
        begin = [f"line-{number}" for number in range(40)]
        repo = hub.repository("acme/serving", {PATH: _text(begin), "other.txt": "x\n"})
        lines = _edited(begin, data, "a")
        pull = repo.open_pull({PATH: _text(lines), "other.txt": "y\n"}, quiet=True)
        _comment_on_everything(hub, pull)
        on_path = [comment for comment in pull.record.comments if comment.path == PATH]
        written = {comment.id: lines[(comment.line or 1) - 1] for comment in on_path}
        for step in range(data.draw(st.integers(1, 3))):
            lines = _edited(lines, data, f"b{step}")
            push = pull.force_push if data.draw(st.booleans()) else pull.push
            push({PATH: _text(lines), "other.txt": "y\n"})
            diff = {file.path: file for file in pulls.diff(pull.repository, pull.record)}
            for comment in on_path:
                if comment.line is not None:
                    assert lines[comment.line - 1] == written[comment.id]
                    assert diff[PATH].find("RIGHT", comment.line) is not None
                    assert comment.commit == pull.head
                if written[comment.id] not in lines:
                    assert comment.outdated
        assert any(not comment.outdated for comment in pull.record.comments)  # "other.txt" never changed again
