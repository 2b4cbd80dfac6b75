"""The order of the rooms: each imports only rooms that stand below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import bot

HOUSE = Path(bot.__file__).parent
GROUND = {"deferred", "memory", "printable", "provenance", "references", "rules", "tree"}
"""What every room may import, and what imports none of them but what stands here."""

BELOW: dict[str, set[str]] = {
    "markdown": set(),
    "claims": set(),
    "compose": set(),
    "shell": set(),
    "engine": set(),
    "repositories": set(),
    "github": set(),
    "store": set(),
    "sandbox": {"repositories"},
    "learn": {"engine"},
    "worlds": {"compose", "shell"},
    "catalog": {"claims", "compose", "shell", "engine"},
    "upstream": {"markdown", "engine", "catalog", "learn"},
    "notices": {"markdown", "catalog", "upstream"},
    "hazards": {"markdown", "engine"},
    "resolution": {"compose", "shell", "worlds", "engine", "catalog"},
    "audit": {"compose", "shell", "worlds", "engine", "catalog", "claims", "hazards", "resolution"},
    "bootlog": {"engine", "hazards", "resolution", "audit"},
    "review": {"markdown", "compose", "engine", "catalog", "hazards", "resolution", "audit", "upstream"},
    "remedies": {"claims", "compose", "engine", "catalog", "hazards", "resolution", "audit", "review"},
    "commands": {"markdown", "compose", "engine", "hazards", "resolution", "audit", "bootlog", "review"},
    "jobs": {
        "upstream",
        "markdown",
        "compose",
        "engine",
        "catalog",
        "hazards",
        "resolution",
        "audit",
        "review",
        "remedies",
        "bootlog",
        "commands",
        "notices",
        "github",
        "store",
        "learn",
    },
}
"""For each room those that it may import besides."""

FACES = {"cli", "web", "__main__"}
"""These stand on top: nothing imports them."""


def _imports() -> Iterator[tuple[str, str, Path]]:
    """(room, imported room, file) for every import between rooms, those inside functions too."""
    for file in HOUSE.rglob("*.py"):
        room = file.relative_to(HOUSE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file} imports relatively"
                module = node.module or ""
                names = [f"bot.{alias.name}" for alias in node.names] if module == "bot" else [module]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                package, _, rest = name.partition(".")
                other = rest.partition(".")[0]
                if package == "bot" and other not in ("", room, "__version__"):
                    yield room, other, file


IMPORTS = sorted(set(_imports()))


def test_every_room_has_its_place() -> None:
    rooms = {file.name.removesuffix(".py") for file in HOUSE.iterdir() if file.suffix == ".py" or file.is_dir()}
    known = {*GROUND, *BELOW, *FACES}
    assert {room for room in rooms if not room.startswith("_") or room in FACES} - known == set()


@pytest.mark.parametrize("room", sorted({*GROUND, *BELOW}))
def test_a_room_imports_only_what_stands_below_it(room: str) -> None:
    allowed = GROUND | BELOW.get(room, set())
    wrong = [
        f"{file.relative_to(HOUSE.parent)} imports bot.{other}"
        for here, other, file in IMPORTS
        if here == room and other not in allowed
    ]
    assert wrong == []


def test_no_room_stands_above_itself() -> None:
    left = {room: set(below) for room, below in BELOW.items()}
    while free := [room for room, below in left.items() if not below & left.keys()]:
        for room in free:
            del left[room]
    assert left == {}


def test_the_resolver_has_no_network() -> None:
    pure = {*BELOW, *GROUND} - {"repositories", "sandbox", "learn", "github", "store", "jobs"}
    foreign = {"socket", "http", "urllib.request", "subprocess", "requests", "httpx", "aiohttp"}
    for room in pure:
        path = HOUSE / room
        for file in path.rglob("*.py") if path.is_dir() else [path.with_suffix(".py")]:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if file.exists() else ():
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert foreign.isdisjoint(names), f"{file} imports {names}"
