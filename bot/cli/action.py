"""`action`: one step of GitHub Actions, as `action.yml` starts it.

All that it is told comes from variables, and all that it says goes to the places that the runner names. Names of
branches, titles and files are a stranger's: none of them ever is a part of a command line.
"""

from __future__ import annotations

import json
import os
import secrets
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bot.cli.audit import audit_forms, audited_with_edits
from bot.cli.failure import Failure
from bot.cli.opening import links_to
from bot.cli.options import FAIL_ON
from bot.cli.outputs import Form, write
from bot.cli.review import fails, review_forms, review_revisions
from bot.cli.workflow import fault
from bot.hazards import Finding, Rules, at_least, load_rules
from bot.printable import printable
from bot.repositories import RepositoryError, UnknownRevision, git, merge_base
from bot.review import Links

MODES = ("auto", "review", "audit")
MAX_EVENT_BYTES = 32 * 1024 * 1024
"""GitHub caps an event at 25 MB."""

_SWITCHES = {"true": True, "false": False}
_NO_COMMIT = "0" * 40
"""What GitHub says is before the first push of a branch."""

_SHALLOW = (
    "the commits to compare are not in this checkout: give actions/checkout `fetch-depth: 0` "
    "(in a pull request's usual checkout, `fetch-depth: 2` is enough)"
)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of the step. `base` and `head` are revisions, empty where the event names them."""

    path: Path
    mode: str
    base: str
    head: str
    fail_on: str
    sarif: Path
    annotations: bool
    summary: bool
    offline: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """Two revisions to compare."""

    base: str
    head: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the step found. `findings` are those that count: in a review, what the change brings."""

    mode: str
    findings: tuple[Finding, ...]
    forms: Mapping[str, Form]
    summary: Form
    failed: bool


@click.command("action", hidden=True)
def action_command() -> None:
    """Run as a step of GitHub Actions; see docs/ci.md."""
    raise SystemExit(step(os.environ))


def step(environment: Mapping[str, str]) -> int:
    """Does what the step is for, and gives its exit status: 0, 1 for findings, 2 for a fault, which is annotated."""
    try:
        inputs = read_inputs(environment)
        with _no_commands():
            answer = _answer(inputs, environment)
            write(inputs.sarif, answer.forms["sarif"]())
            shown = answer.forms["github"]() if inputs.annotations else ""
            summary = f"## Seamguard\n\n{answer.summary()}"
    except (Failure, RepositoryError) as error:
        click.echo(fault(str(error)))
        return 2
    except Exception as error:  # a status of 1 would say that there are findings
        with _no_commands():
            click.echo(traceback.format_exc())
        click.echo(fault(f"a fault of Seamguard itself, which the log tells in full: {error!r}"))
        return 2
    click.echo(shown, nl=False)
    click.echo(_told(answer))
    if inputs.summary:
        _append(environment.get("GITHUB_STEP_SUMMARY", ""), summary)
    _append(environment.get("GITHUB_OUTPUT", ""), "".join(_outputs(answer, inputs)))
    return 1 if answer.failed else 0


@contextmanager
def _no_commands() -> Iterator[None]:
    """Nothing that is printed meanwhile is a command to the runner: progress and notes name a stranger's files."""
    token = secrets.token_hex(16)
    click.echo(f"::stop-commands::{token}")
    try:
        yield
    finally:
        click.echo(f"::{token}::")


def read_inputs(environment: Mapping[str, str]) -> Inputs:
    """The inputs, checked. Raises `Failure`."""

    def given(name: str, default: str = "") -> str:
        return environment.get(f"INPUT_{name}", "").strip() or default

    def one_of(name: str, label: str, allowed: tuple[str, ...], default: str) -> str:
        value = given(name, default).lower()
        if value not in allowed:
            raise Failure(f"the input `{label}` is {value!r}, which is none of {', '.join(allowed)}")
        return value

    def switch(name: str, label: str, default: str) -> bool:
        return _SWITCHES[one_of(name, label, tuple(_SWITCHES), default)]

    folder = environment.get("RUNNER_TEMP") or "."
    return Inputs(
        path=Path(given("PATH", ".")),
        mode=one_of("MODE", "mode", MODES, "auto"),
        base=given("BASE"),
        head=given("HEAD"),
        fail_on=one_of("FAIL_ON", "fail-on", FAIL_ON, "error"),
        sarif=Path(given("SARIF", str(Path(folder) / "seamguard.sarif"))),
        annotations=switch("ANNOTATIONS", "annotations", "true"),
        summary=switch("SUMMARY", "summary", "true"),
        offline=switch("OFFLINE", "offline", "false"),
    )


def _answer(inputs: Inputs, environment: Mapping[str, str]) -> Answer:
    rules, url = load_rules(), _url(environment)
    compared = _compared(inputs, environment)
    return _reviewed(inputs, compared, rules, url) if compared else _audited(inputs, rules, url)


def _reviewed(inputs: Inputs, compared: Compared, rules: Rules, url: str) -> Answer:
    outcome = review_revisions(inputs.path, compared.base, compared.head, rules, offline=inputs.offline)
    forms = review_forms(outcome, rules, lambda: links_to(inputs.path, compared.head, url))
    return Answer("review", outcome.introduced_or_worsened, forms, forms["summary"], fails(outcome, inputs.fail_on))


def _audited(inputs: Inputs, rules: Rules, url: str) -> Answer:
    report, fixes = audited_with_edits(inputs.path, None, rules, inputs.offline)
    in_git = _known(inputs.path, "HEAD")

    def links() -> Links:
        return links_to(inputs.path, None, url if in_git else "")

    forms = audit_forms(report, rules, links, fixes)
    failed = any(at_least(finding.level, inputs.fail_on) for finding in report.findings)
    return Answer("audit", report.findings, forms, forms["markdown"], failed)


def _url(environment: Mapping[str, str]) -> str:
    server, name = environment.get("GITHUB_SERVER_URL", ""), environment.get("GITHUB_REPOSITORY", "")
    return f"{server}/{name}" if server and name else ""


def _compared(inputs: Inputs, environment: Mapping[str, str]) -> Compared | None:
    """What to compare; None for an audit. Raises `Failure` where a review is wanted and cannot be had."""
    if inputs.mode == "audit":
        return None
    if inputs.base:
        return Compared(inputs.base, inputs.head or "HEAD")
    event, name = _event(environment), environment.get("GITHUB_EVENT_NAME", "")
    if name in ("pull_request", "pull_request_target"):
        return _of_a_pull_request(
            inputs, _commit(event, "pull_request", "base"), _commit(event, "pull_request", "head")
        )
    if name == "merge_group":
        return _present(inputs, _text(event, "merge_group", "base_sha"), inputs.head or "HEAD")
    if inputs.mode == "auto":
        return None
    before = _text(event, "before")
    if name != "push" or not before or before == _NO_COMMIT:
        raise Failure(f"{name or 'this event'} names nothing to compare with: give the input `base`, or `mode: audit`")
    return _present(inputs, before, inputs.head or "HEAD")


def _of_a_pull_request(inputs: Inputs, base: str, head: str) -> Compared:
    """The merge that GitHub has made for the pull request against the base that it was made on, where that is what is
    checked out; else the head against the commit at which it left the base.
    """
    if not inputs.head and _known(inputs.path, "HEAD^2") == head:
        return Compared("HEAD^1", "HEAD")
    compared = _present(inputs, base, inputs.head or head)
    left = merge_base(inputs.path, compared.base, compared.head)
    if left is None:
        raise Failure(_SHALLOW)
    return Compared(left, compared.head)


def _present(inputs: Inputs, base: str, head: str) -> Compared:
    if not (_known(inputs.path, base) and _known(inputs.path, head)):
        raise Failure(_SHALLOW)
    return Compared(base, head)


def _known(repository: Path, revision: str) -> str | None:
    """The commit that a revision names, where it is here."""
    try:
        return git.commit(repository, revision)
    except (UnknownRevision, git.NotARepository):
        return None


def _event(environment: Mapping[str, str]) -> Mapping[str, Any]:
    path = environment.get("GITHUB_EVENT_PATH", "")
    if not path:
        return {}
    try:
        with Path(path).open("rb") as file:
            event = json.loads(file.read(MAX_EVENT_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise Failure(f"the event cannot be read: {error}") from None
    return event if isinstance(event, dict) else {}


def _commit(event: Mapping[str, Any], *way: str) -> str:
    return _text(event, *way, "sha")


def _text(event: Mapping[str, Any], *way: str) -> str:
    """A text in the event; empty where it has none."""
    found: Any = event
    for name in way:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def _told(answer: Answer) -> str:
    """One line for the log."""
    counts = ", ".join(f"{count} {level}{'' if count == 1 else 's'}" for level, count in _counts(answer).items())
    what = "This change brings" if answer.mode == "review" else "The repository has"
    return f"Seamguard: {what} {counts}."


def _counts(answer: Answer) -> dict[str, int]:
    return {
        level: sum(finding.level == level for finding in answer.findings) for level in ("error", "warning", "notice")
    }


def _outputs(answer: Answer, inputs: Inputs) -> Iterator[str]:
    values = {"mode": answer.mode, "sarif": str(inputs.sarif), "failed": str(answer.failed).lower()}
    values |= {f"{level}s": str(count) for level, count in _counts(answer).items()}
    for name, value in values.items():
        end = secrets.token_hex(16)
        yield f"{name}<<{end}\n{printable(value)}\n{end}\n"


def _append(file: str, text: str) -> None:
    """Adds to a file that the runner made. Raises `Failure`."""
    if not file:
        return
    try:
        with Path(file).open("a", encoding="utf-8", errors="replace", newline="\n") as opened:
            opened.write(text)
    except OSError as error:
        raise Failure(f"{file}: cannot be written: {error}") from None
