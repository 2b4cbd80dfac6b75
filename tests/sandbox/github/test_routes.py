"""Every route answers, on a repository that has a bit of everything; the answers fit GitHub's description."""

from __future__ import annotations

import pytest

from bot.sandbox.github import Hub, RepositoryHandle, simulated_github
from bot.sandbox.github.call import Refused
from bot.sandbox.github.hub import sorted_routes
from bot.sandbox.github.server import Directory
from tests.sandbox.github.caller import Caller
from tests.sandbox.github.conftest import COMPOSE

R = "/repos/acme/serving"

NOT_HERE = {"/app-manifests/{code}/conversions", "/app/hook/deliveries/{delivery_id}/attempts", "/graphql"}
"""Tested where they have a story."""


async def test_every_route_answers_as_described(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    repo.collaborator("contributor", "triage")
    pull = repo.open_pull({"compose/one.yml": COMPOSE.replace("# line 10", "# LINE 10"), "new.txt": "x\n"}, body="Why.")
    repo.release("v1.0")
    repo.installation.app.hook_url = f"{hub.archive_url}/nowhere"
    asked = pull.comment("contributor", "/recheck")
    await hub.settled()
    delivery = hub.hooks.deliveries[-1].id
    called: set[str] = set()
    directory = Directory(sorted_routes())

    async def ok(method: str, path: str, body: object = None, status: int = 200) -> dict[str, object]:
        called.add(method + directory.find(method, path.partition("?")[0])[0].template)
        reply = await (app.as_app if path.startswith("/app") or path.endswith("/installation") else app)(
            method, path, body
        )
        answer = reply.ok(status)
        return answer if isinstance(answer, dict) else {}

    number = app.installation.id
    for path in ("", "/installations", f"/installations/{number}", "/hook/config"):
        await ok("GET", f"/app{path}")
    for path in ("/hook/deliveries", f"/hook/deliveries/{delivery}"):
        await ok("GET", f"/app{path}")
    await ok("POST", f"/app/installations/{number}/access_tokens", {"repositories": ["serving"]}, 201)
    await ok("GET", "/installation/repositories")
    await ok("GET", "/rate_limit")
    await ok("GET", f"{R}/installation")

    blob = repo.record.store.entry(repo.tip, "README.md")
    assert blob is not None
    for path in (
        "", "/branches", "/branches/main", "/git/ref/heads/main", "/tags", "/releases", "/releases/latest",
        "/collaborators/contributor/permission", "/commits", "/commits/main", f"/compare/main...{pull.head}",
        "/contents/compose", "/contents/compose/one.yml", "/git/trees/main?recursive=1", f"/git/blobs/{blob.sha}",
    ):  # fmt: skip
        await ok("GET", f"{R}{path}")
    repo.tag("v1.1", message="The first of its kind")
    for path in (
        "/git/matching-refs/heads/ma", "/git/matching-refs/tags/v", f"/git/commits/{repo.tip}",
        f"/git/tags/{repo.record.annotated['v1.1']}", "/issues/1/timeline",
    ):  # fmt: skip
        await ok("GET", f"{R}{path}")
    await ok("GET", f"{R}/tarball/main", status=302)

    line = {"path": "compose/one.yml", "line": 10, "body": "Look."}
    review = await ok("POST", f"{R}/pulls/1/reviews", {"body": "One.", "event": "COMMENT", "comments": [line]})
    pending = await ok("POST", f"{R}/pulls/1/reviews", {"body": "Two."})
    await ok("POST", f"{R}/pulls/1/reviews/{pending['id']}/events", {"event": "COMMENT"})
    await ok("PUT", f"{R}/pulls/1/reviews/{review['id']}", {"body": "Changed."})
    whole = {"path": "new.txt", "subject_type": "file", "body": "On the file.", "commit_id": pull.head}
    thread = await ok("POST", f"{R}/pulls/1/comments", whole, 201)
    await ok("POST", f"{R}/pulls/1/comments/{thread['id']}/replies", {"body": "Answer."}, 201)
    await ok("PATCH", f"{R}/pulls/comments/{thread['id']}", {"body": "Changed."})
    await ok("POST", f"{R}/pulls/comments/{thread['id']}/reactions", {"content": "eyes"}, 201)
    for path in (
        "", "/1", "/1/files", "/1/commits", "/1/reviews", f"/1/reviews/{review['id']}", "/1/comments",
        f"/1/reviews/{review['id']}/comments", f"/comments/{thread['id']}", f"/comments/{thread['id']}/reactions",
    ):  # fmt: skip
        await ok("GET", f"{R}/pulls{path}")
    await ok("DELETE", f"{R}/pulls/comments/{thread['id']}", status=204)
    await ok("PATCH", f"{R}/pulls/1", {"title": "Another title"})
    await ok("GET", f"{R}/commits/{pull.head}/pulls")

    await ok("GET", f"{R}/issues/1/comments")
    comment = await ok("POST", f"{R}/issues/1/comments", {"body": "Summary."}, 201)
    await ok("GET", f"{R}/issues/comments/{comment['id']}")
    await ok("PATCH", f"{R}/issues/comments/{comment['id']}", {"body": "Summary, edited."})
    reaction = await ok("POST", f"{R}/issues/comments/{asked.id}/reactions", {"content": "eyes"}, 201)
    await ok("POST", f"{R}/issues/comments/{asked.id}/reactions", {"content": "eyes"}, 200)
    await ok("GET", f"{R}/issues/comments/{asked.id}/reactions")
    await ok("DELETE", f"{R}/issues/comments/{asked.id}/reactions/{reaction['id']}", status=204)
    await ok("DELETE", f"{R}/issues/comments/{comment['id']}", status=204)
    await ok("POST", f"{R}/issues/1/reactions", {"content": "rocket"}, 201)
    await ok("POST", f"{R}/labels", {"name": "seam", "color": "ff0000"}, 201)
    await ok("GET", f"{R}/labels")
    await ok("GET", f"{R}/labels/seam")
    issue = await ok("POST", f"{R}/issues", {"title": "Something", "labels": ["seam"]}, 201)
    await ok("POST", f"{R}/issues/{issue['number']}/labels", {"labels": ["other"]})
    await ok("PATCH", f"{R}/issues/{issue['number']}", {"state": "closed", "state_reason": "not_planned"})
    await ok("GET", f"{R}/issues/{issue['number']}")
    await ok("GET", f"{R}/issues?state=all")

    run = await ok("POST", f"{R}/check-runs", {"name": "Seamguard", "head_sha": pull.head}, 201)
    annotation = {
        "path": "compose/one.yml",
        "start_line": 1,
        "end_line": 1,
        "annotation_level": "warning",
        "message": "x",
    }
    output = {"title": "T", "summary": "S", "annotations": [annotation]}
    await ok("PATCH", f"{R}/check-runs/{run['id']}", {"conclusion": "failure", "output": output})
    (suite,) = [each.id for each in repo.record.suites.values() if each.head_sha == pull.head]
    for path in (
        f"/check-runs/{run['id']}", f"/check-runs/{run['id']}/annotations", f"/commits/{pull.head}/check-runs",
        f"/commits/{pull.head}/check-suites", f"/check-suites/{suite}", f"/check-suites/{suite}/check-runs",
    ):  # fmt: skip
        await ok("GET", f"{R}{path}")
    await ok("POST", f"{R}/check-runs/{run['id']}/rerequest", status=201)

    served = {route.method + route.template for route in sorted_routes() if route.template not in NOT_HERE}
    assert served - called == set()


async def test_other_paths_are_not_found() -> None:
    async with simulated_github() as hub:  # GitHub's description would complain of these
        hub.register_app()
        repo = hub.repository("acme/serving", {"a": "b"}, installed=True)
        async with Caller(hub, repo.installation) as app:
            assert (await app("GET", "/nothing")).status == 404
            assert (await app("DELETE", R)).status == 404


def test_fixed_words_win_over_parts_that_match_anything() -> None:
    directory = Directory(sorted_routes())
    assert directory.find("GET", f"{R}/releases/latest")[0].template.endswith("/releases/latest")
    assert directory.find("GET", f"{R}/pulls/comments/1")[0].template.endswith("/comments/{comment_id}")
    with pytest.raises(Refused, match="Not Found"):
        directory.find("GET", f"{R}/contents/")
