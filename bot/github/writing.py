"""The bodies of what is written to GitHub, within its limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bot.github.model import Annotation, CheckRun, NewComment

MAX_BODY_BYTES = 65_000
"""Of a comment. GitHub says 65,536 characters in one place and means more bytes in another; this is below both."""

MAX_CHECK_BYTES = 65_535
"""Of a check's summary and text, in bytes whatever the documentation says."""

ANNOTATIONS_PER_REQUEST = 50
_MAX_MESSAGE_BYTES = 60_000
_MAX_TITLE = 255
CUT = "\n\n… (cut: GitHub takes no more)"


def cut(text: str, limit: int, ending: str = CUT) -> str:
    """The text in at most `limit` bytes of UTF-8, ended by `ending` when something is missing."""
    content = text.encode("utf-8", "replace")
    if len(content) <= limit:
        return text
    return content[: limit - len(ending.encode())].decode("utf-8", "ignore") + ending


def check_body(check: CheckRun, annotations: Sequence[Annotation]) -> dict[str, Any]:
    """The part of a check run that creating and updating share."""
    output: dict[str, Any] = {
        "title": cut(check.title or check.name, _MAX_TITLE, "…"),
        "summary": cut(check.summary, MAX_CHECK_BYTES),
    }
    if check.text:
        output["text"] = cut(check.text, MAX_CHECK_BYTES)
    if annotations:
        output["annotations"] = [_annotation(annotation) for annotation in annotations]
    body: dict[str, Any] = {"name": check.name, "output": output}
    if check.conclusion is None:
        body["status"] = "in_progress"
    else:
        body |= {"status": "completed", "conclusion": check.conclusion}
    if check.details_url:
        body["details_url"] = check.details_url
    if check.external_id:
        body["external_id"] = check.external_id
    return body


def batches(annotations: Sequence[Annotation]) -> Iterator[Sequence[Annotation]]:
    """Annotations as GitHub takes them; one empty batch when there are none."""
    for start in range(0, max(len(annotations), 1), ANNOTATIONS_PER_REQUEST):
        yield annotations[start : start + ANNOTATIONS_PER_REQUEST]


def _annotation(annotation: Annotation) -> dict[str, Any]:
    start = max(annotation.start_line, 1)
    body: dict[str, Any] = {
        "path": annotation.path,
        "start_line": start,
        "end_line": max(annotation.end_line, start),
        "annotation_level": annotation.level,
        "message": cut(annotation.message, _MAX_MESSAGE_BYTES),
    }
    if annotation.title:
        body["title"] = cut(annotation.title, _MAX_TITLE, "…")
    if annotation.raw_details:
        body["raw_details"] = cut(annotation.raw_details, _MAX_MESSAGE_BYTES)
    return body


def comment_body(comment: NewComment) -> dict[str, Any]:
    """A comment of a review."""
    body: dict[str, Any] = {
        "path": comment.path,
        "line": comment.line,
        "side": comment.side,
        "body": cut(comment.body, MAX_BODY_BYTES),
    }
    if comment.start_line is not None and comment.start_line < comment.line:
        body |= {"start_line": comment.start_line, "start_side": comment.side}
    return body
