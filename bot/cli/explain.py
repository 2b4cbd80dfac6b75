"""`explain`: why a property is what it is, and what a rule is about."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from bot.cli.failure import Failure
from bot.cli.opening import locate, opened
from bot.cli.options import env_option, repo_option, rev_option, symbol_option
from bot.compose import load_project
from bot.engine import PROPERTIES, source_links
from bot.hazards import load_rules
from bot.printable import printable
from bot.resolution import ResolvedService, resolve_service


@click.command("explain")
@click.argument("subject", metavar="FILE[:SERVICE]|RULE")
@click.argument("property_name", metavar="[PROPERTY]", required=False)
@repo_option
@rev_option
@env_option
@symbol_option
def explain_command(
    subject: str,
    property_name: str | None,
    repo: Path | None,
    rev: str | None,
    env: dict[str, str],
    symbols: dict[str, str],
) -> None:
    """Show the chain of reasons behind PROPERTY of a compose, or the page of a RULE."""
    rules = load_rules()
    if property_name is None and subject in rules.ids:
        click.echo(rules.page(subject))
        return
    if property_name is not None and property_name not in PROPERTIES:
        raise Failure(f"no property {property_name!r}; there are {', '.join(PROPERTIES)}")
    if property_name is None and "/" not in subject and "." not in subject:
        near = difflib.get_close_matches(subject, rules.ids, 1)
        hint = f"did you mean {near[0]}?" if near else f"the rules are {', '.join(sorted(rules.ids))}"
        raise Failure(f"no rule {subject!r}: {hint}")
    file, _, service = subject.partition(":")
    root, path = locate(file, repo)
    with opened(root, rev) as repository:
        project = load_project(repository.documents, (path,), env)
        for error in project.errors:
            click.echo(printable(f"{error.path}:{error.line or 1}: {error.message}"), err=True)
        names = [name for name in project.services if service in ("", name)]
        if not names:
            raise Failure(f"{path}: no service {service!r}" if service else f"{path}: no service could be resolved")
        for name in names:
            _explain(resolve_service(repository, (path,), name, environment=env, symbols=symbols), property_name)


def _explain(service: ResolvedService, property_name: str | None) -> None:
    for world in service.worlds:
        if world.engine is None:
            reasons = "; ".join(item.reason for item in world.unresolved) or f"it runs {world.kind or 'no engine'}"
            click.echo(printable(f"{service.path}:{service.name}: no vLLM properties: {reasons}"), err=True)
            continue
        for name, value in world.engine.properties.items():
            if property_name in (None, name):
                from bot.cli import text

                text.print_chain(f"{service.name}: {name}", value, source_links(world.engine.releases, value))


