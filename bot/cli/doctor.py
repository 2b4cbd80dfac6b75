"""`doctor`: is everything as it has to be?"""

from __future__ import annotations

import asyncio

import click

from bot.cli.failure import Failure
from bot.cli.terminal import Terminal


@click.command("doctor")
def doctor_command() -> None:
    """Check the settings, the store, the credentials, and what the App may do and is told."""
    from bot.web.settings import SettingsError, load

    try:
        settings = load()
    except SettingsError as error:
        raise Failure("the settings can't be used:\n  " + "\n  ".join(error.problems)) from error
    if not settings.configured:
        raise Failure("no credentials are set; `seamguard register` makes an App and writes them to .env")
    from bot.web.diagnosis import diagnose

    findings = asyncio.run(diagnose(settings))
    out = Terminal()
    for finding in findings:
        out.line(("ok  " if finding.good else "BAD ", "green" if finding.good else "red"), f"{finding.what}")
        if finding.advice:
            out.line(f"      {finding.advice}")
    if not all(finding.good for finding in findings):
        raise SystemExit(1)
