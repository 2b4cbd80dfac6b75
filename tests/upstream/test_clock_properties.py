"""What holds of every timeline: the order of facts is nothing, and what is not known never clears a caveat."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.upstream.clock import Clock
from tests.upstream.timeline import TITLE, Fact, N, branch, clock, commit, contains, probe, pull, sha, supersedes, tag

RELEASE = "releases/v0.28.0"


@dataclass
class Upstream:
    """A repository in which one fix comes and goes, and what is recorded of it."""

    facts: list[Fact] = field(default_factory=list)
    against: list[Fact] = field(default_factory=list)
    """Facts that alone testify that the fix is away: nobody can miss them and be right."""
    doubled: list[tuple[Fact, Fact]] = field(default_factory=list)
    """Reverts of which two facts tell; one of them is enough."""
    truth: dict[str, bool] = field(default_factory=dict)
    number: int = 50_100
    _line: dict[str, list[tuple[int, bool]]] = field(default_factory=dict)

    def step(self, where: str, position: int, inside: bool, last: str, picked: bool) -> str:
        """The fix lands when it is away, is reverted when it is there; the title of what happened."""
        name = f"{where}{position}"
        self.number += 1
        if not inside:
            first = last == ""
            title = f"{TITLE} (#{N})" if first or picked else f'Revert "{last}" (#{self.number})'
            made = commit("fix" if first and where == "main" else name, position, title, branch=where)
            self.facts.append(made)
        else:
            title = f'Revert "{last}" (#{self.number})'
            made = commit(name, position, title, branch=where)
            if where == "main":
                told = pull(self.number, "merged", name, title.rpartition(" (#")[0])
                self.doubled.append((made, told))
            else:
                self.against.append(made)
        self._line.setdefault(where, []).append((position, not inside))
        return title

    def tag(self, name: str, position: int, where: str, start: bool) -> None:
        """A tag, and whether the fix is truly in it."""
        at = [inside for place, inside in self._line.get(where, ()) if place <= position]
        self.truth[name] = at[-1] if at else start
        self.facts.append(tag(name, position, where))


@st.composite
def upstreams(draw: st.DrawFn) -> Upstream:
    made = Upstream()
    positions = st.integers(1, 60)
    inside, last = False, ""
    for position in sorted(draw(st.sets(positions, max_size=4))):
        last = made.step("main", position, inside, last, False)
        inside = not inside
    made.facts.append(pull() if last else pull(state=draw(st.sampled_from(["open", "closed"]))))
    for minor, position in enumerate(sorted(draw(st.sets(positions, max_size=3)))):
        made.tag(f"v0.{20 + minor}.0", position, "main", False)
    if draw(st.booleans()):
        cut = draw(positions)
        on_main = [now for place, now in made._line.get("main", ()) if place <= cut]
        start = inside = on_main[-1] if on_main else False
        made.facts.append(branch(RELEASE, cut))
        last = f"{TITLE} (#{N})"
        for position in sorted(draw(st.sets(st.integers(1, 9), max_size=3))):
            last = made.step(RELEASE, position, inside, last, True)
            inside = not inside
        for patch, position in enumerate(sorted(draw(st.sets(st.integers(0, 9), min_size=1, max_size=2)))):
            made.tag(f"v0.28.{patch}", position, RELEASE, start)
    made.facts += draw(st.lists(st.sampled_from(NOISE), max_size=3, unique_by=repr))
    return made


NOISE = [
    commit("noise", 33, "Something else (#41000)"),
    commit("noise2", 34, 'Revert "Something else (#41000)" (#41001)', f"This reverts commit {sha('noise')}."),
    pull(41002, "open", None, f'Revert "{TITLE} (#{N})"'),
    supersedes("#45295"),
    {"kind": "weather", "sun": True},
]


def told(made: Upstream) -> list[Fact]:
    return [*made.facts, *made.against, *(fact for pair in made.doubled for fact in pair)]


def asked(facts: list[Fact], made: Upstream) -> Clock:
    return clock(facts, *made.truth, "v0.99.0", "latest")


@given(upstreams())
@settings(max_examples=150, deadline=None)
def test_with_all_facts_every_pin_is_right(made: Upstream) -> None:
    found = asked(told(made), made).pins
    for name, inside in made.truth.items():
        known = found[name].state
        assert known == ("pinned" if inside else "not-pinned") or (known == "unknown" and not inside), (name, found)


@given(upstreams(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_order_of_facts_is_nothing(made: Upstream, dice: random.Random) -> None:
    facts = told(made)
    shuffled = facts + facts[:2]
    dice.shuffle(shuffled)
    assert asked(shuffled, made) == asked(facts, made)


@given(upstreams(), st.data())
@settings(max_examples=200, deadline=None)
def test_what_is_missing_never_makes_a_false_pinned(made: Upstream, data: st.DataObject) -> None:
    """Any facts may be missing, as long as one of those that tell of a revert is left."""
    kept = [fact for fact in made.facts if data.draw(st.booleans())]
    for pair in made.doubled:
        kept += [pair, (pair[0],), (pair[1],)][data.draw(st.integers(0, 2))]
    found = asked([*kept, *made.against], made)
    assert not [name for name, answer in found.pins.items() if answer.state == "pinned" and not made.truth.get(name)]
    assert found.state != "pinned"  # two of the pins are never known


@given(upstreams())
@settings(max_examples=60, deadline=None)
def test_dropping_a_fact_never_makes_pinned_of_anything_else(made: Upstream) -> None:
    """But for a lone revert, a probe or an ancestry answer: they are the only word against it."""
    facts = [*made.facts, *(fact for pair in made.doubled for fact in pair)]
    before = asked([*facts, *made.against], made).pins
    for index in range(len(facts)):
        after = asked([*facts[:index], *facts[index + 1 :], *made.against], made).pins
        assert not [name for name in after if after[name].state == "pinned" and before[name].state != "pinned"], facts[
            index
        ]


@given(upstreams(), st.sampled_from([True, False, None]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_probe_decides_and_one_that_cannot_tell_clears_nothing(
    made: Upstream, holds: bool | None, with_ancestry: bool
) -> None:
    more = [contains("v0.28.0", True)] if with_ancestry else []
    found = clock([*told(made), *more, probe("v0.28.0", holds)], "v0.28.0").pins["v0.28.0"].state
    assert found == {True: "pinned", False: "not-pinned"}.get(holds, found)  # type: ignore[arg-type]
    assert holds is not None or found != "pinned"


@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_title_is_read(title: str, message: str) -> None:
    found = clock([commit("x", 3, title, message), tag("v0.28.0", 5)], "v0.28.0")
    assert found.pins["v0.28.0"].state in ("unknown", "not-pinned", "pinned")
