from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.workflow import annotation
from bot.hazards import Finding, World
from bot.repositories import git
from tests.cli.conftest import CORRUPT, PROFILE, Run
from tests.schemas import violations

Folder = Callable[..., Path]
PAIR = "mtp-prefix-cache-hybrid"
CLEAN = "services: {e: {image: 'vllm/vllm-openai:v0.25.1', command: [--model, m]}}\n"
WARNING = "services: {e: {image: 'vllm/vllm-openai:v0.25.1', command: [m, --seed, '1', --seed, '2']}}\n"


@pytest.fixture
def corrupt(folder: Folder) -> Path:
    root: Path = folder({"deploy/compose.yml": CORRUPT, "models/hare.yml": PROFILE})
    return root


# Exit status ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "status"),
    [
        (CLEAN, [], 0),
        (CLEAN, ["--fail-on", "notice"], 0),
        (WARNING, [], 0),
        (WARNING, ["--fail-on", "error"], 0),
        (WARNING, ["--fail-on", "warning"], 1),
        (WARNING, ["--fail-on", "notice"], 1),
        (WARNING, ["--fail-on", "never"], 0),
        (CORRUPT, [], 1),
        (CORRUPT, ["--fail-on", "warning"], 1),
        (CORRUPT, ["--fail-on", "never"], 0),
        (CORRUPT, ["--rule", "unknown-flag"], 0),
        (CORRUPT, ["--rule", "unknown-flag", "--rule", PAIR], 1),
    ],
)
@pytest.mark.parametrize("output", ["text", "json", "github"])
def test_the_status_tells_whether_a_finding_reaches_the_level(
    run: Run, folder: Folder, text: str, options: list[str], status: int, output: str
) -> None:
    root = folder({"compose.yml": text, "models/hare.yml": PROFILE})
    assert run("audit", root, "--format", output, *options).status == status


@pytest.mark.parametrize("command", ["audit", "fix"])
def test_a_folder_without_composes_is_no_success(run: Run, folder: Folder, command: str) -> None:
    root = folder({"README.md": "x", "values.yml": "a: 1"})
    answer = run(command, root)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"seamguard: {root}: no compose is there, so nothing was done")


def test_a_part_of_a_repository_is_judged_with_all_that_the_repository_says(run: Run, folder: Folder) -> None:
    root = folder(
        {
            "compose.yml": CORRUPT,
            "deploy/compose.yml": CORRUPT,
            "models/hare.yml": PROFILE,
        }
    )
    git.run(root, "init", "-q")
    for part in ("deploy", "deploy/compose.yml"):
        found = run("audit", root / part, "--rule", PAIR, "--format", "json").json["findings"]
        assert [finding["path"] for finding in found] == ["deploy/compose.yml"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/no/such/folder"], "/no/such/folder: no such file or folder"),
        (["{root}", "--rev", "HEAD"], "git"),
        (["{root}", "--fail-on", "sometimes"], "sometimes"),
        (["{root}", "--format", "xml"], "xml"),
        (["{root}", "--rule", "nonsense"], "no rule 'nonsense'"),
        (["{root}", "--rule", "mtp-prefix-cache"], PAIR),
    ],
)
def test_what_cannot_be_asked_ends_with_status_2_and_a_sentence(
    run: Run, corrupt: Path, arguments: list[str], words: str
) -> None:
    answer = run("audit", *(argument.format(root=corrupt) for argument in arguments))
    assert (answer.status, answer.out) == (2, "")
    assert words in answer.err
    assert "Traceback" not in answer.err


# Output ---------------------------------------------------------------------------------------------------------------


def test_json_keeps_to_its_schema(run: Run, corrupt: Path) -> None:
    answer = run("audit", corrupt, "--format", "json")
    assert violations("audit", answer.json) == []
    (pair,) = (finding for finding in answer.json["findings"] if finding["rule"] == PAIR)
    assert (pair["path"], pair["line"], pair["service"]) == ("deploy/compose.yml", 9, "engine")
    assert {reason["path"] for reason in pair["chain"]} >= {"deploy/compose.yml", "models/hare.yml"}
    assert pair["properties"]["prefix_caching"]["value"] is True


def test_text_for_people(run: Run, corrupt: Path) -> None:
    answer = run("audit", corrupt)
    assert "\x1b" not in answer.out + answer.err
    for words in ("error active", PAIR, "deploy/compose.yml:9", "why:", "how sure:", "what to do:", "1 error"):
        assert words in answer.out


def test_what_was_left_out_is_told(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": CLEAN, "other/compose.yml": "a: 1\n"})
    assert "other/compose.yml: no services" in run("audit", root).out
    assert run("audit", root, "--format", "json").json["skipped"] == [
        {"path": "other/compose.yml", "reason": "no services"}
    ]


@pytest.mark.parametrize("name", ["compose.yml", "deploy/engine.yml"])
def test_a_compose_that_is_not_yaml_does_not_pass(run: Run, folder: Folder, name: str) -> None:
    assert run("audit", folder({name: CORRUPT + "  other: [\n"})).status == 1


def test_a_fault_of_the_configuration_is_told_with_its_place(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": CLEAN, ".github/seamguard.yml": "ignore: []\ncompose: []\n"})
    (error,) = run("audit", root, "--format", "json").json["errors"]
    assert (error["path"], error["line"]) == (".github/seamguard.yml", 2)
    assert "composes" in error["message"]
    assert ".github/seamguard.yml:2" in run("audit", root).out


def test_workflow_annotations(run: Run, corrupt: Path) -> None:
    lines = run("audit", corrupt, "--format", "github").out.splitlines()
    (pair,) = (line for line in lines if PAIR in line)
    assert pair.startswith(f"::error file=deploy/compose.yml,line=9,title={PAIR} (active)::")
    assert all(line.startswith("::") for line in lines)


def _finding(**changes: Any) -> Finding:
    found = Finding(
        rule="a-rule",
        title="t",
        rule_level="error",
        level="error",
        status="active",
        evidence_grade="established",
        path="compose.yml",
        line=3,
        service="s",
        slug=None,
        cause="",
        world=World({}),
        properties={},
        chain=(),
        message="m",
        remedy="",
        evidence="",
        upstream=(),
    )
    return replace(found, **changes)


def _read_back(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the runner reads it."""
    head, mark, data = line.removeprefix("::").partition("::")
    assert mark
    command, _, rest = head.partition(" ")
    pairs = dict(part.split("=", 1) for part in rest.split(","))

    def plain(text: str) -> str:
        for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            text = text.replace(code, character)
        return text

    return command, {name: plain(value) for name, value in pairs.items()}, plain(data)


PRINTED = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" \n\r:,%"), max_size=60)


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_ends_an_annotation(path: str, message: str) -> None:
    line = annotation(_finding(path=path, message=f"x{message}"))
    assert line.isprintable()
    command, properties, _ = _read_back(line)
    assert (command, list(properties), properties["line"]) == ("error", ["file", "line", "title"], "3")


@given(PRINTED, PRINTED)
def test_an_annotation_says_what_the_finding_says(path: str, message: str) -> None:
    _, properties, data = _read_back(annotation(_finding(path=path, message=f"x{message}x")))
    assert (properties["file"], data) == (path, f"s: x{message}x")


@pytest.mark.parametrize(
    ("level", "command"), [("error", "error"), ("warning", "warning"), ("notice", "notice"), ("folded", "debug")]
)
def test_an_annotation_escapes_what_would_end_it(level: str, command: str) -> None:
    finding = _finding(level=level, path="a,b:c%d\n.yml", message="100%\r\n::error::injected, with: marks")
    assert annotation(finding) == (
        f"::{command} file=a%2Cb%3Ac%25d%0A.yml,line=3,title=a-rule (active)"
        "::s: 100%25%0D%0A::error::injected, with: marks"
    )
