"""`register` and `doctor`, against the simulated GitHub."""

from __future__ import annotations

import json
import re
import stat
from dataclasses import replace
from html import unescape
from pathlib import Path

import aiohttp
import pytest

from bot.github.hosts import Hosts
from bot.sandbox.github import EVENTS, PERMISSIONS, simulated_github
from bot.web.diagnosis import diagnose
from bot.web.dotenv import read_dotenv
from bot.web.manifest import read_manifest
from bot.web.registration import Registration, RegistrationError
from bot.web.server import listening
from bot.web.settings import Settings, load
from tests.end_to_end.harness import FILES, SECRET


def test_the_manifest_asks_for_the_least() -> None:
    manifest = read_manifest()
    assert dict(manifest.permissions) == PERMISSIONS
    assert set(manifest.events) == set(EVENTS)
    assert manifest.missing_permissions({**PERMISSIONS, "checks": "read", "issues": "admin"}) == ["checks: write"]
    assert manifest.missing_events(EVENTS[1:]) == [EVENTS[0]]


async def test_registration_writes_the_credentials(tmp_path: Path) -> None:
    dotenv = tmp_path / ".env"
    async with simulated_github() as hub, aiohttp.ClientSession() as browser:
        app = hub.register_app(webhook_secret=SECRET)
        flow = Registration(read_manifest(), "https://bot.example", dotenv, hosts=Hosts(hub.url), organisation="acme")
        async with listening(flow.application(), "127.0.0.1", 0) as address:
            flow.base_url = address
            async with browser.get(address) as answer:
                page = unescape(await answer.text())
            action = re.search(r'action="([^"]+)"', page)
            manifest = re.search(r'name="manifest" value="(\{.*\})"', page)
            assert action
            assert manifest
            assert action[1].startswith("https://github.com/organizations/acme/settings/apps/new?state=")
            form = json.loads(manifest[1])
            assert form["hook_attributes"]["url"] == "https://bot.example/webhook"
            assert form["redirect_url"] == f"{address}/callback"
            state = action[1].partition("state=")[2]
            code = hub.manifest_code(app)
            for wrong in ({"state": "x", "code": code}, {"code": code}, {"state": state}):
                async with browser.get(f"{address}/callback", params=wrong) as answer:
                    assert answer.status == 400
            async with browser.get(f"{address}/callback", params={"state": state, "code": code}) as answer:
                assert answer.status == 200
                assert "PRIVATE" not in await answer.text()
            assert (await flow.done).slug == "seamguard"
            async with browser.get(f"{address}/callback", params={"state": state, "code": code}) as answer:
                assert answer.status == 400, "a code counts once"
    assert stat.S_IMODE(dotenv.stat().st_mode) == 0o600
    assert read_dotenv(dotenv.read_text())["PRIVATE_KEY"] == app.private_key
    settings = load({}, dotenv)
    assert (settings.issuer, settings.webhook_secret) == (app.client_id, SECRET)


async def test_a_code_that_counts_no_more_is_told(tmp_path: Path) -> None:
    async with simulated_github() as hub, aiohttp.ClientSession() as browser:
        flow = Registration(read_manifest(), "https://bot.example", tmp_path / ".env", hosts=Hosts(hub.url))
        async with listening(flow.application(), "127.0.0.1", 0) as address:
            flow.base_url = address
            params = {"state": flow._state, "code": "nonsense"}
            async with browser.get(f"{address}/callback", params=params) as answer:
                assert answer.status == 502
            with pytest.raises(RegistrationError, match="begin again"):
                await flow.done
    assert not (tmp_path / ".env").exists()


async def test_the_doctor_finds_what_is_wrong(tmp_path: Path) -> None:
    async with simulated_github() as hub:
        app = hub.register_app(webhook_secret=SECRET, hook_url="https://bot.example/webhook")
        settings = Settings(
            app.client_id, app.private_key, SECRET, hub.url, database_url=f"sqlite:///{tmp_path}/store.sqlite"
        )
        found = await diagnose(settings)
        assert [finding.what for finding in found if not finding.good] == ["the App is installed nowhere"]
        assert not (tmp_path / "store.sqlite").exists(), "it writes nothing"
        app.hook_url = None
        repository = hub.repository("acme/serving", FILES, installed=True)
        app.hook_url = "https://bot.example/webhook"
        hub.hooks.deliveries.clear()
        assert all(finding.good for finding in await diagnose(settings))
        hub.set_permissions(repository.installation, {**PERMISSIONS, "checks": "read"})
        app.events.remove("merge_group")
        app.hook_url = "http://127.0.0.1:1/webhook"
        settings = replace(settings, public_url="https://bot.example")
        repository.open_pull({"a": "b"})
        await hub.settled()
        bad = "\n".join(f"{finding.what}: {finding.advice}" for finding in await diagnose(settings) if not finding.good)
        assert "webhooks go to http://127.0.0.1:1/webhook" in bad
        assert "checks: write" in bad
        assert "merge_group" in bad
        assert "have not arrived" in bad
        wrong = Settings("Iv1.other", app.private_key, SECRET, hub.url, database_url="postgresql://u:pw@127.0.0.1:1/x")
        bad = "\n".join(f"{finding.what}: {finding.advice}" for finding in await diagnose(wrong) if not finding.good)
        assert "does not take the credentials" in bad
        assert "can't be used" in bad
        assert "pw" not in bad.replace("u:***", "")
