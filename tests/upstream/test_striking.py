"""Whether a pin has a fix, for accepted risks; and the configuration among what waits for fixes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.catalog import read_catalog
from bot.catalog.configuration import PATH
from bot.engine import Pin
from bot.notices.caveats import _kind
from bot.notices.standing import live, weighs
from bot.tree import MemoryTree
from bot.upstream.facts import Facts, Probe, collected
from bot.upstream.sites import sites_in
from bot.upstream.striking import Striking
from bot.upstream.watch import watched_references

FIX = "vllm-project/vllm#48375"
PINNED = Pin("vllm/vllm-openai:v0.34.0", "0.34.0", stock=True)


def _known(reference: str, release: str) -> tuple[bool | None, str] | None:
    return {"0.33.0": (False, "read"), "0.35.0": (None, "who knows")}.get(release) if reference == FIX else None


@pytest.mark.parametrize(
    ("pin", "answer"),
    [
        pytest.param(replace(PINNED, release="0.33.0"), False, id="the shipped probes know"),
        pytest.param(replace(PINNED, release="0.35.0"), None, id="they could not tell"),
        pytest.param(PINNED, None, id="nobody has looked"),
        pytest.param(replace(PINNED, contains=(FIX,)), True, id="declared"),
        pytest.param(Pin("vllm/vllm-openai:latest", None), None, id="a floating tag"),
    ],
)
def test_offline(pin: Pin, answer: bool | None) -> None:
    assert Striking(_known)(FIX, pin) is answer


def test_what_was_recorded_counts_first() -> None:
    recorded = collected([Probe("v0.34.0", True, "read there")])
    clock = Striking(_known, lambda reference: recorded if reference == FIX else Facts())
    assert clock(FIX, PINNED) is True
    assert not clock.undecided


def test_what_could_not_be_told_is_remembered_for_whoever_can_ask() -> None:
    clock = Striking(_known)
    clock(FIX, PINNED)
    clock("vllm-project/vllm#46324", replace(PINNED, release="0.33.0"))
    clock("another/project#12", PINNED)
    assert list(clock.undecided) == [FIX, "vllm-project/vllm#46324"]


CONFIGURATION = """images:
  you/vllm:1: {release: 0.25.1, contains: ["vllm#46324"]}
accepted:
  - rule: mtp-prefix-cache-hybrid
    where: deploy/mtp.yml
    reason: documented as opt-in
    until: vllm#48375
policy: {vendoring: {mode: inherit-only, fixes: ["50021"], reason: too much to carry}}
"""


def test_the_configuration_waits_too() -> None:
    tree = MemoryTree({PATH: CONFIGURATION})
    catalog = read_catalog(tree)
    sites = sites_in(tree, catalog)
    waiting = {site.reference.rpartition("#")[2]: site for site in sites if live(site)}
    assert {number: (site.position.line, site.text) for number, site in waiting.items()} == {
        "48375": (7, "accepted: mtp-prefix-cache-hybrid at deploy/mtp.yml: documented as opt-in"),
        "50021": (8, "vendoring: inherit-only: too much to carry"),
    }
    assert all(weighs(site) and _kind(site) == "accepted risk" for site in waiting.values())
    watched = watched_references(catalog, (), ())
    assert [reference.rpartition("#")[2] for reference in watched] == ["46324", "48375", "50021"]
