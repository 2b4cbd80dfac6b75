"""GraphQL: a pull request's state and many files in one request; folding comments; errors that come with a 200."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.github import Hub, RepositoryHandle
from bot.sandbox.github.graphql_language import MAX_DEPTH, SyntaxFault, Variable, parse
from tests.sandbox.github.caller import Caller
from tests.sandbox.github.conftest import COMPOSE

R = "/repos/acme/serving"

STATE = """
query State($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    databaseId
    defaultBranchRef { name target { oid } }
    pullRequest(number: $number) {
      state isDraft headRefOid baseRefName isCrossRepository
      baseRef { target { oid } }
      headRepository { nameWithOwner }
      author { ...who }
      comments(first: 100) {
        pageInfo { hasNextPage endCursor }
        nodes { id databaseId body isMinimized minimizedReason viewerDidAuthor author { ...who } }
      }
      reviewThreads(first: 100) {
        nodes {
          isOutdated path line originalLine subjectType
          comments(first: 50) {
            nodes { id databaseId body isMinimized author { ...who } originalCommit { oid } replyTo { databaseId } }
          }
        }
      }
      reviews(last: 20) { nodes { databaseId body state commit { oid } } }
      commits(last: 1) {
        nodes { commit { oid checkSuites(first: 10) {
          nodes { app { slug } checkRuns(first: 20) { nodes { databaseId name status conclusion externalId } } }
        } } }
      }
    }
  }
  rateLimit { cost remaining resetAt }
}
fragment who on Actor { login __typename ... on Bot { databaseId } }
"""


async def test_the_state_of_a_pull_request(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"compose/one.yml": COMPOSE.replace("# line 10", "# LINE 10")}, author="stranger", fork=True)
    pull.comment("maintainer", "/recheck")
    (await app("POST", f"{R}/issues/1/comments", {"body": "Summary"})).ok(201)
    line = {"path": "compose/one.yml", "line": 10, "body": "Look."}
    (await app("POST", f"{R}/pulls/1/reviews", {"event": "COMMENT", "body": "One.", "comments": [line]})).ok()
    root = pull.conversation().threads[0].comment
    pull.reply("stranger", root, "Why?")
    (await app("POST", f"{R}/check-runs", {"name": "S", "head_sha": pull.head, "conclusion": "failure"})).ok(201)
    data = (await app.graphql(STATE, owner="acme", name="serving", number=1))["data"]
    found = data["repository"]["pullRequest"]
    assert (found["state"], found["headRefOid"], found["isCrossRepository"]) == ("OPEN", pull.head, True)
    assert found["baseRef"]["target"]["oid"] == repo.tip
    assert [each["body"] for each in found["comments"]["nodes"]] == ["/recheck", "Summary"]
    bot = found["comments"]["nodes"][1]["author"]
    # A bot's login has no "[bot]" here.
    assert bot == {"login": "seamguard", "__typename": "Bot", "databaseId": app.installation.app.bot.id}
    assert [each["viewerDidAuthor"] for each in found["comments"]["nodes"]] == [False, True]
    (thread,) = found["reviewThreads"]["nodes"]
    assert [each["replyTo"] for each in thread["comments"]["nodes"]] == [None, {"databaseId": root.id}]
    assert (thread["line"], thread["isOutdated"]) == (10, False)
    (suite,) = found["commits"]["nodes"][0]["commit"]["checkSuites"]["nodes"]
    assert suite["checkRuns"]["nodes"][0]["conclusion"] == "FAILURE"
    assert data["rateLimit"]["cost"] == 1
    pull.push({"compose/one.yml": COMPOSE})
    (thread,) = (await app.graphql(STATE, owner="acme", name="serving", number=1))["data"]["repository"]["pullRequest"][
        "reviewThreads"
    ]["nodes"]
    assert (thread["line"], thread["originalLine"], thread["isOutdated"]) == (None, 10, True)


async def test_many_files_in_one_request(repo: RepositoryHandle, app: Caller) -> None:
    repo.commit({"long.txt": "é" * 300_000, "latin.txt": b"caf\xe9"})
    names = ["compose/one.yml", "logo.bin", "long.txt", "nothing", "compose"]
    fields = "... on Blob { oid byteSize isBinary isTruncated text }"
    wanted = " ".join(
        f'f{n}: object(expression: "main:{name}") {{ __typename {fields} }}' for n, name in enumerate(names)
    )
    sha = repo.record.store.entry(repo.tip, "README.md")
    assert sha is not None
    wanted += f' byId: object(oid: "{sha.sha}") {{ {fields} }}'
    data = (await app.graphql(f'{{ repository(owner: "acme", name: "serving") {{ {wanted} }} }}'))["data"]["repository"]
    assert data["f0"]["text"] == COMPOSE
    assert (data["f1"]["isBinary"], data["f1"]["text"]) == (True, None)
    assert (data["f2"]["isTruncated"], data["f2"]["byteSize"], len(data["f2"]["text"].encode())) == (
        True,
        600_000,
        512_000,
    )
    assert data["f3"] is None
    assert data["f4"] == {"__typename": "Tree"}
    assert data["byId"]["text"] == "# Serving\n"


MINIMISE = """mutation($id: ID!, $why: ReportedContentClassifiers!) {
  minimizeComment(input: {subjectId: $id, classifier: $why}) { minimizedComment { isMinimized minimizedReason } } }"""


async def test_comments_are_folded(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"compose/one.yml": COMPOSE.replace("# line 10", "# LINE 10")})
    made = (await app("POST", f"{R}/issues/1/comments", {"body": "Summary"})).ok(201)
    line = {"path": "compose/one.yml", "line": 10, "body": "Look.", "commit_id": pull.head}
    inline = (await app("POST", f"{R}/pulls/1/comments", line)).ok(201)
    for node in (made["node_id"], inline["node_id"]):
        answer = await app.graphql(MINIMISE, id=node, why="OUTDATED")
        folded = answer["data"]["minimizeComment"]["minimizedComment"]
        assert folded == {"isMinimized": True, "minimizedReason": "outdated"}
    assert pull.conversation().threads[0].folded
    assert (await app("GET", f"{R}/issues/comments/{made['id']}")).ok()["minimized"] == {"reason": "outdated"}
    back = 'mutation { unminimizeComment(input: {subjectId: "%s"}) { unminimizedComment { isMinimized } } }'
    await app.graphql(back % inline["node_id"])
    assert not pull.conversation().threads[0].folded


async def _errors(app: Caller, query: str, **variables: Any) -> list[Any]:
    answer = await app.graphql(query, **variables)
    return [
        error.get("type") or error.get("extensions", {}).get("code") or error["message"] for error in answer["errors"]
    ]


async def test_errors_come_with_a_200(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    repo.open_pull({"a": "b"})
    inside = 'repository(owner: "acme", name: "serving")'
    assert await _errors(app, '{ repository(owner: "acme", name: "none") { id } }') == ["NOT_FOUND"]
    assert await _errors(app, f"{{ {inside} {{ pullRequest(number: 9) {{ id }} }} }}") == ["NOT_FOUND"]
    assert await _errors(app, MINIMISE, id="nothing", why="OUTDATED") == ["NOT_FOUND"]
    assert await _errors(app, f"{{ {inside} {{ nam }} }}") == ["undefinedField"]
    assert await _errors(app, f"{{ {inside} {{ object(path: 1) {{ id }} }} }}") == ["argumentNotAccepted"]
    assert await _errors(app, f"{{ {inside} {{ owner }} }}") == ["selectionMismatch"]
    many = "pullRequest(number: 1) { comments { nodes { id } } }"
    assert await _errors(app, f"{{ {inside} {{ {many} }} }}") == ["MISSING_PAGINATION_BOUNDARIES"]
    many = many.replace("comments", "comments(first: 101)")
    assert await _errors(app, f"{{ {inside} {{ {many} }} }}") == ["EXCESSIVE_PAGINATION"]
    assert await _errors(app, "{ viewer { ") == ["Unexpected end of document"]
    deep = "reviews(first: 100) { nodes { comments(first: 100) { nodes { id } } } }"
    wide = f"pullRequests(first: 100) {{ nodes {{ {deep} }} }}"
    assert "maximum limit" in (await _errors(app, f"{{ {inside} {{ {wide} }} }}"))[0]
    hub.set_permissions(app.installation, {"contents": "read"})
    answer = await app.graphql(f"{{ {inside} {{ name pullRequest(number: 1) {{ id }} }} }}")
    assert answer["data"]["repository"] == {"name": "serving", "pullRequest": None}
    assert [(each["type"], each["path"]) for each in answer["errors"]] == [("FORBIDDEN", ["repository", "pullRequest"])]


async def test_a_private_repository_of_others_does_not_exist(hub: Hub, app: Caller) -> None:
    hub.repository("other/secret", {"a": "b"}, private=True)
    assert await _errors(app, '{ repository(owner: "other", name: "secret") { id } }') == ["NOT_FOUND"]


async def test_resolving_threads_needs_more_than_a_reviewer_has(app: Caller) -> None:
    query = 'mutation { resolveReviewThread(input: {threadId: "x"}) { clientMutationId } }'
    assert await _errors(app, query) == ["FORBIDDEN"]


async def test_the_primary_limit_comes_with_a_200(hub: Hub, app: Caller) -> None:
    hub.limits.exhaust(f"installation-{app.installation.id}", "graphql")
    reply = await app("POST", "/graphql", {"query": "{ viewer { login } }"})
    assert (reply.status, reply.headers["X-RateLimit-Remaining"]) == (200, "0")
    assert reply.json["errors"][0]["type"] == "RATE_LIMIT"
    assert (await app("GET", R)).status == 200


async def test_it_needs_a_token(app: Caller) -> None:
    assert (await app.send("POST", "/graphql", {"query": "{ viewer { login } }"}, {})).status == 401


async def test_pages_forwards_and_backwards(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"a": "b"})
    for index in range(5):
        pull.comment("maintainer", str(index))
    query = """query($first: Int, $last: Int, $after: String, $before: String) {
        repository(owner: "acme", name: "serving") { pullRequest(number: 1) {
            comments(first: $first, last: $last, after: $after, before: $before) {
                totalCount nodes { body } edges { cursor }
                pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } }"""

    async def page(**arguments: Any) -> tuple[str, Any]:
        found = (await app.graphql(query, **arguments))["data"]["repository"]["pullRequest"]["comments"]
        return "".join(each["body"] for each in found["nodes"]), found["pageInfo"]

    text, info = await page(first=2)
    assert (text, info["hasNextPage"], info["hasPreviousPage"]) == ("01", True, False)
    text, info = await page(first=9, after=info["endCursor"])
    assert (text, info["hasNextPage"], info["hasPreviousPage"]) == ("234", False, True)
    text, info = await page(last=2)
    assert text == "34"
    assert (await page(last=2, before=info["startCursor"]))[0] == "12"


async def test_nodes_by_their_id(repo: RepositoryHandle, app: Caller) -> None:
    comment = repo.open_pull({"a": "b"}).comment("maintainer", "Hello")
    query = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on IssueComment { body } } }"
    data = (await app.graphql(query, ids=[comment.node]))["data"]
    assert data["nodes"] == [{"__typename": "IssueComment", "body": "Hello"}]


async def test_fields_can_be_left_out(app: Caller) -> None:
    query = "query($no: Boolean!) { viewer { login @skip(if: $no) databaseId: __typename @include(if: true) } }"
    assert (await app.graphql(query, no=True))["data"] == {"viewer": {"databaseId": "Bot"}}


def test_the_language() -> None:
    document = parse(
        'query A($a: [Int!]! = [1, 2], $b: X) @d { x: y(a: $a, o: {k: "v\\n", e: E}, t: """block""") { ...F } } '
        "fragment F on T { z } # comment"
    )
    (operation,) = document.operations
    assert [(each.name, each.type, each.default) for each in operation.variables] == [
        ("a", "[Int!]!", [1, 2]),
        ("b", "X", None),
    ]
    field: Any = operation.selections[0]
    assert field.arguments == {"a": Variable("a"), "o": {"k": "v\n", "e": "E"}, "t": "block"}
    assert document.fragments["F"].on == "T"


@pytest.mark.parametrize(
    "text", ["", "{", "{ a", "{ }", "query(", "{ a(b: ) }", "{ a(b: %) }", "nothing { a }", "{ a } }"]
)
def test_what_is_no_graphql(text: str) -> None:
    with pytest.raises(SyntaxFault):
        parse(text)


def test_depth_is_bounded() -> None:
    with pytest.raises(SyntaxFault, match="depth"):
        parse("{ a " * (MAX_DEPTH + 1) + "}" * (MAX_DEPTH + 1))
    with pytest.raises(SyntaxFault, match="depth"):
        parse("{ a(b: " + "[" * 100 + "]" * 100 + ") }")
