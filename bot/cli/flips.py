"""`flips`: what a move of the pin changes in every service of a repository, though none of its lines changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from bot.audit.discovery import Unit, discover
from bot.catalog.model import ImageDeclaration
from bot.cli.failure import Failure
from bot.cli.learning import Learning, offline_option
from bot.cli.opening import opened, readable
from bot.cli.options import format_option, rev_option
from bot.cli.progress import progress
from bot.cli.terminal import Terminal
from bot.compose import load_project
from bot.engine import Engine, Pin, Property, source_link
from bot.engine.derivations.basis import unverified
from bot.engine.facts import is_known, load, releases
from bot.engine.flips import Flips, between
from bot.provenance import Position, Reason
from bot.resolution import Repository, resolve_service

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ServiceFlips:
    """What changes in one service, in its default world."""

    path: str
    service: str
    flips: Flips


@click.command("flips")
@click.argument("old")
@click.argument("new")
@click.option("--repo", "folder", default=".", type=click.Path(path_type=Path), help="The repository.")
@rev_option
@offline_option
@format_option("text", "json")
def flips_command(old: str, new: str, folder: Path, rev: str | None, offline: bool, output: str) -> None:
    """Resolve every vLLM service as if its image were release OLD, then NEW, and list what changes by that alone."""
    old, new = _releases(old, new, offline)
    with opened(folder, rev) as repository, progress("composes") as advance:
        readable(repository)
        found = []
        units = discover(repository.tree, repository.documents, repository.catalog.configuration).units
        for unit in units:
            advance(unit.path, len(units))
            found += list(_unit(repository, unit, old, new))
    if output == "json":
        click.echo(json.dumps(flips_json(old, new, found), indent=2))
    else:
        _print(Terminal(), found, old, new)
        for release in (old, new):
            _print_unverified(release)


def _releases(old: str, new: str, offline: bool) -> tuple[str, str]:
    """The releases in normal form, both with facts."""
    versions = old.removeprefix("v"), new.removeprefix("v")
    Learning(offline).provide(Pin(f"v{version}", version) for version in versions)
    for version in versions:
        if not is_known(version):
            known = releases()
            raise Failure(
                f"nothing is known of release {version} (known are {known[0]} to {known[-1]}); if there is such a one, "
                f"`seamguard learn {version} --source DIR` reads it"
            )
    return versions


def _unit(repository: Repository, unit: Unit, old: str, new: str) -> Iterator[ServiceFlips]:
    project = load_project(repository.documents, unit.files, {})
    for name in project.services:
        resolved = resolve_service(repository, unit.files, name)
        images = {world.pin.image for world in resolved.defaults if world.engine is not None}
        if not images:
            continue
        engines = [_engines(_pinned(repository, images, release), unit, name) for release in (old, new)]
        for before, after in zip(*engines, strict=False):
            changed = between(before, after)
            if changed:
                yield ServiceFlips(resolved.position.path or unit.path, name, changed)
                break


def _pinned(repository: Repository, images: set[str], release: str) -> Repository:
    """The repository as if it declared the images to be a release."""
    configuration = repository.catalog.configuration
    nothing = ImageDeclaration("", None, (), (), Position("", 1))
    declared = {
        image: replace(configuration.images.get(image, nothing), image=image, release=release) for image in images
    }
    configuration = replace(configuration, images={**configuration.images, **declared})
    return replace(repository, catalog=replace(repository.catalog, configuration=configuration))


def _engines(repository: Repository, unit: Unit, service: str) -> list[Engine]:
    resolved = resolve_service(repository, unit.files, service)
    return [world.engine for world in resolved.defaults if world.engine is not None]


def flips_json(old: str, new: str, found: list[ServiceFlips]) -> dict[str, Any]:
    """The `flips` contract, schema 1. `unverified` are the properties of which a release's default is not known."""
    unread = {release: list(unverified(load(release))) for release in (old, new)}
    return {
        "schema": SCHEMA,
        "old": old,
        "new": new,
        "services": [_service_json(item) for item in found],
        "unverified": {release: names for release, names in unread.items() if names},
    }


def _service_json(item: ServiceFlips) -> dict[str, Any]:
    changed = item.flips
    return {
        "path": item.path,
        "service": item.service,
        "properties": [
            {
                "property": flip.name,
                "before": flip.before.value,
                "after": flip.after.value,
                "certainty": "assumed" if "assumed" in (flip.before.certainty, flip.after.certainty) else "certain",
                "because": [
                    {"release": release, "path": reason.path, "line": reason.line, "text": reason.text}
                    for release, reasons in zip((changed.old, changed.new), flip.places, strict=True)
                    for reason in reasons
                ],
            }
            for flip in changed.properties
        ],
        "reread": [
            {"setting": reread.setting, "before": reread.before, "after": reread.after} for reread in changed.reread
        ],
        "refused": [
            {"kind": error.kind, "argument": error.argument, "message": error.message} for error in changed.refused
        ],
        "lost": [{"kind": lost.kind, "argument": lost.argument, "message": lost.message} for lost in changed.lost],
    }


def _print(out: Terminal, found: list[ServiceFlips], old: str, new: str) -> None:
    for item in found:
        out.line((f"{item.path}: {item.service}", "bold"))
        for flip in item.flips.properties:
            out.line(f"  {flip.name}: {_word(flip.before)} → {_word(flip.after)}")
            for release, reasons in zip((old, new), flip.places, strict=True):
                for reason in reasons:
                    out.line((f"    {_place(release, reason)}", "dim"))
        for reread in item.flips.reread:
            out.line(f"  {reread.setting} is read as {reread.before!r} in {old}, as {reread.after!r} in {new}")
        for error in item.flips.refused:
            out.line(f"  {new} refuses {error.argument}: {error.message}")
        for lost in item.flips.lost:
            out.line(f"  {lost.argument}: {lost.message}")
    count = f"{len(found)} service{' changes' if len(found) == 1 else 's change'}"
    out.line(f"{count} between {old} and {new}" if found else f"nothing changes from {old} to {new}")


def _print_unverified(release: str) -> None:
    """What could not be compared: a default that is not known does not count as one that stays."""
    names = [name for name in unverified(load(release)) if name != "conflicts"]
    if names:
        click.echo(f"not compared, for nobody has read how {release} decides it: {', '.join(names)}")


def _place(release: str, reason: Reason) -> str:
    return f"{reason.text}  {source_link(release, reason.path, reason.line)}"


def _word(held: Property) -> str:
    if isinstance(held.value, bool):
        return "on" if held.value else "off"
    return "none" if held.value is None else str(held.value)
