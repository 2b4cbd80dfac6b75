from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.audit import Report
from bot.audit.audit import UnitReport
from bot.cli import sarif
from bot.cli.audit import audited
from bot.hazards import Finding, World, load_rules
from tests.cli.conftest import CORRUPT, PROFILE, Run
from tests.cli.sarif_schema import needs_sarif_schema, sarif_violations
from tests.cli.test_review import SAFE, History, history  # noqa: F401 - a fixture

PAIR = "mtp-prefix-cache-hybrid"
EVIL = "services:\n  e:\n    image: vllm/vllm-openai:v0.25.1\n    command: [--model=m, '--x[y](http://z)\\']\n"
SWITCHED = "# PC=--enable-prefix-caching shares prefixes\n" + CORRUPT.replace(
    "--enable-prefix-caching", "${PC:---no-enable-prefix-caching}"
)
Folder = Callable[..., Path]


def _sarif(run: Run, root: Path) -> dict[str, Any]:
    answer = run("audit", root, "--format", "sarif")
    assert answer.status == 1
    assert answer.json["version"] == "2.1.0"
    (found,) = answer.json["runs"]
    assert isinstance(found, dict)
    return found


def test_a_finding_is_a_result_of_a_described_rule(run: Run, folder: Callable[..., Path]) -> None:
    found = _sarif(run, folder({"a b/compose.yml": CORRUPT, "models/hare.yml": PROFILE}))
    (result,) = (result for result in found["results"] if result["ruleId"] == PAIR)
    place = result["locations"][0]["physicalLocation"]
    assert (result["level"], place) == (
        "error",
        {"artifactLocation": {"uri": "a%20b/compose.yml", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 9}},
    )
    assert {result["ruleId"] for result in found["results"]} <= {
        rule["id"] for rule in found["tool"]["driver"]["rules"]
    }


def test_a_fingerprint_does_not_move_with_the_lines(run: Run, folder: Callable[..., Path]) -> None:
    prints = [
        {result["partialFingerprints"]["identity/v1"] for result in _sarif(run, folder({"c.yml": text}))["results"]}
        for text in (CORRUPT + "      - --nope=1\n", "# x\n\n" + CORRUPT + "      - --nope=2\n")
    ]
    assert prints[0] == prints[1] != set()


def test_nothing_in_a_message_is_a_link(run: Run, folder: Callable[..., Path]) -> None:
    texts = [result["message"]["text"] for result in _sarif(run, folder({"c.yml": EVIL}))["results"]]
    assert any(r"\[y\](http://z)" in text for text in texts)
    assert not any("[y](" in text.replace(r"\[", "").replace(r"\]", "") for text in texts)


def test_what_was_left_out_is_notified(run: Run, folder: Callable[..., Path]) -> None:
    found = _sarif(run, folder({"compose.yml": CORRUPT + "      - --nope\n", "b/compose.yml": "a: 1\n"}))
    (note,) = found["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "no services"


# The schema -----------------------------------------------------------------------------------------------------------

REPOSITORIES: Mapping[str, Mapping[str, str]] = {
    "a hazard": {"compose.yml": CORRUPT, "models/hare.yml": PROFILE},
    "a name that is no URI": {"a b:c/%41 [x]#?.yml": CORRUPT, "models/hare.yml": PROFILE},
    "hostile text": {"compose.yml": EVIL},
    "files that cannot be read": {"compose.yml": CORRUPT, "b/compose.yml": "a: 1\n", "c/compose.yml": "services: [\n"},
    "nothing to tell": {"b/compose.yml": "a: 1\n"},
}


@needs_sarif_schema
@pytest.mark.parametrize("name", REPOSITORIES)
def test_an_audit_keeps_to_the_schema(run: Run, folder: Folder, name: str) -> None:
    log = run("audit", folder(REPOSITORIES[name]), "--format", "sarif").json
    assert sarif_violations(log) == []


@needs_sarif_schema
def test_the_schema_bites(run: Run, folder: Folder) -> None:
    log = run("audit", folder({"compose.yml": CORRUPT}), "--format", "sarif").json
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    log["runs"][0]["results"][0]["levle"] = "error"
    assert len(sarif_violations(log)) == 2


@needs_sarif_schema
def test_a_review_keeps_to_the_schema(history: History) -> None:  # noqa: F811
    history.state({"compose.yml": CORRUPT})
    assert sarif_violations(history.review("HEAD~1", "HEAD", "--format", "sarif").json) == []


# What a reader gets ---------------------------------------------------------------------------------------------------


def test_a_flow_leads_from_the_causes_to_the_finding(run: Run, folder: Folder) -> None:
    text = CORRUPT.replace("v0.25.1", "v0.28.0").replace("      - --enable-prefix-caching\n", "")
    found = _sarif(run, folder({"compose.yml": text, "models/hare.yml": PROFILE}))
    (result,) = (result for result in found["results"] if result["ruleId"] == PAIR)
    (flow,) = result["codeFlows"]
    (thread,) = flow["threadFlows"]
    steps = [
        (
            step["location"]["physicalLocation"]["artifactLocation"]["uri"],
            step["location"]["physicalLocation"]["region"]["startLine"],
            step["location"]["message"]["text"],
        )
        for step in thread["locations"]
    ]
    place = result["locations"][0]["physicalLocation"]
    assert steps[-1][:2] == (place["artifactLocation"]["uri"], place["region"]["startLine"])
    assert steps[-1][2] == load_rules().named[PAIR].title
    assert ("models/hare.yml", 3, "num_gdn_layers: 24") in steps
    (engine,) = (step for step in steps if "vLLM 0.28.0: hybrid models default to prefix caching" in step[2])
    assert engine[0] == "compose.yml"
    assert "(vllm/engine/arg_utils.py:" in engine[2]
    assert engine[2].rpartition(" ")[2].startswith("https://github.com/vllm-project/vllm/blob/v0.28.0/")


def test_rules_are_described(run: Run, folder: Folder) -> None:
    found = _sarif(run, folder({"compose.yml": CORRUPT, "models/hare.yml": PROFILE}))
    rules = found["tool"]["driver"]["rules"]
    for result in found["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    (rule,) = (rule for rule in rules if rule["id"] == PAIR)
    assert "## Evidence" in rule["help"]["markdown"]
    assert rule["properties"]["tags"] == ["vllm", "silent-corruption"]
    assert all(len(rule["fullDescription"]["text"]) <= 1024 for rule in rules)
    assert all(len(rule["shortDescription"]["text"]) <= 1024 for rule in rules)


def test_places_are_relative_to_the_repository_wherever_the_audit_began(history: History, run: Run) -> None:  # noqa: F811
    history.state({"deploy/compose.yml": CORRUPT, "deploy/models/hare.yml": PROFILE})
    (found,) = run("audit", history.root / "deploy", "--format", "sarif").json["runs"]
    (result,) = (result for result in found["results"] if result["ruleId"] == PAIR)
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "deploy/compose.yml"
    lines = run("audit", history.root / "deploy", "--format", "github").out
    assert "::error file=deploy/compose.yml,line=9," in lines


def test_a_review_says_what_is_new_and_what_is_altered(history: History) -> None:  # noqa: F811
    history.state({"switched.yml": SWITCHED})
    history.state({"switched.yml": CORRUPT, "other.yml": CORRUPT})
    log = history.review("HEAD~1", "HEAD", "--format", "sarif").json
    told = {
        (result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], result["baselineState"])
        for result in log["runs"][0]["results"]
        if result["ruleId"] == PAIR
    }
    assert told == {("switched.yml", "updated"), ("other.yml", "new")}


def test_a_review_and_an_audit_have_the_same_fingerprints(history: History, run: Run) -> None:  # noqa: F811
    history.state({"compose.yml": CORRUPT})
    review = history.review("HEAD~1", "HEAD", "--format", "sarif").json
    audit = run("audit", history.root, "--format", "sarif").json
    prints = [
        {result["partialFingerprints"]["identity/v1"] for result in log["runs"][0]["results"]}
        for log in (review, audit)
    ]
    assert set() != prints[0] <= prints[1]
    assert review["runs"][0]["automationDetails"] == audit["runs"][0]["automationDetails"]


def test_what_was_there_before_is_not_in_a_review(history: History) -> None:  # noqa: F811
    history.state({"compose.yml": CORRUPT})
    history.state({"compose.yml": f"# a comment\n{CORRUPT}"})
    log = history.review("HEAD~1", "HEAD", "--format", "sarif").json
    assert log["runs"][0]["results"] == []


# What code scanning takes ---------------------------------------------------------------------------------------------


def _many(root: Path, count: int, **changes: Any) -> Report:
    """A report with the findings of a folder, again and again."""
    report = audited(root, None, load_rules(), offline=True)
    (unit,) = report.units
    mild = replace(unit.findings[0], level="notice", **changes)
    findings: list[Finding] = [replace(mild, path=f"{number}.yml") for number in range(count)]
    findings[-1] = replace(findings[-1], level="error")
    shown: UnitReport = replace(unit, findings=tuple(findings))
    return replace(report, units=(shown,))


def test_only_the_worst_are_told_and_the_rest_is_counted(folder: Folder) -> None:
    root = folder({"compose.yml": CORRUPT})
    (found,) = sarif.report_sarif(_many(root, sarif.MAX_RESULTS + 7), load_rules())["runs"]
    assert len(found["results"]) == sarif.MAX_RESULTS
    assert found["results"][0]["level"] == "error"
    notes = [note["message"]["text"] for note in found["invocations"][0]["toolExecutionNotifications"]]
    assert any(note.startswith("7 more findings") for note in notes)


def test_a_log_is_as_small_as_an_upload_must_be(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_GZIPPED_BYTES", 20_000)
    root = folder({"compose.yml": CORRUPT})
    log = sarif.report_sarif(_many(root, 3_000), load_rules())
    assert len(gzip.compress(json.dumps(log, indent=2).encode(), 6)) <= 20_000
    assert log["runs"][0]["results"][0]["level"] == "error"


def test_no_text_of_a_stranger_is_endless(folder: Folder) -> None:
    root = folder({"compose.yml": CORRUPT})
    report = _many(root, 1, message="x" * 100_000, world=World({"A": "\x1b[31m"}))
    (found,) = sarif.report_sarif(report, load_rules())["runs"]
    assert len(found["results"][0]["message"]["text"]) <= sarif.MAX_TEXT
    assert "\x1b" not in json.dumps(found, ensure_ascii=False)


def test_an_accepted_risk_is_suppressed(run: Run, folder: Folder) -> None:
    accepted = f"accepted: [{{rule: {PAIR}, where: '*.yml', reason: short answers only}}]\n"
    files = {"compose.yml": CORRUPT, "models/hare.yml": PROFILE, ".github/seamguard.yml": accepted}
    answer = run("audit", folder(files), "--format", "sarif")
    (result,) = (result for result in answer.json["runs"][0]["results"] if result["ruleId"] == PAIR)
    (suppression,) = result["suppressions"]
    assert (answer.status, suppression["kind"], suppression["status"]) == (0, "external", "accepted")
    assert suppression["justification"] == "short answers only"


# Fixes ----------------------------------------------------------------------------------------------------------------


def _applied(text: str, fix: Mapping[str, Any]) -> str:
    """A file after a fix, as SARIF means it: each region is replaced, the last one first."""
    (change,) = fix["artifactChanges"]
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for part in reversed(change["replacements"]):
        region = part["deletedRegion"]
        begin = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:begin] + part["insertedContent"]["text"] + text[end:]
    return text


DEAD = CORRUPT.replace(
    "      - --enable-prefix-caching\n", "      - --port\n      - '1'\n      - --port\n      - '2'\n"
)
STALE = "# Drafter: MTP n=3\n#\n# Streams: 8\n" + DEAD.replace("'2'", "'2'\n      - --max-num-seqs=4")
FIXES = {
    "a line replaced": (CORRUPT, PAIR, CORRUPT.replace("--enable-p", "--no-enable-p")),
    "lines taken out": (DEAD, "flag-without-effect", DEAD.replace("      - --port\n      - '1'\n", "")),
    "a comment": (STALE, "stale-claim", STALE.replace("n=3", "n=2")),
    "a last line without an end": (
        CORRUPT.rstrip("\n"),
        PAIR,
        CORRUPT.replace("--enable-p", "--no-enable-p").rstrip("\n"),
    ),
    "other line ends": (
        CORRUPT.replace("\n", "\r\n"),
        PAIR,
        CORRUPT.replace("--enable-p", "--no-enable-p").replace("\n", "\r\n"),
    ),
}


@pytest.mark.parametrize("name", FIXES)
def test_a_proved_edit_is_a_fix(run: Run, folder: Folder, name: str) -> None:
    before, rule, after = FIXES[name]
    root = folder({"compose.yml": before, "models/hare.yml": PROFILE})
    results = run("audit", root, "--format", "sarif").json["runs"][0]["results"]
    fixes = [result["fixes"] for result in results if result["ruleId"] == rule and "fixes" in result]
    assert after in [_applied(before, fix) for (fix,) in fixes]
    assert all("Proved by resolving" in fix["description"]["text"] for (fix,) in fixes)


def test_a_fix_names_the_file_in_the_repository(run: Run, history: History) -> None:  # noqa: F811
    history.state({"deploy/a b/compose.yml": CORRUPT, "deploy/models/hare.yml": PROFILE})
    log = run("audit", history.root / "deploy", "--format", "sarif").json
    (fix,) = (fix for result in log["runs"][0]["results"] for fix in result.get("fixes", ()))
    assert fix["artifactChanges"][0]["artifactLocation"]["uri"] == "deploy/a%20b/compose.yml"


def test_what_a_change_brings_has_its_fix(history: History) -> None:  # noqa: F811
    history.state({"compose.yml": SAFE, "models/hare.yml": PROFILE})
    history.state({"compose.yml": CORRUPT})
    log = history.review("HEAD~1", "HEAD", "--format", "sarif").json
    (fix,) = (fix for result in log["runs"][0]["results"] for fix in result.get("fixes", ()))
    assert _applied(CORRUPT, fix) == SAFE


def test_no_fix_is_proved_where_nobody_asks_for_it(run: Run, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    def proved(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("bot.remedies.standing_fixes", proved)
    files = {"compose.yml": CORRUPT, "models/hare.yml": PROFILE}
    assert run("audit", folder(files), "--format", "json").status == 1


@needs_sarif_schema
@pytest.mark.parametrize("name", FIXES)
def test_fixes_keep_to_the_schema(run: Run, folder: Folder, name: str) -> None:
    log = run("audit", folder({"compose.yml": FIXES[name][0], "models/hare.yml": PROFILE}), "--format", "sarif").json
    assert any("fixes" in result for result in log["runs"][0]["results"])
    assert sarif_violations(log) == []
