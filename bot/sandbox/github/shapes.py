"""Accounts, repositories and other records that many answers hold, as GitHub writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.sandbox.github.clock import stamp
from bot.sandbox.github.model import App, Installation, Json, Label, Reaction, Repository, User, node_id

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

_USER_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}

_REPOSITORY_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}

_CONTENTS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def user(hub: Hub, who: User) -> Json:
    """A "simple user"."""
    url = f"{hub.url}/users/{who.login.replace('[', '%5B').replace(']', '%5D')}"
    page = (
        f"{hub.web_url}/{who.login}" if who.kind != "Bot" else f"{hub.web_url}/apps/{who.login.removesuffix('[bot]')}"
    )
    links = {name: url + suffix for name, suffix in _USER_LINKS.items()}
    return {
        "login": who.login,
        "id": who.id,
        "node_id": node_id({"User": "U", "Bot": "BOT", "Organization": "O"}[who.kind], who.id),
        "avatar_url": f"{hub.web_url}/avatars/u/{who.id}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": page,
        **links,
        "type": who.kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def organization(hub: Hub, which: User) -> Json:
    """An organisation as events name it."""
    url = f"{hub.url}/orgs/{which.login}"
    return {
        "login": which.login,
        "id": which.id,
        "node_id": node_id("O", which.id),
        "url": url,
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events",
        "hooks_url": f"{url}/hooks",
        "issues_url": f"{url}/issues",
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": f"{hub.web_url}/avatars/u/{which.id}?v=4",
        "description": "",
    }


def app(hub: Hub, which: App | None) -> Json | None:
    """An App ("integration"), as its comments and checks name it."""
    if which is None:
        return None
    return {
        "id": which.id,
        "client_id": which.client_id,
        "slug": which.slug,
        "node_id": node_id("A", which.id),
        "owner": user(hub, which.owner),
        "name": which.name,
        "description": "",
        "external_url": f"{hub.web_url}/apps/{which.slug}/about",
        "html_url": f"{hub.web_url}/apps/{which.slug}",
        "created_at": stamp(which.created_at),
        "updated_at": stamp(which.created_at),
        "permissions": dict(which.permissions),
        "events": list(which.events),
    }


def installation(hub: Hub, which: Installation) -> Json:
    """An installation."""
    return {
        "id": which.id,
        "client_id": which.app.client_id,
        "account": user(hub, which.account),
        "repository_selection": "all" if which.repositories is None else "selected",
        "access_tokens_url": f"{hub.url}/app/installations/{which.id}/access_tokens",
        "repositories_url": f"{hub.url}/installation/repositories",
        "html_url": f"{hub.web_url}/settings/installations/{which.id}",
        "app_id": which.app.id,
        "app_slug": which.app.slug,
        "target_id": which.account.id,
        "target_type": which.account.kind,
        "permissions": dict(which.permissions),
        "events": list(which.app.events),
        "created_at": stamp(which.created_at),
        "updated_at": stamp(which.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": None if which.suspended_by is None else user(hub, which.suspended_by),
        "suspended_at": stamp(which.suspended_at),
    }


def repository(hub: Hub, which: Repository, *, full: bool = False) -> Json:
    """A repository; `full` is what its own address answers with."""
    url = f"{hub.url}/repos/{which.full_name}"
    page = f"{hub.web_url}/{which.full_name}"
    host = hub.web_url.partition("://")[2]
    issues = sum(issue.state == "open" for issue in which.issues.values())
    when = stamp(which.created_at)
    answer: Json = {
        "id": which.id,
        "node_id": node_id("R", which.id),
        "name": which.name,
        "full_name": which.full_name,
        "private": which.private,
        "owner": user(hub, which.owner),
        "html_url": page,
        "description": which.description,
        "fork": which.parent is not None,
        "url": url,
        **{name: url + suffix for name, suffix in _REPOSITORY_LINKS.items()},
        "created_at": when,
        "updated_at": when,
        "pushed_at": when,
        "git_url": f"git://{host}/{which.full_name}.git",
        "ssh_url": f"git@{host}:{which.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "homepage": None,
        "size": 100,
        "stargazers_count": 0,
        "watchers_count": 0,
        "language": None,
        "has_issues": which.has_issues,
        "has_projects": True,
        "has_downloads": True,
        "has_wiki": True,
        "has_pages": False,
        "has_discussions": False,
        "forks_count": 0,
        "mirror_url": None,
        "archived": False,
        "disabled": False,
        "open_issues_count": issues,
        "license": None,
        "allow_forking": True,
        "is_template": False,
        "web_commit_signoff_required": False,
        "topics": [],
        "visibility": "private" if which.private else "public",
        "forks": 0,
        "open_issues": issues,
        "watchers": 0,
        "default_branch": which.default_branch,
    }
    if full:
        answer |= {"network_count": 0, "subscribers_count": 0}
        if which.parent is not None:
            answer["parent"] = answer["source"] = repository(hub, which.parent)
    return answer


def label(hub: Hub, which: Repository, one: Label) -> Json:
    """A label."""
    return {
        "id": one.id,
        "node_id": node_id("LA", one.id),
        "url": f"{hub.url}/repos/{which.full_name}/labels/{one.name.replace(' ', '%20')}",
        "name": one.name,
        "color": one.color,
        "default": False,
        "description": one.description,
    }


def reactions(url: str, given: Sequence[Reaction]) -> Json:
    """The sums of reactions."""
    counts = Counter(reaction.content for reaction in given)
    return {"url": f"{url}/reactions", "total_count": len(given), **{name: counts[name] for name in _CONTENTS}}


def association(where: Repository, who: User) -> str:
    """`author_association` as events carry it. A member who hides it is not told (facts, section 9)."""
    if who.login == where.owner.login:
        return "OWNER"
    if who.login in where.roles:
        return "COLLABORATOR"
    if who.kind == "Bot":
        return "NONE"
    merged = any(pull.issue.user is who and pull.merged_at for pull in where.pulls.values())
    return "CONTRIBUTOR" if merged else "NONE"
