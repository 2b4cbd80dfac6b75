"""Stories of real upstream fixes, and of the kinds of them: numbers, dates and titles, positions made of the dates."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from bot.upstream.clock import Clock, read_clock
from bot.upstream.facts import read_facts

TIMELINES = [json.loads(line) for line in (Path(__file__).parent / "timelines.jsonl").read_text("utf-8").splitlines()]
STORIES = [f"{one['reference'].rpartition('#')[2]}: {one['story']}" for one in TIMELINES]


def read(timeline: dict[str, Any], facts: list[Any]) -> Clock:
    return read_clock(timeline["reference"], timeline["pins"], read_facts(facts, "vllm-project/vllm"))


@pytest.mark.parametrize("timeline", TIMELINES, ids=STORIES)
def test_a_story(timeline: dict[str, Any]) -> None:
    clock = read(timeline, timeline["facts"])
    told = {
        "state": clock.state,
        "first_release": clock.first_release,
        "reverted_by": clock.reverted_by,
        "superseded_by": clock.superseded_by,
        "pins": {pin: answer.state for pin, answer in clock.pins.items()},
    }
    assert told == timeline["expect"], clock


@pytest.mark.parametrize("timeline", TIMELINES, ids=STORIES)
def test_the_order_of_its_facts_is_nothing(timeline: dict[str, Any]) -> None:
    facts = list(timeline["facts"])
    random.Random(7).shuffle(facts)
    assert read(timeline, facts) == read(timeline, timeline["facts"])


def test_there_are_enough_of_them() -> None:
    assert len(TIMELINES) > 40
    assert len(set(STORIES)) == len(STORIES)
