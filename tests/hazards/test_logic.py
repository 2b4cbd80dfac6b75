from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.engine.model import PROPERTIES
from bot.hazards.logic import View, Vocabulary
from bot.hazards.predicates import PredicateReader
from bot.hazards.releases import ReleaseRange, Truth, Upstream, Verified, is_prerelease, release_numbers
from tests.hazards.build import UNKNOWN, situation

READER = PredicateReader(Vocabulary({"drafters": ("mtp", "eagle")}))
NAMES = PROPERTIES[:4]
VALUES = st.sampled_from([True, False, 1, "mtp", None])

leaf = st.builds(lambda name, value: {"property": name, "is": value}, st.sampled_from(NAMES), VALUES)
predicates = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.builds(lambda parts: {"all": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"any": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda part: {"not": part}, inner),
    ),
    max_leaves=12,
)


def decide(predicate: Mapping[str, Any], values: Mapping[str, Any], **options: Any) -> Truth:
    return READER.read(predicate, ()).decide(View.of(situation(values, **options), Upstream()))


@given(predicates, st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES)), st.sets(st.sampled_from(NAMES)))
def test_learning_more_never_turns_a_decided_answer(predicate: Any, values: dict[str, Any], hidden: set[str]) -> None:
    blind = {name: UNKNOWN if name in hidden else value for name, value in values.items()}
    full = decide(predicate, values)
    assert full is not None
    assert decide(predicate, blind) in (full, None)


@given(predicates, st.sets(st.sampled_from(NAMES)))
def test_an_unknown_answer_says_what_is_missing(predicate: Any, hidden: set[str]) -> None:
    view = View.of(situation({name: UNKNOWN if name in hidden else "mtp" for name in NAMES}), Upstream())
    read = READER.read(predicate, ())
    assert bool(read.missing(view)) >= (read.decide(view) is None)


@pytest.mark.parametrize(
    ("predicate", "values", "expected"),
    [
        ({"property": "tensor_parallel_size", "is": 1}, {"tensor_parallel_size": True}, False),
        ({"property": "prefix_caching", "is": True}, {"prefix_caching": 1}, False),
        ({"property": "spec_decode.method", "is": None}, {"spec_decode.method": None}, True),
        ({"property": "spec_decode.method", "in": "drafters"}, {"spec_decode.method": "eagle"}, True),
        (
            {"property": "spec_decode.num_speculative_tokens", "at_least": 2},
            {"spec_decode.num_speculative_tokens": 3},
            True,
        ),
        (
            {"property": "spec_decode.num_speculative_tokens", "at_most": 2},
            {"spec_decode.num_speculative_tokens": 3},
            False,
        ),
        ({"property": "max_model_len", "at_least": 2}, {"max_model_len": "auto"}, None),
        (
            {"property": ["attention_backend", "kv_cache_dtype"], "is": "b"},
            {"attention_backend": UNKNOWN, "kv_cache_dtype": "b"},
            True,
        ),
        (
            {"property": ["attention_backend", "kv_cache_dtype"], "is": "b"},
            {"attention_backend": "a", "kv_cache_dtype": "b"},
            False,
        ),
        ({"property": "quantization", "known": False}, {"quantization": UNKNOWN}, True),
        ({"property": "quantization", "known": False}, {}, True),
        ({"property": "quantization", "known": True}, {"quantization": None}, True),
    ],
)
def test_properties(predicate: Any, values: dict[str, Any], expected: Truth) -> None:
    assert decide(predicate, values) is expected


@pytest.mark.parametrize(("sm", "expected"), [((120,), True), ((86, 120), True), ((86,), False), ((), None)])
def test_one_target_among_several_is_enough(sm: tuple[int, ...], expected: Truth) -> None:
    assert decide({"sm": [120, 121]}, {}, sm=sm) is expected


@pytest.mark.parametrize(
    ("text", "release", "expected"),
    [
        (">=0.26.0,<0.28.0", "0.27.1", True),
        (">=0.26.0,<0.28.0", "0.28.0", False),
        (">=0.26.0", "0.26", True),
        ("<0.26.0", "0.26.0rc1", False),
        ("<=0.25.1", "v0.25.1", True),
        ("<0.10.0", "0.9.2", True),
        ("==0.25.1", "0.25.1.post1", True),
        (">0.25.1", "0.25.1+cu130", False),
        (">=0.26.0", "0.25.2.dev15+g752a3a5", False),
        (">=0.26.0", "latest", None),
    ],
)
def test_release_ranges(text: str, release: str, expected: Truth) -> None:
    assert ReleaseRange(text).holds(release) is expected


@pytest.mark.parametrize("text", ["", "0.26.0", ">=0.26.x", "~=0.26", ">=0.26;<1", ">= "])
def test_no_range(text: str) -> None:
    with pytest.raises(ValueError, match="not a range of releases"):
        ReleaseRange(text)


def test_a_candidate_of_the_first_release_may_lack_the_fix() -> None:
    from bot.hazards.releases import Fix

    fix = Fix("vllm-project/vllm#1", "One", (Verified(ReleaseRange(">=0.27.0"), True, "read"),))
    assert fix.in_release("0.27.0") is True
    assert fix.in_release("0.27.0rc1") is None
    assert fix.in_release("0.26.0") is None, "nobody has looked into it"
    assert Upstream({fix.reference: fix}).contains(fix.reference, ("0.27.0", "0.26.0")) is None
    assert Upstream().contains(fix.reference, ("0.27.0",)) is None


def test_versions() -> None:
    assert release_numbers("0.25.1rc1") == (0, 25, 1)
    assert release_numbers("nightly") is None
    assert is_prerelease("0.25.1rc1")
    assert not is_prerelease("0.25.1")
