"""Values that a script lets through and misreads."""

from __future__ import annotations

import pytest

from bot.audit import audit
from bot.audit.traps import MAX_TRIALS
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.tree import MemoryTree

RULES = load_rules()
MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":2}'"""
SERVE = "exec vllm serve /models/hare-9b"


def _compose(script: str, *variables: str, comment: str = "nothing") -> str:
    lines = "".join(f"        {line}\n" for line in script.split("\n"))
    given = f"    environment: [{', '.join(variables)}]\n" if variables else ""
    return (
        f"# {comment}\nservices:\n  engine:\n    image: vllm/vllm-openai:v0.25.1\n{given}"
        f"    entrypoint: [bash, -c]\n    command:\n      - |\n{lines}"
    )


def _findings(compose: str) -> list[Finding]:
    tree = MemoryTree({"compose.yml": compose})
    report = audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES.only({"seam-value-trap"}))
    return list(report.findings)


OFF_ALONE = f'A=()\nif [ "$${{SPEC:-on}}" != "off" ]; then A=({MTP}); fi\n{SERVE} "$${{A[@]}}"'
COMPLETE = f'A=()\ncase "$${{SPEC:-on}}" in off|OFF|0|false|no|none) ;; *) A=({MTP}) ;; esac\n{SERVE} "$${{A[@]}}"'
STRICT = f'A=()\ncase "$${{SPEC:-on}}" in off) ;; on) A=({MTP}) ;; *) exit 2 ;; esac\n{SERVE} "$${{A[@]}}"'
NUMBER = (
    'A=()\nif [ "$${N:-3}" -gt 0 ] 2>/dev/null; then\n'
    '  A=(--speculative-config "{\\"method\\":\\"mtp\\",\\"num_speculative_tokens\\":$${N:-3}}")\nfi\n'
    f'{SERVE} "$${{A[@]}}"'
)
NUMBER_BARE = SERVE + """ --speculative-config "{\\"method\\":\\"mtp\\",\\"num_speculative_tokens\\":$${N:-3}}\""""
NUMBER_CHECKED = f'[[ "$${{N:-3}}" =~ ^(0|[1-9][0-9]*)$$ ]] || exit 2\n{NUMBER}'
PRESENCE = f"{SERVE} $${{EAGER:+--enforce-eager}}"


@pytest.mark.parametrize(
    ("script", "variables", "comment", "expected"),
    [
        pytest.param(
            OFF_ALONE,
            ["SPEC"],
            "",
            "The drafter stays on with `SPEC=0, SPEC=false, SPEC=no, SPEC=none, SPEC=OFF, SPEC='off '`",
            id="off",
        ),
        pytest.param(OFF_ALONE, [], "", None, id="never forwarded: another rule's"),
        pytest.param(COMPLETE, ["SPEC"], "", None, id="every word is taken"),
        pytest.param(STRICT, ["SPEC"], "", None, id="other words end the script"),
        pytest.param(NUMBER, ["N"], "", "`N=03` is let through by the script and stops the engine", id="leading zero"),
        pytest.param(NUMBER_BARE, ["N"], "", None, id="the engine refuses 0 as well, which another rule tells"),
        pytest.param(NUMBER_CHECKED, ["N"], "", None, id="the check refuses a leading zero"),
        pytest.param(PRESENCE, ["EAGER"], "EAGER=1 for eager mode", "`EAGER=0` switches", id="presence"),
        pytest.param(PRESENCE, ["EAGER"], "", None, id="presence, and no comment offers a value"),
        pytest.param(
            f"{SERVE} $${{EAGER+--enforce-eager}}", ["EAGER"], "", "`EAGER=` switches on", id="set, and empty"
        ),
        pytest.param(
            f'{SERVE} --max-num-seqs "$${{N-8}}"\n[ "$${{N-8}}" -gt 0 ]',
            ["N"],
            "",
            "`N=` stops the engine",
            id="nothing else looks at it",
        ),
        pytest.param(
            f'if [ "$${{N-8}}" != "0" ]; then A=(--max-num-seqs "$${{N-8}}"); fi\n{SERVE} "$${{A[@]}}"',
            ["N"],
            "",
            "`N=` stops the engine",
            id="an empty number",
        ),
        pytest.param(
            f'if [ "$${{N:-8}}" != "0" ]; then A=(--max-num-seqs "$${{N:-8}}"); fi\n{SERVE} "$${{A[@]}}"',
            ["N"],
            "",
            None,
            id="an empty number has a default",
        ),
        pytest.param(
            OFF_ALONE.replace(":-on", "-on"), ["SPEC"], "", "The drafter stays on with", id="empty is on as unset"
        ),
        pytest.param(f"case $$MODE in fast) X=1 ;; esac\n{SERVE}", ["MODE"], "", None, id="no switch"),
    ],
)
def test_values_that_are_misread(script: str, variables: list[str], comment: str, expected: str | None) -> None:
    said = [finding.message for finding in _findings(_compose(script, *variables, comment=comment))]
    assert (said == []) if expected is None else (len(said) == 1 and said[0].startswith(expected)), said


def test_a_word_for_on_counts_where_it_is_offered() -> None:
    script = f'A=()\nif [ "$$EAGER" = "1" ]; then A=(--enforce-eager); fi\n{SERVE} "$${{A[@]}}"'
    assert _findings(_compose(script, "EAGER")) == []
    (found,) = _findings(_compose(script, "EAGER", comment="EAGER=true for eager mode"))
    assert found.level == "notice"
    assert "`EAGER=true, EAGER='1 '` does not do what `EAGER=1` does" in found.message


def test_many_switches_end() -> None:
    names = [f"S{number}" for number in range(MAX_TRIALS)]
    script = "\n".join(f'if [ "$${name}" != off ]; then set -- "$$@" --enforce-eager; fi' for name in names)
    assert len(_findings(_compose(f'{script}\n{SERVE} "$$@"', *names))) < MAX_TRIALS
