from __future__ import annotations

from bot.sandbox.github import Hub, RepositoryHandle
from tests.sandbox.github.caller import Caller
from tests.sandbox.github.conftest import COMPOSE

R = "/repos/acme/serving"


async def test_a_review_from_beginning_to_end(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    changed = COMPOSE.replace("# line 10", "# LINE 10")
    pull = repo.open_pull({"compose/one.yml": changed})
    files = (await app("GET", f"{R}/pulls/{pull.number}/files")).ok()
    assert [(file["filename"], file["status"]) for file in files] == [("compose/one.yml", "modified")]
    assert files[0]["patch"].startswith("@@ -7,7 +7,7 @@")
    run = (
        await app("POST", f"{R}/check-runs", {"name": "Seamguard", "head_sha": pull.head, "status": "in_progress"})
    ).ok(201)
    assert [each["number"] for each in run["pull_requests"]] == [pull.number]
    comment = {"path": "compose/one.yml", "line": 10, "body": "Look."}
    review = (
        await app(
            "POST", f"{R}/pulls/{pull.number}/reviews", {"event": "COMMENT", "body": "One.", "comments": [comment]}
        )
    ).ok()
    assert review["user"]["login"] == "seamguard[bot]"
    done = {"conclusion": "failure", "output": {"title": "One hazard", "summary": "x", "annotations": []}}
    assert (await app("PATCH", f"{R}/check-runs/{run['id']}", done)).ok()["status"] == "completed"
    query = """query($n: Int!) { repository(owner: "acme", name: "serving") {
        pullRequest(number: $n) { state headRefOid author { login __typename }
          reviewThreads(first: 50) { nodes { isOutdated line comments(first: 10) { nodes { databaseId body author { login } } } } }
          commits(last: 1) { nodes { commit { checkSuites(first: 10) { nodes { checkRuns(first: 10) { nodes { name conclusion } } } } } } }
        }
        a: object(expression: "main:compose/one.yml") { ... on Blob { oid text isBinary isTruncated byteSize } }
        b: object(expression: "main:nothing") { ... on Blob { oid } } } rateLimit { cost remaining } }"""
    data = (await app.graphql(query, n=pull.number))["data"]
    found = data["repository"]["pullRequest"]
    assert found["reviewThreads"]["nodes"][0]["comments"]["nodes"][0]["author"]["login"] == "seamguard"
    suite = found["commits"]["nodes"][0]["commit"]["checkSuites"]["nodes"][0]
    assert suite["checkRuns"]["nodes"] == [{"name": "Seamguard", "conclusion": "FAILURE"}]
    assert data["repository"]["a"]["text"] == COMPOSE
    assert data["repository"]["b"] is None
    pull.push({"compose/one.yml": COMPOSE.replace("# line 10", "# another")})
    threads = pull.conversation().threads
    assert [thread.comment.outdated for thread in threads] == [True]
    pull.push({"README.md": "# Other\n"})
