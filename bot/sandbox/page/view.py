"""The page of a pull request, as a person would see it."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from bot.sandbox.github import PullHandle, pulls
from bot.sandbox.page.hunks import hunk
from bot.sandbox.page.parts import button, plural, tag
from bot.sandbox.page.status import beneath, checks, verdict
from bot.sandbox.page.timeline import timeline

if TYPE_CHECKING:
    from bot.sandbox.scenario import Scenario

RELOAD_SECONDS = 4
"""Without scripts the page loads itself again."""


@cache
def asset(name: str) -> str:
    """A file of the page."""
    return files("bot.sandbox.page").joinpath("assets", name).read_text(encoding="utf-8")


def parts(scenario: Scenario) -> dict[str, str]:
    """Everything that changes, by the id of its place in the page."""
    pull = scenario.pull
    conversation = timeline(pull) + checks(pull) + _files(pull)
    return {"title": _title(pull), "conversation": conversation, "beneath": _try(scenario) + beneath(scenario.hub)}


def page(scenario: Scenario, version: str, *, writing: bool) -> str:
    """The whole page. Without scripts it loads itself again, except while somebody is `writing`."""
    if writing:
        refresh, link = "", '<a href="./">Back to the page that follows what happens</a>'
    else:
        again = f'<meta http-equiv="refresh" content="{RELOAD_SECONDS}"><style>.write{{display:none}}</style>'
        refresh, link = f"<noscript>{again}</noscript>", '<a href="?write#write">Write a comment</a>'
    people = [
        f'<option value="{escape(name)}">{escape(name)}, who {escape(may)}</option>' for name, may in scenario.people
    ]
    return Template(asset("page.html")).substitute(
        name=escape(scenario.pull.record.issue.title),
        repository=escape(scenario.repository.full_name),
        refresh=refresh,
        version=version,
        **parts(scenario),
        people="".join(people),
        without_script=f"<noscript><p>{link}</p></noscript>",
    )


def _title(pull: PullHandle) -> str:
    record, issue = pull.record, pull.record.issue
    state = "merged" if record.merged_at else "draft" if record.draft and issue.state == "open" else issue.state
    commits = plural(len(pull.repository.store.between(record.base_sha, record.head_sha)), "commit")
    return (
        f'<h1>{escape(issue.title)} <span class="number">#{record.number}</span></h1>'
        f'<p><span class="state {state}">{state.capitalize()}</span> <b>{escape(issue.user.login)}</b> wants to merge '
        f"{commits} into <code>{escape(record.base_ref)}</code> "
        f"from <code>{escape(record.head_ref)}</code> {verdict(pull)}</p>"
    )


def _files(pull: PullHandle) -> str:
    changed = pulls.diff(pull.repository, pull.record)
    shown = "".join(
        f'<h3>{escape(file.path)} <span class="lines">+{file.additions} −{file.deletions}</span></h3>'
        + (hunk(file.patch, None) if file.patch else '<p class="whole">No diff to show</p>')
        for file in changed
    )
    title = f"<summary>Files changed {tag(str(len(changed)))}</summary>"
    return f'<details class="files" id="files">{title}{shown}</details>'


def _try(scenario: Scenario) -> str:
    label = "The fix is pushed" if scenario.fixed else "Push the prepared fix"
    buttons = [button("fix", label, {}, "primary", disabled=scenario.fixed)]
    buttons += [button("comment", command, {"body": command}) for command in scenario.commands]
    return f'<section class="try"><h2>Try</h2>{"".join(buttons)}</section>'
