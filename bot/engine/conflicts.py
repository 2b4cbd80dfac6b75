"""Arguments that the server refuses together, or one without the other, as the release's own checks say."""

from __future__ import annotations

from collections.abc import Mapping

from bot.engine.facts import Facts
from bot.engine.model import EngineError
from bot.engine.settings import Setting
from bot.engine.unknown import UNKNOWN


def conflicts(
    settings: Mapping[str, Setting], nested: Mapping[str, Setting], facts: Facts, opened: bool
) -> list[EngineError]:
    """The conflicts among explicit settings. With `opened`, nothing that is missing counts: it may be there."""
    found: list[EngineError] = []
    for rule in facts.raw.get("conflicts", ()):
        first = _find(rule["if"], settings, nested)
        if first is None or not _is_set(first.value, rule["kind"]):
            continue
        other = _find(rule["other"], settings, nested)
        if rule["kind"] == "needs":
            missing = other is None or not (other.value is UNKNOWN or other.value)
            if missing and not opened:
                found.append(EngineError("conflict", first.argument, rule["text"], first.because))
        elif other is not None and _is_set(other.value, rule["kind"]):
            because = (*first.because, *other.because)
            found.append(EngineError("conflict", f"{first.argument} {other.argument}", rule["text"], because))
    return found


def _find(name: str, settings: Mapping[str, Setting], nested: Mapping[str, Setting]) -> Setting | None:
    return nested.get(name) if "." in name else settings.get(name)


def _is_set(value: object, kind: str) -> bool:
    """Whether a value is certainly set: true, or for options that exclude each other, anything but None."""
    if value is UNKNOWN or value is None:
        return False
    return kind == "exclusive" or bool(value)
