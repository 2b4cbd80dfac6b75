"""Content probes: forms of code in made-up sources, and what the released ones gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.engine.facts import releases
from bot.hazards import load_rules
from bot.learn.source import SourceTree
from bot.upstream.clock import read_clock
from bot.upstream.facts import Facts
from bot.upstream.probefile import BadProbe, load_probes, read_probes
from bot.upstream.probes import ProbeAnswer, probe
from bot.upstream.probetable import columns, markdown, read_table
from bot.upstream.watch import with_known

TABLE = Path(__file__).parent.parent.parent / "docs" / "upstream-probes.md"
MANAGER = "vllm/v1/core/single_type_kv_cache_manager.py"
COMPILATION = "vllm/config/compilation.py"


def source(**files: str) -> SourceTree:
    texts = {path.replace("__", "/"): text for path, text in files.items()}
    return SourceTree(texts.get, sorted(texts))


def manager(flag: str, body: str) -> SourceTree:
    text = (
        "class MambaManager:\n    @classmethod\n"
        f"    def find_longest_cache_hit(cls, hashes, {flag}: bool, length=1):\n        {body}\n"
    )
    return SourceTree({MANAGER: text}.get, [MANAGER])


def answer(reference: str, tree: SourceTree) -> ProbeAnswer:
    return probe(load_probes()[f"vllm-project/vllm{reference}"], tree)


@pytest.mark.parametrize(
    ("flag", "body", "holds"),
    [
        ("use_eagle", "return hashes[:length]", False),
        ("drop_eagle_block", "return hashes[:length]", False),
        ("drop_eagle_block", "drop_eagle_block = False; return hashes", False),
        ("drop_eagle_block", "return hashes[: length - int(drop_eagle_block)]", True),
        ("drop_eagle_block", "if drop_eagle_block: length -= 1\n        return hashes[:length]", True),
        ("drop_eagle_block", "assert not drop_eagle_block\n        return hashes", None),
        ("drop_eagle_block", "del drop_eagle_block\n        return hashes", None),
        ("drop_eagle_block", "_ = drop_eagle_block\n        return hashes", None),
        ("drop_last", "return hashes[:length]", None),
    ],
)
def test_a_parameter_that_is_read(flag: str, body: str, holds: bool | None) -> None:
    assert answer("#48375", manager(flag, body)).holds is holds


@pytest.mark.parametrize(
    ("guard", "holds"),
    [
        ("cudagraph_mode.decode_mode() == CUDAGraphMode.FULL and length > 1", False),
        ("not use_v2_model_runner and cudagraph_mode.decode_mode() == CUDAGraphMode.FULL and length > 1", False),
        ("cudagraph_mode.decode_mode() != CUDAGraphMode.NONE and length > 1", True),
        ("cudagraph_mode != CUDAGraphMode.NONE and length > 1", True),
        ("length > 1", None),
        ("cudagraph_mode.decode_mode() in (CUDAGraphMode.FULL,)", None),
    ],
)
def test_a_condition_around_a_call(guard: str, holds: bool | None) -> None:
    text = (
        "class CompilationConfig:\n    def resolve_cudagraph_mode_and_sizes(self, length):\n"
        f"        if {guard}:\n            self.adjust_cudagraph_sizes_for_spec_decode(length)\n"
    )
    assert answer("#46324", SourceTree({COMPILATION: text}.get, [COMPILATION])).holds is holds


def test_the_place_of_an_answer() -> None:
    found = answer("#48375", manager("drop_eagle_block", "return hashes"))
    assert found.places == (f"{MANAGER}:3",)


@pytest.mark.parametrize("reference", sorted(load_probes()))
def test_an_empty_source_is_unknown(reference: str) -> None:
    found = probe(load_probes()[reference], source())
    assert found.holds is None
    assert "not in this source" in found.text


@pytest.mark.parametrize("reference", sorted(load_probes()))
def test_a_source_that_is_not_python_is_unknown(reference: str) -> None:
    tree = SourceTree(lambda path: "def (" if path.endswith(".py") else None)
    assert probe(load_probes()[reference], tree).holds is None


def test_old_and_new_form_together_are_unknown() -> None:
    forms = [
        {"holds": holds, "because": "so", "checks": [{"in": "a.py", "has": [name]}]}
        for holds, name in ((True, "new"), (False, "old"))
    ]
    (one,) = read_probes({"vllm#1": {"title": "x", "forms": forms}}).values()
    assert probe(one, source(**{"a.py": "new = old = 1"})).holds is None
    assert probe(one, source(**{"a.py": "new = 1"})).holds is True
    assert probe(one, source(**{"a.py": "old = 1"})).holds is False


@pytest.mark.parametrize(
    ("check", "text", "holds"),
    [
        (
            {"in": "a.py:f", "under": "kind == 'x'", "has": ["return True"]},
            "def f():\n  if kind == 'x': return True",
            1,
        ),
        (
            {"in": "a.py:f", "under": "kind == 'x'", "has": ["return True"]},
            "def f():\n  if kind == 'y': return True",
            0,
        ),
        ({"in": "a.py:f", "absent": True}, "g = 1", 1),
        ({"in": "a.py:f", "absent": True}, "f = 1", 0),
        ({"in": "b.py:f", "absent": True}, "f = 1", 0),
        ({"in": ["b.py", "a.py"], "has": ["f"]}, "f = 1", 1),
        ({"in": "a.py", "says": "two   words"}, "# two\n# words\nx = 'two words'", 1),
        ({"in": "a.py", "says_not": "two words"}, "x = 'two words'", 0),
        ({"in": "a.py:C.m", "lacks": ["x"]}, "class C:\n  if T:\n    def m(self): pass", 1),
        ({"in": "a.py:f", "calls_of": "g", "lacks": ["x"]}, "def f():\n  if x:\n    pass\n  else:\n    g()", 1),
        ({"in": "a.py:f", "calls_of": "g", "has": ["x"]}, "def f():\n  g()\n  if x: g()", 0),
        ({"in": "a.py:f", "parameter": "p", "read": False}, "f = 1", 0),
        ({"in": "a.py", "has": ["f(a, b=1)"]}, "def h():\n  return f(a,\n    b=1)", 1),
        ({"in": "a.py", "has": ["x = 1"]}, "def h():\n  x == 1", 0),
    ],
)
def test_what_a_check_asks(check: dict[str, Any], text: str, holds: int) -> None:
    forms = [{"holds": True, "because": "so", "checks": [check]}]
    (one,) = read_probes({"vllm#1": {"title": "x", "forms": forms}}).values()
    assert bool(probe(one, source(**{"a.py": text})).holds) is bool(holds)


@pytest.mark.parametrize(
    "broken",
    [
        [],
        {"nothing": {}},
        {"vllm#1": {"title": "x"}},
        {"vllm#1": {"title": "x", "forms": [{"holds": "maybe", "because": "x", "checks": [{"in": "a"}]}]}},
        {"vllm#1": {"title": "x", "forms": [{"holds": True, "because": "x", "checks": [{"has": "a"}]}]}},
        {"vllm#1": {"title": "x", "forms": [{"holds": True, "because": "x", "checks": [{"in": "a", "hass": "a"}]}]}},
        {"vllm#1": {"title": "x", "forms": [{"holds": True, "because": "x", "checks": [{"in": "a", "has": "a ="}]}]}},
    ],
)
def test_a_broken_probe_is_refused(broken: Any) -> None:
    with pytest.raises(BadProbe):
        read_probes(broken)


def test_the_table_can_be_read_back() -> None:
    sources = [("0.2.0", manager("drop_eagle_block", "return drop_eagle_block")), ("0.1.0", source())]
    table = read_table(markdown(columns(load_probes(), sources)))
    assert list(table["#48375"]) == ["0.1.0", "0.2.0"]
    assert table["#48375"] == {"0.1.0": None, "0.2.0": True}


@pytest.mark.parametrize("reference", sorted(load_probes()))
def test_rules_and_table_say_the_same(reference: str) -> None:
    """`rules/upstream.yml` is what the rules believe, `docs/upstream-probes.md` what the sources gave."""
    fix = load_rules().upstream.fixes[reference]
    answers = read_table(TABLE.read_text(encoding="utf-8"))[f"#{reference.rpartition('#')[2]}"]
    assert len(answers) > 30
    assert {release: fix.in_release(release) for release in answers} == answers


@pytest.mark.parametrize("reference", ["vllm-project/vllm#48375", "vllm-project/vllm#46324"])
def test_the_two_fixes_of_the_incident_are_in_no_release_yet(reference: str) -> None:
    answers = read_table(TABLE.read_text(encoding="utf-8"))[f"#{reference.rpartition('#')[2]}"]
    assert set(answers.values()) == {False}


@pytest.mark.parametrize("reference", sorted(load_rules().upstream.fixes))
def test_what_a_release_has_the_next_ones_have_too(reference: str) -> None:
    """No shipped release is left out, no fix comes and goes, and its clock says in which release it came first."""
    upstream = load_rules().upstream
    fix = upstream.fixes[reference]
    answers = {release: fix.in_release(release) for release in releases()}
    if not fix.verified:
        assert set(answers.values()) == {None}
        return
    assert all(upstream.known(reference, release) is not None for release in answers)
    order = [{False: 0, None: 1, True: 2}[answer] for answer in answers.values()]
    assert order == sorted(order)
    first = next((release for release, answer in answers.items() if answer), None)
    facts = with_known(Facts(), upstream.known, reference, answers)
    clock = read_clock(reference, [f"v{release}" for release in answers], facts)
    assert clock.first_release == (first and f"v{first}" if None not in answers.values() else None)
    states = {True: "pinned", False: "not-pinned", None: "unknown"}
    assert {pin: answer.state for pin, answer in clock.pins.items()} == {
        f"v{release}": states[answer] for release, answer in answers.items()
    }
