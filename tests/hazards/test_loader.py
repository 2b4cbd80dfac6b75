from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.hazards.evaluation import evaluate
from bot.hazards.loader import RuleError, load_rules
from bot.hazards.predicates import MAX_DEPTH
from bot.rules import RULES
from tests.hazards.build import RULE, folder_with, rules_with, situation, subject

WHEN = "when: {property: prefix_caching, is: true}"


def test_a_new_hazard_is_one_file(tmp_path: Path) -> None:
    rules = rules_with(tmp_path, sample=RULE)
    (found,) = evaluate(rules, subject(situation({"prefix_caching": True})))
    assert (found.rule, found.message, found.level) == ("sample", "It happens.", "error")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("level: error", "levle: error", 3, "unknown key 'levle' (did you mean 'level'?)"),
        ("level: error", "level: fatal", 3, "'fatal' is none of error, warning, notice, folded"),
        ("id: sample", "id: Sample", 1, "not a name for a rule: 'Sample'"),
        ("id: sample", "id: other", 1, "the rule is called 'other', its file 'sample'"),
        ("title: A sample\n", "", 1, "the rule has no `title:`"),
        (WHEN, "", 1, "the rule has neither `when:` nor `observes:`"),
        (WHEN, "when: {property: prefix_cachin, is: true}", 4, "did you mean 'prefix_caching'?"),
        (WHEN, "when: {property: prefix_caching, equals: true}", 4, "unknown key 'equals'"),
        (WHEN, "when: {property: prefix_caching}", 4, "one comparison is expected"),
        (WHEN, "when: {property: prefix_caching, is: [true]}", 4, "a single value is expected"),
        (WHEN, "when: {property: prefix_caching, in: drafter}", 4, "did you mean 'drafters'?"),
        (WHEN, "when:\n  all:\n    - {release: 0.26}", 6, "a text is expected here"),
        (WHEN, "when:\n  all:\n    - {sm: 120}\n    - {release: '0.26'}", 7, "not a range of releases"),
        (WHEN, "when: {al: []}", 4, "the predicate asks nothing (did you mean 'all'?)"),
        (WHEN, "when: {sm: 120, release: '>0.1'}", 4, "asks 2 things at once"),
        (WHEN, "when: {all: []}", 4, "a list of predicates is expected"),
        (WHEN, "when: [1]", 4, "a predicate is a mapping"),
        (WHEN, "when: {sm: sm_120}", 4, "`sm:` takes compute capabilities"),
        (WHEN, "when: {fix: 'vllm#1'}", 4, "not a full upstream reference: 'vllm#1' (write 'vllm-project/vllm#1')"),
        (WHEN, "when: {fix: 'vllm-project/vllm#1', by: [magic]}", 4, "a fix comes by release, image, overlay"),
        (WHEN, "when: {image: {stocked: true}}", 4, "did you mean 'stock'?"),
        (WHEN, "when: {field: name, is: x}", 4, "needs a rule that `observes:` something"),
        (WHEN, "when: {matters: {in_field: x}}", 4, "needs a rule that `observes:` something"),
        (WHEN, "observes: a\nwhen: {observation: b}", 5, "does not say that it observes 'b'"),
        (WHEN, "observes: a\nwhen: {matters: {in_field: x}}", 1, "belong below `levels:`"),
        (WHEN, "observes: a\nlevels: [{when: {rule: simple}, level: error}]", 1, "did you mean 'sample'?"),
        (WHEN, f"{WHEN}\nmitigations: [{{text: x}}]", 5, "a mitigation without `when:` would always hold"),
        (WHEN, f"{WHEN}\nremedies: [{{text: x, seam: true}}]", 5, "a remedy by seam needs its `effect:`"),
        (WHEN, f"{WHEN}\nremedies: [{{text: x, effect: {{eager: true}}}}]", 5, "unknown key 'eager'"),
        (WHEN, f"{WHEN}\nupstream: ['#1']", 5, "not a full upstream reference"),
        ("message: It happens.", "message: It has {prefix}.", 7, "nothing fills {prefix}"),
        ("message: It happens.", f"message: [{{text: x, {WHEN}}}]", 7, "the last message must have no `when:`"),
        ("{grade: established,", "{grade: certain,", 6, "'certain' is none of"),
        ("{grade: established,", "{grade: established, stack: {sm: 120},", 5, "one entry without a `stack:` is needed"),
        ("examples: []", "examples: [{name: x, expect: maybe, given: {}}]", 9, "'maybe' is none of"),
        ("examples: []", "examples: {}", 9, "`examples:` is a list"),
        ("examples: []", "examples: [", 10, "not YAML"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in RULE
    folder = folder_with(tmp_path, sample=RULE.replace(old, new))
    with pytest.raises(RuleError) as error:
        load_rules(folder)
    assert str(error.value).startswith(f"rules/hazards/sample.yml:{line}: ")
    assert message in str(error.value)


def test_deep_nesting_ends_in_an_error(tmp_path: Path) -> None:
    deep = "{not: " * (MAX_DEPTH + 2) + "{sm: 120}" + "}" * (MAX_DEPTH + 2)
    folder = folder_with(tmp_path, sample=RULE.replace("{property: prefix_caching, is: true}", deep))
    with pytest.raises(RuleError, match="nested too deeply"):
        load_rules(folder)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("vocabulary", "set: {}", "did you mean 'sets'?"),
        ("vocabulary", "sets: {a: {values: []}}", "a text is expected"),
        ("vocabulary", "sets: {a: {values: [], source: b}}", "a set has a list of `values:`"),
        ("upstream", "vllm#1: {title: One}", "not a full upstream reference"),
        (
            "upstream",
            "vllm-project/vllm#1: {title: One, verified: [{releases: '>1', holds: maybe, how: x}]}",
            "`holds:` is",
        ),
        ("upstream", "vllm-project/vllm#1: {title: One, verified: {}}", "`verified:` is a list"),
    ],
)
def test_shared_files_are_checked_too(tmp_path: Path, file: str, text: str, message: str) -> None:
    folder = folder_with(tmp_path, sample=RULE)
    (folder / f"{file}.yml").write_text(text)
    with pytest.raises(RuleError) as error:
        load_rules(folder)
    assert message in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    (folder / "upstream.yml").unlink()
    with pytest.raises(RuleError, match=r"rules/upstream.yml:1: cannot be read"):
        load_rules(folder)


def test_the_world_search_learns_which_properties_meet() -> None:
    assert {"prefix_caching", "spec_decode.method", "model.recurrent"} in load_rules().interplay


FILES = sorted((RULES / "hazards").glob("*.yml"))


@pytest.mark.parametrize("file", [*FILES, RULES / "upstream.yml", RULES / "vocabulary.yml"], ids=lambda file: file.stem)
def test_no_key_is_written_twice(file: Path) -> None:
    def keys_once(node: yaml.Node | None) -> None:
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            assert len(keys) == len(set(keys)), f"{file.name}:{node.start_mark.line + 1}: {keys}"
            for _, value in node.value:
                keys_once(value)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                keys_once(item)

    keys_once(yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader))


def test_every_reference_of_a_rule_is_looked_after() -> None:
    rules = load_rules()
    assert {ref for rule in rules.rules for ref in rule.upstream} <= set(rules.upstream.fixes)


@pytest.mark.parametrize("rule", load_rules().rules, ids=lambda rule: rule.id)
def test_every_rule_shows_what_it_does(rule: object) -> None:
    from bot.hazards.rule import Rule

    assert isinstance(rule, Rule)
    outcomes = {example.outcome for example in rule.examples}
    assert {"fires", "silent"} <= outcomes
    if not rule.observes:
        assert "unknown" in outcomes
    assert not rule.mitigations or "mitigated" in outcomes
    assert rule.remedies
    assert load_rules().page(rule.id).startswith(f"# {rule.title}\n")
