"""Who is calling, and what they may do (facts, section 7)."""

from __future__ import annotations

import jwt

from bot.sandbox.github.call import Call, Refused, Route, not_found
from bot.sandbox.github.model import App, Repository, Token

LONGEST_JWT_SECONDS = 600
"""`exp` may be this far ahead."""

_LEVELS = {"read": 1, "write": 2, "admin": 3}


def check_headers(call: Call, versions: tuple[str, ...]) -> None:
    """Refuse a request without User-Agent, or for an API version that does not exist."""
    if not call.headers.get("User-Agent"):
        raise Refused(
            403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header."
        )
    version = call.headers.get("X-GitHub-Api-Version", versions[0])
    if version not in versions:
        raise Refused(400, f'"{version}" is not a supported version of the REST API.')


def authenticate(call: Call, route: Route) -> str:
    """Find out who calls, and give the name under which requests are counted."""
    header = call.headers.get("Authorization")
    if header is None:
        if route.who == "app":
            raise Refused(401, "A JSON web token could not be decoded")
        if call.method != "GET" and route.who == "token":
            raise Refused(401, "Requires authentication")
        return "anonymous"
    kind, _, value = header.partition(" ")
    if kind.lower() not in ("bearer", "token") or not value.strip():
        raise Refused(401, "Bad credentials")
    if route.who == "app":
        call.app = _app(call, value)
        return f"app-{call.app.id}"
    call.token = _token(call, value)
    return f"installation-{call.token.installation.id}"


def _app(call: Call, value: str) -> App:
    """The App whose key signed a JSON web token. `iss` is its client id or its id."""
    undecodable = Refused(401, "A JSON web token could not be decoded")
    try:
        issuer = str(jwt.decode(value, options={"verify_signature": False}).get("iss"))
    except jwt.PyJWTError:
        raise undecodable from None
    app = next((app for app in call.hub.apps.values() if issuer in (app.client_id, str(app.id))), None)
    if app is None:
        raise Refused(404, "Integration not found")
    now = call.hub.clock.now().timestamp()
    try:
        options = {"verify_exp": False, "verify_iat": False, "require": ["iat", "exp"]}
        claims = jwt.decode(value, app.public_key, algorithms=["RS256"], options=options)  # type: ignore[arg-type]
        issued, ends = float(claims["iat"]), float(claims["exp"])
    except (jwt.PyJWTError, TypeError, ValueError):
        raise undecodable from None
    if ends <= now:
        raise Refused(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which "
            "the assertion expires",
        )
    if ends - now > LONGEST_JWT_SECONDS:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")
    if issued > now:
        raise Refused(
            401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        )
    return app


def _token(call: Call, value: str) -> Token:
    token = call.hub.tokens.get(value)
    if token is None or token.expires_at <= call.hub.clock.now() or token.installation.deleted:
        raise Refused(401, "Bad credentials")
    if token.installation.suspended_at is not None:
        raise Refused(403, "This installation has been suspended")
    return token


def authorise(call: Call, route: Route) -> None:
    """Refuse what the token's permissions, or the repositories it is for, do not cover."""
    if route.who != "token" or "owner" not in call.parts:
        return
    repository = call.repository
    if call.token is None:
        if repository.private:
            raise not_found()
        return
    reads = call.method == "GET"
    if not covers(call.token, repository):
        if repository.private:
            raise not_found()
        if not reads:
            raise Refused(403, "Resource not accessible by integration")
        return  # a public repository is read with any token (facts, section 10)
    if route.needs and not any(permits(call.token, need) for need in route.needs):
        needed = "; ".join(need.replace(":", "=") for need in route.needs)
        headers = {"X-Accepted-GitHub-Permissions": needed}
        raise Refused(403, "Resource not accessible by integration", headers=headers)


def covers(token: Token, repository: Repository) -> bool:
    """Whether a token is for a repository."""
    return token.installation.account.id == repository.owner.id and all(
        chosen is None or repository.id in chosen for chosen in (token.repositories, token.installation.repositories)
    )


def permits(token: Token, need: str) -> bool:
    """Whether a token has a permission like "checks:write"."""
    name, _, level = need.partition(":")
    if name == "metadata":  # goes with every token
        return level == "read"
    granted = _LEVELS.get(token.installation.permissions.get(name, ""), 0)
    if token.permissions:  # narrowed
        granted = min(granted, _LEVELS.get(token.permissions.get(name, ""), 0))
    return granted >= _LEVELS[level]
