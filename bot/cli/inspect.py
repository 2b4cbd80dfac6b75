"""`inspect`: one stage alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import click

from bot.cli import inspect_clock, inspect_compose, inspect_engine, inspect_hazards, inspect_shell
from bot.cli.batch import Answer, answers
from bot.cli.failure import Failure
from bot.cli.group import HelpfulGroup
from bot.cli.machine import print_json
from bot.cli.opening import locate
from bot.cli.options import batch_option, env_option, format_option, request_keys, required
from bot.cli.request import BadRequest
from bot.compose import Documents, load_project
from bot.repositories import DirectoryTree


@click.group("inspect", cls=HelpfulGroup)
def inspect_group() -> None:
    """Show what a single stage makes of its input, as JSON."""


def _run(answer: Answer, request: Mapping[str, Any] | None, batch: IO[str] | None) -> None:
    if batch is not None:
        for line in answers(batch, answer):
            click.echo(line)
        return
    try:
        print_json(answer(request or {}))
    except BadRequest as error:
        raise Failure(str(error)) from error


_COMPOSE_KEYS = request_keys(
    "only `files` must be there",
    {
        "id": "anything; it comes back with the answer",
        "files": '{"path": "text"}: paths as seen from the project directory',
        "main": '["path"]: those given with -f; else Compose\'s default names',
        "env": '{"NAME": "value"}: the whole environment',
        "profiles": '["name"], as --profile',
        "env_files": '["path"], as --env-file',
        "directory": "the project directory, as --project-directory",
        "args": '["-f", "path", …]: a command line, in place of `main` and others',
        "root": "the absolute path of the folder; paths in answers begin with it",
    },
)


@inspect_group.command("compose", epilog=_COMPOSE_KEYS)
@click.argument("files", nargs=-1)
@env_option
@batch_option
def compose(files: tuple[str, ...], env: dict[str, str], batch: IO[str] | None) -> None:
    """Docker Compose's resolved model of FILES, given in -f order."""
    if batch is not None:
        _run(inspect_compose.answer, None, batch)
        return
    required(files[0] if files else None, "FILE")
    located = [locate(file, None) for file in files]
    root = located[0][0]
    if any(other != root for other, _ in located):
        raise Failure("the files lie in different repositories")
    documents = Documents(DirectoryTree(root), str(root.resolve()))
    project = load_project(documents, [path for _, path in located], env)
    print_json(inspect_compose.shown(project))


_SHELL_KEYS = request_keys(
    "only `script` must be there",
    {
        "id": "anything; it comes back with the answer",
        "script": "the text of the script",
        "args": '["word"]: its arguments',
        "env": '{"NAME": "value"}: the whole environment',
        "files": '{"path": "text"}: files beside the script',
        "symbols": '{"NAME": "value"}: what only the container would know',
    },
)


@inspect_group.command("shell", epilog=_SHELL_KEYS)
@click.argument("script", required=False)
@click.argument("arguments", nargs=-1)
@env_option
@batch_option
def shell(script: str | None, arguments: tuple[str, ...], env: dict[str, str], batch: IO[str] | None) -> None:
    """What SCRIPT would exec with ARGUMENTS (behind --).

    Each way through the script is one outcome; `ended` says why a script ends before its end, and in which line.
    """
    request = None
    if batch is None:
        path = Path(required(script, "SCRIPT"))
        try:
            request = {"script": path.read_text(encoding="utf-8"), "args": list(arguments), "env": env}
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(f"{path}: cannot be read: {error}") from error
    _run(inspect_shell.answer, request, batch)


_ENGINE_KEYS = request_keys(
    "only `argv` must be there",
    {
        "id": "anything; it comes back with the answer",
        "argv": '["serve", "model", …]',
        "release": 'such as "0.25.1"; without one, all releases are asked',
        "sm": "120, or [86, 120]: compute capabilities times ten",
        "model_kind": '"dense", "hybrid", "moe" or "hybrid-moe"',
        "architecture": "the model's Hugging Face class name",
        "env": '{"NAME": "value"}',
        "files": '{"path": "text"}: files that arguments name',
    },
)


@inspect_group.command("engine", epilog=_ENGINE_KEYS)
@click.argument("argv", nargs=-1)
@click.option("--release", help="A vLLM release, such as 0.25.1.")
@click.option("--sm", type=int, help="Compute capability times ten, such as 120.")
@click.option("--model-kind", type=click.Choice(["dense", "hybrid", "moe", "hybrid-moe"]))
@click.option("--architecture", help="The model's Hugging Face class name.")
@env_option
@batch_option
def engine(
    argv: tuple[str, ...],
    release: str | None,
    sm: int | None,
    model_kind: str | None,
    architecture: str | None,
    env: dict[str, str],
    batch: IO[str] | None,
) -> None:
    """What a release of vLLM makes of ARGV (behind --, beginning with serve)."""
    request = {
        "release": release,
        "sm": sm,
        "model_kind": model_kind,
        "architecture": architecture,
        "env": env,
        "argv": list(argv),
    }
    _run(inspect_engine.answer, request, batch)


_HAZARDS_KEYS = request_keys(
    "none of which must be there; what is not given is unknown",
    {
        "id": "anything; it comes back with the answer",
        "release": 'such as "0.25.1"; or `releases`, a list of what a tag may mean',
        "image": "a name; `stock`: true for an unmodified one",
        "contains": '["vllm#46324"]: upstream fixes that the image has',
        "adds": '["nvfp4-kv-route"]: what else it has',
        "sm": "120, or [86, 120]",
        "properties": '{"prefix_caching": true, …}; or {"value", "certainty", "because"}',
        "settings": '["kv_transfer_config"]: options that the command line gives',
        "overlays": '["vllm#48375"]: wired ones; or {"ref", "wired", "why"}',
        "observations": '[{"kind", "cause", "fields", "path", "line", "because"}]',
        "worlds": '[{"env", "symbols", …}]: others than the default; keys as above',
        "file, service, slug": "names of what is judged",
    },
)


@inspect_group.command("hazards", epilog=_HAZARDS_KEYS)
@batch_option
def hazards(batch: IO[str] | None) -> None:
    """The findings for given properties, release, overlays and hardware."""
    if batch is None:
        raise Failure("inspect hazards reads requests with --batch FILE.jsonl")
    _run(inspect_hazards.answer, None, batch)


_CLOCK_KEYS = request_keys(
    "`reference` must be there",
    {
        "id": "anything; it comes back with the answer",
        "reference": '"vllm-project/vllm#48375"',
        "pins": '["v0.27.1"]: tags, nightlies by commit, images',
        "facts": '[{"kind": "pull", …}, …]: what is recorded of upstream, in any order; see docs/clocks.md',
    },
)


@inspect_group.command("clock", epilog=_CLOCK_KEYS)
@batch_option
def clock(batch: IO[str] | None) -> None:
    """How far an upstream fix has come, and which pins have it, from recorded facts."""
    if batch is None:
        raise Failure("inspect clock reads requests with --batch FILE.jsonl")
    _run(inspect_clock.answer, None, batch)


@inspect_group.command("probes")
@click.option(
    "--source",
    "sources",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="DIR|FILE",
    help="A release's source, named like vllm-0.25.1; may be given more than once.",
)
@click.argument("more", nargs=-1, type=click.Path(path_type=Path, exists=True))
@format_option("json", "markdown")
def probes(sources: tuple[Path, ...], more: tuple[Path, ...], output: str) -> None:
    """Which upstream fixes the source of releases contains; MORE sources may follow."""
    from bot.cli import inspect_probes  # only this command reads sources

    told = inspect_probes.shown(inspect_probes.ask([*sources, *more]), output)
    if isinstance(told, str):
        click.echo(told, nl=False)
    else:
        print_json(told)
