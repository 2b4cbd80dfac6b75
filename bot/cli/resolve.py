"""`resolve`: what a compose really runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import click

from bot.cli.batch import answers
from bot.cli.failure import Failure
from bot.cli.hints import no_service
from bot.cli.learning import Learning, informed, offline_option, pins_of
from bot.cli.machine import print_json
from bot.cli.opening import Known, locate, opened, readable, run_together, tell_unread
from bot.cli.options import (
    batch_option,
    env_option,
    format_option,
    repo_option,
    request_keys,
    required,
    rev_option,
    symbol_option,
)
from bot.cli.request import BadRequest, needed_text, text, texts
from bot.compose import load_project
from bot.hazards import load_rules
from bot.resolution import Repository, resolve_service
from bot.resolution.contract import Way, resolution_json

_KEYS = request_keys(
    "only `file` must be there",
    {
        "id": "anything; it comes back with the answer",
        "file": "the compose, as FILE",
        "repo": "the repository, as --repo",
        "rev": "a git revision, as --rev",
        "service": "one service",
        "env": '{"NAME": "value"}: what the host sets',
        "symbols": '{"NAME": "value"}: what only the container would know',
        "worlds": '"default" or "all"',
    },
)


@click.command("resolve", epilog=_KEYS)
@click.argument("file", required=False)
@repo_option
@rev_option
@click.option("--service", help="One service; by default every service.")
@env_option
@symbol_option
@click.option("--worlds", type=click.Choice(["default", "all"]), default="default", show_default=True)
@offline_option
@batch_option
@format_option("text", "json")
def resolve_command(
    file: str | None,
    repo: Path | None,
    rev: str | None,
    service: str | None,
    env: dict[str, str],
    symbols: dict[str, str],
    worlds: str,
    offline: bool,
    batch: IO[str] | None,
    output: str,
) -> None:
    """Show what the services of a compose FILE run: argv, steps, and the engine's effective properties.

    The status is 2 when Docker Compose would refuse the file; what could be resolved all the same is shown.
    """
    if batch is not None:
        with _Opened(Learning(offline)) as states:
            for line in answers(batch, states.answer):
                click.echo(line)
        return
    root, path = locate(required(file, "FILE"), repo)
    with opened(root, rev) as repository:
        readable(repository)
        ways, answer = _resolve(repository, path, service, env, symbols, worlds, Learning(offline))
        tell_unread(repository, path, env)
    if output == "json":
        print_json(answer)
    else:
        from bot.cli.text import print_resolution

        print_resolution(path, ways, answer["errors"], env)
    if answer["errors"]:
        raise SystemExit(2)


def _resolve(
    repository: Repository,
    path: str,
    service: str | None,
    env: Mapping[str, str],
    symbols: Mapping[str, str],
    worlds: str,
    learning: Learning,
) -> tuple[list[Way], dict[str, Any]]:
    """The services of a file in each way in which it is started, and the answer of the contract about them."""
    projects = {files: load_project(repository.documents, files, env) for files in run_together(repository, path)}
    names = dict.fromkeys(name for project in projects.values() for name in project.services)
    if service is not None and names and service not in names:
        raise Failure(no_service(path, service, names))
    interplay = load_rules().interplay if worlds == "all" else None

    def work() -> list[Way]:
        return [
            (
                files,
                [
                    resolve_service(
                        repository, files, name, environment=env, symbols=symbols, interplay=interplay, project=project
                    )
                    for name in project.services
                    if service in (None, name)
                ],
            )
            for files, project in projects.items()
        ]

    ways = informed(work, lambda found: pins_of(one for _, services in found for one in services), learning)
    errors = dict.fromkeys(error for project in projects.values() for error in project.errors)
    return ways, resolution_json(path, ways, errors, env)


class _Opened:
    """The repositories that a batch asks for, each opened once. Without `learning` nothing is fetched."""

    def __init__(self, learning: Learning | None = None) -> None:
        self._learning = learning or Learning(offline=True)
        self._states: dict[tuple[str, str | None], Any] = {}
        self._known = Known()

    def __enter__(self) -> _Opened:
        return self

    def __exit__(self, *_: object) -> None:
        for context, _repository in self._states.values():
            context.__exit__(None, None, None)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """One request of the batch contract."""
        file = needed_text(request, "file")
        repo, env, symbols = text(request, "repo"), texts(request, "env"), texts(request, "symbols")
        worlds = text(request, "worlds") or "default"
        if worlds not in ("default", "all"):
            raise BadRequest(f"`worlds` is {worlds!r}; it can be default or all")
        try:
            root, path = locate(file, Path(repo) if repo else None)
            repository = self._open(root, text(request, "rev"))
            service = text(request, "service")
            _, answer = _resolve(repository, path, service, env, symbols, worlds, self._learning)
        except Failure as failure:
            raise BadRequest(str(failure)) from failure
        return answer

    def _open(self, root: Path, rev: str | None) -> Repository:
        key = (str(root), rev)
        if key not in self._states:
            context = opened(root, rev, self._known)
            self._states[key] = (context, context.__enter__())
        repository: Repository = self._states[key][1]
        return repository
