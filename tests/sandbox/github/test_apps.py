"""Who may call: JSON web tokens, installation tokens, permissions."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.sandbox.github import Hub, RepositoryHandle
from tests.sandbox.github.caller import Caller, app_token

R = "/repos/acme/serving"


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({}, None),
        ({"exp": -1}, "representing the future time"),
        ({"exp": 700}, "too far in the future"),
        ({"iat": 120}, "'Issued at' claim"),
        ({"iss": "Iv1.unknown"}, "Integration not found"),
        ({"exp": "soon"}, "could not be decoded"),
    ],
)
async def test_the_claims_of_a_json_web_token(app: Caller, claims: dict[str, Any], message: str | None) -> None:
    now = int(time.time())
    signed = app_token(app.installation.app, **{k: now + v if isinstance(v, int) else v for k, v in claims.items()})
    reply = await app.send("GET", "/app", None, {"Authorization": f"Bearer {signed}"})
    if message is None:
        assert reply.ok()["slug"] == "seamguard"
    else:
        assert reply.status in (401, 404)
        assert message in reply.message


async def test_the_apps_number_is_an_issuer_too(app: Caller) -> None:
    signed = app_token(app.installation.app, iss=str(app.installation.app.id))
    assert (await app.send("GET", "/app", None, {"Authorization": f"Bearer {signed}"})).status == 200


async def test_only_the_apps_own_key_and_algorithm_count(app: Caller) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    claims = {"iat": int(time.time()) - 60, "exp": int(time.time()) + 60, "iss": app.installation.app.client_id}
    for signed in (
        jwt.encode(claims, other.private_bytes(*form), "RS256"),
        jwt.encode(claims, "k" * 64, "HS256"),
        "x.y.z",
    ):
        reply = await app.send("GET", "/app", None, {"Authorization": f"Bearer {signed}"})
        assert (reply.status, reply.message) == (401, "A JSON web token could not be decoded")


async def test_a_token_is_long_and_ends_after_an_hour(hub: Hub, app: Caller) -> None:
    assert app.token.startswith(f"ghs_{app.installation.app.id}_")
    assert len(app.token) > 300
    hub.clock.advance(3590)
    assert (await app("GET", R)).status == 200
    hub.clock.advance(20)
    assert (await app("GET", R)).status == 401


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer ", "Basic abc", "Bearer ghs_nothing"])
async def test_bad_credentials(app: Caller, value: str) -> None:
    assert (await app.send("GET", R, None, {"Authorization": value})).message == "Bad credentials"


async def test_a_suspended_installation(hub: Hub, app: Caller) -> None:
    hub.suspend(app.installation)
    assert (await app("GET", R)).status == 403
    assert (await app.as_app("POST", f"/app/installations/{app.installation.id}/access_tokens")).status == 403
    assert (await app.as_app("GET", f"/app/installations/{app.installation.id}")).ok()["suspended_at"]
    hub.suspend(app.installation, suspended=False)
    assert (await app("GET", R)).status == 200


async def test_a_revoked_installation(hub: Hub, app: Caller) -> None:
    hub.revoke(app.installation)
    assert (await app("GET", R)).status == 401
    assert (await app.as_app("POST", f"/app/installations/{app.installation.id}/access_tokens")).status == 404
    assert (await app.as_app("GET", "/app/installations")).ok() == []


async def test_a_missing_permission_is_named(hub: Hub, app: Caller) -> None:
    hub.set_permissions(app.installation, {"contents": "read", "pull_requests": "write"})
    reply = await app("POST", f"{R}/check-runs", {"name": "S", "head_sha": "0" * 40})
    assert (reply.status, reply.message) == (403, "Resource not accessible by integration")
    assert reply.headers["X-Accepted-GitHub-Permissions"] == "checks=write"
    assert (await app("GET", f"{R}/contents/README.md")).status == 200


async def test_a_token_can_only_be_narrowed(hub: Hub, repo: RepositoryHandle, app: Caller) -> None:
    path = f"/app/installations/{app.installation.id}/access_tokens"
    assert (await app.as_app("POST", path, {"permissions": {"contents": "write"}})).status == 422
    assert (await app.as_app("POST", path, {"repositories": ["other"]})).status == 422
    app.token = (await app.as_app("POST", path, {"permissions": {"contents": "read"}})).ok(201)["token"]
    assert (await app("GET", f"{R}/contents/README.md")).status == 200
    assert (await app("GET", f"{R}/pulls")).status == 403
    hub.repository("acme/private", {"a": "b"}, private=True)
    app.token = (await app.as_app("POST", path, {"repositories": ["serving"]})).ok(201)["token"]
    assert (await app("GET", "/repos/acme/private")).status == 404


async def test_repositories_of_others(hub: Hub, app: Caller) -> None:
    hub.repository("upstream/engine", {"a.py": "x"})
    hub.repository("upstream/secret", {"a.py": "x"}, private=True)
    assert (await app("GET", "/repos/upstream/engine/contents/a.py")).status == 200
    assert (await app("POST", "/repos/upstream/engine/issues", {"title": "x"})).status == 403
    assert (await app("GET", "/repos/upstream/secret")).status == 404


async def test_without_a_token_public_repositories_are_read_sixty_times_an_hour(hub: Hub, app: Caller) -> None:
    reply = await app.send("GET", R, None, {})
    assert (reply.status, reply.headers["X-RateLimit-Limit"]) == (200, "60")
    assert (await app.send("POST", f"{R}/issues", {"title": "x"}, {})).status == 401
    assert (await app.send("GET", "/app", None, {})).status == 401


@pytest.mark.parametrize(("version", "status"), [("2022-11-28", 200), ("2026-03-10", 200), ("2019-01-01", 400)])
async def test_the_versions_of_the_interface(app: Caller, version: str, status: int) -> None:
    reply = await app("GET", R, X_GitHub_Api_Version=version)
    assert reply.status == status
    assert reply.headers["X-GitHub-Api-Version-Selected"] == version


async def test_a_request_needs_a_user_agent(app: Caller) -> None:
    assert (await app("GET", R, User_Agent="")).status == 403


async def test_a_body_that_is_no_json(hub: Hub, app: Caller) -> None:
    async with app._session.post(
        f"{hub.url}{R}/issues", data=b"{", headers={"Authorization": f"Bearer {app.token}"}
    ) as answer:
        assert (answer.status, (await answer.json())["message"]) == (400, "Problems parsing JSON")


async def test_a_manifests_code_works_once(hub: Hub, app: Caller) -> None:
    code = hub.manifest_code(app.installation.app)
    made = (await app.send("POST", f"/app-manifests/{code}/conversions", None, {})).ok(201)
    assert made["pem"] == app.installation.app.private_key
    assert made["webhook_secret"] == app.installation.app.webhook_secret
    assert (await app.send("POST", f"/app-manifests/{code}/conversions", None, {})).status == 404


async def test_every_request_is_logged(hub: Hub, app: Caller) -> None:
    hub.requests.clear()
    await app("GET", f"{R}/pulls?state=all")
    (entry,) = hub.requests
    assert (entry.method, entry.path, entry.query, entry.status) == ("GET", f"{R}/pulls", "state=all", 200)
    assert entry.installation == app.installation.id
