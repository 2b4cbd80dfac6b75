"""Registers the App at GitHub by its manifest: a page on this machine sends a form to GitHub, GitHub sends the browser
back with a code, and the code is exchanged for the credentials. They go nowhere but into `.env`.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
from aiohttp import web

from bot.github.hosts import Hosts
from bot.github.requests import API_VERSION, JSON, USER_AGENT
from bot.web import pages
from bot.web.dotenv import write_dotenv
from bot.web.manifest import Manifest
from bot.web.settings import written

EXCHANGE_SECONDS = 30.0


class RegistrationError(Exception):
    """GitHub did not hand out the credentials. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Registered:
    """The App that was made. Its secrets are in `.env` alone."""

    slug: str
    html_url: str
    events: tuple[str, ...]


def check_beforehand(public_url: str, dotenv: Path) -> None:
    """Whether what GitHub will hand out, once, can be kept. Raises `RegistrationError`, `SettingsError`."""
    parts = urlsplit(public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise RegistrationError(f"--url is no address: {public_url!r}; write it like https://bot.example.org")
    if not dotenv.parent.is_dir() or not os.access(dotenv.parent, os.W_OK):
        raise RegistrationError(f"{dotenv} can't be written: is its folder there, and yours?")
    known = [name for name in ("CLIENT_ID", "PRIVATE_KEY") if name in written(dotenv)]
    if known:
        raise RegistrationError(
            f"{dotenv} has the credentials of an App already ({', '.join(known)}), and they would be lost; take them "
            "out of it, or have the new ones written elsewhere with --env-file"
        )


class Registration:
    """One run of the flow. `done` is set when it has ended, one way or the other."""

    def __init__(
        self,
        manifest: Manifest,
        public_url: str,
        dotenv: Path,
        *,
        web_url: str = "https://github.com",
        hosts: Hosts | None = None,
        organisation: str | None = None,
        name: str | None = None,
    ) -> None:
        self._manifest = manifest
        self._public_url = public_url
        self._dotenv = dotenv
        self._web_url = web_url.rstrip("/")
        self._hosts = hosts or Hosts()
        self._organisation = organisation
        self._name = name
        self._state = secrets.token_urlsafe(32)
        self._used = False
        self.base_url = ""
        self.done: asyncio.Future[Registered] = asyncio.get_running_loop().create_future()

    def application(self) -> web.Application:
        """The two pages of the flow, for this machine's browser alone."""
        app = web.Application(client_max_size=1 << 16)
        app.router.add_get("/", self._begin)
        app.router.add_get("/callback", self._callback)
        return app

    async def _begin(self, _: web.Request) -> web.Response:
        """A form, since GitHub takes the manifest by POST alone."""
        form = self._manifest.form(self._public_url, f"{self.base_url}/callback", self._name)
        owner = f"organizations/{quote(self._organisation, safe='')}/" if self._organisation else ""
        action = f"{self._web_url}/{owner}settings/apps/new?state={quote(self._state)}"
        body = (
            "<h1>Register Seamguard</h1><p>GitHub will show what the App may do, and ask for its name.</p>"
            f'<form method="post" action="{escape(action)}">'
            f'<input type="hidden" name="manifest" value="{escape(json.dumps(form))}">'
            "<button>Continue to GitHub</button></form>"
        )
        return web.Response(text=pages.page("Register Seamguard", body), content_type="text/html", headers=_HEADERS)

    async def _callback(self, request: web.Request) -> web.Response:
        state, code = request.query.get("state", ""), request.query.get("code", "")
        if not hmac.compare_digest(state.encode(), self._state.encode()):
            return _told(400, "The address has a wrong state: begin again at the first page.")
        if self._used or not code:
            return _told(400, "This code was used, or there is none: begin again.")
        self._used = True
        try:
            data = await self._exchange(code)
            registered = self._keep(data)
        except RegistrationError as error:
            self.done.set_exception(error)
            return _told(502, str(error))
        self.done.set_result(registered)
        return _told(200, f"Registered. The credentials are in {self._dotenv}; this page can be closed.")

    async def _exchange(self, code: str) -> Mapping[str, Any]:
        url = self._hosts.api_address(f"{self._hosts.api}/app-manifests/{quote(code, safe='')}/conversions")
        headers = {"accept": JSON, "user-agent": USER_AGENT, "x-github-api-version": API_VERSION}
        timeout = aiohttp.ClientTimeout(total=EXCHANGE_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, trust_env=False) as session,
                session.post(url, headers=headers, allow_redirects=False) as answer,
            ):
                if answer.status != 201:
                    raise RegistrationError(
                        f"GitHub answers {answer.status} to the code; it counts for an hour and once: begin again"
                    )
                data = await answer.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise RegistrationError(f"GitHub could not be asked ({type(error).__name__}); begin again") from error
        if not isinstance(data, dict):
            raise RegistrationError("GitHub's answer is no object; begin again")
        return data

    def _keep(self, data: Mapping[str, Any]) -> Registered:
        secret = data.get("webhook_secret")
        if not secret or not data.get("pem") or not data.get("client_id"):
            raise RegistrationError("GitHub's answer lacks the key, the client id or the webhook's secret")
        variables = {
            "APP_ID": str(data.get("id", "")),
            "CLIENT_ID": str(data["client_id"]),
            "PRIVATE_KEY": str(data["pem"]),
            "WEBHOOK_SECRET": str(secret),
            "PUBLIC_URL": self._public_url,
        }
        try:
            write_dotenv(self._dotenv, variables)
        except OSError as error:
            raise RegistrationError(f"{self._dotenv} can't be written: {error.strerror}") from error
        return Registered(str(data.get("slug") or ""), str(data.get("html_url") or ""), tuple(data.get("events") or ()))


_HEADERS = {
    **pages.HEADERS,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'",
    "Cache-Control": "no-store",
}


def _told(status: int, text: str) -> web.Response:
    body = pages.page("Register Seamguard", f"<p>{escape(text)}</p>")
    return web.Response(status=status, text=body, content_type="text/html", headers=_HEADERS)
