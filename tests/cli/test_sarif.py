from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.conftest import CORRUPT, PROFILE, Run

PAIR = "mtp-prefix-cache-hybrid"
EVIL = "services:\n  e:\n    image: vllm/vllm-openai:v0.25.1\n    command: [--model=m, '--x[y](http://z)\\']\n"


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
        {"artifactLocation": {"uri": "a%20b/compose.yml"}, "region": {"startLine": 9}},
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
