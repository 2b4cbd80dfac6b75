"""Looks at everything that a running App depends on."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.github.app import App
from bot.github.errors import GitHubError, NotFound, Unauthorised
from bot.jobs.sweeping import failed
from bot.store import Database, DatabaseError
from bot.web.manifest import Manifest, read_manifest
from bot.web.settings import Settings

LOOKED_BACK = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was looked at. `advice` is what to do."""

    good: bool
    what: str
    advice: str = ""


async def diagnose(settings: Settings) -> list[Diagnosis]:
    """Everything, in the order in which it should be mended. Asks GitHub; writes nothing."""
    manifest = read_manifest()
    found = [await asyncio.to_thread(_store, settings)]
    if settings.issuer is None or settings.private_key is None:
        return [*found, Diagnosis(False, "no credentials", "run `seamguard register`")]
    async with App(settings.issuer, settings.private_key, settings.hosts) as app:
        try:
            found += await _app(app, manifest, settings.public_url)
        except (Unauthorised, NotFound):
            advice = "CLIENT_ID (or APP_ID) and PRIVATE_KEY must be of the same App, and this machine's clock right"
            found.append(Diagnosis(False, "GitHub does not take the credentials", advice))
        except GitHubError as error:
            found.append(Diagnosis(False, f"GitHub can't be asked: {error}", f"is {settings.api_url} reachable?"))
    if settings.public_url is None:
        found.append(Diagnosis(True, "PUBLIC_URL is not set: comments don't link to the pages of the rules"))
    return found


def _store(settings: Settings) -> Diagnosis:
    try:
        database = Database(settings.database_url)
    except DatabaseError as error:
        return Diagnosis(False, str(error), "correct DATABASE_URL")
    try:
        file = database.engine.url.database
        if database.is_sqlite and file and not Path(file).exists():
            return _unmade(Path(file))
        database.check()
    except DatabaseError as error:
        return Diagnosis(False, str(error), "start the database, or correct DATABASE_URL")
    finally:
        database.close()
    return Diagnosis(True, f"the store answers: {database.shown}")


def _unmade(file: Path) -> Diagnosis:
    """Of an SQLite file that is not there, as before the first start."""
    folder = next(folder for folder in file.absolute().parents if folder.exists())
    if os.access(folder, os.W_OK):
        return Diagnosis(True, f"the store is made at the first start: {file}")
    return Diagnosis(False, f"the store can't be made: {folder} may not be written", "correct DATABASE_URL")


async def _app(app: App, manifest: Manifest, public_url: str | None) -> list[Diagnosis]:
    identity = await app.app()
    found = [Diagnosis(True, f"the credentials are those of {identity.name} ({identity.slug})")]
    settings_page = f"{identity.html_url}/permissions" if identity.html_url else "the App's settings"
    missing = manifest.missing_permissions(identity.permissions)
    found.append(
        Diagnosis(not missing, "the App's permissions suffice", "")
        if not missing
        else Diagnosis(False, f"the App lacks permissions: {', '.join(missing)}", f"grant them in {settings_page}")
    )
    events = manifest.missing_events(identity.events)
    found.append(
        Diagnosis(True, "the App is told of every event that matters")
        if not events
        else Diagnosis(False, f"the App is not told of {', '.join(events)}", f"subscribe to them in {settings_page}")
    )
    found.append(_address(await app.hook_url(), public_url))
    return [*found, *await _installations(app, manifest), await _deliveries(app)]


def _address(hook_url: str | None, public_url: str | None) -> Diagnosis:
    """Where GitHub sends webhooks to, against where this server says that it is."""
    if hook_url is None:
        return Diagnosis(
            False, "the App has no address for webhooks", "set it in the App's settings: https://…/webhook"
        )
    if public_url is not None and hook_url != f"{public_url}/webhook":
        advice = f"correct the address in the App's settings to {public_url}/webhook, or PUBLIC_URL"
        return Diagnosis(False, f"webhooks go to {hook_url}, and PUBLIC_URL is {public_url}", advice)
    return Diagnosis(True, f"webhooks go to {hook_url}")


async def _installations(app: App, manifest: Manifest) -> list[Diagnosis]:
    installations = await app.installations()
    if not installations:
        return [Diagnosis(False, "the App is installed nowhere", "install it for a repository, from its public page")]
    found = []
    for installation in installations:
        missing = manifest.missing_permissions(installation.permissions)
        if installation.suspended:
            found.append(Diagnosis(False, f"{installation.account}: suspended", "its owner can lift that"))
        elif missing:
            advice = f"an owner of {installation.account} has to accept them: GitHub has asked by mail"
            found.append(Diagnosis(False, f"{installation.account}: not granted: {', '.join(missing)}", advice))
        else:
            found.append(Diagnosis(True, f"{installation.account}: installed, with all permissions"))
    return found


async def _deliveries(app: App) -> Diagnosis:
    deliveries = await app.deliveries(datetime.now(UTC) - LOOKED_BACK)
    lost = failed(deliveries)
    if lost:
        return Diagnosis(
            False,
            f"{len(lost)} deliveries of the last day have not arrived, the newest: {lost[-1].event}",
            "is the server reachable under the App's webhook address, with the same WEBHOOK_SECRET?",
        )
    return Diagnosis(True, f"all {len(deliveries)} deliveries of the last day have arrived")
