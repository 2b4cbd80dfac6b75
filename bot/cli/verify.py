"""`verify`: a boot log held against what a compose resolves to."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from bot.bootlog import BootLog, Comparison, Shift, compare, effects, matches, read
from bot.bootlog.contract import verification_json
from bot.bootlog.reading import MAX_BYTES
from bot.bootlog.wording import headline, proof, setting, shifted, shown, told
from bot.cli.failure import Failure
from bot.cli.hints import no_service
from bot.cli.learning import Learning, informed, offline_option, pins_of
from bot.cli.opening import links_to, locate, opened, readable, run_together
from bot.cli.options import env_option, format_option, repo_option, rev_option, symbol_option, url_option
from bot.cli.terminal import Terminal
from bot.commands import Verify, verify
from bot.compose import load_project
from bot.hazards import load_rules
from bot.resolution import Repository, ResolvedService, resolve_service
from bot.review import Links

_STYLES = {"agrees": "green", "contradicts": "bold red", "log only": "cyan", "not said": "dim"}


@click.command("verify")
@click.argument("log")
@click.argument("subject", metavar="FILE[:SERVICE]")
@repo_option
@rev_option
@env_option
@symbol_option
@click.option("--all", "everything", is_flag=True, help="Print the properties too that the log does not say.")
@offline_option
@format_option("text", "json", "markdown")
@url_option
def verify_command(
    log: str,
    subject: str,
    repo: Path | None,
    rev: str | None,
    env: dict[str, str],
    symbols: dict[str, str],
    everything: bool,
    offline: bool,
    output: str,
    url: str,
) -> None:
    """Hold a vLLM boot LOG (a file, or - for standard input) against a compose FILE.

    Each property is resolved from the files and read from the log: they agree, the log contradicts, or it does not say
    it. Where the log contradicts the default world, other worlds that it fits are named. Only a log tells what the
    worker did with the CUDA graphs; the hazards that this changes are listed. Markdown is what /verify in a comment
    answers, about the default world.

    The exit status is 0 when nothing contradicts, 1 when something does, 2 for unreadable input or a log without an
    engine.
    """
    text = _text(log)
    if not read(text) and _is_compose(log) and not _is_compose(subject.partition(":")[0]):
        raise Failure(f"{log} is a compose: the log comes first (seamguard verify {subject} {log})")
    file, _, wanted = subject.partition(":")
    root, path = locate(file, repo)
    with opened(root, rev) as repository:
        readable(repository)
        names = _names(repository, path, wanted, env)
        rules = load_rules()
        if output == "markdown":
            if env or symbols:
                raise Failure("--format markdown is about the default world: leave --env and --symbol out")
            sys.exit(_markdown(read(text), Verify(path, wanted or None), repository, links_to(root, rev, url), offline))

        def work() -> list[ResolvedService]:
            return [
                resolve_service(repository, files, name, environment=env, symbols=symbols, interplay=rules.interplay)
                for files, name in names
            ]

        services = [service for service in informed(work, pins_of, Learning(offline)) if service.kind == "vllm"]
        boot, service = _chosen(read(text), services, path, bool(wanted))
        found = compare(boot, service)
        shifts = effects(boot, service, rules)
    if output == "json":
        click.echo(json.dumps(verification_json(path, boot, found, shifts, env), indent=2, ensure_ascii=False))
    else:
        _print(path, found, shifts, env, everything)
        if len(text) > MAX_BYTES:
            click.echo(f"only the first {MAX_BYTES >> 20} MB of the log were read", err=True)
    sys.exit(1 if found.verdict == "contradicts" else 0)


def _markdown(boots: Sequence[BootLog], asked: Verify, repository: Repository, links: Links, offline: bool) -> int:
    """Prints the answer to a comment, and gives the exit status."""
    if not boots:
        raise Failure(_NO_ENGINE)
    rules = load_rules()
    found = informed(lambda: verify(asked, boots, repository, rules, links), lambda it: it.pins, Learning(offline))
    click.echo(found.answer)
    return (1 if found.contradicts else 0) if found.settled else 2


_NO_ENGINE = (
    "the log has no line of a vLLM engine: they carry a mark such as [core.py:115], and the one that says most "
    "begins with 'Initializing a V1 LLM engine'"
)


def _is_compose(name: str) -> bool:
    return name.endswith((".yml", ".yaml"))


def _text(log: str) -> str:
    """The log, of which no more is held than is read."""
    try:
        if log == "-":
            data = sys.stdin.buffer.read(4 * MAX_BYTES)
        else:
            with Path(log).open("rb") as stream:
                data = stream.read(4 * MAX_BYTES)
    except OSError as error:
        raise Failure(f"{log}: {error.strerror}") from error
    return data.decode("utf-8", "replace")


def _names(repository: Repository, path: str, wanted: str, env: dict[str, str]) -> list[tuple[tuple[str, ...], str]]:
    """The services that may have written the log, each with the files that are given together."""
    projects = {files: load_project(repository.documents, files, env) for files in run_together(repository, path)}
    known = dict.fromkeys(name for project in projects.values() for name in project.services)
    if wanted and known and wanted not in known:
        raise Failure(no_service(path, wanted, known))
    names = [(files, name) for files, project in projects.items() for name in project.services if wanted in ("", name)]
    if not names:
        first = next((error for project in projects.values() for error in project.errors), None)
        raise Failure(f"{path}: {first.message if first else 'no service could be resolved'}")
    return names


def _chosen(
    boots: Sequence[BootLog], services: Sequence[ResolvedService], path: str, named: bool
) -> tuple[BootLog, ResolvedService]:
    """The boot and the service that belong together."""
    if not boots:
        raise Failure(_NO_ENGINE)
    if not services:
        raise Failure(f"{path}: no service runs a vLLM engine")
    found = [match for boot in boots for match in matches(boot, services, named=len(boots) == 1)]
    if len(found) == 1:
        return found[0].log, found[0].service
    if len(services) > 1 and not named:
        names = ", ".join(service.name for service in services)
        raise Failure(f"{path} has several services with an engine: name one with FILE:SERVICE ({names})")
    names = ", ".join(boot.container or "no name" for boot in boots)
    raise Failure(f"the log has the lines of several engines ({names}): give the lines of one")


def _print(path: str, found: Comparison, shifts: Sequence[Shift], env: dict[str, str], everything: bool) -> None:
    terminal = Terminal()
    where = setting({**env, **found.world}) or "the default world"
    terminal.line((f"{path}: {found.service.name}", "bold"), f", {where}: {headline(found)}")
    rows = [row for row in found.rows if everything or row.said is not None or row.doubt]
    if rows:
        terminal.line()
        terminal.columns(
            (
                row.name,
                ("assumed", _STYLES["log only"]) if row in found.beyond else (row.verdict, _STYLES[row.verdict]),
                f"files: {shown(row.resolved.value) if row.resolved else 'not known'}",
                f"log: {told(row)}" + (f" (line {row.said.line})" if row.said else ""),
            )
            for row in rows
        )
    silent = [row.name for row in found.rows if row.verdict == "not said" and not row.doubt]
    if silent and not everything:
        terminal.line()
        terminal.line((f"not said: {', '.join(silent)}", "dim"))
    for fit in found.fits:
        terminal.line()
        terminal.line("it fits ", (setting(dict(fit)), "bold"))
    if (proved := proof(found)) is not None:
        terminal.line()
        terminal.line(f"the log proves: {proved}")
    if shifts:
        terminal.line()
        terminal.line("by the log, these hazards are others than from the files alone:")
    for shift in shifts:
        terminal.line("  ", (shift.rule, "bold"), f" {shifted(shift)}")
