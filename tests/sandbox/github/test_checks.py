"""Check runs: what is refused, what is added, who is told."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.github import Hub, RepositoryHandle
from bot.sandbox.github.checks import KEPT_RUNS
from tests.sandbox.github.caller import Caller

R = "/repos/acme/serving"


def _annotation(**more: Any) -> dict[str, Any]:
    return {"path": "a.yml", "start_line": 1, "end_line": 1, "annotation_level": "warning", "message": "x", **more}


def _output(**more: Any) -> dict[str, Any]:
    return {"output": {"title": "T", "summary": "S", **more}}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"status": "completed"}, '"conclusion" wasn\'t supplied'),
        ({"conclusion": "stale"}, "is not a member"),
        ({"status": "waiting"}, "is not a member"),
        ({"conclusions": "success"}, "is not a permitted key"),
        ({"head_sha": "main"}, "No commit found for SHA"),
        ({"head_sha": "0" * 40}, "No commit found for SHA"),
        ({"name": " "}, "blank"),
        ({"started_at": "yesterday"}, "is not a date-time"),
        ({"output": {"summary": "S"}}, '"title" wasn\'t supplied'),
        ({"output": {"title": "T"}}, '"summary" wasn\'t supplied'),
        (_output(summary="x" * 65_536), "maximum bytesize of 65535"),
        (_output(summary="\N{PILE OF POO}" * 16_384), "maximum bytesize of 65535"),
        (_output(text="é" * 32_768), "maximum bytesize of 65535"),
        (_output(annotations=[_annotation()] * 51), "no more than 50 items"),
        (_output(annotations=[_annotation(start_line=0)]), "lines start at 1"),
        (_output(annotations=[_annotation(start_line=2)]), "lines start at 1"),
        (_output(annotations=[_annotation(end_line=2, start_column=1)]), "columns are taken only"),
        (_output(annotations=[_annotation(annotation_level="error")]), "is not a member"),
        (_output(annotations=[_annotation(title="x" * 256)]), "longer than 255"),
        (_output(annotations=[_annotation(message="x" * 65_537)]), "64 KB"),
        (_output(annotations=[_annotation(line=1)]), "is not a permitted key"),
        ({"actions": [{"label": "x" * 21, "description": "d", "identifier": "i"}]}, "longer than 20"),
        ({"actions": [{"label": "l", "description": "d", "identifier": "i"}] * 4}, "no more than 3"),
    ],
)
async def test_runs_that_are_refused(repo: RepositoryHandle, app: Caller, body: dict[str, Any], message: str) -> None:
    reply = await app("POST", f"{R}/check-runs", {"name": "S", "head_sha": repo.tip, **body})
    assert (reply.status, message in reply.content.decode().replace("\\", "")) == (422, True)
    assert repo.record.runs == {}


async def test_annotations_are_added(repo: RepositoryHandle, app: Caller) -> None:
    run = (
        await app(
            "POST", f"{R}/check-runs", {"name": "S", "head_sha": repo.tip, **_output(annotations=[_annotation()] * 50)}
        )
    ).ok(201)
    assert (run["status"], run["conclusion"]) == ("queued", None)
    done = {"conclusion": "failure", **_output(annotations=[_annotation(message="last")])}
    after = (await app("PATCH", f"{R}/check-runs/{run['id']}", done)).ok()
    assert (after["status"], after["output"]["annotations_count"]) == ("completed", 51)
    listed = (await app("GET", f"{R}/check-runs/{run['id']}/annotations?per_page=50&page=2")).ok()
    assert [each["message"] for each in listed] == ["last"]


async def test_the_longest_summary(repo: RepositoryHandle, app: Caller) -> None:
    body = {"name": "S", "head_sha": repo.tip, **_output(summary="x" * 65_535)}
    assert (await app("POST", f"{R}/check-runs", body)).status == 201


async def test_the_newest_run_of_a_name_is_listed(repo: RepositoryHandle, app: Caller) -> None:
    for name, conclusion in (("S", "failure"), ("S", "success"), ("Other", "neutral")):
        (await app("POST", f"{R}/check-runs", {"name": name, "head_sha": repo.tip, "conclusion": conclusion})).ok(201)
    path = f"{R}/commits/{repo.tip}/check-runs"
    newest = (await app("GET", path)).ok()["check_runs"]
    assert [(each["name"], each["conclusion"]) for each in newest] == [("Other", "neutral"), ("S", "success")]
    assert (await app("GET", f"{path}?filter=all")).ok()["total_count"] == 3
    assert (await app("GET", f"{path}?check_name=S&filter=all")).ok()["total_count"] == 2
    assert (await app("GET", f"{path}?app_id=1")).ok()["total_count"] == 0
    suites = (await app("GET", f"{R}/commits/{repo.tip}/check-suites")).ok()["check_suites"]
    assert [(each["status"], each["conclusion"]) for each in suites] == [("completed", "neutral")]


async def test_old_runs_of_a_name_are_dropped(
    repo: RepositoryHandle, app: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert KEPT_RUNS == 1_000
    monkeypatch.setattr("bot.sandbox.github.checks.KEPT_RUNS", 2)
    made = [(await app("POST", f"{R}/check-runs", {"name": "S", "head_sha": repo.tip})).ok(201)["id"] for _ in range(4)]
    assert list(repo.record.runs) == made[2:]


async def test_another_apps_run_is_not_changed(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    run = (await app("POST", f"{R}/check-runs", {"name": "S", "head_sha": repo.tip})).ok(201)
    other = hub.install(hub.register_app("other"), "acme")
    async with Caller(hub, other) as caller:
        assert (await caller("PATCH", f"{R}/check-runs/{run['id']}", {"conclusion": "success"})).status == 403


async def test_a_rerequest_resets_nothing_but_the_suite(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"a": "b"})
    run = (await app("POST", f"{R}/check-runs", {"name": "S", "head_sha": pull.head, "conclusion": "failure"})).ok(201)
    pull.rerequest(repo.record.runs[run["id"]])
    assert (await app("GET", f"{R}/check-runs/{run['id']}")).ok()["status"] == "completed"
    (suite,) = (await app("GET", f"{R}/commits/{pull.head}/check-suites")).ok()["check_suites"]
    assert (suite["status"], suite["conclusion"]) == ("queued", None)
    (await app("PATCH", f"{R}/check-runs/{run['id']}", {"conclusion": "success"})).ok()
    (check,) = pull.conversation().checks
    assert check.conclusion == "success"
