"""Commits, comparisons, and the files that they change."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.sandbox.github import revisions, shapes
from bot.sandbox.github.call import Answer, Call, Refused, Routes, not_found
from bot.sandbox.github.diffs import FileDiff
from bot.sandbox.github.model import Json, Repository, node_id

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

ROUTES = Routes()

DIFF_BYTES = 1024 * 1024
DIFF_LINES = 20_000
"""Of a whole comparison; files after that have no patch (facts, section 5)."""

MAX_COMPARED_FILES = 300
MAX_COMPARED_COMMITS = 250


def reference(hub: Hub, repository: Repository, sha: str) -> Json:
    """A commit as a link."""
    return {"sha": sha, "url": f"{hub.url}/repos/{repository.full_name}/commits/{sha}"}


def commit(hub: Hub, repository: Repository, sha: str) -> Json:
    """A commit without its files."""
    data = repository.store.describe(sha)
    url = f"{hub.url}/repos/{repository.full_name}"
    page = f"{hub.web_url}/{repository.full_name}/commit"
    who = {"name": data.author, "email": data.email, "date": data.when}
    account = hub.users.get(data.author.lower())
    author = None if account is None else shapes.user(hub, account)
    return {
        "sha": sha,
        "node_id": node_id("C", int(sha[:12], 16)),
        "commit": {
            "author": who,
            "committer": who,
            "message": data.message,
            "tree": {"sha": data.tree, "url": f"{url}/git/trees/{data.tree}"},
            "url": f"{url}/git/commits/{sha}",
            "comment_count": 0,
            "verification": {
                "verified": False,
                "reason": "unsigned",
                "signature": None,
                "payload": None,
                "verified_at": None,
            },
        },
        "url": f"{url}/commits/{sha}",
        "html_url": f"{page}/{sha}",
        "comments_url": f"{url}/commits/{sha}/comments",
        "author": author,
        "committer": author,
        "parents": [
            {"sha": parent, "url": f"{url}/commits/{parent}", "html_url": f"{page}/{parent}"} for parent in data.parents
        ],
    }


def simple(repository: Repository, sha: str) -> Json:
    """A commit as events name it."""
    data = repository.store.describe(sha)
    who = {"name": data.author, "email": data.email}
    return {
        "id": sha,
        "tree_id": data.tree,
        "message": data.message,
        "timestamp": data.when,
        "author": who,
        "committer": who,
    }


def files(hub: Hub, repository: Repository, changed: tuple[FileDiff, ...], head: str) -> list[Json]:
    """Changed files, with patches until the comparison's limits are reached."""
    answer, size, lines = [], 0, 0
    for each in changed:
        patch = each.patch
        size += len((patch or "").encode("utf-8"))
        lines += (patch or "").count("\n")
        entry: Json = {
            "sha": each.sha,
            "filename": each.path,
            "status": each.status,
            "additions": each.additions,
            "deletions": each.deletions,
            "changes": each.additions + each.deletions,
            "blob_url": f"{hub.web_url}/{repository.full_name}/blob/{head}/{quote(each.path)}",
            "raw_url": f"{hub.web_url}/{repository.full_name}/raw/{head}/{quote(each.path)}",
            "contents_url": f"{hub.url}/repos/{repository.full_name}/contents/{quote(each.path)}?ref={head}",
        }
        if patch is not None and size <= DIFF_BYTES and lines <= DIFF_LINES:
            entry["patch"] = patch
        if each.previous is not None:
            entry["previous_filename"] = each.previous
        answer.append(entry)
    return answer


@ROUTES.add("GET", "/repos/{owner}/{repo}/commits", "contents:read")
def list_commits(call: Call) -> Answer:
    """The history of `sha` (default branch without), newest first; of `path` alone when given."""
    repository = call.repository
    head = revisions.resolve(repository, call.query.get("sha", ""))
    if head is None:
        raise not_found()
    known = repository.store.history(head, call.query.get("path", ""))
    since, until = call.query.get("since", ""), call.query.get("until", "9999")
    if since or until != "9999":
        known = [sha for sha in known if since <= repository.store.describe(sha).when <= until]
    return Answer([commit(call.hub, repository, sha) for sha in call.page(known)])


@ROUTES.add("GET", "/repos/{owner}/{repo}/commits/{ref}", "contents:read")
def get_commit(call: Call) -> Answer:
    """A commit with the files that it changes. With the media type "sha" only its id."""
    repository = call.repository
    sha = revisions.resolve(repository, call.parts["ref"])
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.parts['ref']}")
    if "sha" in call.headers.get("Accept", ""):
        return Answer(sha.encode(), content_type="application/vnd.github.sha; charset=utf-8")
    answer = commit(call.hub, repository, sha)
    parents = repository.store.describe(sha).parents
    changed = repository.store.diff(parents[0], sha) if parents else ()
    added, gone = sum(each.additions for each in changed), sum(each.deletions for each in changed)
    answer["stats"] = {"additions": added, "deletions": gone, "total": added + gone}
    answer["files"] = files(call.hub, repository, changed[:MAX_COMPARED_FILES], sha)
    return Answer(answer)


@ROUTES.add("GET", "/repos/{owner}/{repo}/compare/{basehead:*}", "contents:read")
def compare(call: Call) -> Answer:
    """Two commits, from their merge base: files that changed on the base alone are not listed (facts, section 5)."""
    repository = call.repository
    left, dots, right = call.parts["basehead"].partition("...")
    base, head = (_side(call, repository, name) for name in (left, right))
    if not dots or base is None or head is None:
        raise not_found()
    store = repository.store
    middle = store.merge_base(base, head)
    if middle is None:
        raise Refused(404, f"No common ancestor between {left} and {right}.")
    ahead, behind = store.between(base, head), store.between(head, base)
    status = "diverged" if ahead and behind else "ahead" if ahead else "behind" if behind else "identical"
    paged = "page" in call.query or "per_page" in call.query
    listed = call.page(ahead) if paged else ahead[-MAX_COMPARED_COMMITS:]
    changed = store.diff(middle, head)[:MAX_COMPARED_FILES] if call.query.get("page", "1") == "1" else ()
    url = f"{call.hub.url}/repos/{repository.full_name}/compare/{left}...{right}"
    page = f"{call.hub.web_url}/{repository.full_name}/compare"
    return Answer(
        {
            "url": url,
            "html_url": f"{page}/{left}...{right}",
            "permalink_url": f"{page}/{repository.owner.login}:{base[:7]}...{repository.owner.login}:{head[:7]}",
            "diff_url": f"{page}/{left}...{right}.diff",
            "patch_url": f"{page}/{left}...{right}.patch",
            "base_commit": commit(call.hub, repository, base),
            "merge_base_commit": commit(call.hub, repository, middle),
            "status": status,
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": [commit(call.hub, repository, sha) for sha in listed],
            "files": files(call.hub, repository, changed, head),
        }
    )


def _side(call: Call, repository: Repository, name: str) -> str | None:
    """A side of a comparison; `owner:branch` is a branch of another fork of the network."""
    owner, colon, branch = name.partition(":")
    if not colon:
        return revisions.resolve(repository, name)
    for other in call.hub.repositories.values():
        if other.owner.login == owner and other.store is repository.store:
            return revisions.resolve(other, branch)
    return None
