"""`serve` and `worker`: the GitHub App."""

from __future__ import annotations

import asyncio

import click

from bot.cli.failure import Failure


@click.command("serve")
@click.option("--work/--no-work", default=True, help="Do the jobs in this process too, or leave them to `worker`.")
def serve_command(work: bool) -> None:
    """Receive GitHub's webhooks, and review pull requests. Settings come from the environment and from .env."""
    _run(web=True, work=work)


@click.command("worker")
def worker_command() -> None:
    """Do the jobs that `serve --no-work` accepts, without listening."""
    _run(web=False, work=True)


def _run(*, web: bool, work: bool) -> None:
    from bot.store import DatabaseError
    from bot.web.process import NotConfigured, serve
    from bot.web.settings import SettingsError, load

    try:
        asyncio.run(serve(load(), web=web, work=work))
    except SettingsError as error:
        raise Failure("the settings can't be used:\n  " + "\n  ".join(error.problems)) from error
    except (NotConfigured, DatabaseError) as error:
        raise Failure(str(error)) from error
    except OSError as error:
        raise Failure(f"can't listen: {error.strerror or error}; choose another PORT or HOST") from error
