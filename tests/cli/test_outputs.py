"""The same answer in several forms."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.cli.audit import audited
from bot.cli.outputs import write
from bot.cli.review import review_revisions
from bot.hazards import load_rules
from bot.review import standing, summary
from bot.review.check import check as finished
from tests.cli.conftest import CORRUPT, PROFILE, Run
from tests.cli.test_review import SAFE, History, history  # noqa: F401 - a fixture

PAIR = "mtp-prefix-cache-hybrid"
WARNING = "services: {e: {image: 'vllm/vllm-openai:v0.25.1', command: [m, --seed, '1', --seed, '2']}}\n"
Folder = Callable[..., Path]


@pytest.fixture
def changed(history: History) -> History:  # noqa: F811
    history.state({"compose.yml": CORRUPT, "seed.yml": WARNING})
    return history


def test_a_review_says_the_same_in_every_form(changed: History, tmp_path: Path) -> None:
    forms = ("json", "markdown", "summary", "sarif", "github")
    files = {name: tmp_path / "out" / name for name in forms}
    also = [word for name, file in files.items() for word in ("--also", f"{name}={file}")]
    first = changed.review("HEAD~1", "HEAD", *also)
    assert (first.status, first.err) == (1, "")
    for name in forms:
        alone = changed.review("HEAD~1", "HEAD", "--format", name)
        assert (alone.status, alone.out) == (1, files[name].read_text())
    rules = {finding["rule"] for finding in json.loads(files["json"].read_text())["introduced"]}
    assert {PAIR} <= rules == {r["ruleId"] for r in json.loads(files["sarif"].read_text())["runs"][0]["results"]}
    assert {
        line.partition("title=")[2].partition(" (")[0] for line in files["github"].read_text().splitlines()
    } == rules


@pytest.mark.parametrize(("level", "status"), [("error", 1), ("warning", 1), ("never", 0)])
@pytest.mark.parametrize("output", ["text", "json", "markdown", "summary", "sarif", "github"])
def test_the_status_does_not_depend_on_the_form(changed: History, output: str, level: str, status: int) -> None:
    assert changed.review("HEAD~1", "HEAD", "--format", output, "--fail-on", level).status == status


@pytest.mark.parametrize(("level", "status"), [("error", 0), ("warning", 1), ("never", 0)])
def test_a_warning_fails_where_it_is_asked_to(history: History, level: str, status: int) -> None:  # noqa: F811
    history.state({"seed.yml": WARNING})
    for output in ("text", "sarif", "github"):
        assert history.review("HEAD~1", "HEAD", "--format", output, "--fail-on", level).status == status


def test_the_summary_is_what_the_check_says(changed: History) -> None:
    outcome = review_revisions(changed.root, "HEAD~1", "HEAD", load_rules())
    output = finished(outcome)
    told = changed.review("HEAD~1", "HEAD", "--format", "summary").out
    assert told == summary(outcome)
    assert told.rstrip("\n") == "\n\n".join(part for part in (output.summary, output.text) if part)


def test_annotations_of_a_change_are_those_of_its_check_the_worst_first(changed: History) -> None:
    lines = changed.review("HEAD~1", "HEAD", "--format", "github").out.splitlines()
    levels = [line[2:].partition(" ")[0] for line in lines]
    assert levels == sorted(levels, key=["error", "warning", "notice"].index)
    noted = finished(review_revisions(changed.root, "HEAD~1", "HEAD", load_rules())).annotations
    places = {f"file={note.path},line={note.start_line}," for note in noted}
    assert {line.partition(" ")[2].partition("title=")[0] for line in lines} == places


def test_an_unchanged_hazard_is_no_annotation(changed: History) -> None:
    changed.state({"README.md": "x"})
    answer = changed.review("HEAD~1", "HEAD", "--format", "github")
    assert (answer.status, answer.out) == (0, "")


def test_annotations_of_an_audit_come_worst_first(run: Run, folder: Folder) -> None:
    root = folder({"a.yml": WARNING, "b.yml": CORRUPT, "models/hare.yml": PROFILE})
    lines = run("audit", root, "--format", "github").out.splitlines()
    levels = [line[2:].partition(" ")[0] for line in lines]
    assert levels[0] == "error"
    assert levels == sorted(levels, key=["error", "warning", "notice", "debug"].index)


def test_an_audit_as_markdown_is_a_table_with_links(history: History, run: Run) -> None:  # noqa: F811
    sha = history.state({"deploy/a b.yml": CORRUPT, "deploy/models/hare.yml": PROFILE, "deploy/compose.yml": "a: 1\n"})
    url = "https://github.com/acme/serving"
    told = run("audit", history.root / "deploy", "--format", "markdown", "--url", url).out
    assert told.startswith("**1 error")
    assert f"({url}/blob/{sha}/deploy/a%20b.yml#L9)" in told
    assert "no services" in told
    assert "](http" not in run("audit", history.root / "deploy", "--format", "markdown").out


@pytest.mark.parametrize(("count", "words"), [(1, "1 more is folded away"), (2, "2 more are folded away")])
def test_what_is_folded_away_is_counted_in_markdown(folder: Folder, count: int, words: str) -> None:
    report = audited(folder({"compose.yml": WARNING}), None, load_rules(), offline=True)
    (unit,) = report.units
    findings = tuple(replace(unit.findings[0], level="folded", cause=str(number)) for number in range(count))
    told = standing(replace(report, units=(replace(unit, findings=findings),)))
    assert told.startswith(f"**No findings in 1 compose.** {words}")


def test_an_audit_without_findings_says_so_in_markdown(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": SAFE, "models/hare.yml": PROFILE})
    assert "in 1 compose." in run("audit", root, "--format", "markdown").out


@pytest.mark.parametrize("value", ["sarif", "=x", "sarif=", "xml=x", ""])
def test_a_form_without_a_file_is_refused(run: Run, folder: Folder, value: str) -> None:
    answer = run("audit", folder({"compose.yml": SAFE}), "--also", value)
    assert answer.status == 2
    assert "FORMAT=FILE" in answer.err


def test_a_file_that_cannot_be_written_is_one_sentence(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": SAFE})
    answer = run("audit", root, "--also", f"json={root / 'compose.yml' / 'x.json'}")
    assert answer.status == 2
    assert len(answer.err.splitlines()) == 1
    assert "cannot be written" in answer.err


def test_a_link_in_the_place_of_a_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("untouched")
    (tmp_path / "ours.sarif").symlink_to(tmp_path / "theirs")
    write(tmp_path / "ours.sarif", "{}\n")
    assert (tmp_path / "theirs").read_text() == "untouched"
    assert (tmp_path / "ours.sarif").read_text() == "{}\n"
    assert sorted(os.listdir(tmp_path)) == ["ours.sarif", "theirs"]


def test_the_folder_of_a_file_is_made_and_the_help_says_so(run: Run, folder: Folder, tmp_path: Path) -> None:
    file = tmp_path / "not" / "there" / "x.json"
    assert run("audit", folder({"compose.yml": SAFE}), "--also", f"json={file}").status == 0
    assert file.exists()
    assert "its folder is made where it is not there" in " ".join(run("audit", "--help").out.split())
