"""Apps, installations and their tokens (facts, sections 7 and 10)."""

from __future__ import annotations

import secrets
from datetime import timedelta

from bot.sandbox.github import shapes
from bot.sandbox.github.access import covers
from bot.sandbox.github.call import Answer, Body, Call, Refused, Routes, not_found
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.model import Installation, Json, Token

ROUTES = Routes()

TOKEN_LIFE = timedelta(hours=1)
MAX_REPOSITORIES = 500

_LEVELS = ("read", "write", "admin")


def new_token_value(app: int) -> str:
    """A token in the long format: `ghs_`, the App's id and what looks like a JSON web token. Much longer than the
    40 characters of old, and with characters that old patterns do not expect (facts, section 7).
    """
    return f"ghs_{app}_{'.'.join(secrets.token_urlsafe(size) for size in (27, 180, 64))}"


@ROUTES.add("GET", "/app", who="app")
def get_app(call: Call) -> Answer:
    """The App that calls."""
    count = sum(not each.deleted and each.app is call.app for each in call.hub.installations.values())
    return Answer({**(shapes.app(call.hub, call.app) or {}), "installations_count": count})


@ROUTES.add("GET", "/app/installations", who="app")
def list_installations(call: Call) -> Answer:
    """The App's installations."""
    mine = [each for each in call.hub.installations.values() if each.app is call.app and not each.deleted]
    return Answer([shapes.installation(call.hub, each) for each in call.page(mine)])


@ROUTES.add("GET", "/app/installations/{installation_id}", who="app")
def get_installation(call: Call) -> Answer:
    """One installation."""
    return Answer(shapes.installation(call.hub, _installation(call)))


@ROUTES.add("GET", "/repos/{owner}/{repo}/installation", who="app")
def get_repository_installation(call: Call) -> Answer:
    """The App's installation for a repository."""
    for each in call.hub.installed_for(call.repository):
        if each.app is call.app:
            return Answer(shapes.installation(call.hub, each))
    raise not_found()


@ROUTES.add("POST", "/app/installations/{installation_id}/access_tokens", who="app")
def create_token(call: Call) -> Answer:
    """A token for an hour; permissions and repositories can only be narrowed."""
    found = _installation(call)
    if found.suspended_at is not None:
        raise Refused(403, "This installation has been suspended")
    body = Body({} if call.body is None else call.body, "repositories repository_ids permissions")
    chosen = _chosen(call, found, body)
    wanted: Json = call.body.get("permissions") or {} if call.body else {}
    for name, level in wanted.items():
        granted = found.permissions.get(name, "read" if name == "metadata" else "")
        if level not in _LEVELS or granted not in _LEVELS or _LEVELS.index(level) > _LEVELS.index(granted):
            raise Refused(422, "The permissions requested are not granted to this installation.")
    now = call.hub.clock.now()
    permissions = {"metadata": "read", **(wanted or found.permissions)}
    # A token that was not narrowed follows the installation's permissions.
    token = Token(new_token_value(found.app.id), found, now + TOKEN_LIFE, dict(wanted), chosen)
    call.hub.tokens[token.value] = token
    answer: Json = {
        "token": token.value,
        "expires_at": stamp(token.expires_at),
        "permissions": permissions,
        "repository_selection": "all" if chosen is None and found.repositories is None else "selected",
    }
    if chosen is not None:
        answer["repositories"] = [
            shapes.repository(call.hub, each) for each in call.hub.repositories.values() if each.id in chosen
        ]
    return Answer(answer, 201)


def _chosen(call: Call, found: Installation, body: Body) -> frozenset[int] | None:
    names, numbers = body.list("repositories", MAX_REPOSITORIES), body.list("repository_ids", MAX_REPOSITORIES)
    if not names and not numbers:
        return None
    everything = Token("", found, found.created_at, {})
    known = [each for each in call.hub.repositories.values() if covers(everything, each)]
    chosen = frozenset(each.id for each in known if each.name in names or each.id in numbers)
    if len(chosen) < len({*names}) + len({*numbers}):
        raise Refused(
            422, "There is at least one repository that does not exist or is not accessible to the parent installation."
        )
    return chosen


def _installation(call: Call) -> Installation:
    found = call.hub.installations.get(call.number("installation_id"))
    if found is None or found.deleted or found.app is not call.app:
        raise not_found()
    return found


@ROUTES.add("GET", "/installation/repositories")
def list_installation_repositories(call: Call) -> Answer:
    """What the token is for."""
    token = call.token
    if token is None:
        raise Refused(401, "Requires authentication")
    mine = [each for each in call.hub.repositories.values() if covers(token, each)]
    chosen = token.installation.repositories is not None or token.repositories is not None
    return Answer(
        {
            "total_count": len(mine),
            "repository_selection": "selected" if chosen else "all",
            "repositories": [shapes.repository(call.hub, each) for each in call.page(mine)],
        }
    )


@ROUTES.add("GET", "/rate_limit", who="anyone")
def get_rate_limit(call: Call) -> Answer:
    """The caller's budgets; asking costs nothing of them."""
    caller = "anonymous" if call.token is None else f"installation-{call.token.installation.id}"
    resources = {name: call.hub.limits.budget(caller, name).json() for name in ("core", "graphql", "search")}
    return Answer({"resources": resources, "rate": resources["core"]})


@ROUTES.add("POST", "/app-manifests/{code}/conversions", who="anyone")
def convert_manifest(call: Call) -> Answer:
    """The second half of the manifest flow: the code, once, for the App's credentials."""
    app = call.hub.manifest_codes.pop(call.parts["code"], None)
    if app is None:
        raise not_found()
    secret = {"client_secret": secrets.token_hex(20), "webhook_secret": app.webhook_secret, "pem": app.private_key}
    return Answer({**(shapes.app(call.hub, app) or {}), **secret}, 201)
