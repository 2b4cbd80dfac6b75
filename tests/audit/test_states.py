"""States of a repository one after another, in one process: what was found of one is not told of another."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.audit import Report, audit
from bot.audit.audit import UnitReport
from bot.catalog import read_catalog
from bot.cli.audit import report_json
from bot.compose import Documents
from bot.compose.faults import Fault
from bot.hazards import load_rules
from bot.memory import Memory
from bot.resolution import Repository
from bot.tree import MemoryTree

RULES = load_rules()
SCRIPT = "#!/bin/bash\n[ -d /extra ] && FLAG=--enforce-eager\nexec vllm serve /models/hare-9b $FLAG\n"
PROFILE = "id: hare-9b\nfamily: qwen3\nnum_hidden_layers: 32\nweights: {fp8: {path: hare-9b}}\n"
PATCHES = "- id: fix\n  files: [patches/fix.py]\n  delivery_mechanism: script\n  upstream: vllm-project/vllm#41726\n"
COMMON = """
services:
  common:
    image: ${IMAGE:-vllm/vllm-openai:v0.25.1}
    env_file: [{path: more.env, required: false}]
"""
STATE = {
    "a/compose.yml": """
services:
  engine:
    extends: {file: ../common.yml, service: common}
    entrypoint: [bash, /start.sh]
    volumes: ['./start.sh:/start.sh', './extra:/extra', '../patches/fix.py:/patches/fix.py']
""",
    "a/start.sh": SCRIPT,
    "b/compose.yml": """
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    command: [--model, /models/hare-9b]
""",
    "common.yml": COMMON,
    "patches/fix.py": "pass\n",
    "profiles/hare.yml": PROFILE,
    "patches.yml": PATCHES,
}
A, B, C = "a/compose.yml", "b/compose.yml", "common.yml"


def _repository(files: Mapping[str, str], memory: Memory | None = None) -> Repository:
    tree = MemoryTree(files)
    return Repository(tree, read_catalog(tree, memory), Documents(tree, relative=True, memory=memory))


def _told(report: Report) -> object:
    """All that is said of a repository, properties in every world among it."""
    properties = [
        (service.path, service.name, dict(world.engine.properties), world.patches)
        for unit in report.units
        for service in unit.services
        for world in service.worlds
        if world.engine is not None
    ]
    return report_json(report), properties


def _units(report: Report) -> dict[str, UnitReport]:
    return {unit.unit.path: unit for unit in report.units}


CHANGES: list[tuple[Mapping[str, str | None], set[str]]] = [
    ({"README.md": "new"}, set()),
    ({A: STATE[A] + "# edited\n"}, {A}),
    ({B: STATE[B].replace("]", ", --enforce-eager]")}, {B}),
    ({B: None}, {B}),
    ({"a/start.sh": SCRIPT.replace("$FLAG", "--enforce-eager")}, {A}),
    ({"a/start.sh": None}, {A}),
    ({"common.yml": COMMON.replace("v0.25.1", "v0.20.0")}, {A, C}),
    ({"common.yml": None}, {A, C}),
    ({"a/.env": "IMAGE=vllm/vllm-openai:v0.20.0\n"}, {A}),
    ({".env": "IMAGE=vllm/vllm-openai:v0.20.0\n"}, {C}),
    ({"a/more.env": "VLLM_USE_V1=0\n"}, set()),
    ({"more.env": "VLLM_USE_V1=0\n"}, {A, C}),
    ({"a/compose.override.yml": "services: {engine: {command: [x]}}\n"}, {A}),
    ({"profiles/hare.yml": PROFILE.replace("32", "48")}, {A, B, C}),
    ({"profiles/other.yml": PROFILE.replace("id: hare-9b", "id: toad-9b")}, {A, B, C}),
    ({"patches.yml": None}, {A, B, C}),
    ({".github/seamguard.yml": "ignore: ['b/*']\n"}, {A, B, C}),
    ({"c/compose.yml": STATE[B]}, {"c/compose.yml"}),
    ({"not-yaml.yml": "services:\n  a: [vllm\n"}, {"not-yaml.yml"}),
]


@pytest.mark.parametrize(("change", "again"), CHANGES, ids=lambda value: ",".join(sorted(value)))
def test_what_was_found_is_told_again_where_nothing_differs_and_only_there(
    change: Mapping[str, str | None], again: set[str]
) -> None:
    memory = Memory()
    changed = {name: text for name, text in {**STATE, **change}.items() if text is not None}
    states = [STATE, changed, STATE]
    reports = [audit(_repository(files, memory), RULES) for files in states]
    for files, report in zip(states, reports, strict=True):
        assert _told(report) == _told(audit(_repository(files), RULES))
    before, after, back = map(_units, reports)
    assert {path for path in {*before, *after} if before.get(path) is not after.get(path)} == again
    assert all(back[path] is before[path] for path in before)


def test_a_folder_that_appears_is_noticed() -> None:
    memory = Memory()
    mount = "- './site:/usr/lib/python3/site-packages/extra'"
    compose = f"""
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    entrypoint: [bash, -c, '[ -d /usr/lib/python3/site-packages/extra/x ] && F=--enforce-eager; exec vllm serve m $$F']
    volumes:
      {mount}
"""
    states = [{"compose.yml": compose}, {"compose.yml": compose, "site/x/y.py": ""}]
    for files in (*states, states[0]):
        assert _told(audit(_repository(files, memory), RULES)) == _told(audit(_repository(files), RULES))


def test_catalogs_that_say_the_same_are_one() -> None:
    memory = Memory()
    one = read_catalog(MemoryTree(STATE), memory)
    assert read_catalog(MemoryTree({**STATE, "b/compose.yml": "services: {}"}), memory) is one
    assert read_catalog(MemoryTree({**STATE, "profiles/hare.yml": PROFILE + "# edited"}), memory) is not one


def test_other_rules_are_another_question() -> None:
    repository = _repository({"compose.yml": STATE[B].replace("]", ", --nonsense]")})
    rules = [RULES, RULES.only({"compose-broken"}), RULES]
    assert [len(audit(repository, asked).findings) for asked in rules] == [1, 0, 1]


def test_how_files_are_shown_is_part_of_the_question() -> None:
    memory, tree = Memory(), MemoryTree({})
    for relative, shown in (
        (True, "open compose.yml:"),
        (False, "open /root/compose.yml:"),
        (True, "open compose.yml:"),
    ):
        with pytest.raises(Fault, match=shown):
            Documents(tree, "/root", relative=relative, memory=memory).compose("compose.yml")


def test_what_patches_do_can_be_asked_when_nothing_can_be_read_any_more() -> None:
    """Whether a failing patch stops the boot is another way through the script, which reads another file."""
    files = {
        **STATE,
        "a/compose.yml": STATE["a/compose.yml"].replace("'./extra:", "'./late.sh:/late.sh', './extra:"),
        "a/start.sh": "#!/bin/bash\npython3 /patches/fix.py || . /late.sh\nexec vllm serve /models/hare-9b\n",
        "a/late.sh": "exit 1\n",
        "patches.yml": PATCHES.replace("#41726", "#46329"),
    }
    assert "vllm-project/vllm#46329" in RULES.overlaid
    report = audit(_repository(files, Memory()), RULES)
    patches = [patch for unit in report.units for service in unit.services for patch in service.defaults[0].patches]
    assert [(patch.failure_stops_boot, patch.wired) for patch in patches] == [(True, True)]
