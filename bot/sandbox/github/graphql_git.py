"""Accounts, files, commits and checks in GraphQL."""

from __future__ import annotations

from bot.sandbox.github import checks, revisions
from bot.sandbox.github.call import Call
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.graphql_types import Field, Object, check, connection
from bot.sandbox.github.model import CheckRun, CheckSuite, Json, Repository, User, node_id

MAX_TEXT_BYTES = 512_000
"""`Blob.text` is cut there, and `isTruncated` says so."""


def actor(call: Call, who: User) -> Object:
    """An account. A bot's login has no "[bot]" here, unlike in REST."""
    login = who.login.removesuffix("[bot]") if who.kind == "Bot" else who.login
    prefix = {"User": "U", "Bot": "BOT", "Organization": "O"}[who.kind]
    fields = {
        "id": node_id(prefix, who.id),
        "databaseId": who.id,
        "login": login,
        "url": f"{call.hub.web_url}/{login}",
        "avatarUrl": Field(f"{call.hub.web_url}/avatars/u/{who.id}?v=4", "size"),
    }
    return Object(who.kind, fields, "Actor Node RepositoryOwner")


def reference(call: Call, which: Repository, name: str, sha: str) -> Object:
    """A branch."""
    fields = {
        "id": node_id("REF", which.id),
        "name": name,
        "prefix": "refs/heads/",
        "target": lambda _: commit(call, which, sha),
    }
    return Object("Ref", fields)


def git_object(call: Call, which: Repository, given: Json) -> Object | None:
    """What an id, or an expression like "main:folder/file", names; None for nothing."""
    check(call, which, "contents:read")
    store, expression = which.store, given.get("oid") or given.get("expression") or ""
    revision, colon, path = str(expression).partition(":")
    if not colon:
        kind = store.kind(revision)
        if kind == "blob" and len(revision) == 40:
            return blob(revision, store.blob(revision) or b"")
        if kind == "tree":
            return tree(call, which, revision, "")
        sha = revisions.resolve(which, revision)
        return None if sha is None else commit(call, which, sha)
    sha = revisions.resolve(which, revision)
    if sha is None:
        return None
    found = store.named(f"{sha}:{path}")
    if found is None:
        return None
    kind, found_sha, content = found
    return tree(call, which, found_sha, path) if kind == "tree" else blob(found_sha, content)


def blob(sha: str, content: bytes) -> Object:
    """A file. `text` is None when it is binary."""
    binary = b"\0" in content[:8_000]
    text = None if binary else content[:MAX_TEXT_BYTES].decode("utf-8", "replace")
    fields = {
        "id": node_id("B", int(sha[:12], 16)),
        "oid": sha,
        "abbreviatedOid": sha[:7],
        "byteSize": len(content),
        "isBinary": binary,
        "isTruncated": len(content) > MAX_TEXT_BYTES,
        "text": text,
    }
    return Object("Blob", fields, "GitObject Node")


def tree(call: Call, which: Repository, sha: str, path: str) -> Object:
    """A directory."""

    def entries(_: Json) -> list[Object]:
        return [
            Object(
                "TreeEntry",
                {
                    "name": each.path,
                    "path": f"{path}/{each.path}".lstrip("/"),
                    "type": each.kind,
                    "mode": int(each.mode, 8),
                    "oid": each.sha,
                    "size": each.size or 0,
                    "object": Field(lambda _, each=each: git_object(call, which, {"oid": each.sha})),
                },
                "",
            )
            for each in which.store.tree(sha, recursive=False)
        ]

    fields = {"id": node_id("T", int(sha[:12], 16)), "oid": sha, "abbreviatedOid": sha[:7], "entries": entries}
    return Object("Tree", fields, "GitObject Node")


def commit(call: Call, which: Repository, sha: str) -> Object:
    """A commit with its check suites."""
    data = which.store.describe(sha)
    suites = [each for each in which.suites.values() if each.head_sha == sha]

    def filtered(given: Json) -> list[CheckSuite]:
        check(call, which, "checks:read")
        wanted = given.get("filterBy") or {}
        names = {each.suite.id for each in which.runs.values() if wanted.get("checkName") in (None, each.name)}
        return [
            each
            for each in suites
            if wanted.get("appId") in (None, each.app.id) and (wanted.get("checkName") is None or each.id in names)
        ]

    return Object(
        "Commit",
        {
            "id": node_id("C", int(sha[:12], 16)),
            "oid": sha,
            "abbreviatedOid": sha[:7],
            "message": data.message,
            "messageHeadline": data.message.partition("\n")[0],
            "committedDate": data.when,
            "authoredDate": data.when,
            "tree": lambda _: tree(call, which, data.tree, ""),
            "checkSuites": connection("CheckSuite", filtered, lambda each: suite(call, which, each), "filterBy"),
        },
        "GitObject Node",
    )


def suite(call: Call, which: Repository, one: CheckSuite) -> Object:
    """A check suite with its runs."""
    runs = [each for each in which.runs.values() if each.suite is one]
    status, conclusion = checks.state(one, runs)

    def filtered(given: Json) -> list[CheckRun]:
        wanted = given.get("filterBy") or {}
        found = runs
        if wanted.get("checkType", "LATEST") == "LATEST":
            found = list({each.name: each for each in runs}.values())
        return [
            each
            for each in found
            if wanted.get("checkName") in (None, each.name) and wanted.get("appId") in (None, one.app.id)
        ]

    app = {"id": node_id("A", one.app.id), "databaseId": one.app.id, "slug": one.app.slug, "name": one.app.name}
    fields = {
        "id": node_id("CS", one.id),
        "databaseId": one.id,
        "status": status.upper(),
        "conclusion": conclusion and conclusion.upper(),
        "app": Object("App", app),
        "commit": lambda _: commit(call, which, one.head_sha),
        "checkRuns": connection("CheckRun", filtered, lambda each: run(call, which, each), "filterBy"),
    }
    return Object("CheckSuite", fields)


def run(call: Call, which: Repository, one: CheckRun) -> Object:
    """A check run."""
    page = f"{call.hub.web_url}/{which.full_name}/runs/{one.id}"
    fields = {
        "id": node_id("CR", one.id),
        "databaseId": one.id,
        "name": one.name,
        "status": one.status.upper(),
        "conclusion": one.conclusion and one.conclusion.upper(),
        "externalId": one.external_id or None,
        "detailsUrl": one.details_url or page,
        "url": page,
        "title": one.title,
        "summary": one.summary,
        "text": one.text,
        "startedAt": stamp(one.started_at),
        "completedAt": stamp(one.completed_at),
        "checkSuite": lambda _: suite(call, which, one.suite),
    }
    return Object("CheckRun", fields)
