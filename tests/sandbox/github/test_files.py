"""Contents, trees, blobs, tarballs, commits, comparisons."""

from __future__ import annotations

import io
import tarfile
from base64 import b64decode
from pathlib import Path

import pytest

from bot.sandbox.github import Hub, RepositoryHandle
from tests.sandbox.github.caller import Caller
from tests.sandbox.github.conftest import COMPOSE

R = "/repos/acme/serving"


async def test_a_file_in_base64_and_raw(app: Caller) -> None:
    answer = (await app("GET", f"{R}/contents/compose/one.yml")).ok()
    assert b64decode(answer["content"]).decode() == COMPOSE
    raw = await app("GET", f"{R}/contents/compose%2Fone.yml", Accept="application/vnd.github.raw+json")
    assert raw.content.decode() == COMPOSE
    blob = (await app("GET", f"{R}/git/blobs/{answer['sha']}")).ok()
    assert b64decode(blob["content"]).decode() == COMPOSE
    assert (await app("GET", f"{R}/contents/nothing")).status == 404
    assert (await app("GET", f"{R}/contents/README.md?ref=nothing")).status == 404
    assert (await app("GET", f"{R}/git/blobs/{'0' * 40}")).status == 404


async def test_a_large_file_comes_raw_only(repo: RepositoryHandle, app: Caller) -> None:
    repo.commit({"large.txt": "x" * 1_100_000})
    assert (await app("GET", f"{R}/contents/large.txt")).status == 403
    raw = await app("GET", f"{R}/contents/large.txt", Accept="application/vnd.github.raw+json")
    assert len(raw.content) == 1_100_000
    listed = (await app("GET", f"{R}/contents/large.txt", Accept="application/vnd.github.object+json")).ok()
    assert (listed["content"], listed["encoding"]) == ("", "none")


async def test_a_link_is_followed_to_a_file(repo: RepositoryHandle, app: Caller) -> None:
    record = repo.record
    files = {"link": "compose/one.yml", "lost": "nowhere"}
    modes = dict.fromkeys(files, "120000")
    tip = record.store.commit(files, [repo.tip], "Link", "maintainer", repo.hub.clock.now(), modes)
    record.branches["main"] = tip
    assert b64decode((await app("GET", f"{R}/contents/link")).ok()["content"]).decode() == COMPOSE
    assert (await app("GET", f"{R}/git/trees/main?recursive=1")).ok()["tree"][-1]["mode"] == "120000"


@pytest.mark.parametrize("value", ["1", "0", "false"])
async def test_any_value_means_a_recursive_tree(app: Caller, value: str) -> None:
    answer = (await app("GET", f"{R}/git/trees/main?recursive={value}")).ok()
    paths = [(entry["path"], entry["type"]) for entry in answer["tree"]]
    assert paths == [("README.md", "blob"), ("compose", "tree"), ("compose/one.yml", "blob"), ("logo.bin", "blob")]
    assert not answer["truncated"]


async def test_a_tree_is_cut_at_a_limit_and_walked_below(hub: Hub, app: Caller) -> None:
    hub.max_tree_entries = 2
    answer = (await app("GET", f"{R}/git/trees/main?recursive=1")).ok()
    assert (len(answer["tree"]), answer["truncated"]) == (2, True)
    below = (await app("GET", f"{R}/git/trees/{answer['tree'][1]['sha']}")).ok()
    assert [entry["path"] for entry in below["tree"]] == ["one.yml"]


async def test_the_tree_of_an_empty_repository(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    hub.repository("acme/empty")
    assert (await app("GET", "/repos/acme/empty/git/trees/main")).status == 409


async def test_a_tarball_is_on_another_host_that_gets_no_token(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    reply = await app("GET", f"{R}/tarball/main")
    where = reply.headers["Location"]
    assert (reply.status, where.startswith(hub.url)) == (302, False)
    content = (await app.send("GET", where, None, {})).content
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        names = archive.getnames()
    assert f"acme-serving-{repo.tip[:7]}/compose/one.yml" in names
    assert hub.leaks == []
    assert (await app("GET", where)).status == 400
    assert len(hub.leaks) == 1


async def test_a_private_tarball_needs_the_link(hub: Hub, app: Caller) -> None:
    hub.repository("acme/private", {"a": "b"}, private=True)
    where = (await app("GET", "/repos/acme/private/tarball/main")).headers["Location"]
    assert (await app.send("GET", where.partition("?")[0], None, {})).status == 404
    assert (await app.send("GET", where, None, {})).status == 200


async def test_history_and_comparison(repo: RepositoryHandle, app: Caller) -> None:
    begin = repo.tip
    second = repo.commit({"compose/one.yml": COMPOSE + "    # more\n"}, "Second")
    pull = repo.open_pull({"README.md": "# Other\n"})
    repo.commit({"only-on-main.txt": "x"}, "Third")
    history = (await app("GET", f"{R}/commits?path=compose/one.yml")).ok()
    assert [commit["sha"] for commit in history] == [second, begin]
    answer = (await app("GET", f"{R}/compare/main...{pull.head}")).ok()
    assert (answer["status"], answer["ahead_by"], answer["behind_by"]) == ("diverged", 1, 1)
    assert answer["merge_base_commit"]["sha"] == second
    assert [file["filename"] for file in answer["files"]] == ["README.md"]
    for left, right, status in (("main", "main", "identical"), (begin, "main", "ahead"), ("main", begin, "behind")):
        assert (await app("GET", f"{R}/compare/{left}...{right}")).ok()["status"] == status
    assert (await app("GET", f"{R}/compare/main...{'0' * 40}")).status == 404
    sha = await app("GET", f"{R}/commits/main", Accept="application/vnd.github.sha")
    assert sha.content.decode() == repo.tip
    assert (await app("GET", f"{R}/commits/nothing")).status == 422


async def test_pages_are_linked_by_the_repositorys_number(repo: RepositoryHandle, app: Caller) -> None:
    for index in range(5):
        repo.commit({"count": str(index)})
    seen: list[str] = []
    path: str | None = f"{R}/commits?per_page=2"
    while path is not None:
        reply = await app("GET", path)
        seen += [commit["sha"] for commit in reply.ok()]
        links = dict(part.split("; rel=")[::-1] for part in reply.headers.get("Link", "").split(", ") if part)
        path = links.get('"next"', "").strip("<>") or None
        assert path is None or f"/repositories/{repo.record.id}/commits" in path
    assert seen == repo.record.store.history(repo.tip)
    assert len(seen) == 6


@pytest.mark.parametrize("query", ["per_page=101", "per_page=0", "per_page=x", "page=0"])
async def test_pages_are_of_a_hundred_at_most(app: Caller, query: str) -> None:
    assert (await app("GET", f"{R}/pulls?{query}")).status == 422


async def test_a_renamed_repository_is_still_found(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    hub.rename(repo.record, "renamed")
    reply = await app("GET", f"{R}/contents/README.md?ref=main")
    assert reply.status == 301
    where = reply.headers["Location"]
    assert where.startswith(f"{hub.url}/repositories/{repo.record.id}/contents/README.md")
    assert (await app("GET", where)).ok()["name"] == "README.md"
    assert (await app("GET", "/repos/acme/renamed")).ok()["full_name"] == "acme/renamed"


async def test_a_history_of_git_is_taken_over(hub: Hub, tmp_path: Path) -> None:
    from bot.sandbox import sample_repository

    with sample_repository() as root:
        repo = hub.repository("acme/sample", root)
    assert set(repo.record.tags) == {"before", "after"}
    assert repo.record.branches[repo.record.default_branch] == repo.record.tags["after"]


async def test_what_releases_are_and_what_tags_are(repo: RepositoryHandle, app: Caller) -> None:
    assert (await app("GET", f"{R}/releases/latest")).status == 404
    repo.release("v1")
    repo.release("v2", prerelease=True)
    repo.release("v3", draft=True)
    repo.tag("bare")
    assert (await app("GET", f"{R}/releases/latest")).ok()["tag_name"] == "v1"
    assert [each["tag_name"] for each in (await app("GET", f"{R}/releases")).ok()] == ["v2", "v1"]
    assert [each["name"] for each in (await app("GET", f"{R}/tags")).ok()] == ["v3", "v2", "v1", "bare"]
    assert (await app("GET", f"{R}/git/ref/tags/bare")).ok()["object"]["sha"] == repo.tip


@pytest.mark.parametrize(
    ("login", "permission", "role"),
    [
        ("maintainer", "write", "write"),
        ("chief", "admin", "admin"),
        ("keeper", "write", "maintain"),
        ("sorter", "read", "triage"),
        ("passer-by", "read", "read"),
    ],
)
async def test_what_people_may_do(
    hub: Hub, repo: RepositoryHandle, app: Caller, login: str, permission: str, role: str
) -> None:
    repo.collaborator("chief", "admin")
    repo.collaborator("keeper", "maintain")
    repo.collaborator("sorter", "triage")
    hub.user("passer-by")
    answer = (await app("GET", f"{R}/collaborators/{login}/permission")).ok()
    assert (answer["permission"], answer["role_name"]) == (permission, role)
    assert (await app("GET", f"{R}/collaborators/nobody-at-all/permission")).status == 404
