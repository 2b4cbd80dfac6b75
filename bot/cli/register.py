"""`register`: makes the GitHub App, and writes its credentials to `.env`."""

from __future__ import annotations

import asyncio
import contextlib
import webbrowser
from pathlib import Path

import click

from bot.cli.failure import Failure


@click.command("register")
@click.option("--url", "public_url", required=True, help="Where GitHub will reach this server, https://HOST.")
@click.option("--organization", "organisation", help="The organisation that shall own the App; you, without it.")
@click.option("--name", help="The App's name; GitHub's names are unique.")
@click.option("--port", default=0, show_default="any free one", help="The port of the page on this machine.")
@click.option("--env-file", default=".env", type=click.Path(dir_okay=False, path_type=Path), help="What is written.")
@click.option("--open/--no-open", "opens", default=True, help="Open the page in a browser.")
def register_command(
    public_url: str, organisation: str | None, name: str | None, port: int, env_file: Path, opens: bool
) -> None:
    """Register the App at GitHub, with the permissions and events of app.yaml."""
    from bot.web.registration import RegistrationError, check_beforehand
    from bot.web.server import NotListening
    from bot.web.settings import SettingsError

    try:
        check_beforehand(public_url, env_file)
        asyncio.run(_register(public_url, organisation, name, port, env_file, opens))
    except RegistrationError as error:
        raise Failure(str(error)) from error
    except SettingsError as error:
        raise Failure("\n".join(error.problems)) from error
    except NotListening as error:
        raise Failure(f"{error}; choose another --port") from error


async def _register(
    public_url: str, organisation: str | None, name: str | None, port: int, env_file: Path, opens: bool
) -> None:
    from bot.github.hosts import Hosts
    from bot.jobs.context import web_address
    from bot.web.manifest import read_manifest
    from bot.web.registration import Registration
    from bot.web.server import listening
    from bot.web.settings import api_url

    api = api_url(env_file)
    registration = Registration(
        read_manifest(),
        public_url.rstrip("/"),
        env_file,
        web_url=web_address(api),
        hosts=Hosts(api),
        organisation=organisation,
        name=name,
    )
    async with listening(registration.application(), "127.0.0.1", port) as address:
        registration.base_url = address
        click.echo(f"Open {address} in a browser on this machine.")
        if opens:
            with contextlib.suppress(webbrowser.Error):
                webbrowser.open(address)
        made = await registration.done
    click.echo(f"{made.slug} is registered; its credentials are in {env_file}.")
    click.echo(f"Install it for repositories: {made.html_url}/installations/new")
    click.echo("Then start the server: seamguard serve")
