"""`serve` and `worker`: the GitHub App."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from bot.cli.failure import Failure

if TYPE_CHECKING:
    from bot.web.settings import Settings


@click.command("serve")
@click.option("--work/--no-work", default=True, help="Do the jobs in this process too, or leave them to `worker`.")
def serve_command(work: bool) -> None:
    """Receive GitHub's webhooks, and review pull requests. Settings come from the environment and from .env; without
    any, a simulated GitHub shows a pull request and its review on a local page.
    """
    _run(web=True, work=work)


@click.command("worker")
def worker_command() -> None:
    """Do the jobs that `serve --no-work` accepts, without listening."""
    _run(web=False, work=True)


async def _sandbox(settings: Settings) -> None:
    from bot.web.process import ending
    from bot.web.sandbox import running_sandbox

    async with ending() as ended, running_sandbox(settings) as (github, parts):
        click.echo("No credentials are set: this is a sandbox. Nothing leaves this machine, and nothing is kept.\n")
        click.echo(f"  a pull request and its review   {github.page_url}")
        click.echo(f"  the server                      {parts.url}/")
        click.echo("\nWrite /recheck there, or push the fix. Ctrl-C ends it; `seamguard register` makes a real App.")
        await ended.wait()


def _run(*, web: bool, work: bool) -> None:
    from bot.store import DatabaseError
    from bot.web.process import NotConfigured, serve
    from bot.web.server import NotListening
    from bot.web.settings import SettingsError, load

    try:
        settings = load()
        if web and not settings.configured:
            asyncio.run(_sandbox(settings))
        else:
            asyncio.run(serve(settings, web=web, work=work))
    except SettingsError as error:
        raise Failure("the settings can't be used:\n  " + "\n  ".join(error.problems)) from error
    except (NotConfigured, DatabaseError) as error:
        raise Failure(str(error)) from error
    except NotListening as error:
        raise Failure(f"{error}; choose another PORT or HOST") from error
    except FileNotFoundError as error:
        if error.filename != "git" or settings.configured:
            raise
        raise Failure(
            "no credentials are set, and the sandbox that is shown without any needs git, which is not installed; "
            "`seamguard register` makes a real App"
        ) from error
