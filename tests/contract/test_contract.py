"""That the contract's own checks bite, and that webhooks fit GitHub's description of them."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from openapi_schema_validator import OAS30Validator

from bot.sandbox.github import Hub, simulated_github
from bot.sandbox.github.hub import sorted_routes
from tests.contract import description, fetch, graphql_schema
from tests.contract.description import needs_description
from tests.contract.graphql_schema import needs_schema
from tests.contract.middleware import Contract
from tests.sandbox.github.caller import Caller
from tests.sandbox.github.conftest import COMPOSE


@needs_description
def test_everything_that_is_served_is_described() -> None:
    paths = description.description()["paths"]
    known = {(method, description.plain(path)) for path, methods in paths.items() for method in methods}
    served = {(route.method.lower(), description.plain(route.template)) for route in sorted_routes()}
    assert {path for _, path in served - known} == description.NOT_DESCRIBED


@needs_description
async def test_a_request_that_the_description_refuses_is_noted() -> None:
    contract = Contract()
    async with simulated_github(*contract.middlewares) as hub:
        hub.register_app()
        repo = hub.repository("acme/serving", {"a.yml": COMPOSE}, installed=True)
        async with Caller(hub, repo.installation) as app:
            await app("GET", "/repos/acme/serving/nothing")
            pull = repo.open_pull({"b.yml": "x"})
            pull.record.issue.state = "half-open"  # type: ignore[assignment]
            await app("GET", "/repos/acme/serving/pulls/1")
    assert [line.partition(" -> ")[0] for line in contract.broken] == [
        "GET /repos/acme/serving/nothing",
        "GET /repos/acme/serving/pulls/1",
    ]
    with pytest.raises(AssertionError, match="half-open"):
        contract.assert_kept()


@needs_description
async def test_webhooks_fit_the_description() -> None:
    async with simulated_github() as hub:
        hub.register_app(events=ALL_EVENTS)
        await _play(hub)
        sent = [(each.event, each.payload) for each in hub.hooks.deliveries]
    found: set[str] = set()
    for event, payload in sent:
        name = "-".join(filter(None, [event, payload.get("action")])).replace("_", "-")
        found.add(name)
        assert _misfits(name, payload) == [], name
    assert found == set(description.WEBHOOKS)


NOT_SENT = {"check_run.deployment"}
"""What real payloads have only in some cases, that do not come up."""


@pytest.mark.skipif(not fetch.EXAMPLES.file.exists(), reason="real payloads are not in .cache/contract: they need npm")
async def test_webhooks_have_what_real_ones_have() -> None:
    async with simulated_github() as hub:
        hub.register_app(events=ALL_EVENTS)
        await _play(hub)
        sent = {(each.event, each.payload.get("action")): each.payload for each in hub.hooks.deliveries}
    real = json.loads(gzip.decompress(fetch.EXAMPLES.file.read_bytes()))
    compared = 0
    for event in real:
        for example in event["examples"]:
            ours = sent.get((event["name"], example.get("action")))
            if ours is not None:
                compared += 1
                assert (
                    _lacking(example, ours, {event["name"], "comment", "review", "installation"}) - NOT_SENT == set()
                ), event["name"]
    assert compared > 20


def _lacking(example: dict[str, Any], ours: dict[str, Any], inside: set[str]) -> set[str]:
    """Keys of a real payload, and of the objects in it that matter, that ours has not."""
    # Not in every real one of an event either; an issue that was moved here is opened with changes.
    besides = {"organization", "installation", "enterprise", "changes"}
    found = {name for name in example if name not in ours and name not in besides}
    for name in inside & example.keys() & ours.keys():
        if isinstance(example[name], dict):
            found |= {f"{name}.{key}" for key in example[name] if key not in ours[name]}
    return found


ALL_EVENTS = (
    "pull_request", "issue_comment", "issues", "check_run", "check_suite", "push", "merge_group",
    "pull_request_review", "pull_request_review_comment",
)  # fmt: skip


async def _play(hub: Hub) -> None:
    """A scenario in which everything happens that is told by a webhook."""
    repo = hub.repository("acme/serving", {"a.yml": COMPOSE}, installed=True)
    pull = repo.open_pull({"a.yml": COMPOSE.replace("# line 9", "# LINE 9")}, draft=True)
    pull.ready()
    pull.push({"b.yml": "x\n"})
    pull.retitle("Another")
    comment = pull.comment("maintainer", "/recheck")
    pull.edit_comment(comment, "/help")
    pull.delete_comment(comment, "maintainer")
    review = pull.review("maintainer", "Fine.")
    async with Caller(hub, repo.installation) as app:
        path = "/repos/acme/serving"
        line = {"path": "a.yml", "line": 9, "body": "Look.", "commit_id": pull.head}
        written = (await app("POST", f"{path}/pulls/1/comments", line)).ok(201)
        await app("PATCH", f"{path}/pulls/comments/{written['id']}", {"body": "Look again."})
        made = (await app("POST", f"{path}/pulls/1/reviews", {"event": "COMMENT", "body": "One."})).ok()
        await app("PUT", f"{path}/pulls/1/reviews/{made['id']}", {"body": "Two."})
        await app("DELETE", f"{path}/pulls/comments/{written['id']}")
        check = (
            await app("POST", f"{path}/check-runs", {"name": "S", "head_sha": pull.head, "conclusion": "success"})
        ).ok(201)
        issue = (await app("POST", f"{path}/issues", {"title": "T"})).ok(201)
        for change in ({"title": "U"}, {"state": "closed"}, {"state": "open"}):
            (await app("PATCH", f"{path}/issues/{issue['number']}", change)).ok()
    assert review.submitted_at is not None
    run = repo.record.runs[check["id"]]
    pull.rerequest(run)
    pull.rerequest_all(run)
    repo.add_to_merge_queue(pull)
    forked = repo.open_pull({"c.yml": "x\n"}, author="stranger", fork=True)
    assert forked.record.head_repository is not None
    hub.delete(forked.record.head_repository)
    forked.close()
    pull.close()
    pull.reopen()
    pull.merge()
    repo.collaborator("other", "read")
    installation = repo.installation
    installation.repositories = {repo.record.id}
    hub.repository("acme/other", {"a": "b"}, installed=True)
    hub.suspend(installation)
    hub.suspend(installation, suspended=False)
    hub.revoke(installation)


def _misfits(name: str, payload: dict[str, Any]) -> list[str]:
    hooks = description.hooks()
    schema = hooks["x-webhooks"][name]["post"]["requestBody"]["content"]["application/json"]["schema"]
    validator = OAS30Validator({**schema, "components": hooks["components"]})
    return [
        "/".join(map(str, each.absolute_path)) + ": " + each.message[:200] for each in validator.iter_errors(payload)
    ]


@needs_schema
@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("{ viewer { login } }", None),
        ("{ viewer { loginn } }", "User has no field loginn"),
        ("{ viewer }", "Query.viewer is a User: it needs selections"),
        ("{ viewer { login { x } } }", "User.login is a String: no selections"),
        ('{ repository(owner: "a") { id } }', "Query.repository needs name"),
        ('{ repository(owner: "a", name: 3) { id } }', "Query.repository(name): 3 is no String"),
        ('{ repository(owner: "a", name: "b", x: 1) { id } }', "Query.repository takes no x"),
        ('query($o: String!) { repository(owner: $o, name: "b") { id } }', None),
        (
            'query($o: Int!) { repository(owner: $o, name: "b") { id } }',
            "Query.repository(owner): $o is Int!, not String!",
        ),
        ("query($o: String!) { viewer { login } }", "$o is declared and never used"),
        ("{ viewer { ... on Blob { oid } } }", "a User is never a Blob"),
        ("{ viewer { repositories { totalCount } } }", "User.repositories needs first or last"),
        (
            'mutation { minimizeComment(input: {subjectId: "x", classifier: OLD}) { clientMutationId } }',
            "Mutation.minimizeComment(input).classifier: 'OLD' is no ReportedContentClassifiers",
        ),
        (
            "mutation { minimizeComment(input: {classifier: OUTDATED}) { clientMutationId } }",
            "Mutation.minimizeComment(input): MinimizeCommentInput needs subjectId",
        ),
    ],
)
def test_a_query_is_held_against_the_schema(query: str, fault: str | None) -> None:
    assert graphql_schema.faults(query) == ([] if fault is None else [fault])


def test_a_package_that_is_not_the_pinned_one_is_refused(tmp_path: Any) -> None:
    archive = tmp_path / "package.tgz"
    archive.write_bytes(b"something else")
    with pytest.raises(ValueError, match="not the package that was pinned"):
        fetch._verify(archive, fetch.OPENAPI)


def test_what_is_there_is_not_fetched_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(fetch, "CACHE", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    for package in fetch.PACKAGES:
        package.file.write_bytes(b"kept")
        fetch.fetch(package)
        assert package.file.read_bytes() == b"kept"


def test_without_npm_it_says_so_and_ends_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fetch, "CACHE", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch.main() == 0
    assert "npm is not installed" in capsys.readouterr().err
