"""Which composes a change touches, found by their text, and by asking every one of them."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.audit import Unit, audit, discover
from bot.catalog import read_catalog
from bot.compose import Documents, load_project
from bot.hazards import load_rules
from bot.repositories import BlobCache, RevisionTree, changed_paths
from bot.resolution import Repository
from bot.review import affected
from bot.tree import MemoryTree, Tree
from tests.corpus import needs_corpus
from tests.history.conftest import History, history  # noqa: F401

ENGINE = "services:\n  engine:\n    image: vllm/vllm-openai:v0.25.1\n    command: [--model=x]\n"
OTHER = "services:\n  other:\n    image: nginx\n"


def _repository(tree: Tree) -> Repository:
    return Repository(tree, read_catalog(tree), Documents(tree))


def _with(*lines: str) -> str:
    return ENGINE + "".join(f"    {line}\n" for line in lines)


def _touched(before: dict[str, str], after: dict[str, str], *changed: str) -> tuple[set[str], set[str]]:
    found = affected(_repository(MemoryTree(before)), _repository(MemoryTree(after)), changed)
    return {unit.path for unit in found.base}, {unit.path for unit in found.head}


CASES = {
    "itself": ({"a.yml": ENGINE}, "a.yml"),
    "a mounted script": ({"a.yml": _with("volumes: ['./run.sh:/run.sh']"), "run.sh": "x"}, "run.sh"),
    "a script in a mounted folder": ({"d/a.yml": _with("volumes: ['../bin:/b']"), "bin/x/run.sh": "x"}, "bin/x/run.sh"),
    "a folder in the long form": (
        {"a.yml": _with("volumes: [{type: bind, source: bin, target: /b}]"), "bin/run.sh": "x"},
        "bin/run.sh",
    ),
    "the folder of the compose": ({"d/a.yml": _with("volumes: ['.:/b']"), "d/x/run.sh": "x"}, "d/x/run.sh"),
    "the folder above": ({"d/a.yml": _with('volumes: ["..:/b"]'), "x/run.sh": "x"}, "x/run.sh"),
    "a mount by default": ({"a.yml": _with("volumes: ['${BIN:-./bin}:/b']"), "bin/run.sh": "x"}, "bin/run.sh"),
    "a name in two pieces": ({"a.yml": _with("volumes: ['./${K:-st}art.sh:/b']"), "start.sh": "x"}, "start.sh"),
    "a name in .env": ({"a.yml": _with("volumes: ['./${S}:/b']"), ".env": "S=run.sh", "run.sh": "x"}, "run.sh"),
    "a name that may be empty": ({"d/a.yml": _with("volumes: ['./${S}:/b']"), "d/run.sh": "x"}, "d/run.sh"),
    "an env_file": ({"a.yml": _with("env_file: [conf/x.env]"), "conf/x.env": "A=1"}, "conf/x.env"),
    "the .env beside it": ({"d/a.yml": _with("environment: ['A=${A}']"), "d/.env": "A=1"}, "d/.env"),
    "what it extends": (
        {"a.yml": _with("extends: {file: base/b.yml, service: other}"), "base/b.yml": OTHER},
        "base/b.yml",
    ),
    "what that mounts": (
        {
            "a.yml": _with("extends: {file: base/b.yml, service: other}"),
            "base/b.yml": OTHER + "    volumes: ['./run.sh:/x']\n",
            "base/run.sh": "x",
        },
        "base/run.sh",
    ),
    "what it includes": ({"a.yml": f"include: [b.yml]\n{ENGINE}", "b.yml": OTHER}, "b.yml"),
    "its override": ({"compose.yml": ENGINE, "compose.override.yml": OTHER}, "compose.override.yml"),
    "a name with spaces": ({"a.yml": _with("volumes: ['./my run.sh:/x']"), "my run.sh": "x"}, "my run.sh"),
    "a name without a plain end": ({"a.yml": _with("volumes: ['./(x):/x']"), "(x)": "x"}, "(x)"),
}


@pytest.mark.parametrize(("files", "changed"), CASES.values(), ids=CASES)
def test_what_a_compose_depends_on_touches_it(files: dict[str, str], changed: str) -> None:
    after = {**files, changed: files[changed] + "\n# changed\n", "z/other.yml": ENGINE}
    before = {**files, "z/other.yml": ENGINE}
    base, head = _touched(before, after, changed)
    first = next(iter(files))
    assert first in base & head
    assert "z/other.yml" not in base | head or changed == "(x)"
    without = {path: text for path, text in before.items() if path != changed}
    assert first in _touched(before, without, changed)[0] or first == changed
    assert first in _touched(without, before, changed)[1]


def test_a_moved_compose_is_looked_at_under_both_names() -> None:
    assert _touched({"a.yml": ENGINE}, {"b.yml": ENGINE}, "a.yml", "b.yml") == ({"a.yml"}, {"b.yml"})


def test_a_compose_that_only_one_side_has_is_looked_at_there() -> None:
    assert _touched({}, {"a.yml": ENGINE, "b.yml": ENGINE}, "a.yml") == (set(), {"a.yml", "b.yml"})
    assert _touched({"a.yml": ENGINE}, {}, "a.yml") == ({"a.yml"}, set())


def test_a_file_that_changed_unnamed_counts_too() -> None:
    assert _touched({"link.yml": ENGINE}, {"link.yml": ENGINE + "\n"}, "target.txt")[1] == {"link.yml"}


@pytest.mark.parametrize(
    "profile",
    [
        "id: hare\nnum_gdn_layers: 24\nweights: {x: {path: hare}}\n",
        "- id: p\n  load_bearing_when: [{composes: [a.yml]}]\n",
    ],
)
def test_a_change_to_what_describes_all_of_them_touches_all(profile: str) -> None:
    files = {"a.yml": ENGINE, "b.yml": ENGINE, "patches.yml": "patches: []\n"}
    changed = {**files, "patches.yml": profile if profile.startswith("id") else f"patches:\n{profile}"}
    assert _touched(files, changed, "patches.yml") == ({"a.yml", "b.yml"}, {"a.yml", "b.yml"})


def test_a_change_to_the_registry_touches_the_composes_that_it_names() -> None:
    files = {"a.yml": ENGINE, "b.yml": ENGINE, "registry.yml": "x/a: {compose: a.yml}\n"}
    more = {**files, "registry.yml": "x/a: {compose: a.yml}\nx/b: {compose: b.yml}\n"}
    assert _touched(files, more, "registry.yml") == ({"b.yml"}, {"b.yml"})


def test_words_of_a_profile_touch_nothing() -> None:
    files = {"a.yml": ENGINE, "m.yml": "id: hare\nweights: {x: {path: hare}}\n"}
    assert _touched(files, {**files, "m.yml": "# x\n" + files["m.yml"]}, "m.yml") == (set(), set())


def test_only_what_is_touched_is_audited() -> None:
    files = {f"{number}.yml": ENGINE for number in range(20)} | {"compose.yml": ENGINE, "compose.override.yml": OTHER}
    after = {**files, "3.yml": ENGINE + "\n", "compose.override.yml": OTHER + "\n"}
    before, proposed = _repository(MemoryTree(files)), _repository(MemoryTree(after))
    found = affected(before, proposed, ["3.yml", "compose.override.yml"])
    report = audit(found.narrow(proposed), load_rules())
    assert [unit.unit.files for unit in report.units] == [("3.yml",), ("compose.yml", "compose.override.yml")]
    assert {unit.unit for unit in report.units} == found.head


# In one repository ---------------------------------------------------------------------------------------------------

A = "services:\n  a:\n    image: vllm/vllm-openai:v0.25.1\n    volumes: ['./patches:/patches']\n"
B = "services:\n  b:\n    extends: {file: base/common.yml, service: common}\n"
COMMON = "services:\n  common:\n    image: vllm/vllm-openai:v0.25.1\n"
BEFORE = {"a.yml": A, "b.yml": B, "base/common.yml": COMMON, "patches/fix.py": "1", "README.md": "x"}


@pytest.mark.parametrize(
    ("changes", "touched"),
    [
        ({"README.md": "y"}, set()),
        ({"a.yml": f"{A}# edited\n"}, {"a.yml"}),
        ({"patches/fix.py": "2"}, {"a.yml"}),
        ({"patches/new.py": "2"}, {"a.yml"}),
        ({"base/common.yml": f"{COMMON}# edited\n"}, {"b.yml", "base/common.yml"}),
        ({".env": "A=1"}, {"a.yml", "b.yml"}),
        ({"b.yml": B.replace("base/", "other/"), "other/common.yml": COMMON}, {"b.yml", "other/common.yml"}),
    ],
    ids=lambda value: " ".join(sorted(value)),
)
def test_a_compose_is_touched_by_the_files_that_it_uses(changes: dict[str, str], touched: set[str]) -> None:
    found = affected(_repository(MemoryTree(BEFORE)), _repository(MemoryTree({**BEFORE, **changes})), changes)
    assert {unit.path for unit in found.base | found.head} == touched


def test_a_file_that_was_missing_touches_the_compose_that_extends_it() -> None:
    before = {name: text for name, text in BEFORE.items() if name != "base/common.yml"}
    found = affected(_repository(MemoryTree(before)), _repository(MemoryTree(BEFORE)), ["base/common.yml"])
    assert {unit.path for unit in found.head} == {"b.yml", "base/common.yml"}


# Against every compose, asked -----------------------------------------------------------------------------------------


def _all_that_depend(base: Repository, head: Repository, changed: set[str]) -> set[str]:
    return {
        unit.path
        for side in (base, head)
        for unit in discover(side.tree, side.documents, side.catalog.configuration).units
        if _reads(side, unit, changed)
    }


def _reads(side: Repository, unit: Unit, changed: set[str]) -> bool:
    project = load_project(side.documents, unit.files, {})
    mounts = {m.source for service in project.services.values() for m in service.mounts if m.in_repository}
    return bool(changed & {*unit.files, *project.files}) or any(
        path == source or path.startswith(f"{source}/") or source == "" for path in changed for source in mounts
    )


PATHS = ["a.yml", "d/b.yml", "d/e/c.yml", "x.sh", "d/x.sh", "d/.env", ".env", "d/e/conf.env"]


@st.composite
def repositories(draw: st.DrawFn) -> dict[str, str]:
    targets = st.sampled_from(
        ["x.sh", "./x.sh", "../x.sh", "d", "./d", "..", ".", "../d/e", "e/conf.env", "${S:-x.sh}", "./${S}"]
    )
    files = {path: "S=x.sh\n" for path in PATHS if not path.endswith(".yml")}
    for path in ("a.yml", "d/b.yml", "d/e/c.yml"):
        lines = []
        if draw(st.booleans()):
            lines.append(f"volumes: ['{draw(targets)}:/x']")
        if draw(st.booleans()):
            lines.append(f"env_file: [{{path: '{draw(targets)}', required: false}}]")
        if draw(st.booleans()):
            extended = draw(st.sampled_from(["b.yml", "../b.yml", "d/b.yml", "../a.yml"]))
            lines.append(f"extends: {{file: '{extended}', service: engine}}")
        files[path] = _with(*lines)
    return files


@given(repositories(), st.sets(st.sampled_from(PATHS), min_size=1, max_size=2))
@settings(max_examples=80, deadline=None)
def test_none_that_depends_on_a_change_is_missed(files: dict[str, str], changed: set[str]) -> None:
    after = {path: f"{text}# changed\n" if path in changed else text for path, text in files.items()}
    base, head = (_repository(MemoryTree(side)) for side in (files, after))
    found = affected(base, head, changed)
    assert {unit.path for unit in found.base | found.head} == _all_that_depend(base, head, changed)


@needs_corpus
@pytest.mark.parametrize("number", [1, 5, 9, 18, 60, 100])
def test_none_that_depends_on_a_real_change_is_missed(history: History, number: int) -> None:  # noqa: F811
    log = subprocess.run(
        ["git", "-C", str(history.root), "log", "--format=%H", f"-{number}"], check=True, capture_output=True, text=True
    )
    commit = log.stdout.split()[-1]
    cache = BlobCache()
    changed = {
        path
        for change in changed_paths(history.root, f"{commit}^", commit)
        for path in (change.path, change.old_path)
        if path
    }
    with RevisionTree(history.root, f"{commit}^", cache) as old, RevisionTree(history.root, commit, cache) as new:
        base, head = _repository(old), _repository(new)
        found = affected(base, head, changed)
        assert {unit.path for unit in found.base | found.head} >= _all_that_depend(base, head, changed)
