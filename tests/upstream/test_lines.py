"""Where commits stand on the lines of a history, and what is said where something is missing."""

from __future__ import annotations

from bot.upstream.lines import BEFORE, History, Node

SINCE = 100.0


def history(commits: dict[str, tuple[str, float]], main: str = "m3") -> History:
    """Commits as `name: (parents, date)`."""
    nodes = {name: Node(tuple(parents.split()), date) for name, (parents, date) in commits.items()}
    return History(nodes, main, SINCE)


MAIN = {"m1": ("", 110.0), "m2": ("m1", 120.0), "m3": ("m2", 130.0)}


def test_main_is_numbered_from_its_oldest_commit() -> None:
    assert history(MAIN).main.chain == {"m1": 1, "m2": 2, "m3": 3}
    assert history(MAIN).main.complete


def test_a_branch_begins_where_it_left_main() -> None:
    line = history({**MAIN, "b1": ("m2", 140.0), "b2": ("b1", 150.0)}).line("b2")
    assert (line.cut, line.chain, line.end, line.gaps) == (2, {"b1": 1, "b2": 2}, 2, ())
    on_main = history(MAIN).line("m2")
    assert (on_main.cut, on_main.end) == (2, 0)


def test_what_a_merge_brings_stands_where_the_merge_does() -> None:
    commits = {**MAIN, "s1": ("m1", 115.0), "s2": ("s1", 116.0), "m4": ("m3 s2", 140.0)}
    main = history(commits, "m4").main
    assert main.places == {"m1": 1, "m2": 2, "m3": 3, "s1": 4, "s2": 4, "m4": 4}
    assert main.chain == {"m1": 1, "m2": 2, "m3": 3, "m4": 4}
    # A tag in the middle of the side branch has what it was cut from, and not what main had when it was merged.
    assert history(commits, "m4").line("s1").cut == 1


def test_main_that_is_merged_into_a_branch_comes_with_the_merge() -> None:
    commits = {**MAIN, "b1": ("m1", 125.0), "b2": ("b1 m3", 140.0)}
    line = history(commits).line("b2")
    assert (line.cut, dict(line.places)) == (1, {"b1": 1, "m2": 2, "m3": 2, "b2": 2})


def test_a_young_commit_without_its_parents_is_a_gap() -> None:
    assert history({"m2": ("m1", 120.0), "m3": ("m2", 130.0)}).main.gaps == ("m1",)
    assert history({}).main.gaps == ("m3",)
    assert history({**MAIN, "m4": ("m3 s2", 140.0)}, "m4").main.gaps == ("s2",)
    assert history(MAIN).line("x").gaps == ("x",)


def test_before_the_record_nothing_can_be_missed() -> None:
    old = {"m2": ("m1", 90.0), "m3": ("m2", 130.0), "t1": ("t0", 80.0)}
    assert history(old).main.complete
    line = history(old).line("t1")
    assert (line.cut, line.end, line.complete) == (BEFORE, 1, True)
