"""The pull request's checks, and what happens beneath the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bot.sandbox.github import CheckRun, Delivery, Hub, PullHandle
from bot.sandbox.page.markdown import render
from bot.sandbox.page.parts import button, plural, tag

DELIVERIES = 8
"""Webhooks that are listed."""

_TONES = {
    "failure": ("bad", "✗"),
    "running": ("wait", "●"),
    "neutral": ("even", "■"),
    "success": ("ok", "✓"),
    "none": ("wait", "●"),
}
"""From what matters most to what matters least."""

_TITLES = {
    "failure": "A check failed",
    "running": "A check is running",
    "neutral": "A check found something to look at",
    "success": "All checks have passed",
    "none": "No check yet",
}


def checks(pull: PullHandle) -> str:
    """The newest run of every check of the head commit, and what they come to."""
    runs = pull.conversation().checks
    worst = _worst(runs)
    rows = "".join(map(_check, runs)) or "<p>It appears here as soon as the App has heard of the pull request.</p>"
    return f'<section class="checks {_TONES[worst][0]}" id="checks"><h2>{_TITLES[worst]}</h2>{rows}</section>'


def verdict(pull: PullHandle) -> str:
    """What the checks come to, in short."""
    worst = _worst(pull.conversation().checks)
    tone, mark = _TONES[worst]
    return f'<a class="verdict {tone}" href="#checks"><span aria-hidden="true">{mark}</span> {_TITLES[worst]}</a>'


def _worst(runs: Sequence[CheckRun]) -> str:
    kinds = {_kind(run) for run in runs} or {"none"}
    return next(kind for kind in _TONES if kind in kinds)


def _kind(run: CheckRun) -> str:
    if run.status != "completed":
        return "running"
    return run.conclusion if run.conclusion in ("success", "failure") else "neutral"


def _check(run: CheckRun) -> str:
    tone, mark = _TONES[_kind(run)]
    word = (run.conclusion or "") if run.status == "completed" else run.status.replace("_", " ")
    title = f" <span>{escape(run.title)}</span>" if run.title else ""
    head = f'<span class="mark {tone}" aria-hidden="true">{mark}</span> <b>{escape(run.name)}</b>{title} {tag(word)}'
    text = f'<div class="body">{render(run.summary or "")}{render(run.text or "")}</div>'
    notes = "".join(map(_annotation, run.annotations))
    inside = (
        text
        + (f'<ul class="notes">{notes}</ul>' if notes else "")
        + button("rerequest", "Re-run", {"run": str(run.id)})
    )
    return f'<details class="check" id="check-{escape(run.name)}"><summary>{head}</summary>{inside}</details>'


def _annotation(note: dict[str, object]) -> str:
    text = str(note.get("title") or note["message"])
    return f"<li><code>{escape(str(note['path']))}:{note['start_line']}</code> {escape(text)}</li>"


def beneath(hub: Hub) -> str:
    """The last webhooks, and how much the App has asked."""
    sent = [each for each in hub.hooks.deliveries if each.status != "not sent"]
    rows = "".join(map(_delivery, reversed(sent[-DELIVERIES:]))) or "<li>none yet</li>"
    asked = sum(not each.path.startswith("/app/hook") for each in hub.requests)
    return (
        f'<h2>Beneath</h2><p>Webhooks, newest first:</p><ul class="hooks">{rows}</ul>'
        f"<p>The App has made {plural(asked, 'request')}.</p>"
    )


def _delivery(delivery: Delivery) -> str:
    name = delivery.event if delivery.action is None else f"{delivery.event}.{delivery.action}"
    under_way = delivery.status in ("queued", "sending")
    tone = "ok" if delivery.status == "OK" else "wait" if under_way else "bad"
    word = str(delivery.status_code) if delivery.status == "OK" else delivery.status
    return f'<li><code>{escape(name)}</code> <span class="{tone}">{escape(word)}</span></li>'
