"""The App's manifest: what it is, what it may do and what it is told. `app.yaml` is the one place where that stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parent.parent.parent / "app.yaml"
_PACKED = Path(__file__).parent / "app.yaml"

_ORDER = ("none", "read", "write", "admin")


@dataclass(frozen=True)
class Manifest:
    """What `app.yaml` says."""

    name: str
    description: str
    permissions: Mapping[str, str]
    events: tuple[str, ...]
    url: str

    def form(self, public_url: str, redirect_url: str, name: str | None = None) -> dict[str, Any]:
        """The manifest as GitHub's form takes it."""
        return {
            "name": name or self.name,
            "url": self.url,
            "description": self.description,
            "hook_attributes": {"url": f"{public_url.rstrip('/')}/webhook", "active": True},
            "redirect_url": redirect_url,
            "public": False,
            "default_permissions": dict(self.permissions),
            "default_events": list(self.events),
        }

    def missing_permissions(self, given: Mapping[str, str]) -> list[str]:
        """The permissions that are wanted and not given, as "checks: write"."""
        return [
            f"{name}: {level}"
            for name, level in self.permissions.items()
            if _ORDER.index(given.get(name, "none")) < _ORDER.index(level)
        ]

    def missing_events(self, given: tuple[str, ...]) -> list[str]:
        """The events that are wanted and not subscribed to."""
        return [event for event in self.events if event not in given]


def read_manifest() -> Manifest:
    """The manifest of this version."""
    file = _PACKED if _PACKED.exists() else FILE
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    return Manifest(
        str(data["name"]),
        str(data["description"]),
        dict(data["default_permissions"]),
        tuple(data["default_events"]),
        str(data["url"]),
    )
