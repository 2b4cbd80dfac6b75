"""The conversation in the order of time: description, commits, comments, reviews with their threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from bot.sandbox.github import IssueComment, PullHandle, Review, ReviewComment, Thread
from bot.sandbox.page.hunks import hunk
from bot.sandbox.page.markdown import render
from bot.sandbox.page.parts import byline, folded, reactions, tag


@dataclass(frozen=True)
class _Item:
    """Something in the conversation. What happened in the same second stays in `order`."""

    when: datetime
    order: int
    html: str


def timeline(pull: PullHandle) -> str:
    """All of it."""
    items = sorted(_items(pull), key=lambda item: (item.when, item.order))
    return "\n".join(item.html for item in items)


def _items(pull: PullHandle) -> Iterable[_Item]:
    issue, seen = pull.record.issue, pull.conversation()
    text = render(issue.body or "*No description.*")
    head = byline(issue.user, issue.created_at, "opened this pull request")
    yield _Item(issue.created_at, 0, f'<article class="comment">{head}<div class="body">{text}</div></article>')
    store = pull.repository.store
    for index, sha in enumerate(store.between(pull.record.base_sha, pull.head)):
        data = store.describe(sha)
        yield _Item(datetime.fromisoformat(data.when), 1 + index, _commit(data.author, data.message, sha))
    for comment in seen.comments:
        yield _Item(comment.created_at, comment.id, _comment(comment))
    for review in seen.reviews:
        threads = [thread for thread in seen.threads if thread.comment.review == review.id]
        if (review.body or threads) and review.submitted_at is not None:
            yield _Item(review.submitted_at, review.id, _review(review, review.submitted_at, threads))


def _commit(author: str, message: str, sha: str) -> str:
    title = escape(message.partition("\n")[0])
    return (
        f'<div class="commit"><span class="dot"></span><span><b>{escape(author)}</b> {title}</span>'
        f'<code class="sha">{sha[:7]}</code></div>'
    )


def _comment(comment: IssueComment) -> str:
    head = byline(comment.user, comment.created_at, "commented", comment.app)
    body = f'<div class="body">{render(comment.body)}</div>{reactions(comment.reactions)}'
    key = f"issuecomment-{comment.id}"
    if comment.minimised is None:
        return f'<article class="comment" id="{key}">{head}{body}</article>'
    who = escape(comment.user.login.removesuffix("[bot]"))
    return folded(key, f"A comment by {who} {tag(_words(comment.minimised))}", f"<article>{head}{body}</article>")


def _review(review: Review, when: datetime, threads: Sequence[Thread]) -> str:
    head = byline(review.user, when, "reviewed", review.app)
    body = f'<div class="body">{render(review.body)}</div>' if review.body else ""
    return f'<article class="review">{head}{body}{"".join(map(_thread, threads))}</article>'


def _thread(thread: Thread) -> str:
    first = thread.comment
    diff = hunk(first.diff_hunk) if first.diff_hunk else '<p class="whole">On the file as a whole</p>'
    content = diff + "".join(map(_said, (first, *thread.replies)))
    key, place = f"discussion_r{first.id}", escape(first.path) + _lines(first)
    if not thread.folded:
        return f'<section class="thread" id="{key}"><h3>{place}</h3>{content}</section>'
    words = {_words(first.minimised)} if first.minimised else set()
    words |= {"outdated"} if first.outdated else set()
    return folded(key, f"{place} {' '.join(map(tag, sorted(words)))}", content, "thread")


def _lines(comment: ReviewComment) -> str:
    end = comment.line or comment.original_line
    if comment.subject == "file" or end is None:
        return ""
    start = comment.start_line or comment.original_start_line
    return f' <span class="lines">{f"lines {start} to {end}" if start else f"line {end}"}</span>'


def _said(comment: ReviewComment) -> str:
    verb = "" if comment.in_reply_to is None else "replied"
    head = byline(comment.user, comment.created_at, verb, comment.app)
    body = f'<div class="body">{render(comment.body)}</div>{reactions(comment.reactions)}'
    return f'<div class="said">{head}{body}</div>'


def _words(classifier: str) -> str:
    return classifier.lower().replace("_", " ")
