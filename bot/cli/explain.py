"""`explain`: why a property is what it is, and what a rule is about."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from bot.cli.failure import Failure
from bot.cli.hints import near, no_service
from bot.cli.learning import Learning, informed, offline_option, pins_of
from bot.cli.opening import locate, opened, readable, run_together, tell_unread
from bot.cli.options import env_option, repo_option, rev_option, symbol_option
from bot.compose import load_project
from bot.engine import PROPERTIES, source_links
from bot.hazards import Rules, load_rules
from bot.printable import printable
from bot.resolution import Repository, ResolvedService, resolve_service


@click.command("explain")
@click.argument("subject", metavar="FILE[:SERVICE]|RULE")
@click.argument("property_name", metavar="[PROPERTY]", required=False)
@repo_option
@rev_option
@env_option
@symbol_option
@offline_option
def explain_command(
    subject: str,
    property_name: str | None,
    repo: Path | None,
    rev: str | None,
    env: dict[str, str],
    symbols: dict[str, str],
    offline: bool,
) -> None:
    """Show the chain of reasons behind PROPERTY of a compose FILE, or the page of a RULE.

    Without a property: every property, each with its chain. `rules` lists the rules.
    """
    rules = load_rules()
    if property_name is None and subject in rules.ids:
        click.echo(rules.page(subject))
        return
    _check_words(subject, property_name, rules)
    file, _, service = subject.partition(":")
    root, path = locate(file, repo)
    if (root / path).is_dir():
        raise Failure(f"{file} is a folder: name a compose file")
    with opened(root, rev) as repository:
        readable(repository)
        names = list(_services(repository, path, service, env))
        tell_unread(repository, path, env)
        several = len({files for files, _ in names}) > 1

        def work() -> list[ResolvedService]:
            return [resolve_service(repository, files, name, environment=env, symbols=symbols) for files, name in names]

        answered = [
            _explain(resolved, property_name, " with ".join(files) if several else "")
            for (files, _), resolved in zip(names, informed(work, pins_of, Learning(offline)), strict=True)
        ]
    if not any(answered):
        raise SystemExit(2)


def _check_words(subject: str, property_name: str | None, rules: Rules) -> None:
    """Refuse what is neither a file with a property of ours, nor a rule."""
    if property_name is not None and subject in rules.ids:
        raise Failure(
            f"{subject} is a rule: `explain {subject}` prints its page, and "
            f"`explain FILE[:SERVICE] {property_name}` says how a compose comes by the property"
        )
    if property_name is not None and property_name not in PROPERTIES:
        raise Failure(f"no property {property_name!r}: {near(property_name, PROPERTIES, 'there are')}")
    if subject in PROPERTIES:
        raise Failure(f"{subject} is a property: `explain FILE[:SERVICE] {subject}` says how a compose comes by it")
    if property_name is None and not Path(subject).exists() and "/" not in subject and "." not in subject:
        raise Failure(f"no rule {subject!r}: {near(subject, rules.ids, 'the rules are')}")


def _services(
    repository: Repository, path: str, service: str, env: dict[str, str]
) -> Iterable[tuple[tuple[str, ...], str]]:
    """The services that are asked about, each with the files that are given together; what Docker Compose refuses is
    told.
    """
    projects = {files: load_project(repository.documents, files, env) for files in run_together(repository, path)}
    for error in dict.fromkeys(error for project in projects.values() for error in project.errors):
        click.echo(printable(f"{error.path or path}:{error.line or 1}: {error.message}"), err=True)
    known = dict.fromkeys(name for project in projects.values() for name in project.services)
    if service and known and service not in known:
        raise Failure(no_service(path, service, known))
    found = [(files, name) for files, project in projects.items() for name in project.services if service in ("", name)]
    if not found and not any(project.errors for project in projects.values()):
        raise Failure(f"{path}: it has no services")
    if not found:
        raise SystemExit(2)
    return found


def _explain(service: ResolvedService, property_name: str | None, where: str = "") -> bool:
    """Tells the chains of a service; whether the question has an answer. `where` names the files, where they are
    started in several ways.
    """
    answered = False
    for world in service.worlds:
        if world.engine is None:
            reasons = "; ".join(item.reason for item in world.unresolved) or f"it runs {world.kind or 'no engine'}"
            click.echo(printable(f"{service.path}:{service.name}: no vLLM properties: {reasons}"), err=True)
            answered = answered or world.resolved  # that it runs something else is an answer
            continue
        for name, value in world.engine.properties.items():
            if property_name in (None, name):
                from bot.cli import text

                answered = True
                links = source_links(world.engine.releases, value)
                way = f", as {where}" if where else ""
                text.print_chain(f"{service.name}: {name}", value, links, f"{way}{text.fork(world)}")
    return answered
