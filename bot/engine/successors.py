"""What a flag became that a release no longer has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import yaml

from bot.engine.facts import load
from bot.rules import RULES

TABLE = "vllm/successors.yml"


@dataclass(frozen=True, slots=True)
class Moved:
    """A flag and its successor. `last` is the last release that has the flag, `says` the definition there that names
    the other.
    """

    flag: str
    successor: str
    last: str
    says: str

    @property
    def name(self) -> str:
        """The flag of the successor, without a value or a key."""
        return self.successor.partition("=")[0].partition(".")[0]


@lru_cache(maxsize=1)
def moved() -> Mapping[str, Moved]:
    """The table of `rules/vllm/successors.yml`, by the old flag."""
    rows = yaml.load((RULES / TABLE).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return {row["flag"]: Moved(row["flag"], row["successor"], str(row["in"]), row["says"]) for row in rows}


def successor(flag: str, release: str) -> str:
    """What does in a release what a flag did that it does not have; empty when that is not known."""
    found = moved().get(flag)
    return found.successor if found is not None and load(release).flag(found.name) else ""
