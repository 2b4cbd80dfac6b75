"""Variables that are offered and read by nothing."""

from __future__ import annotations

import time

import pytest

from bot.audit import audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.review import review
from bot.tree import MemoryTree

RULES = load_rules()
MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":2}'"""


def _compose(comment: str, *, more: str = "", argument: str = MTP) -> str:
    return (
        f"# {comment}\nservices:\n  engine:\n    image: vllm/vllm-openai:v0.25.1\n{more}"
        f"    command: /models/hare-9b {argument}\n"
    )


def _findings(compose: str, **files: str) -> list[Finding]:
    tree = MemoryTree({"a/b/mtp.yml": compose, **files})
    report = audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES.only({"phantom-seam"}))
    return list(report.findings)


@pytest.mark.parametrize(
    "comment",
    [
        "Caveats: Mitigate: SPEC=off. The fix comes later.",
        "MITIGATION: run the drafter off — SPEC=off. A lower depth is none.",
        "SPEC=off disables the drafter",
        "Set SPEC=off to run without it",
        "`SPEC=off` turns it off",
        "SPEC=off docker compose up -d",
        "Two cards. Override with SPEC=off",
        "Default SPEC below expects it at /models/hare-draft.",
        "The default SPEC below is on",
    ],
)
def test_what_is_an_offer(comment: str) -> None:
    (found,) = _findings(_compose(comment))
    assert (found.level, found.cause, found.line) == ("warning", "SPEC", 1)


@pytest.mark.parametrize(
    "comment",
    [
        "SPEC=off was the mitigation",
        "It was so: default SPEC below is on",
        "default SPEC is none of ours",
        "Removed the mitigation SPEC=off",
        "do not set SPEC=off",
        "Measured with SPEC=off: 71 tokens per second",
        "dual.yml: set SPEC=off to run without it",
        "vllm/other-slug: set SPEC=off",
        "SPEC=off bash scripts/switch.sh",
        "SPEC=off and nothing else",
        "docker compose -f base.yml -f mtp.yml up; set SPEC=off to run without it",
        "The launchers set SPEC=off",
        "set HF_TOKEN=x to fetch the weights",
        "set VLLM_LOGGING_LEVEL=DEBUG to see more",
        "- SPEC=off",
    ],
)
def test_what_is_none(comment: str) -> None:
    assert _findings(_compose(comment)) == []


@pytest.mark.parametrize(
    ("more", "files"),
    [
        pytest.param("    environment: [SPEC]\n", {}, id="forwarded"),
        pytest.param("    environment:\n      OTHER: ${SPEC:-on}\n", {}, id="interpolated"),
        pytest.param("    env_file: [.env]\n", {}, id="an env_file may have it"),
        pytest.param("", {"run.sh": 'if [ "${SPEC:-on}" = off ]; then echo; fi\n'}, id="a script reads it"),
        pytest.param("", {"run.py": 'import os\nos.environ.get("SPEC")\n'}, id="a program reads it"),
        pytest.param(
            "    extends: {file: base.yml, service: x}\n",
            {"a/b/base.yml": "services:\n  x: {environment: [SPEC]}\n"},
            id="what it extends reads it",
        ),
    ],
)
def test_what_counts_as_read(more: str, files: dict[str, str]) -> None:
    assert _findings(_compose("Mitigate: SPEC=off", more=more), **files) == []


def test_the_drafter_is_named_where_it_stays_on() -> None:
    (found,) = _findings(_compose("Mitigate: SPEC=off"))
    assert found.message.startswith("`SPEC=off` does not switch the drafter off")
    (found,) = _findings(_compose("Mitigate: SPEC=off", argument=""))
    assert found.message.startswith("Setting `SPEC=off` does nothing")


def test_a_variable_that_the_engine_never_had() -> None:
    (found,) = _findings(_compose("Set VLLM_ENFORCE_EAGER=1 to run without graphs"))
    assert found.cause == "VLLM_ENFORCE_EAGER"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("| `b/mtp.yml` | set `SPEC=off` to run without a drafter |", 1, id="a table that names the file"),
        pytest.param("| `b/other.yml` | set `SPEC=off` to run without a drafter |", 0, id="another file"),
    ],
)
def test_a_document_above(line: str, expected: int) -> None:
    assert len(_findings(_compose("nothing"), **{"a/README.md": f"# Composes\n\n{line}\n"})) == expected


def test_a_pull_request_is_told_what_it_offers_in_vain() -> None:
    trees = [MemoryTree({"mtp.yml": _compose(comment)}) for comment in ("nothing", "Mitigate: SPEC=off")]
    base, head = (audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES) for tree in trees)
    found = review(base, head, {}, {})
    assert [finding.rule for finding in found.introduced if finding.rule == "phantom-seam"] == ["phantom-seam"]


def test_a_hostile_comment_ends() -> None:
    compose = _compose("Set " + "A=1 " * 10_000 + "SPEC=off ")
    start = time.process_time()
    _findings(compose + "# set " + "SPEC_=1," * 10_000 + "\n" + "# set SPEC=1 \n" * 2_000)
    assert time.process_time() - start < 2


def test_a_comment_of_half_quoted_settings_ends() -> None:
    start = time.process_time()
    _findings(_compose("set" + " ABC='" * 90))
    assert time.process_time() - start < 2
