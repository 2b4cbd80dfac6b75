"""A small repository that waits for upstream fixes, and what upstream does meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.catalog import read_catalog
from bot.provenance import Position
from bot.tree import MemoryTree
from bot.upstream.facts import Facts, read_facts
from bot.upstream.repository_pins import Use, pins_of
from bot.upstream.sites import sites_in
from bot.upstream.watch import Watched, watch, watched_references
from tests.upstream.timeline import REFERENCE, Fact, commit, fix, pull, tag

UPSTREAM = "vllm-project/vllm"
OTHER = f"{UPSTREAM}#46324"
BUG = f"{UPSTREAM}#43559"
IMAGE = "vllm/vllm-openai:v"

COMPOSE = """\
# Engine-profile: vllm-stable
# The vendored pr48375 fixes vllm#43559; drop when vllm#48375 is in the pin.
services:
  engine:
    image: vllm/vllm-openai:v{pin}
    command: ["--no-enable-prefix-caching"]  # until vllm#48375 lands
    volumes:
      - ../patches/vllm-pr48375-mamba:/etc/acme/pr48375:ro
    entrypoint:
      - bash -c "bash /etc/acme/pr48375/install.sh || exit 1"
"""
PATCHES = """\
patches:
  - id: vllm-pr48375-mamba
    files: [patches/vllm-pr48375-mamba/install.sh]
    load_bearing_when: []
    upstream:
      ref: "vllm#43559 (bug) / vllm#48375 (fix PR, OPEN)"
      drop_when: "{drop}"
"""
TRACKER = """\
# What we wait for
| upstream | state | here |
|---|---|---|
| fix [#48375](https://github.com/vllm-project/vllm/pull/48375) | 🟡 Open | drop the overlay when it is in the pin |
"""
DROP = "vllm#48375 merges upstream AND the pin moves past it"
BOTH = "vllm#48375 AND vllm#46324 are in the pinned release"


def files(pins: Mapping[str, str] | str, *, drop: str = DROP, **more: str) -> dict[str, str]:
    """The files of a repository whose composes have these pins."""
    composes = {"one": pins} if isinstance(pins, str) else pins
    written = {f"compose/{name}.yml": COMPOSE.format(pin=pin) for name, pin in composes.items()}
    return {
        **written,
        "profiles/patches.yml": PATCHES.format(drop=drop),
        "docs/UPSTREAM.md": TRACKER,
        "patches/vllm-pr48375-mamba/install.sh": "echo applied\n",
        **more,
    }


def watched(
    tree: Mapping[str, str],
    facts: Mapping[str, Iterable[Fact]] | Iterable[Fact] = (),
    *,
    extra: tuple[str, ...] = (),
    titles: Mapping[str, str] | None = None,
) -> tuple[Watched, ...]:
    """What a repository waits for, with facts of #48375, or of each reference."""
    given = facts if isinstance(facts, Mapping) else {REFERENCE: facts}
    memory = MemoryTree(dict(tree))
    catalog = read_catalog(memory)
    sites = sites_in(memory, catalog)
    pins = pins_of(catalog, uses(tree))
    references = watched_references(catalog, sites, extra)
    read: dict[str, Facts] = {name: read_facts(list(some), UPSTREAM) for name, some in given.items()}
    names = {REFERENCE: "MambaManager honours drop_eagle_block"} if titles is None else titles
    return watch(references, pins, sites, titles=names, facts=lambda name: read.get(name, Facts()))


def uses(tree: Mapping[str, str]) -> Iterable[Use]:
    """The images of the composes."""
    for path, content in tree.items():
        if path.startswith("compose/"):
            lines = content.split("\n")
            (number,) = [n for n, line in enumerate(lines, 1) if "image:" in line]
            name = path.removeprefix("compose/").removesuffix(".yml")
            yield Use(lines[number - 1].split("image: ")[1].strip(), f"vllm/{name}", Position(path, number))


OPEN: list[Fact] = [pull(state="open")]
MERGED: list[Fact] = [pull(), fix(10), tag("v0.33.0", 5), commit("later", 30, "Something else (#60000)")]
RELEASED: list[Fact] = [*MERGED, tag("v0.34.0", 20)]


def issue(number: int, state: str) -> dict[str, Any]:
    return {"kind": "issue", "number": number, "state": state, "closed_at": "2026-06-03T00:00:00Z"}
