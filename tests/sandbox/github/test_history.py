"""An upstream's history: branches, tags, picks, reverts, and what issues and pull requests say of each other."""

from __future__ import annotations

from bot.sandbox.github import RepositoryHandle
from tests.sandbox.github.caller import Caller

R = "/repos/acme/serving"


async def test_references_are_listed_at_once_and_annotated_tags_name_their_object(
    repo: RepositoryHandle, app: Caller
) -> None:
    repo.tag("v0.1.0")
    repo.tag("v0.2.0", message="Second")
    repo.branch("releases/v0.2.0")
    found = (await app("GET", f"{R}/git/matching-refs/tags/v0", None)).ok()
    assert [(ref["ref"], ref["object"]["type"]) for ref in found] == [
        ("refs/tags/v0.1.0", "commit"),
        ("refs/tags/v0.2.0", "tag"),
    ]
    tag = (await app("GET", f"{R}/git/tags/{found[1]['object']['sha']}")).ok()
    assert (tag["tag"], tag["object"]) == ("v0.2.0", {**tag["object"], "type": "commit", "sha": repo.tip})
    listed = (await app("GET", f"{R}/git/matching-refs/heads/releases")).ok()
    assert [ref["ref"] for ref in listed] == ["refs/heads/releases/v0.2.0"]
    assert (await app("GET", f"{R}/git/matching-refs/heads/nothing")).ok() == []


async def test_a_squash_a_pick_and_a_revert_say_what_they_are(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"README.md": "# Fixed\n"}, title="Fix it", number=48375)
    repo.branch("releases/v0.1.0")
    fix = pull.merge(squash=True)
    picked = repo.cherry_pick(fix, "releases/v0.1.0", traced=True)
    reverted = repo.revert(fix, number=48400)
    messages = {}
    for sha in (fix, picked, reverted):
        commit = (await app("GET", f"{R}/git/commits/{sha}")).ok()
        assert len(commit["parents"]) == 1
        messages[sha] = commit["message"]
    assert messages[fix] == "Fix it (#48375)"
    assert messages[picked] == f"Fix it (#48375)\n\n(cherry picked from commit {fix})"
    assert messages[reverted] == f'Revert "Fix it (#48375)" (#48400)\n\nThis reverts commit {fix}.'
    assert repo.record.store.read(picked, "README.md") == b"# Fixed\n"
    assert repo.record.store.read(reverted, "README.md") == b"# Serving\n"
    merged = (await app("GET", f"{R}/pulls/48375")).ok()
    assert (merged["merged"], merged["merge_commit_sha"]) == (True, fix)
    assert (await app("GET", f"{R}/git/commits/{fix[:10]}")).status == 404


async def test_a_timeline_has_comments_and_those_that_name_it(repo: RepositoryHandle, app: Caller) -> None:
    pull = repo.open_pull({"a.txt": "a"}, title="First")
    pull.comment("maintainer", "In favour of #2.")
    repo.open_pull({"b.txt": "b"}, branch="second", title="Second", body=f"Supersedes #{pull.number}.")
    found = (await app("GET", f"{R}/issues/{pull.number}/timeline")).ok()
    assert [event["event"] for event in found] == ["commented", "cross-referenced"]
    assert found[1]["source"]["issue"]["number"] == 2
    assert "pull_request" in found[1]["source"]["issue"]


async def test_an_unchanged_answer_costs_a_token_nothing(repo: RepositoryHandle, app: Caller) -> None:
    path = f"{R}/git/matching-refs/tags/v"
    first = await app("GET", path)
    used = first.headers["X-RateLimit-Used"]
    again = await app("GET", path, If_None_Match=first.headers["ETag"])
    assert (again.status, again.headers["X-RateLimit-Used"]) == (304, used)
    repo.tag("v9.9.9")
    assert (await app("GET", path, If_None_Match=first.headers["ETag"])).status == 200
