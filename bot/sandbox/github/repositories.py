"""Repositories, their branches, tags, releases, and who may do what there."""

from __future__ import annotations

from bot.sandbox.github import commits, shapes
from bot.sandbox.github.call import Answer, Call, Routes, not_found
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.model import Json, Release, Repository, node_id

ROUTES = Routes()


@ROUTES.add("GET", "/repos/{owner}/{repo}", "metadata:read")
def get_repository(call: Call) -> Answer:
    """The repository."""
    return Answer(shapes.repository(call.hub, call.repository, full=True))


@ROUTES.add("GET", "/repos/{owner}/{repo}/branches", "contents:read")
def list_branches(call: Call) -> Answer:
    """Branches by name."""
    repository = call.repository
    return Answer(
        [
            {"name": name, "commit": commits.reference(call.hub, repository, sha), "protected": False}
            for name, sha in call.page(sorted(repository.branches.items()))
        ]
    )


@ROUTES.add("GET", "/repos/{owner}/{repo}/branches/{branch:*}", "contents:read")
def get_branch(call: Call) -> Answer:
    """A branch with its tip."""
    repository, name = call.repository, call.parts["branch"]
    sha = repository.branches.get(name)
    if sha is None:
        raise not_found()
    url = f"{call.hub.url}/repos/{repository.full_name}/branches/{name}"
    return Answer(
        {
            "name": name,
            "commit": commits.commit(call.hub, repository, sha),
            "_links": {"self": url, "html": f"{call.hub.web_url}/{repository.full_name}/tree/{name}"},
            "protected": False,
            "protection": {
                "enabled": False,
                "required_status_checks": {"enforcement_level": "off", "contexts": [], "checks": []},
            },
            "protection_url": f"{url}/protection",
        }
    )


@ROUTES.add("GET", "/repos/{owner}/{repo}/tags", "metadata:read", "contents:read")
def list_tags(call: Call) -> Answer:
    """Tags by name, the last first."""
    repository = call.repository
    url = f"{call.hub.url}/repos/{repository.full_name}"
    return Answer(
        [
            {
                "name": name,
                "zipball_url": f"{url}/zipball/refs/tags/{name}",
                "tarball_url": f"{url}/tarball/refs/tags/{name}",
                "commit": commits.reference(call.hub, repository, sha),
                "node_id": node_id("REF", repository.id),
            }
            for name, sha in call.page(sorted(repository.tags.items(), reverse=True))
        ]
    )


@ROUTES.add("GET", "/repos/{owner}/{repo}/releases", "contents:read")
def list_releases(call: Call) -> Answer:
    """Releases, newest first; drafts are for those who may write. Bare tags are none (facts, section 5)."""
    repository = call.repository
    known = sorted((each for each in repository.releases if not each.draft), key=_age)
    return Answer([_release(call, repository, each) for each in call.page(known)])


@ROUTES.add("GET", "/repos/{owner}/{repo}/releases/latest", "contents:read")
def get_latest_release(call: Call) -> Answer:
    """The newest release that is neither draft nor pre-release (facts, section 5)."""
    repository = call.repository
    known = sorted((each for each in repository.releases if not each.draft and not each.prerelease), key=_age)
    if not known:
        raise not_found()
    return Answer(_release(call, repository, known[0]))


def _age(release: Release) -> tuple[float, int]:
    return -release.created_at.timestamp(), -release.id


def _release(call: Call, repository: Repository, which: Release) -> Json:
    url = f"{call.hub.url}/repos/{repository.full_name}"
    return {
        "id": which.id,
        "node_id": node_id("RE", which.id),
        "url": f"{url}/releases/{which.id}",
        "assets_url": f"{url}/releases/{which.id}/assets",
        "upload_url": f"{url}/releases/{which.id}/assets{{?name,label}}",
        "html_url": f"{call.hub.web_url}/{repository.full_name}/releases/tag/{which.tag}",
        "tag_name": which.tag,
        "target_commitish": repository.default_branch,
        "name": which.name,
        "body": which.body,
        "draft": which.draft,
        "prerelease": which.prerelease,
        "created_at": stamp(which.created_at),
        "published_at": stamp(which.created_at),
        "author": shapes.user(call.hub, which.author),
        "assets": [],
        "tarball_url": f"{url}/tarball/{which.tag}",
        "zipball_url": f"{url}/zipball/{which.tag}",
    }


@ROUTES.add("GET", "/repos/{owner}/{repo}/collaborators/{username}/permission", "metadata:read")
def get_permission(call: Call) -> Answer:
    """What an account may do. Of a public repository everybody has "read"; maintain and triage are told as write and
    read; unknown accounts are 404 (facts, section 9).
    """
    repository = call.repository
    who = call.hub.users.get(call.parts["username"].lower())
    if who is None:
        raise not_found()
    role = "admin" if who is repository.owner else repository.roles.get(who.login, "none")
    if role == "none" and not repository.private:
        role = "read"
    permission = {"maintain": "write", "triage": "read"}.get(role, role)
    order = ["read", "triage", "write", "maintain", "admin"]
    names = dict(zip(["pull", "triage", "push", "maintain", "admin"], order, strict=True))
    level = order.index(role) if role in order else -1
    may = {name: order.index(needed) <= level for name, needed in names.items()}
    collaborator = {**shapes.user(call.hub, who), "permissions": may, "role_name": role}
    return Answer({"permission": permission, "role_name": role, "user": collaborator})
