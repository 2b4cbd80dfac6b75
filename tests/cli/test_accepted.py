"""Accepted risks and the policy of vendoring, in a review and in an audit's text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.catalog.configuration import PATH
from tests.cli.conftest import CORRUPT, PROFILE, Run
from tests.cli.test_review import SAFE, History

PAIR = "mtp-prefix-cache-hybrid"
ACCEPTED = f"accepted:\n  - {{rule: {PAIR}, where: compose.yml, until: vllm#48375, reason: we know}}\n"
OTHERS = "".join(
    f"  - {{rule: {rule}, where: compose.yml, reason: another matter}}\n" for rule in ("gdn-spec-decode-wild-write",)
)
INHERIT = "policy: {vendoring: {mode: inherit-only, fixes: [vllm#50021], reason: too much to carry}}\n"
ENTRY = """patches:
  - id: bound-indices
    files: [patches/bound_indices.py]
    upstream: vllm#50021
    load_bearing_when: [compose.yml]
"""


@pytest.fixture
def history(tmp_path: Path, run: Run) -> History:
    return History(tmp_path, run)


def _review(history: History, base: str, head: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(history.review(base, head, "--format", "json").out)
    return found


def _rules(findings: list[dict[str, Any]]) -> set[str]:
    return {finding["rule"] for finding in findings}


def test_an_accepted_risk_fails_no_check_and_gets_no_comment(history: History) -> None:
    base = history.state({"models/hare.yml": PROFILE, "compose.yml": SAFE, PATH: ACCEPTED + OTHERS})
    head = history.state({"compose.yml": CORRUPT})
    answer = _review(history, base, head)
    assert answer["conclusion"] == "success"
    (pair,) = (finding for finding in answer["introduced"] if finding["rule"] == PAIR)
    assert (pair["folded"], pair["accepted"]["until"]) == (True, ["vllm-project/vllm#48375"])
    told = history.review(base, head, "--format", "markdown").out
    assert "Accepted risks (1)" in told
    assert "accepted until vllm#48375: we know (`.github/seamguard.yml:2`)" in told
    assert "On the lines of this change" not in told


def test_a_change_cannot_accept_its_own_risk(history: History) -> None:
    base = history.state({"models/hare.yml": PROFILE, "compose.yml": SAFE})
    head = history.state({"compose.yml": CORRUPT, PATH: ACCEPTED.replace("hybrid", "hybird")})
    answer = _review(history, base, head)
    assert answer["conclusion"] == "failure"
    told = history.review(base, head, "--format", "markdown").out
    assert "did you mean 'mtp-prefix-cache-hybrid'?" in told


def test_an_audit_shows_what_is_accepted(history: History, run: Run) -> None:
    history.state({"models/hare.yml": PROFILE, "compose.yml": CORRUPT, PATH: ACCEPTED + OTHERS})
    answer = run("audit", history.root, "--offline")
    assert answer.status == 0
    assert f"accepted active  {PAIR}  compose.yml:" in answer.out
    assert "accepted until vllm#48375: we know (.github/seamguard.yml:2)" in answer.out


# The policy of vendoring ---------------------------------------------------------------------------------------------

PATCH = {"patches.yml": ENTRY, "patches/bound_indices.py": "print('x')\n"}
LAID_OVER = CORRUPT.replace(
    "    image:", "    volumes: [./patches/pr50021.py:/usr/lib/python3/site-packages/vllm/x.py]\n    image:"
)


@pytest.mark.parametrize(
    ("files", "path", "cause"),
    [
        pytest.param(PATCH, "patches.yml", "bound-indices", id="listed"),
        pytest.param(
            {"compose.yml": LAID_OVER, "patches/pr50021.py": ""}, "compose.yml", "patches/pr50021.py", id="mounted"
        ),
    ],
)
def test_a_patch_that_is_not_wanted_is_told(
    history: History, files: dict[str, str | None], path: str, cause: str
) -> None:
    base = history.state({"models/hare.yml": PROFILE, "compose.yml": CORRUPT, PATH: INHERIT})
    answer = _review(history, base, history.state(files))
    (found,) = (finding for finding in answer["introduced"] if finding["rule"] == "vendoring-not-wanted")
    assert (found["path"], found["cause"], found["level"]) == (path, cause, "warning")
    assert found["message"].endswith("not vendored: too much to carry.")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({PATH: ""}, PATCH, id="no policy"),
        pytest.param({PATH: ""}, PATCH | {PATH: INHERIT}, id="a policy that comes with the patch"),
        pytest.param({PATH: INHERIT.replace("50021", "46324")}, PATCH, id="a policy about another fix"),
        pytest.param({PATH: INHERIT.replace("inherit-only", "allowed")}, PATCH, id="allowed"),
        pytest.param({PATH: INHERIT, **PATCH}, {"patches/bound_indices.py": "print('y')\n"}, id="one that is there"),
        pytest.param({PATH: INHERIT, "patches/bound_indices.py": ""}, {"patches.yml": ENTRY}, id="listed at last"),
    ],
)
def test_anything_else_is_not(history: History, before: dict[str, str | None], after: dict[str, str | None]) -> None:
    base = history.state({"models/hare.yml": PROFILE, "compose.yml": CORRUPT, **before})
    answer = _review(history, base, history.state(after))
    assert "vendoring-not-wanted" not in _rules(answer["introduced"])


def test_the_policy_counts_only_from_the_base(history: History) -> None:
    base = history.state({"models/hare.yml": PROFILE, "compose.yml": CORRUPT, PATH: INHERIT})
    answer = _review(history, base, history.state({**PATCH, PATH: ""}))
    assert "vendoring-not-wanted" in _rules(answer["introduced"])


# Files that run together ---------------------------------------------------------------------------------------------


def test_a_change_of_one_file_is_reviewed_with_those_that_it_runs_with(history: History) -> None:
    head, _, arguments = CORRUPT.partition("    command:")
    parts: dict[str, str | None] = {
        "models/hare.yml": PROFILE,
        "base.yml": head,
        "gpu.yml": "services:\n  engine:\n    command:" + arguments.replace("--enable-prefix", "--no-enable-prefix"),
        "cpu.yml": "services:\n  engine:\n    environment: {A: b}\n",
        PATH: "together: [[base.yml, gpu.yml]]\n",
    }
    base = history.state(parts)
    answer = _review(history, base, history.state({"gpu.yml": "services:\n  engine:\n    command:" + arguments}))
    assert (PAIR, "base.yml") in {(finding["rule"], finding["path"]) for finding in answer["introduced"]}
    (pair,) = (finding for finding in answer["introduced"] if finding["rule"] == PAIR)
    assert "docker compose -f base.yml -f gpu.yml up engine" in pair["replay"]
