"""Trees, blobs and conversations."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.github import blobs
from bot.github.blobcache import BlobCache
from bot.github.errors import Forbidden, NotFound, RateLimited, TooLarge, Unavailable
from bot.github.model import Blob, Edit, PullKey, RepositoryName
from bot.github.objects import blob_id, blob_of
from tests.github.scripted import Asked, Scripted, client, scripted

REPOSITORY = RepositoryName("acme", "serving")
PULL = PullKey(REPOSITORY, 7)
COMMIT = "c" * 40


def sha(content: bytes) -> str:
    return blob_id(content, "0" * 40)


def graphql_blobs(contents: Mapping[str, bytes]) -> Any:
    """Answers a query for blobs as GraphQL does."""

    def answer(asked: Asked) -> Any:
        found: dict[str, Any] = {}
        for part in asked.body["query"].split("object(oid:")[1:]:
            oid = part.split('"')[1]
            content = contents.get(oid)
            alias = f"b{len(found)}"
            if content is None:
                found[alias] = None
            else:
                binary = b"\0" in content
                found[alias] = {
                    "oid": oid,
                    "text": None if binary else content.decode("utf-8", "replace")[:100_000],
                    "isBinary": binary,
                    "isTruncated": len(content) > 100_000,
                    "byteSize": len(content),
                }
        return 200, {"data": {"repository": found}}

    return answer


def test_ids_are_gits() -> None:
    assert blob_id(b"hello\n", "0" * 40) == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert len(blob_id(b"hello\n", "0" * 64)) == 64


async def test_blobs_come_in_batches_and_then_from_the_cache(tmp_path: Path) -> None:
    contents = {sha(f"{n}".encode()): f"{n}".encode() for n in range(100)}
    shas = {f"f{n}": name for n, name in enumerate(contents)}
    cache = BlobCache(tmp_path / "cache")
    async with scripted() as server, client(server, cache=cache) as github:
        server.answers["POST /graphql"] = graphql_blobs(contents)
        found = await github.blobs(REPOSITORY, shas, COMMIT)
        assert {name: blob.text for name, blob in found.items()} == {
            name: content.decode() for name, content in contents.items()
        }
        assert server.paths() == ["POST /graphql"]
        await github.blobs(REPOSITORY, shas, COMMIT)
        assert len(server.paths()) == 1
    async with scripted() as server, client(server, cache=BlobCache(tmp_path / "cache")) as github:
        assert await github.blobs(REPOSITORY, shas, COMMIT) == found
        assert server.paths() == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\0binary", "the file is binary"),
        ("grüße".encode("latin-1"), "the file is not UTF-8"),
        (b"x" * (2 * 1024 * 1024 + 1), "the file is larger than 2 MiB"),
    ],
)
async def test_what_is_no_text_says_why(content: bytes, problem: str) -> None:
    name = sha(content)
    async with scripted() as server, client(server) as github:
        server.answers["POST /graphql"] = graphql_blobs({name: content})
        server.answers[f"GET /repos/acme/serving/git/blobs/{name}"] = (200, content)
        assert await github.blobs(REPOSITORY, {"f": name}, COMMIT) == {name: Blob(name, None, problem)}


async def test_a_long_text_is_read_whole() -> None:
    content = b"0123456789" * 20_000
    name = sha(content)
    async with scripted() as server, client(server) as github:
        server.answers["POST /graphql"] = graphql_blobs({name: content})
        server.answers[f"GET /repos/acme/serving/git/blobs/{name}"] = (200, content)
        assert (await github.blobs(REPOSITORY, {"f": name}, COMMIT))[name].text == content.decode()


def tarball(files: Mapping[str, bytes], *members: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, content in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for member in members:
            archive.addfile(member)
    return buffer.getvalue()


def many(count: int) -> tuple[dict[str, bytes], dict[str, str]]:
    files = {f"deploy/{n}.yml": f"services: {n}".encode() for n in range(count)}
    return files, {path: sha(content) for path, content in files.items()}


def serves_tarball(server: Scripted, other: Scripted, content: bytes) -> None:
    server.answers[f"GET /repos/acme/serving/tarball/{COMMIT}"] = (302, {}, {"Location": f"{other.url}/archive?key=1"})
    other.answers["GET /archive"] = (200, content)


async def test_many_missing_blobs_are_one_download_without_the_token() -> None:
    files, shas = many(500)
    link = tarfile.TarInfo("top/link.yml")
    link.type, link.linkname = tarfile.SYMTYPE, "deploy/1.yml"
    escape = {"../../etc/passwd": b"root", "/etc/shadow": b"root"}
    shas["link.yml"] = sha(b"deploy/1.yml")
    content = tarball({**escape, **{f"top/{path}": text for path, text in files.items()}}, link)
    async with scripted() as server, scripted() as other, client(server, downloads=(other.url,)) as github:
        serves_tarball(server, other, content)
        found = await github.blobs(REPOSITORY, shas, COMMIT)
        assert found.keys() == set(shas.values())
        assert server.paths() == [f"GET /repos/acme/serving/tarball/{COMMIT}"]
        assert "Authorization" not in other.asked[0].headers


async def test_what_the_archive_lacks_is_asked_for() -> None:
    files, shas = many(300)
    changed = {**files, "deploy/7.yml": b"export-subst was here"}
    async with scripted() as server, scripted() as other, client(server, downloads=(other.url,)) as github:
        serves_tarball(server, other, tarball({f"top/{path}": text for path, text in changed.items()}))
        server.answers["POST /graphql"] = graphql_blobs({sha(text): text for text in files.values()})
        found = await github.blobs(REPOSITORY, shas, COMMIT)
        assert found[shas["deploy/7.yml"]].text == files["deploy/7.yml"].decode()
        assert server.paths()[1:] == ["POST /graphql"]


@pytest.mark.parametrize(
    "content", [b"no archive", tarball({"top/a": b"x" * 5000})[:-30], b""], ids=["other", "cut", "empty"]
)
async def test_a_damaged_archive_is_replaced_by_batches(content: bytes) -> None:
    files, shas = many(300)
    async with scripted() as server, scripted() as other, client(server, downloads=(other.url,)) as github:
        serves_tarball(server, other, content)
        server.answers["POST /graphql"] = graphql_blobs({sha(text): text for text in files.values()})
        assert (await github.blobs(REPOSITORY, shas, COMMIT)).keys() == set(shas.values())


async def test_an_archive_that_does_not_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "MAX_UNPACKED_BYTES", 100_000)
    files, shas = many(1500)
    bomb = tarball({"top/bomb": b"\0" * 5_000_000, **{f"top/{path}": text for path, text in files.items()}})
    async with scripted() as server, scripted() as other, client(server, downloads=(other.url,)) as github:
        serves_tarball(server, other, bomb)
        with pytest.raises(TooLarge):
            await github.blobs(REPOSITORY, shas, COMMIT)


@pytest.mark.parametrize("count", [60, 150], ids=["in a batch", "in an archive"])
async def test_a_server_does_not_hold_a_repository_of_any_size(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(blobs, "MAX_READ_BYTES", 20_000)
    files = {f"{n}.yml": f"{n}: {'x' * 500}".encode() for n in range(count)}
    async with scripted() as other, scripted() as server, client(server, downloads=(other.url,)) as github:
        serves_tarball(server, other, tarball({f"top/{path}": text for path, text in files.items()}))
        server.answers["POST /graphql"] = graphql_blobs({sha(text): text for text in files.values()})
        with pytest.raises(TooLarge, match="larger than"):
            await github.blobs(REPOSITORY, {path: sha(text) for path, text in files.items()}, COMMIT)


async def test_an_archive_from_elsewhere_is_not_fetched() -> None:
    _, shas = many(300)
    async with scripted() as server, scripted() as other, client(server) as github:
        serves_tarball(server, other, b"")
        with pytest.raises(Exception, match="downloads do not come from"):
            await github.blobs(REPOSITORY, shas, COMMIT)
        assert other.asked == []


async def test_a_tree_is_asked_for_once_per_commit() -> None:
    path = f"GET /repos/acme/serving/git/trees/{COMMIT}"
    entries = [
        {"path": "a.yml", "type": "blob", "mode": "100644", "sha": "1", "size": 3},
        {"path": "d", "type": "tree", "mode": "040000", "sha": "2"},
        {"path": "sub", "type": "commit", "mode": "160000", "sha": "3"},
    ]
    async with scripted() as server, client(server) as github:
        server.answers[path] = (200, {"sha": "0", "tree": entries, "truncated": False})
        first = await github.tree(REPOSITORY, COMMIT)
        assert first is await github.tree(REPOSITORY, COMMIT)
        assert list(first.entries) == ["a.yml"]
        assert server.paths() == [path]
        server.answers["GET /repos/acme/serving/git/trees/main"] = (409, {"message": "Git Repository is empty."})
        assert (await github.tree(REPOSITORY, "main")).entries == {}


async def test_a_truncated_tree_is_walked() -> None:
    def tree(asked: Asked) -> Any:
        blob = {"type": "blob", "mode": "100644", "size": 1}
        name = asked.path.rpartition("/")[2]
        if "recursive" in asked.query and name in ("main", "big"):
            return 200, {"sha": name, "tree": [{"path": "x", "sha": "9", **blob}], "truncated": True}
        content = {
            "main": [{"path": "a", "sha": "1", **blob}, {"path": "big", "type": "tree", "sha": "big"}],
            "big": [{"path": "b", "sha": "2", **blob}, {"path": "sub", "type": "tree", "sha": "sub"}],
            "sub": [{"path": "c/d", "sha": "3", **blob}],
        }[name]
        return 200, {"sha": name, "tree": content, "truncated": False}

    async with scripted() as server, client(server) as github:
        server.answers |= {f"GET /repos/acme/serving/git/trees/{name}": tree for name in ("main", "big", "sub")}
        found = await github.tree(REPOSITORY, "main")
    assert sorted(found.entries) == ["a", "big/b", "big/sub/c/d"]
    assert not found.truncated


async def test_a_cache_on_disk_is_checked_bounded_and_shared(tmp_path: Path) -> None:
    cache = BlobCache(tmp_path, disk_bytes=100)
    contents = [b"%d" % n * 30 for n in range(1, 9)]
    for content in contents:
        cache.put(blob_of(sha(content), content))
    name = sha(contents[0])
    damaged = tmp_path / name[:2] / name[2:]
    damaged.write_bytes(b"forged")
    assert BlobCache(tmp_path).get(name) is None
    assert not damaged.exists()
    cache.sweep()
    assert sum(path.stat().st_size for path in tmp_path.glob("??/*")) <= 100
    assert BlobCache(tmp_path).get("../../etc/passwd") is None
    assert cache.get(name) == Blob(name, contents[0].decode()), "memory still has it"


STATE: dict[str, Any] = {
    "state": "OPEN",
    "isDraft": False,
    "merged": False,
    "author": {"__typename": "User", "login": "ann"},
    "headRefOid": "h",
    "baseRefName": "main",
    "baseRefOid": "old",
    "baseRef": {"target": {"oid": "tip"}},
    "headRepository": None,
    "comments": {"nodes": [], "pageInfo": {"hasPreviousPage": False}},
    "reviewThreads": {"nodes": [], "pageInfo": {"hasPreviousPage": False}},
    "reviews": {"nodes": []},
    "commits": {"nodes": []},
}


def comment(number: int, login: str = "seamguard", kind: str = "Bot", own: bool = True) -> dict[str, Any]:
    return {
        "fullDatabaseId": str(number),
        "id": f"IC_{number}",
        "body": "b",
        "isMinimized": False,
        "viewerDidAuthor": own,
        "author": {"__typename": kind, "login": login},
        "originalCommit": {"oid": "o"},
    }


async def test_a_conversation_is_one_request_with_blobs() -> None:
    content = b"services:\n"
    thread = {
        "path": "a.yml",
        "line": None,
        "comments": {"nodes": [comment(2), comment(3, "ann", "User", own=False), comment(4, "other-bot", own=False)]},
    }
    check = {"databaseId": 9, "name": "Seamguard", "status": "COMPLETED", "conclusion": "FAILURE", "externalId": "e"}
    suites = {"nodes": [{"checkRuns": {"nodes": [check]}}]}
    state = {
        **STATE,
        "comments": {"nodes": [comment(1)], "pageInfo": {"hasPreviousPage": False}},
        "reviewThreads": {"nodes": [thread], "pageInfo": {"hasPreviousPage": False}},
        "commits": {"nodes": [{"commit": {"oid": "h", "checkSuites": suites}}]},
    }

    def answer(asked: Asked) -> Any:
        _, data = graphql_blobs({sha(content): content})(asked)
        data["data"]["repository"] |= {"pullRequest": state, "defaultBranchRef": {"name": "main"}}
        return 200, data

    async with scripted() as server, client(server) as github:
        server.answers["POST /graphql"] = answer
        found, read = await github.conversation(PULL, [sha(content)])
        assert server.paths() == ["POST /graphql"]
        again, read_again = await github.conversation(PULL, [sha(content)])
        assert "object(oid" not in server.asked[-1].body["query"], "what is in the cache is not asked for"
    assert read == read_again
    assert found == again
    assert read[sha(content)].text == "services:\n"
    assert (found.base_sha, found.head_repository, found.is_open, found.complete) == ("tip", None, True, True)
    assert [(c.id, c.kind, c.author_is_app, c.author_login) for c in found.comments] == [
        (1, "issue", True, "seamguard[bot]"),
        (2, "review", True, "seamguard[bot]"),
    ]
    assert [(r.author_login, r.author_is_bot) for r in found.comments[1].replies] == [
        ("ann", False),
        ("other-bot[bot]", True),
    ]
    assert [(c.id, c.status, c.conclusion) for c in found.checks] == [(9, "completed", "failure")]


async def test_a_long_conversation_is_read_to_its_beginning() -> None:
    def answer(asked: Asked) -> Any:
        before = asked.body["variables"].get("before")
        page = {"nodes": [comment(1 if before else 2)], "pageInfo": {"hasPreviousPage": not before, "startCursor": "c"}}
        state = {"comments": page} if before else {**STATE, "comments": page}
        return 200, {"data": {"repository": {"pullRequest": state, "defaultBranchRef": None}}}

    async with scripted() as server, client(server) as github:
        server.answers["POST /graphql"] = answer
        found, _ = await github.conversation(PULL)
    assert [c.id for c in found.comments] == [1, 2]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"data": None, "errors": [{"type": "NOT_FOUND", "message": "no"}]}, NotFound),
        ({"data": {"repository": None}, "errors": [{"type": "NOT_FOUND", "message": "no", "path": ["r"]}]}, NotFound),
        ({"data": {"repository": {"pullRequest": None}}}, NotFound),
        ({"data": None, "errors": [{"message": "Resource not accessible by integration"}]}, Forbidden),
        ({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}, RateLimited),
        ({"errors": [{"type": "RATE_LIMIT", "message": "API rate limit exceeded"}]}, RateLimited),
        ({"data": None, "errors": [{"message": "Something went wrong while executing your query."}]}, Unavailable),
        ({}, Unavailable),
        ([], Unavailable),
    ],
)
async def test_an_answer_of_200_may_be_a_refusal(answer: Any, kind: type[Exception]) -> None:
    async with scripted() as server, client(server) as github:
        server.answers["POST /graphql"] = (200, answer)
        with pytest.raises(kind):
            await github.conversation(PULL)


async def test_amendments_are_one_request() -> None:
    async with scripted() as server, client(server) as github:
        server.answers["POST /graphql"] = (
            200,
            {"data": {"e0": {}, "e1": None, "m0": {}}, "errors": [{"message": "x"}]},
        )
        failed = await github.amend(
            [Edit("IC_1", "issue", "new"), Edit("PRRC_2", "review", "new")], [("PRRC_2", "RESOLVED")]
        )
        body = server.asked[-1].body
    assert failed == ("PRRC_2",)
    assert body["variables"] == {
        "e0": {"id": "IC_1", "body": "new"},
        "e1": {"pullRequestReviewCommentId": "PRRC_2", "body": "new"},
        "m0": {"subjectId": "PRRC_2", "classifier": "RESOLVED"},
    }
    assert "e0: updateIssueComment(input: $e0)" in body["query"]


@pytest.mark.parametrize(
    ("answer", "permission"),
    [
        ((200, {"permission": "admin"}), "admin"),
        ((200, {"permission": "write"}), "write"),
        ((404, {}), "none"),
        ((200, {"permission": "maintain"}), "write"),
        ((200, {"permission": "triage"}), "read"),
        ((200, {}), "none"),
    ],
)
async def test_permissions(answer: Any, permission: str) -> None:
    async with scripted() as server, client(server) as github:
        server.answers["GET /repos/acme/serving/collaborators/ann/permission"] = answer
        assert await github.permission(REPOSITORY, "ann") == permission


def test_hashes_agree_with_hashlib() -> None:
    assert sha(b"") == hashlib.sha1(b"blob 0\0", usedforsecurity=False).hexdigest()
