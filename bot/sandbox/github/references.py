"""References, and the objects of git that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.github import commits
from bot.sandbox.github.call import Answer, Call, Routes, not_found
from bot.sandbox.github.model import Json, Repository, node_id

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

ROUTES = Routes()


def reference(hub: Hub, repository: Repository, kind: str, name: str) -> Json:
    """A reference with what it points to: an annotated tag to its own object."""
    commit = (repository.branches if kind == "heads" else repository.tags)[name]
    sha = repository.annotated.get(name, commit) if kind == "tags" else commit
    url = f"{hub.url}/repos/{repository.full_name}/git"
    what = "commit" if sha == commit else "tag"
    return {
        "ref": f"refs/{kind}/{name}",
        "node_id": node_id("REF", repository.id),
        "url": f"{url}/refs/{kind}/{name}",
        "object": {"sha": sha, "type": what, "url": f"{url}/{what}s/{sha}"},
    }


@ROUTES.add("GET", "/repos/{owner}/{repo}/git/ref/{ref:*}", "contents:read")
def get_reference(call: Call) -> Answer:
    """One reference, named in full without "refs/"."""
    repository = call.repository
    kind, _, name = call.parts["ref"].partition("/")
    if name not in {"heads": repository.branches, "tags": repository.tags}.get(kind, {}):
        raise not_found()
    return Answer(reference(call.hub, repository, kind, name))


@ROUTES.add("GET", "/repos/{owner}/{repo}/git/matching-refs/{ref:*}", "contents:read")
def list_matching_references(call: Call) -> Answer:
    """Every reference that begins so, all in one answer: it has no pages."""
    repository = call.repository
    kind, _, prefix = call.parts["ref"].partition("/")
    names = {"heads": repository.branches, "tags": repository.tags}.get(kind, {})
    return Answer([reference(call.hub, repository, kind, name) for name in sorted(names) if name.startswith(prefix)])


@ROUTES.add("GET", "/repos/{owner}/{repo}/git/commits/{commit_sha}", "contents:read")
def get_commit_object(call: Call) -> Answer:
    """A commit by its whole id, without the files that it changes."""
    repository, sha = call.repository, call.parts["commit_sha"]
    if len(sha) != 40 or repository.store.full_id(sha) != sha:
        raise not_found()
    known = commits.commit(call.hub, repository, sha)
    about = known["commit"]
    names = ("author", "committer", "message", "tree", "verification")
    url = about["url"]
    return Answer(
        {
            "sha": sha,
            "node_id": known["node_id"],
            "url": url,
            "html_url": known["html_url"],
            "parents": known["parents"],
            **{name: about[name] for name in names},
        }
    )


@ROUTES.add("GET", "/repos/{owner}/{repo}/git/tags/{tag_sha}", "contents:read")
def get_tag_object(call: Call) -> Answer:
    """An annotated tag."""
    repository, sha = call.repository, call.parts["tag_sha"]
    found = repository.store.named(sha) if sha in repository.annotated.values() else None
    if found is None or found[0] != "tag":
        raise not_found()
    head, _, message = found[2].decode("utf-8", "replace").partition("\n\n")
    said = dict(line.partition(" ")[::2] for line in head.split("\n"))
    url = f"{call.hub.url}/repos/{repository.full_name}/git"
    date = repository.store.describe(repository.tags[said["tag"]]).when
    return Answer(
        {
            "node_id": node_id("TAG", int(sha[:12], 16)),
            "tag": said["tag"],
            "sha": sha,
            "url": f"{url}/tags/{sha}",
            "message": message,
            "tagger": {"name": "maintainer", "email": "maintainer@users.noreply.example", "date": date},
            "object": {"sha": said["object"], "type": said["type"], "url": f"{url}/{said['type']}s/{said['object']}"},
            "verification": {
                "verified": False,
                "reason": "unsigned",
                "signature": None,
                "payload": None,
                "verified_at": None,
            },
        }
    )
