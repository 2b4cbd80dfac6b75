"""`learn`: the facts of a release, read from its own source."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from packaging.version import Version

from bot.cli.failure import Failure
from bot.engine import cache
from bot.engine.changes import Change, changelog
from bot.engine.derivations.basis import unread, unverified
from bot.engine.facts import Facts, from_text, load, releases
from bot.learn import check_complete, learn
from bot.learn.fetch import listing, normal, tagged
from bot.learn.files import dump, open_source
from bot.learn.published import published
from bot.learn.source import SourceError, SourceTree
from bot.rules import INSTALLED, RULES

ANCHORS = RULES / "vllm" / "anchors.json"


@click.command("learn")
@click.argument("version")
@click.option(
    "--source",
    type=click.Path(path_type=Path, exists=True),
    metavar="DIR|FILE",
    help="The release's source: a folder that holds vllm/, an sdist, or a wheel. Default: what the package index has.",
)
@click.option(
    "--from",
    "origin",
    type=click.Choice(["index", "github"]),
    default="index",
    help="Where the source is fetched: the package index (where it has no sdist, the Python of a wheel), "
    "or the tag, by GitHub's API.",
)
@click.option("--index", metavar="URL", help="The package index. Default: PIP_INDEX_URL, else the public one.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where the release file goes. Default: rules/vllm/releases of a checkout, else the cache folder.",
)
def learn_command(version: str, source: Path | None, origin: str, index: str | None, output: Path | None) -> None:
    """Learn release VERSION of vLLM from its source, which is only read, never run."""
    began = time.monotonic()
    try:
        release = normal(version)
        facts = learn(_source(release, source, origin, index), release, _anchors())
        if output is None and INSTALLED:
            check_complete(facts)
    except SourceError as error:
        raise Failure(str(error)) from error
    text = dump(facts)
    try:
        where = _write(release, text, output)
    except (OSError, ValueError) as error:
        raise Failure(f"the release file cannot be written: {error}") from error
    learnt = from_text(text)
    click.echo(f"vLLM {release}: {_counts(facts)}, learnt in {time.monotonic() - began:.1f} s, {where}")
    for line in report(learnt):
        click.echo(line)


def _source(release: str, source: Path | None, origin: str, index: str | None) -> SourceTree:
    if source is not None:
        return open_source(source)
    if origin == "github":
        with tagged(release) as path:
            return open_source(path)
    return published(release, listing(index))


def _anchors() -> list[str]:
    return list(json.loads(ANCHORS.read_text(encoding="utf-8")))


def _write(release: str, text: str, output: Path | None) -> Path:
    if output is None and INSTALLED:
        return cache.write(release, text)
    folder = output or RULES / "vllm" / "releases"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{release}.json"
    file.write_text(text, encoding="utf-8")
    return file


def _counts(facts: Mapping[str, Any]) -> str:
    return (
        f"{len(facts['flags'])} flags, {len(facts['configs'])} configuration classes, "
        f"{len(facts['environment'])} environment variables"
    )


def report(learnt: Facts) -> Iterator[str]:
    """What a reviewer of a release file should look at: changes, moved definitions, gaps."""
    earlier = [name for name in releases() if Version(name) < Version(learnt.version)]
    if earlier:
        changes = changelog(load(earlier[-1]), learnt)
        yield (
            f"\nSince {earlier[-1]}:" if changes else f"\nSince {earlier[-1]} no flag, key, level or variable changed."
        )
        yield from map(_change, changes)
    moved = unread(learnt)
    if moved:
        yield "\nDefinitions that nobody has read in this form:"
        for name in moved:
            path, _, definition = name.partition(":")
            entry = learnt.anchors[name]
            yield f"  {definition}  {learnt.source_link(path, entry[1] if entry else None)}"
    properties = unverified(learnt)
    if properties:
        yield "\nUnverified, and not derived for this release until someone looks (rules/vllm/derivations.yml):"
        for name, definitions in properties.items():
            yield f"  {name}: {', '.join(definition.rpartition(':')[2] for definition in definitions) or 'never read'}"
    if learnt.unread_rules:
        yield "\nThe command line is read as in earlier releases, but this code has changed:"
        yield from (f"  {name}" for name in learnt.unread_rules)
    if learnt.gaps:
        yield "\nStatements that could not be followed, so that a flag may be missing:"
        yield from (f"  {gap}" for gap in learnt.gaps)


def _change(change: Change) -> str:
    sign = {"changed": "~", "removed": "-", "added": "+"}[change.kind]
    place = f"{change.path}:{change.line}" if change.line else change.path
    return f"  {sign} {change.subject}{': ' if change.text else ''}{change.text}  ({place})"
