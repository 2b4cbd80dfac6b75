"""A review that lacks a release says so, and is repeated when it has been learnt."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.engine import Pin, facts
from bot.github.model import ChangedFile
from bot.hazards import load_rules
from bot.jobs import learning
from bot.jobs.analysis import Analysis, analyse
from bot.learn import excerpts
from bot.learn.excerpts import blob_hash
from bot.learn.fetch import Listing
from bot.learn.provision import Provision
from bot.tree import MemoryTree
from bot.upstream.facts import Facts, Issue, Probe, collected
from tests.learn.source_tree import FILES

COMPOSE = "services:\n  a:\n    image: vllm/vllm-openai:v{}\n    command: [Qwen/Qwen3.5-27B]\n"


def lacking(base: str, head: str) -> list[str | None]:
    before, after = (MemoryTree({"compose.yml": COMPOSE.format(release)}) for release in (base, head))
    change = ChangedFile("compose.yml", "modified", "")
    return [pin.release for pin in analyse(before, after, [change], load_rules()).lacking]


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ("0.27.1", "0.28.0", []),
        ("0.28.0", "1.2.3", ["1.2.3"]),
        ("1.2.3", "0.28.0", ["1.2.3"]),
        ("1.2.3", "1.2.3", ["1.2.3"]),
        ("0.28.0", "1.2.3rc1", []),
    ],
)
def test_what_a_review_lacks(base: str, head: str, expected: list[str]) -> None:
    assert lacking(base, head) == expected


async def test_it_is_learnt_in_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path))
    facts.load.cache_clear()
    for name, text in FILES.items():
        file = tmp_path / "source" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    @contextlib.contextmanager
    def tag(release: str) -> Iterator[Path]:
        yield tmp_path / "source"

    def provision(say: Any) -> Provision:
        return Provision(say, offline=False, ask=lambda: Listing("", {}), tag=tag)

    monkeypatch.setattr(learning, "Provision", provision)
    assert await learning.learnt([Pin("x", "1.2.3")])
    assert lacking("0.28.0", "1.2.3") == []
    assert not await learning.learnt([Pin("x", "1.2.3")]), "once"
    facts.load.cache_clear()


async def test_nothing_is_fetched_where_the_network_is_forbidden() -> None:
    assert not await learning.learnt([Pin("x", "1.2.3")])
    assert not await learning.learnt([])


FILE = "vllm/v1/core/manager.py"
SCRIPT = "# vllm\np = 'vllm/v1/core/manager.py'\ns = s.replace('return length', 'return length - 1')\n"


def bumped(facts: dict[str, Facts] | None = None) -> Analysis:
    """A review of a pin that moves, with a patch in the repository."""
    before, after = (
        MemoryTree({"compose.yml": COMPOSE.format(release), "patches/fix.py": SCRIPT})
        for release in ("0.27.1", "0.28.0")
    )
    return analyse(before, after, [ChangedFile("compose.yml", "modified", "")], load_rules(), facts)


async def test_modules_of_a_release_are_read_up_in_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAMGUARD_CACHE", str(tmp_path))
    monkeypatch.delenv("SEAMGUARD_OFFLINE", raising=False)
    files = {"vllm/__init__.py": "", "vllm/v1/core/manager.py": "x = 1\n"}

    def answer(what: str, *_: Any) -> bytes:
        if what.startswith("git/trees/"):
            tree = [{"path": path, "type": "blob", "sha": blob_hash(text.encode())} for path, text in files.items()]
            return json.dumps({"tree": tree}).encode()
        return next(text.encode() for text in files.values() if blob_hash(text.encode()) in what)

    monkeypatch.setattr(excerpts, "read_api", answer)
    found = bumped()
    assert found.unread == {"0.27.1": {FILE}, "0.28.0": {FILE}}
    assert found.review.bumps[0].unread == "its source is not at hand"
    assert await learning.read_up(found.unread)
    again = bumped()
    assert (again.unread, again.review.bumps[0].unread) == ({}, "")
    assert [check.state for check in again.review.bumps[0].overlays[0].checks] == ["gone"]
    assert not await learning.read_up({})


def test_recorded_facts_are_a_part_of_the_review() -> None:
    reference = "vllm-project/vllm#43559"
    assert reference in bumped().references
    (bump,) = bumped({reference: collected([Issue(43559, "open", None)])}).review.bumps
    assert next(fix.kind for fix in bump.fixes if fix.reference == reference) == "does-not-inherit"


def test_the_clock_of_an_accepted_risk_is_asked_for_and_ends_it() -> None:
    reference = "vllm-project/vllm#48375"
    profile = "id: hare\nnum_gdn_layers: 24\nnum_attn_layers: 8\nweights: {fp8: {path: hare-9b}}\n"
    accepted = f"accepted:\n  - {{rule: mtp-prefix-cache-hybrid, where: c.yml, until: {reference}, reason: known}}\n"
    drafter = """'{"method":"mtp","num_speculative_tokens":2}'"""
    flags = f"--model, /models/hare-9b, --speculative-config, {drafter}"
    image = "vllm/vllm-openai:v0.25.1"

    def tree(*more: str) -> MemoryTree:
        command = ", ".join([flags, *more])
        compose = f"services:\n  engine:\n    image: {image}\n    command: [{command}]\n"
        return MemoryTree({"c.yml": compose, "hare.yml": profile, ".github/seamguard.yml": accepted})

    def reviewed(facts: dict[str, Facts]) -> Analysis:
        sides = tree("--no-enable-prefix-caching"), tree("--enable-prefix-caching")
        return analyse(*sides, [ChangedFile("c.yml", "modified", "")], load_rules(), facts)

    assert reviewed({}).review.conclusion == "success"
    there = reviewed({reference: collected([Probe("v0.25.1", True, "read there")])})
    assert there.review.conclusion == "failure"
    image = "vllm/vllm-openai@sha256:" + "0" * 64
    assert reference not in reviewed({}).references  # a pin without a release has no clock
    image = "vllm/vllm-openai:v0.34.0"
    assert reference in reviewed({}).references
