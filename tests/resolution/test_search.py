"""The order and the bounds of the search for worlds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest

from bot.engine import Engine, Pin, Property
from bot.provenance import Position
from bot.resolution import EngineWorld
from bot.resolution.search import MAX_PAIRS, MAX_WORLDS, explore
from bot.worlds.model import Deviation, Realisation

NOWHERE = Position("compose.yml", 1)
Effects = Mapping[tuple[str, str], Mapping[str, str]]


def _deviation(name: str, value: str = "1") -> Deviation:
    return Deviation(name, value, "comparison", NOWHERE)


class _Service:
    """A service whose properties are what the deviations of a world make them."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.asked: list[dict[str, str]] = []

    def world(self, chosen: Mapping[str, str]) -> tuple[EngineWorld, ...]:
        values = {"p": "0", "q": "0", "r": "0"}
        for name, value in chosen.items():
            values |= self.effects.get((name, value), {})
        pin = Pin("i", "0.25.1")
        properties = {name: Property(value, "certain", ()) for name, value in values.items()}
        engine = Engine(pin=pin, releases=(), parsed={}, properties=properties, errors=(), ineffective=())
        realisation = Realisation({}, None, None, None, None, dict(chosen))  # type: ignore[arg-type]
        return (EngineWorld(realisation, None, "vllm", pin, engine, (), ()),)

    def realise(self, chosen: Mapping[str, str]) -> tuple[EngineWorld, ...]:
        self.asked.append(dict(chosen))
        return self.world(chosen)

    def explore(self, deviations: list[Deviation], *interplay: set[str]) -> list[dict[str, str]]:
        worlds = explore(self.world({}), deviations, [frozenset(one) for one in interplay], self.realise).worlds
        assert [dict(world.realisation.deviations) for world in worlds] == self.asked
        return self.asked


A, B, C = _deviation("A"), _deviation("B"), _deviation("C")
BOTH = {"A": "1", "B": "1"}


@pytest.mark.parametrize(
    ("effects", "interplay", "pairs"),
    [
        pytest.param({"A": {"p": "1"}, "B": {"q": "1"}}, [{"p", "q"}], [BOTH], id="each moves what the other does not"),
        pytest.param({"A": {"p": "1"}, "B": {"q": "1"}}, [], [], id="no rule reads both"),
        pytest.param({"A": {"p": "1"}, "B": {"q": "1"}}, [{"p", "r"}, {"q", "r"}], [], id="two rules read one each"),
        pytest.param({"A": {"p": "1"}, "B": {"p": "2"}}, [{"p", "q"}], [], id="both move the same"),
        pytest.param({"A": {"p": "1"}, "B": {"p": "1", "q": "1"}}, [{"p", "q"}], [], id="one moves all of the other's"),
        pytest.param(
            {"A": {"p": "1", "q": "1"}, "B": {"q": "1", "r": "1"}}, [{"p", "q", "r"}], [BOTH], id="overlapping"
        ),
        pytest.param({"A": {"p": "1"}}, [{"p", "q"}], [], id="one without effect"),
    ],
)
def test_pairs_are_tried_only_when_they_complement_each_other(
    effects: Mapping[str, Mapping[str, str]], interplay: list[set[str]], pairs: list[dict[str, str]]
) -> None:
    service = _Service({(name, "1"): effect for name, effect in effects.items()})
    assert service.explore([A, B], *interplay) == [{"A": "1"}, {"B": "1"}, *pairs]


def test_single_deviations_come_before_all_pairs() -> None:
    service = _Service({("A", "1"): {"p": "1"}, ("B", "1"): {"q": "1"}, ("C", "1"): {"r": "1"}})
    sizes = [len(world) for world in service.explore([A, B, C], {"p", "q", "r"})]
    assert sizes == [1, 1, 1, 2, 2, 2]


def test_two_values_of_one_variable_are_no_pair() -> None:
    service = _Service({("A", "1"): {"p": "1"}, ("A", "2"): {"q": "1"}})
    assert service.explore([A, _deviation("A", "2")], {"p", "q"}) == [{"A": "1"}, {"A": "2"}]


def test_the_number_of_pairs_is_bounded() -> None:
    names = ["".join(letters) for letters in product("xyz", repeat=3)]
    service = _Service({(name, "1"): {f"property-{name}": "1"} for name in names})
    worlds = service.explore([_deviation(name) for name in names], {f"property-{name}" for name in names})
    assert len(worlds) == len(names) + MAX_PAIRS


def test_nothing_to_deviate_is_no_world() -> None:
    assert _Service({}).explore([], {"p", "q"}) == []


def test_what_is_not_tried_is_told() -> None:
    service = _Service({(f"S{n}", "1"): {f"property-{n}": "1"} for n in range(20)})
    deviations = [_deviation(f"S{n}") for n in range(20)]
    interplay = [frozenset(f"property-{n}" for n in range(20))]
    found = explore(service.world({}), deviations, interplay, service.realise)
    assert (found.untried, found.untried_pairs) == ((), 20 * 19 // 2 - MAX_PAIRS)
    shared = explore(service.world({}), deviations, interplay, service.realise, services=MAX_WORLDS // 10)
    assert (len(shared.worlds), len(shared.untried)) == (10, 10)
