"""The places of facts, apart from the facts: nearly every line number changes from one release to the next, and a diff
of two releases should show what they say.

A row of places is a list: a number is a line in the file of the place before it, a text is `path:line`, and 0 is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def take_places(facts: dict[str, Any]) -> dict[str, Any]:
    """Take the places out of the tables of a release.

    `flags`, `environment`, `levels`, `literals`, `enums` and `conflicts` have a row each, in the order of the table.
    `defaults` is that of the flags' defaults, 0 where it is that of the configuration field, or else the flag's own.
    `configs` has a row for each class: its own place, then those of its fields; `checks` one for its refusals.
    """
    flags, configs = facts["flags"], facts["configs"]
    defaults = [_default(entry, configs) for entry in flags.values()]
    for entry in flags.values():
        del entry["default_at"]
    found = {
        "rules": facts["rules"].pop("at"),
        "flags": row(_taken(flags)),
        "defaults": row(defaults),
        "levels": row(_taken(facts["levels"])),
        "literals": row(_taken(facts["literals"])),
        "enums": row(_taken(facts["enums"])),
        "environment": row(entry.pop(0) for entry in facts["environment"].values()),
        "conflicts": row(rule.pop("at") for rule in facts["conflicts"]),
        "checks": {name: [check.pop("line") for check in entry["checks"]] for name, entry in _checked(configs)},
        "configs": {name: row([entry.pop("at"), *_taken(entry["fields"])]) for name, entry in configs.items()},
    }
    facts["levels"] = {name: entry["options"] for name, entry in facts["levels"].items()}
    facts["literals"] = {name: entry["values"] for name, entry in facts["literals"].items()}
    facts["enums"] = {name: entry["members"] for name, entry in facts["enums"].items()}
    return found


def row(places: Iterable[str | None]) -> list[int | str]:
    """A row of places, each `path:line`, or None."""
    found: list[int | str] = []
    last = ""
    for place in places:
        if place is None:
            found.append(0)
            continue
        path, _, line = place.rpartition(":")
        found.append(int(line) if path == last else place)
        last = path
    return found


def _taken(table: Mapping[str, dict[str, Any]]) -> list[str]:
    return [entry.pop("at") for entry in table.values()]


def _checked(configs: Mapping[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(name, entry) for name, entry in configs.items() if "checks" in entry]


def _default(entry: Mapping[str, Any], configs: Mapping[str, Any]) -> str | None:
    """The place of a default, None where it goes without saying."""
    owner, _, name = entry.get("field", "").partition(".")
    config = configs.get(owner)
    known = config["fields"][name]["at"] if config is not None and name in config["fields"] else entry["at"]
    place: str = entry["default_at"]
    return None if place == known else place
