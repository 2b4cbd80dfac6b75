"""Pull requests, their files, forks and what becomes of them."""

from __future__ import annotations

import pytest

from bot.sandbox.github import Hub, RepositoryHandle
from bot.sandbox.github.pull import PullHandle
from tests.sandbox.github.caller import Caller
from tests.sandbox.github.conftest import COMPOSE

R = "/repos/acme/serving"


async def test_the_files_of_a_pull_request(repo: RepositoryHandle, app: Caller) -> None:
    repo.commit({"gone.txt": "x\n", "old/name.txt": COMPOSE})
    files = {
        "compose/one.yml": COMPOSE.replace("# line 10", "# LINE 10"),
        "gone.txt": None,
        "new.txt": "a\nb",
        "old/name.txt": None,
        "new/name.txt": COMPOSE + "    # more\n",
        "logo.bin": b"\0\1\2\3",
        "huge.txt": "line\n" * 21_000,
        "wide.txt": "x" * 600_000,
        "wëird näme.txt": "y\n",
    }
    pull = repo.open_pull(files)
    found = {each["filename"]: each for each in (await app("GET", f"{R}/pulls/{pull.number}/files")).ok()}
    assert {name: each["status"] for name, each in found.items()} == {
        "compose/one.yml": "modified",
        "gone.txt": "removed",
        "new.txt": "added",
        "new/name.txt": "renamed",
        "logo.bin": "modified",
        "huge.txt": "added",
        "wide.txt": "added",
        "wëird näme.txt": "added",
    }
    assert found["new/name.txt"]["previous_filename"] == "old/name.txt"
    assert {name for name, each in found.items() if "patch" not in each} == {"logo.bin", "huge.txt", "wide.txt"}
    assert found["new.txt"]["patch"] == "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file"
    store = repo.record.store
    assert found["gone.txt"]["sha"] == store.tree(repo.tip, recursive=True)[3].sha
    assert store.blob(found["new.txt"]["sha"]) == b"a\nb"


async def test_a_pure_rename_and_a_change_of_mode_have_no_patch(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"README.md": None, "readme.md": "# Serving\n"})
    record = repo.record
    tip = record.store.commit(
        {"compose/one.yml": COMPOSE},
        [pull.head],
        "Mode",
        "contributor",
        repo.hub.clock.now(),
        {"compose/one.yml": "100755"},
    )
    record.branches["change"] = pull.record.head_sha = tip
    files = (await app("GET", f"{R}/pulls/1/files")).ok()
    assert [(each["filename"], each["status"], each.get("patch")) for each in files] == [
        ("compose/one.yml", "modified", None),
        ("readme.md", "renamed", None),
    ]


async def test_many_files_come_in_pages(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({f"many/{index:03}.txt": "x\n" for index in range(120)})
    assert len((await app("GET", f"{R}/pulls/{pull.number}/files")).ok()) == 30
    last = (await app("GET", f"{R}/pulls/{pull.number}/files?per_page=100&page=2")).ok()
    assert [each["filename"] for each in last][::19] == ["many/100.txt", "many/119.txt"]


async def test_files_are_compared_with_the_merge_base(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"new.txt": "x\n"})
    opened_on = pull.record.base_sha
    repo.commit({"README.md": "# Moved on\n"})
    assert [each["filename"] for each in (await app("GET", f"{R}/pulls/1/files")).ok()] == ["new.txt"]
    assert (await app("GET", f"{R}/pulls/1")).ok()["base"]["sha"] == opened_on
    pull.push({"new.txt": "y\n"})
    assert (await app("GET", f"{R}/pulls/1")).ok()["base"]["sha"] == repo.tip


async def test_a_pull_request_of_a_fork(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"new.txt": "x\n"}, author="stranger", fork=True)
    answer = (await app("GET", f"{R}/pulls/1")).ok()
    assert answer["head"]["repo"]["full_name"] == "stranger/serving"
    assert answer["head"]["label"] == "stranger:change"
    # Its commits are reachable in the base repository.
    assert (await app("GET", f"{R}/contents/new.txt?ref={pull.head}")).status == 200
    assert [each["number"] for each in (await app("GET", f"{R}/commits/{pull.head}/pulls")).ok()] == [1]
    run = (await app("POST", f"{R}/check-runs", {"name": "S", "head_sha": pull.head})).ok(201)
    assert run["pull_requests"] == []
    pull.push({"new.txt": "y\n"})
    assert (await app("GET", f"{R}/pulls/1")).ok()["head"]["sha"] == pull.head
    fork = pull.record.head_repository
    assert fork is not None
    hub.delete(fork)
    answer = (await app("GET", f"{R}/pulls/1")).ok()
    assert answer["head"]["repo"] is None
    assert (await app("GET", f"{R}/pulls")).ok()[0]["head"]["repo"] is None


async def test_the_list_of_pull_requests(repo: RepositoryHandle, app: Caller) -> None:
    repo.open_pull({"a": "1"}, branch="one").close()
    repo.open_pull({"b": "1"}, branch="two")
    repo.open_pull({"c": "1"}, branch="three")
    for query, numbers in (("", [3, 2]), ("?state=all", [3, 2, 1]), ("?state=closed", [1]), ("?head=acme:two", [2])):
        assert [each["number"] for each in (await app("GET", f"{R}/pulls{query}")).ok()] == numbers
    assert (await app("GET", f"{R}/pulls?state=draft")).status == 422


async def test_a_merge_brings_the_changes_to_the_base(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"new.txt": "x\n", "README.md": None})
    repo.commit({"other.txt": "x"})
    queued = repo.add_to_merge_queue(pull)
    assert repo.record.store.read(queued, "new.txt") == b"x\n"
    merged = pull.merge()
    assert repo.tip == merged
    assert [repo.record.store.read(merged, path) for path in ("new.txt", "other.txt", "README.md")] == [
        b"x\n",
        b"x",
        None,
    ]
    answer = (await app("GET", f"{R}/pulls/1")).ok()
    assert (answer["state"], answer["merged"], answer["merge_commit_sha"]) == ("closed", True, merged)


async def test_a_conflict_is_not_mergeable(repo: RepositoryHandle, app: Caller) -> None:
    repo.open_pull({"README.md": "# A\n"})
    assert (await app("GET", f"{R}/pulls/1")).ok()["mergeable"] is True
    repo.commit({"README.md": "# B\n"})
    assert (await app("GET", f"{R}/pulls/1")).ok()["mergeable"] is False


async def test_a_rebase_keeps_the_changes(repo: RepositoryHandle) -> None:
    pull = repo.open_pull({"README.md": None, "read.md": "# Serving\n", "new.txt": "x\n"})
    before = pull.head
    repo.commit({"other.txt": "x"})
    pull.rebase()
    store = repo.record.store
    assert not store.contains(pull.head, before)
    assert store.contains(pull.head, repo.tip)
    assert [store.read(pull.head, path) for path in ("read.md", "new.txt", "README.md")] == [
        b"# Serving\n",
        b"x\n",
        None,
    ]


async def test_the_base_branch_can_be_changed(repo: RepositoryHandle, app: Caller) -> None:
    repo.commit({"release.txt": "x"}, branch="release")
    pull = repo.open_pull({"new.txt": "x\n"})
    pull.rebase_onto("release")
    assert (await app("GET", f"{R}/pulls/1")).ok()["base"]["ref"] == "release"


def test_a_pull_request_whose_fork_is_gone_takes_no_push(hub: Hub, repo: RepositoryHandle) -> None:
    pull: PullHandle = repo.open_pull({"new.txt": "x\n"}, author="stranger", fork=True)
    assert pull.record.head_repository is not None
    hub.delete(pull.record.head_repository)
    with pytest.raises(ValueError, match="was deleted"):
        pull.push({"a": "b"})
