"""A repository, audited."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.audit import Report, audit
from bot.catalog import read_catalog
from bot.cli.audit import report_json
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.tree import MemoryTree
from tests.schemas import violations

RULES = load_rules()
PROFILE = """
id: hare-9b
num_hidden_layers: 32
num_gdn_layers: 24
num_attn_layers: 8
weights: {fp8: {path: hare-9b}}
"""
MTP = """'{"method":"mtp","num_speculative_tokens":2}'"""


def _engine(*lines: str, name: str = "engine", image: str = "vllm/vllm-openai:v0.25.1") -> str:
    return "\n".join(["services:", f"  {name}:", f"    image: {image}", *(f"    {line}" for line in lines), ""])


def _mtp(*more: str) -> str:
    arguments = ", ".join(["--model", "/models/hare-9b", "--speculative-config", MTP, *more])
    return _engine(f"command: [{arguments}]")


def _audit(files: Mapping[str, str] | str) -> Report:
    given = {"compose.yml": files} if isinstance(files, str) else files
    tree = MemoryTree({"profiles/models/hare-9b.yml": PROFILE, **given})
    report = audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES)
    assert violations("audit", report_json(report)) == []
    return report


def _shown(report: Report) -> set[tuple[str, str, str]]:
    return {(finding.rule, finding.status, finding.level) for finding in report.findings}


def _of(report: Report, rule: str) -> Finding:
    (found,) = (finding for finding in report.findings if finding.rule == rule)
    return found


# From a compose to its findings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rule", "status", "level"),
    [
        pytest.param(_mtp("--enable-prefix-caching"), "mtp-prefix-cache-hybrid", "active", "error", id="pair"),
        pytest.param(
            _mtp("'${PREFIX:---no-enable-prefix-caching}'"),
            "mtp-prefix-cache-hybrid",
            "reachable",
            "warning",
            id="seam",
        ),
        pytest.param(_mtp(), "gdn-spec-decode-wild-write", "active", "warning", id="drafter"),
        pytest.param(_engine("command: [--modle, m]"), "unknown-flag", "active", "error", id="unknown flag"),
        pytest.param(_engine("command: [-m, --max-num-seqs=x]"), "engine-refuses", "active", "error", id="bad value"),
        pytest.param(
            _engine("command: [m, --max-num-seqs, '1', --max-num-seqs, '2']"),
            "flag-without-effect",
            "active",
            "warning",
            id="given twice",
        ),
        pytest.param(
            _engine("entrypoint: [bash, -c, 'exec vllm serve m $${EAGER:+--enforce-eager}']"),
            "dead-seam",
            "active",
            "warning",
            id="dead seam",
        ),
        pytest.param(
            _engine("entrypoint: [bash, -c, 'N=1; exec vllm serve m --seed ${N}']"),
            "early-interpolation",
            "active",
            "error",
            id="early",
        ),
        pytest.param(
            _engine("entrypoint: [bash, -c, '[ -n \"\" ] || exit 3; exec vllm serve m']"),
            "compose-broken",
            "active",
            "error",
            id="ends early",
        ),
        pytest.param(_engine("command: [1]"), "compose-broken", "active", "error", id="refused"),
    ],
)
def test_what_the_stages_see_becomes_a_finding(text: str, rule: str, status: str, level: str) -> None:
    report = _audit(text)
    assert (rule, status, level) in _shown(report)
    assert _of(report, rule).path == "compose.yml"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_engine("command: [--model, m]"), id="plain"),
        pytest.param(
            _mtp("--no-enable-prefix-caching", "--enforce-eager").replace("hare-9b", "rabbit"), id="unknown model"
        ),
        pytest.param("services: {db: {image: postgres}}", id="no engine"),
        pytest.param("services: {db: {image: postgres, command: [1]}}", id="refused, but no engine"),
    ],
)
def test_nothing_is_said_at_error_level_of_a_sound_compose(text: str) -> None:
    assert [finding for finding in _audit(text).findings if finding.level == "error"] == []


@pytest.mark.parametrize(
    "entrypoint",
    [
        "[vllm, --version]",
        "[vllm, bench, serve, --backend, openai, --model, m]",
        "[vllm, run-batch, -i, in.jsonl, -o, out.jsonl, --model, m]",
        "[python3, -m, vllm.entrypoints.openai.run_batch, -i, in.jsonl, -o, out.jsonl, --model, m]",
        "[python3, -m, vllm.benchmarks.serve, --backend, openai]",
    ],
)
def test_another_command_of_vllm_is_not_the_server(entrypoint: str) -> None:
    assert [finding.message for finding in _audit(_engine(f"entrypoint: {entrypoint}")).findings] == []


def test_a_reachable_hazard_names_its_world_and_its_chain() -> None:
    found = _of(_audit(_mtp("'${PREFIX:---no-enable-prefix-caching}'")), "mtp-prefix-cache-hybrid")
    assert dict(found.world.environment) == {"PREFIX": "--enable-prefix-caching"}
    assert {reason.path for reason in found.chain} >= {"compose.yml", "profiles/models/hare-9b.yml"}


def test_a_hazard_that_two_deviations_need_names_both() -> None:
    script = (
        'A=; [ "$${SPEC:-off}" = mtp ] && A=--speculative-config.method=mtp; exec vllm serve --model /models/hare-9b'
    )
    text = f"""
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    environment: [SPEC]
    entrypoint:
      - bash
      - -c
      - '{script} $$A --speculative-config.num_speculative_tokens=2 "$$@"'
      - --
    command: ["${{PREFIX:---no-enable-prefix-caching}}"]
"""
    found = _of(_audit(text), "mtp-prefix-cache-hybrid")
    assert (found.status, dict(found.world.environment)) == (
        "reachable",
        {"SPEC": "mtp", "PREFIX": "--enable-prefix-caching"},
    )


@pytest.mark.parametrize(
    ("offer", "level"),
    [
        ("EAGER=1 turns CUDA graphs off", "error"),
        ("Corrupt answers (#810):\n# EAGER=1 ends them", "error"),
        ("EAGER=1 saves memory", "warning"),
        ("CUDA graphs are on.\n#\n#\n#\n# EAGER=1 saves memory", "warning"),
        ("EAGER= is a variable", "warning"),
        ("nothing about it", "warning"),
    ],
)
def test_a_dead_seam_is_an_error_when_it_is_offered_against_a_hazard_that_stands(offer: str, level: str) -> None:
    """Eager mode would end the hazard of full graphs; the variable never arrives."""
    found = _dead_seam(offer, kv="nvfp4")
    assert (found.cause, found.level) == ("EAGER", level)


def test_a_dead_seam_is_never_louder_than_the_hazard_that_it_would_end() -> None:
    found = _dead_seam("EAGER=1 turns CUDA graphs off", kv="auto")
    assert found.level == "warning"
    assert "way out of mtp-full-cudagraph-blackwell" in found.message


@pytest.mark.parametrize(
    ("offer", "said"),
    [
        ("EAGER=1 turns CUDA graphs off", "offered as a way out of mtp-full-cudagraph-blackwell"),
        ("EAGER=1 saves memory", "would end mtp-full-cudagraph-blackwell, if it arrived"),
        ("EAGER=0 is the default", "and Compose never passes it into the container."),
    ],
)
def test_a_dead_seam_says_what_its_comment_says_of_it(offer: str, said: str) -> None:
    assert said in _dead_seam(offer, kv="nvfp4").message


def test_a_dead_seam_quotes_the_comment_nearest_to_the_read() -> None:
    found = _dead_seam("EAGER=1 saves time", kv="nvfp4", beside="# EAGER=1 saves memory")
    assert [reason.text for reason in found.chain] == ["the entrypoint reads EAGER", "# EAGER=1 saves memory"]


def _dead_seam(offer: str, *, kv: str, beside: str = "#") -> Finding:
    text = f"""
# {offer}
# Hardware: RTX 5090
services:
  engine:
    image: example.com/patched:1
    {beside}
    entrypoint:
      - bash
      - -c
      - >-
        exec vllm serve --model /models/hare-9b --no-enable-prefix-caching --kv-cache-dtype {kv}
        --speculative-config '{{"method":"mtp","num_speculative_tokens":2}}' $${{EAGER:+--enforce-eager}}
"""
    configuration = 'images: {"example.com/patched:1": {release: "0.25.1", adds: [nvfp4-kv-route]}}'
    return _of(_audit({"compose.yml": text, ".github/seamguard.yml": configuration}), "dead-seam")


# Releases without facts, and images of which nobody says what they are -----------------------------------------------


@pytest.mark.parametrize(
    ("image", "rule", "status", "level", "said"),
    [
        pytest.param("vllm/vllm-openai:v0.25.1", "unknown-flag", "active", "error", "vLLM 0.25.1 has no", id="exact"),
        pytest.param("vllm/vllm-openai:v0.15.2", "unknown-flag", "active", "error", "no release from 0", id="between"),
        pytest.param("vllm/vllm-openai:nightly", "unknown-flag", "active", "error", "no release from 0", id="floating"),
        pytest.param("vllm/vllm-openai:v0.34.0", "unknown-flag", "unknown", "notice", "no release from 0", id="newer"),
        pytest.param("vllm/vllm-openai:v0.10.2", "unknown-flag", "unknown", "notice", "no release from 0", id="older"),
        pytest.param("example.com/fork:1", "unknown-flag", "unknown", "notice", "not one of the vLLM", id="fork"),
    ],
)
def test_what_the_facts_of_a_release_say_of_others(image: str, rule: str, status: str, level: str, said: str) -> None:
    text = _engine("entrypoint: [vllm, serve]", "command: [m, --old-flag, 'a b']", image=image)
    found = _of(_audit(text), rule)
    assert (found.status, found.level) == (status, level)
    assert said in found.message
    assert "`--old-flag`" in found.message


@pytest.mark.parametrize(
    ("tag", "grade", "words"),
    [
        ("v0.21.0", "established", "up to 0.25.x"),
        ("v0.29.0", "reported", "on 0.28.0:"),
        ("nightly", "reported", "not known"),
    ],
)
def test_a_release_without_facts_is_graded_as_what_it_is(tag: str, grade: str, words: str) -> None:
    text = _engine(f"command: [/models/hare-9b, --enable-prefix-caching, --speculative-config, {MTP}]")
    found = _of(_audit(text.replace("v0.25.1", tag)), "mtp-prefix-cache-hybrid")
    assert (found.status, found.evidence_grade) == ("active", grade)
    assert words in found.evidence


@pytest.mark.parametrize(
    ("variable", "more", "remedy"),
    [
        ("VLLM_ATTENTION_BACKEND=FLEX", "", "`--attention-backend FLEX`"),
        ("VLLM_ATTENTION_BACKEND=FLEX", "--attention-backend=TRITON_ATTN", "Just remove it"),
        ("VLLM_ENFORCE_EAGER=1", "", "`--enforce-eager`"),
        ("VLLM_ENFORCE_EAGER=1", "--enforce-eager", "Just remove it"),
        ("VLLM_DISABLE_CUSTOM_ALL_REDUCE=1", "", "`--disable-custom-all-reduce`"),
        ("VLLM_OF_NOBODY=1", "", "look for a flag"),
    ],
)
def test_a_variable_that_is_not_read_names_its_flag(variable: str, more: str, remedy: str) -> None:
    arguments = ", ".join(part for part in ("m", more) if part)
    found = _of(_audit(_engine(f"environment: [{variable}]", f"command: [{arguments}]")), "flag-without-effect")
    assert found.message.endswith(f"vLLM 0.25.1 does not read {variable.partition('=')[0]}.")
    assert remedy in found.remedy


@pytest.mark.parametrize(
    ("image", "status"),
    [("vllm/vllm-openai:v0.25.1", "active"), ("vllm/vllm-openai:v0.21.0", "active"), ("example.com/fork:1", "unknown")],
)
def test_a_fork_may_read_a_variable_of_its_own(image: str, status: str) -> None:
    text = _engine("environment: [VLLM_ENFORCE_EAGER=1]", "entrypoint: [vllm, serve, m]", image=image)
    found = _of(_audit(text), "flag-without-effect")
    assert found.status == status
    assert ("may change nothing" in found.message) is (status == "unknown")


def test_a_profile_is_quoted_where_it_names_the_weights() -> None:
    found = _of(_audit(_mtp("--enable-prefix-caching")), "mtp-prefix-cache-hybrid")
    (place,) = ((reason.path, reason.line) for reason in found.chain if "is a folder of the weights" in reason.text)
    assert place == ("profiles/models/hare-9b.yml", 6)


def test_a_hazard_stands_where_the_drafter_is_put_together() -> None:
    script = f"""
      A=()
      if [ "$${{SPEC:-on}}" != off ]; then
        A=(--speculative-config {MTP})
      fi
      exec vllm serve --model /models/hare-9b "$${{A[@]}}"
"""
    text = _engine("environment: [SPEC]", "entrypoint:", "- bash", "- -c", "- |" + script)
    found = _of(_audit(text), "gdn-spec-decode-wild-write")
    assert "A=(--speculative-config" in text.splitlines()[found.line - 1]


def test_a_flag_that_the_entrypoint_reads_itself_is_not_said_to_be_unread() -> None:
    text = _engine("environment: [VLLM_MINE=1]", "entrypoint: [bash, -c, 'echo $${VLLM_MINE:-0}; exec vllm serve m']")
    assert "flag-without-effect" not in {finding.rule for finding in _audit(text).findings}


# Files that Docker Compose refuses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "level", "words"),
    [
        pytest.param(_engine("command: ['${A:?set A}']"), "folded", "set A", id="the author asks for a value"),
        pytest.param(_engine("volumes: ['${A}:/x']"), "folded", "A", id="a variable without default"),
        pytest.param("services: {engine: {command: [vllm, serve]}}", "notice", "neither", id="a fragment"),
        pytest.param(_engine("env_file: x.env"), "warning", "x.env", id="a file that is not committed"),
        pytest.param(_engine("extends: {file: ../../x.yml, service: a}"), "folded", "leaves", id="outside"),
        pytest.param(_engine("extends: {service: engine}"), "error", "cycle|circular", id="cycle"),
        pytest.param(_engine("imagine: 1"), "error", "imagine", id="unknown field"),
    ],
)
def test_how_loud_a_refusal_is(text: str, level: str, words: str) -> None:
    found = _of(_audit(text), "compose-broken")
    assert (found.status, found.level) == ("active", level)
    assert any(word in found.message.lower() for word in words.lower().split("|"))


@pytest.mark.parametrize(
    "through",
    [
        pytest.param("services: {engine: {extends: {file: part.txt, service: engine}}}", id="extends"),
        pytest.param("include: [part.txt]\nservices: {vllm-web: {image: x}}", id="include"),
    ],
)
def test_a_refusal_in_a_file_that_is_drawn_in_is_as_loud_as_in_its_own(through: str) -> None:
    report = _audit({"compose.yml": f"# vllm\n{through}\n", "part.txt": _engine("volumes: ['${A}:/x']")})
    assert [finding.level for finding in report.findings if finding.rule == "compose-broken"] == ["folded"]


def test_other_services_of_a_refused_file_are_still_resolved() -> None:
    text = _mtp("--enable-prefix-caching") + "  other:\n    image: x\n    command: [1]\n"
    assert {"mtp-prefix-cache-hybrid", "compose-broken"} <= {finding.rule for finding in _audit(text).findings}


@pytest.mark.parametrize("path", ["compose.yml", "deploy/engine.yml"])
def test_a_compose_that_is_not_yaml_is_a_finding(path: str) -> None:
    found = _of(_audit({path: _mtp("--enable-prefix-caching") + "  other: [\n"}), "compose-broken")
    assert (found.level, found.path) == ("error", path)


def test_a_broken_file_among_good_ones_does_not_stop_the_rest() -> None:
    good = _mtp("--enable-prefix-caching")
    report = _audit({"a/compose.yml": good, "b/compose.yml": "services: [\n", "c/compose.yml": good})
    active = [finding.path for finding in report.findings if finding.rule == "mtp-prefix-cache-hybrid"]
    assert active == ["a/compose.yml", "c/compose.yml"]
    assert [item.path for item in report.skipped] == ["b/compose.yml"]


# The report ----------------------------------------------------------------------------------------------------------


def test_findings_come_in_order_of_their_place() -> None:
    text = _mtp("--enable-prefix-caching", "--no-such-flag")
    found = [(f.path, f.line, f.rule) for f in _audit({"b.yml": text, "a.yml": text}).findings]
    assert found == sorted(found)
    assert {path for path, _, _ in found} == {"a.yml", "b.yml"}


def test_each_identity_is_reported_once() -> None:
    identities = [finding.identity for finding in _audit(_mtp("'${A:-}'", "'${B:-}'", "--nope")).findings]
    assert len(identities) == len(set(identities))


def test_only_chosen_units_are_resolved_and_progress_is_told_of_each() -> None:
    tree = MemoryTree({f"{name}.yml": _engine("command: [m]") for name in "abc"})
    told: list[tuple[str, int]] = []
    report = audit(
        Repository(tree, read_catalog(tree), Documents(tree)),
        RULES,
        only=lambda unit: unit.path != "b.yml",
        progress=lambda unit, total: told.append((unit.path, total)),
    )
    assert [unit.unit.path for unit in report.units] == ["a.yml", "c.yml"]
    assert told == [("a.yml", 2), ("c.yml", 2)]


def test_a_fault_of_the_configuration_is_a_problem_of_the_report() -> None:
    report = _audit({"compose.yml": _engine("command: [m]"), ".github/seamguard.yml": "compose: []\n"})
    assert [(str(item.position), "composes" in item.message) for item in report.problems] == [
        (".github/seamguard.yml:1", True)
    ]


def test_an_override_is_resolved_with_its_base() -> None:
    base = _mtp("--no-enable-prefix-caching")
    override = _mtp("--enable-prefix-caching")
    report = _audit({"compose.yml": base, "compose.override.yml": override})
    assert ("mtp-prefix-cache-hybrid", "active", "error") in _shown(report)
    assert len(report.units) == 1


def test_every_rule_can_be_asked_alone() -> None:
    tree = MemoryTree({"compose.yml": _mtp("--enable-prefix-caching", "--nope"), "m.yml": PROFILE})
    repository = Repository(tree, read_catalog(tree), Documents(tree))
    everything = {finding.identity for finding in audit(repository, RULES).findings}
    alone = {finding.identity for rule in RULES.ids for finding in audit(repository, RULES.only([rule])).findings}
    assert alone == everything


def test_a_service_of_an_included_file_is_found_once_and_where_it_is_declared() -> None:
    files = {"all.yml": "include: [sub/part.yml]\n", "sub/part.yml": _engine("command: [--model, m, --nonsense]")}
    report = _audit(files)
    assert [unit.unit.path for unit in report.units] == ["all.yml", "sub/part.yml"]
    assert [(found.rule, found.path) for found in report.findings] == [("unknown-flag", "sub/part.yml")]
    assert report.resolves("sub/part.yml", "engine")
