"""Lists of patches, held against the repository that they describe."""

from __future__ import annotations

import pytest

from bot.audit import audit
from bot.audit.patch_list import MAX_CLOSE, MAX_KNOWN
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.review import affected, review
from bot.tree import MemoryTree

RULES = load_rules().only({"patch-list-fault"})
COMPOSE = "services:\n  engine:\n    image: vllm/vllm-openai:v0.25.1\n    command: /models/hare-9b\n"
CODE = {"patches/a.py": "", "patches/b/install.sh": "", "engine/dual.yml": COMPOSE}


def _repository(files: dict[str, str]) -> Repository:
    tree = MemoryTree(files)
    return Repository(tree, read_catalog(tree), Documents(tree))


def _findings(entry: str, files: dict[str, str] | None = None) -> list[Finding]:
    listed = {"ops/patches.yml": f"patches:\n  - {entry}\n", **(CODE if files is None else files)}
    return list(audit(_repository(listed), RULES).findings)


@pytest.mark.parametrize(
    "entry",
    [
        "{id: a, files: [patches/a.py, patches/b], load_bearing_when: [{composes: [engine/dual.yml]}]}",
        "{id: a, files: [patches/*.py], load_bearing_when: []}",
        "{id: a, files: [gone.py], load_bearing_when: [{composes: null}], deprecated_on: 2026-01-01}",
        "{id: a, files: [], delivery_spec: {script: patches/a.py}}",
        "{id: a, files: ['https://x/y.patch', '$DIR/z.py'], load_bearing_when: []}",
    ],
)
def test_what_is_there_is_no_fault(entry: str) -> None:
    assert _findings(entry) == []


@pytest.mark.parametrize(
    ("entry", "cause", "told"),
    [
        ("{id: a, files: [patches/gone.py], load_bearing_when: []}", "missing-file:a:patches/gone.py", "not there"),
        (
            "{id: a, files: [patches/A.py], load_bearing_when: []}",
            "missing-file:a:patches/A.py",
            "Is it `patches/a.py`?",
        ),
        (
            "{id: a, files: [old/b/install.sh], load_bearing_when: []}",
            "missing-file:a:old/b/install.sh",
            "Is it `patches/b",
        ),
        (
            "{id: a, delivery_spec: {script: patches/c.sh}, files: [patches/a.py]}",
            "missing-file:a:patches/c.sh",
            "c.sh",
        ),
        (
            "{id: a, load_bearing_when: [{composes: [engine/duel.yml]}]}",
            "unknown-compose:a:engine/duel.yml",
            "is no file of this repository",
        ),
        ("{id: a, load_bearing_when: [], delivery_gaps: [{composes: [x.yml]}]}", "unknown-compose:a:x.yml", "`x.yml`"),
        (
            "{id: a, load_bearing_wen: [], delivery_spec: {}}",
            "unknown-key:load_bearing_wen",
            "did you mean `load_bearing_when`?",
        ),
    ],
)
def test_what_is_not_so_is_told_on_its_line(entry: str, cause: str, told: str) -> None:
    (found,) = _findings(entry)
    assert (found.level, found.status, found.cause) == ("warning", "active", cause)
    assert (found.path, found.line, found.service) == ("ops/patches.yml", 2, "")
    assert told in found.message


def test_names_are_held_against_a_registry() -> None:
    registry = {
        "registry.yml": "engine/dual: {compose_path: engine/dual.yml}\nengine/alias: {compose_path: engine/dual.yml}\n"
    }
    header = {"engine/own.yml": f"# Run: scripts/switch.sh engine/own\n{COMPOSE}"}
    rows = "load_bearing_when: [{composes: [engine/dual, engine/own, engine/duel, engine/alias]}]"
    unknown, alias = sorted(
        _findings(f"{{id: a, {rows}}}", {**CODE, **registry, **header}), key=lambda found: found.level
    )[::-1]
    assert (
        unknown.message
        == "The patch `a` names the compose `engine/duel`, which nothing here is called. Is it `engine/dual`?"
    )
    assert (alias.level, alias.cause) == ("notice", "alias:a:engine/alias")


def test_without_a_registry_names_are_undecided_and_folded_into_one() -> None:
    (found,) = _findings("{id: a, load_bearing_when: [{composes: [engine/one, engine/two]}]}")
    assert (found.level, found.status) == ("folded", "unknown")
    assert "engine/one, engine/two" in found.missing[0]


def test_a_state_without_any_code_says_nothing_of_files() -> None:
    (found,) = _findings("{id: a, files: [patches/a.py, patches/b.py], load_bearing_when: []}", {"x.yml": COMPOSE})
    assert (found.level, found.status, found.cause) == ("folded", "unknown", "missing-file:every file")


def test_two_patches_of_one_file() -> None:
    entry = "{id: a, files: [patches/a.py], load_bearing_when: []}"
    entries = f"{entry}\n  - {entry.replace('id: a', 'id: b')}"
    (found,) = _findings(entries)
    assert (found.level, found.line) == ("notice", 3)
    assert found.message.startswith("`patches/a.py` is a file of two patches, `a` and `b`")
    assert _findings(entries.replace("id: b,", "id: b, deprecated_on: 2026,")) == []


def test_a_change_is_told_what_it_brings_and_what_it_ends() -> None:
    listed = "patches:\n  - {id: a, files: [patches/a.py], load_bearing_when: [{composes: [engine/dual.yml]}]}\n"
    before = {**CODE, "ops/patches.yml": listed}
    after = {path: text for path, text in before.items() if path != "patches/a.py"}
    base, head = _repository(before), _repository(after)
    touched = affected(base, head, ["patches/a.py"])
    old, new = (audit(touched.narrow(side), RULES, only=lambda _: False) for side in (base, head))
    found = review(old, new, {}, {})
    assert [one.cause for one in found.introduced] == ["missing-file:a:patches/a.py"]
    assert [one.cause for one in review(new, old, {}, {}).fixed] == ["missing-file:a:patches/a.py"]


def test_a_risk_that_is_taken_is_folded() -> None:
    accepted = "accepted: [{rule: patch-list-fault, where: ops/patches.yml, reason: it is made on the host}]\n"
    files = {**CODE, ".github/seamguard.yml": accepted}
    (found,) = _findings("{id: a, files: [patches/gone.py], load_bearing_when: []}", files)
    assert found.level == "folded"
    assert found.accepted is not None


def test_only_the_first_missing_files_are_looked_for() -> None:
    names = [f"patches/moved/{number}.py" for number in range(MAX_CLOSE + 1)]
    there = {f"engine/moved/{number}.py": "" for number in range(MAX_CLOSE + 1)}
    found = _findings(f"{{id: a, files: [{', '.join(names)}], load_bearing_when: []}}", {**CODE, **there})
    assert len(found) == MAX_CLOSE + 1
    assert sum("Is it `engine/moved/" in one.message for one in found) == MAX_CLOSE


def test_among_too_many_files_of_a_folder_none_is_taken_for_the_missing_one() -> None:
    entry = "{id: a, files: [patches/lader.py], load_bearing_when: []}"
    near, many = {"patches/loader.py": ""}, {f"patches/{number}.sh": "" for number in range(MAX_KNOWN)}
    assert ["Is it `patches/loader.py`" in one.message for one in _findings(entry, {**CODE, **near})] == [True]
    assert ["Is it" in one.message for one in _findings(entry, {**CODE, **near, **many})] == [False]


# Counts of composes ---------------------------------------------------------------------------------------------------

MOUNTING = f"{COMPOSE}    volumes: ['../patches/hare-fix:/opt/fix:ro']\n".replace("[", "\n      - ").replace("]", "")
HARE = "patches/hare-fix/install.sh"


def _counted(note: str, *, files: str = HARE, **more: str) -> list[str]:
    composes = {f"engine/{number}.yml": MOUNTING for number in range(3)}
    entry = f'{{id: a, files: [{files}], load_bearing_when: [], note: "{note}"}}'
    found = _findings(entry, {HARE: "", "patches/other/x.sh": "", "engine/plain.yml": COMPOSE, **composes, **more})
    return [one.message for one in found if one.cause.startswith("wrong-count")]


def test_a_count_that_is_not_so_is_told() -> None:
    (told,) = _counted("Fixed upstream -> remove the 2 compose mounts and the folder.")
    assert "says `remove the 2 compose mounts`, and 3 composes mount it" in told
    assert len(_counted("All the hare composes (4) now mount this file.")) == 1
    assert len(_counted("Since May 2 composes mount it.")) == 1


@pytest.mark.parametrize(
    "note",
    [
        "remove the 3 compose mounts",
        "All the hare composes (3) now mount this.",
        "until May, 2 composes mount it",
        "remove the 2 composes",
        "2 composes need it",
    ],
)
def test_a_count_that_is_so_or_none_is_no_fault(note: str) -> None:
    assert _counted(note) == []


def test_a_count_is_only_told_where_all_mounts_are_known() -> None:
    note = "remove the 2 compose mounts"
    away = {"engine/_archive/old.yml": MOUNTING}
    assert len(_counted(note, **away)) == 1
    assert "3 composes" in _counted(note, **away)[0]
    extended = "services:\n  engine:\n    extends:\n      file: 0.yml\n      service: engine\n"
    assert _counted(note, **{"engine/more.yml": extended}) == []
    assert _counted(note, files=f"{HARE}, patches/other/x.sh") == []
    commented = COMPOSE + "    # - ../patches/hare-fix:/opt/fix:ro\n"
    assert "3 composes" in _counted(note, **{"engine/no.yml": commented})[0]
