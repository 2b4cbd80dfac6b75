"""Composes of other repositories: what resolves, what is unknown and why. A change of behaviour is seen here."""

from __future__ import annotations

import json
from difflib import unified_diff
from functools import cache
from typing import Any

import pytest

from tests.corpus import needs_corpus
from tests.wild.summary import GOLDEN, files, rendered, summary

HINT = "python -m tests.wild.regenerate writes it anew"


@cache
def _golden() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


@needs_corpus
@pytest.mark.parametrize("file", files())
def test_a_wild_compose_is_what_it_was(file: str) -> None:
    before, now = rendered(_golden().get(file)), rendered(summary(file))
    difference = unified_diff(before.splitlines(), now.splitlines(), "golden", "now", lineterm="", n=6)
    if before != now:
        pytest.fail("\n".join([f"{file} ({HINT})", *difference]), pytrace=False)


@needs_corpus
def test_the_summary_is_of_the_files_that_are_there() -> None:
    assert set(_golden()) == set(files()), HINT


def test_the_committed_summary_is_in_its_own_form() -> None:
    assert GOLDEN.read_text(encoding="utf-8") == rendered(_golden()) + "\n", HINT


def test_most_engines_resolve() -> None:
    """Guards the summary itself: a change that loses a kind of engine would else be one more accepted diff."""
    services = [service for file in _golden().values() for service in file["services"].values()]
    resolved = [service for service in services if service.get("known")]
    known, unknown = (sum(service[which] for service in resolved) for which in ("known", "unknown"))
    assert len(resolved) >= 75
    # Most of these pins name no release, and many defaults differ between releases.
    assert known >= 0.65 * (known + unknown)
