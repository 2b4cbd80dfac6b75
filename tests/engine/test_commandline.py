"""What the command line says, what is wrong with it, and what is not known of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.engine.commandline import UNKNOWN, CommandLine, parse, unread
from bot.engine.conversion import holds_unknown
from bot.engine.facts import load
from bot.provenance import Reason, Word

FACTS = load("0.25.1")


def words(*texts: str) -> list[Word]:
    """Words with a reason each; `$NAME` in a text is an unknown, a text of `@NAME` is one that stood unquoted."""
    made = []
    for line, text in enumerate(texts, 1):
        because = (Reason("compose", "compose.yml", line, text),)
        if text.startswith("@"):
            made.append(Word("${" + text[1:] + "}", because, symbols=(text[1:],), splits=True))
        elif "$N" in text:
            made.append(Word(text.replace("$N", "${N}"), because, symbols=("N",)))
        else:
            made.append(Word(text, because))
    return made


def read(*texts: str, release: str = "0.25.1", **files: str) -> CommandLine:
    named = {f"{name}.yaml": text for name, text in files.items()}
    return parse(words(*texts), load(release), named)


@pytest.mark.parametrize(
    ("argv", "dest", "value"),
    [
        (["serve", "m"], "model", "m"),
        (["--model", "m"], "model", "m"),
        (["serve", "--model", "m", "--seed", "1"], "model", "m"),
        (["serve", "m", "--max-model-len", "128k"], "max_model_len", 128_000),
        (["serve", "m", "--max-model-len", "128K"], "max_model_len", 131_072),
        (["serve", "m", "--max-model-len", "auto"], "max_model_len", -1),
        (["serve", "m", "--max_model_len=1.5k"], "max_model_len", 1500),
        (["serve", "m", "--max-model", "7"], "max_model_len", 7),
        (["serve", "m", "-tp", "2"], "tensor_parallel_size", 2),
        (["serve", "m", "-tp=2"], "tensor_parallel_size", 2),
        (["serve", "m", "-n2"], "nnodes", 2),
        (["serve", "m", "--no-enable-prefix-caching"], "enable_prefix_caching", False),
        (["serve", "m", "--enable-prefix"], "enable_prefix_caching", True),
        (["serve", "m", "--hf-token"], "hf_token", True),
        (["serve", "m", "--served-model-name", "a", "b"], "served_model_name", ["a", "b"]),
        (["serve", "m", "--gpu-memory-utilization", "0.9"], "gpu_memory_utilization", 0.9),
        (["serve", "m", "-O3"], "optimization_level", "O3"),
        (["serve", "m", "-O", "1"], "optimization_level", "O1"),
        (["serve", "m", "--attention-backend", "flashinfer"], "attention_backend", "FLASHINFER"),
        (["serve", "m", "--quantization", ""], "quantization", None),
        (["serve", "m", "--compilation-config", '{"mode": 3}'], "compilation_config", {"mode": "VLLM_COMPILE"}),
        (
            ["serve", "m", "--speculative-config.method", "mtp", "--speculative-config.num_speculative_tokens=3"],
            "speculative_config",
            {"method": "mtp", "num_speculative_tokens": 3},
        ),
        (["serve", "m", "--spec-method", "ngram", "--spec-tokens", "2"], "spec_tokens", 2),
        (
            ["serve", "m", "--spec-method", "ngram", "--spec-tokens", "2"],
            "speculative_config",
            {"method": "ngram", "num_speculative_tokens": 2},
        ),
        (["serve", "m", "--middleware", "a", "--middleware", "b"], "middleware", ["a", "b"]),
    ],
)
def test_a_setting(argv: list[str], dest: str, value: object) -> None:
    line = read(*argv)
    assert line.errors == ()
    assert line.settings[dest].value == value


@pytest.mark.parametrize(
    ("argv", "kind", "part"),
    [
        (["serve", "m", "--nope"], "unknown-flag", "--nope"),
        (["serve", "m", "--nope", "x"], "unknown-flag", "--nope x"),
        (["serve", "m", "-tp2"], "unknown-flag", "-tp2"),
        (["serve", "m", "-zz.mode", "3"], "unknown-flag", "-zz.mode 3"),
        (["serve", "m", "--disable-prefix-caching"], "unknown-flag", "--disable-prefix-caching"),
        (["serve", "m", "--kv-cache", "fp8"], "ambiguous-flag", "--kv-cache"),
        (["serve", "m", "--max-model-len"], "missing-value", "--max-model-len"),
        (["serve", "m", "--speculative-config.method"], "missing-value", "--speculative-config.method"),
        (["serve", "--model"], "missing-value", "--model"),
        (["serve", "m", "--max-model-len", "abc"], "invalid-value", "abc"),
        (["serve", "m", "--max-model-len", "1.5K"], "invalid-value", "1.5K"),
        (["serve", "m", "--kv-cache-dtype", "FP8"], "invalid-value", "FP8"),
        (["serve", "m", "--enforce-eager", "true"], "invalid-value", "true"),
        (["serve", "m", "--enforce-eager=true"], "invalid-value", "--enforce-eager=true"),
        (["serve", "m", "--gpu-memory-utilization", "1.5"], "invalid-value", "1.5"),
        (["serve", "m", "--optimization-level", "4"], "invalid-value", "4"),
        (["serve", "m", "--compilation-config", "{"], "invalid-value", "{"),
        (["serve", "m", "--compilation-config", '{"level":3}'], "invalid-value", "level"),
        (["serve", "m", "-cc.cudagraph_mode=SOME"], "invalid-value", "-cc.cudagraph_mode=SOME"),
        (["serve", "m", "-cc.pass_config.nope=1"], "invalid-value", "-cc.pass_config.nope=1"),
        (["serve", "m", "--speculative-config", '{"method":"MTP"}'], "invalid-value", "MTP"),
        (["serve", "m", "-sc.num-speculative-tokens=3"], "invalid-value", "-sc.num-speculative-tokens=3"),
        (["serve", "m", "--attention-backend", "NOPE"], "invalid-value", "NOPE"),
        (["serve", "m", "--kv-transfer-config", '{"kv_connector":"X"}'], "invalid-value", "kv_connector"),
        (["serve", "m", "-cc.mode=3", "-cc.backend=odd"], "invalid-value", "-cc.backend=odd"),
        (["serve", "m", "-sc.method=mtp", "--spec-method", "mtp"], "conflict", "--spec-method mtp"),
        (["serve", "m", "--enable-auto-tool-choice"], "conflict", "--enable-auto-tool-choice"),
        (["serve", "m", "-ac.backend=FLASHINFER", "--attention-backend", "FLASHINFER"], "conflict", "-ac.backend"),
        (["serve", "m", "--config", "a.yaml", "--config", "b.yaml"], "conflict", "--config"),
        (["serve", "--served-model-name", "x"], "conflict", "--served-model-name"),
        (["serve", "m", "--config", "a.json"], "invalid-value", "a.json"),
        (["bench", "latency"], "conflict", "bench"),
        (["serve", "m", "--help"], "conflict", "--help"),
    ],
)
def test_an_error(argv: list[str], kind: str, part: str) -> None:
    errors = read(*argv).errors
    assert [error.kind for error in errors] == [kind]
    assert part in errors[0].argument
    assert errors[0].because or argv == ["serve", "--model"]


@pytest.mark.parametrize(
    ("argv", "kind", "setting"),
    [
        (["serve", "m", "--seed", "1", "--seed", "2"], "overridden", "seed"),
        (["serve", "m", "--enforce-eager", "--no-enforce-eager"], "overridden", "enforce_eager"),
        (["serve", "m", "--config=f.yaml"], "ignored", "config"),
        (["some/model", "--seed", "1"], "ignored", "model"),
        (["serve", "--model", "a", "--model", "b"], "overridden", "model"),
        (["serve", "m", "-O.cudagraph_mode=PIECEWISE"], "reinterpreted", "compilation_config.cudagraph_mode"),
        (["serve", "m", "-cc", '{"mode":3}', "-cc.cudagraph_mode=NONE"], "overridden", "compilation_config"),
        (["serve", "m", "-cc.cudagraph_mode=NONE", "-cc", '{"mode":3}'], "overridden", "compilation_config"),
    ],
)
def test_what_has_no_effect(argv: list[str], kind: str, setting: str) -> None:
    (found,) = read(*argv).ineffective
    assert (found.kind, found.setting) == (kind, setting)
    assert found.because


@pytest.mark.parametrize(
    "argv",
    [
        ["serve", "m", "--seed", "1", "--seed", "1"],
        ["serve", "m", "--enforce-eager", "--enforce-eager"],
        ["serve", "m", "--middleware", "a", "--middleware", "b"],
        ["serve", "m", "-cc.mode=3", "-cc.cudagraph_mode=NONE"],
    ],
)
def test_repetition_without_loss_is_not_worth_a_word(argv: list[str]) -> None:
    assert read(*argv).ineffective == ()


def test_dotted_keys_replace_a_json_value_wherever_it_stands() -> None:
    line = read("serve", "m", "-cc.cudagraph_mode=NONE", "--compilation-config", '{"cudagraph_mode":"FULL","mode":0}')
    assert line.settings["compilation_config"].value == {"cudagraph_mode": "NONE"}
    assert "mode" in line.ineffective[0].message


def test_each_spelling_of_a_flag_gathers_its_own_dotted_keys() -> None:
    line = read("serve", "m", "-cc.mode=0", "--compilation-config.cudagraph_mode=FULL", "-cc.cudagraph_mode=NONE")
    assert line.settings["compilation_config"].value == {"cudagraph_mode": "FULL"}


def test_every_key_has_its_own_reasons() -> None:
    line = read("serve", "m", "-sc.method=mtp", "-sc.num_speculative_tokens", "3")
    assert [reason.line for reason in line.nested["speculative_config.method"].because] == [3]
    assert [reason.line for reason in line.nested["speculative_config.num_speculative_tokens"].because] == [4, 5]
    assert line.nested["speculative_config.method"].argument == "-sc.method=mtp"


def test_hyphens_in_speculative_keys_are_taken_from_0_26_on() -> None:
    line = read("serve", "m", "-sc.num-speculative-tokens=3", "-sc.method=mtp", release="0.27.1")
    assert line.errors == ()
    assert line.settings["speculative_config"].value == {"num_speculative_tokens": 3, "method": "mtp"}
    assert line.nested["speculative_config.num_speculative_tokens"].value == 3


class TestConfigurationFiles:
    def test_the_command_line_wins(self) -> None:
        line = read("serve", "m", "--seed", "2", "--config", "f.yaml", f="seed: 1\nmax-num-seqs: 8\n")
        assert line.settings["seed"].value == 2
        assert line.settings["max_num_seqs"].value == 8
        assert [(i.kind, i.setting) for i in line.ineffective] == [("overridden", "seed")]

    def test_false_disables_nothing(self) -> None:
        line = read("serve", "m", "--config", "f.yaml", f="enable-prefix-caching: false\nenforce-eager: true\n")
        assert "enable_prefix_caching" not in line.settings
        assert line.settings["enforce_eager"].value is True

    @pytest.mark.parametrize(("argv", "told"), [(["serve", "m"], False), (["--model", "m"], True)])
    def test_from_0_28_on_false_is_told_to_the_server_module_only(self, argv: list[str], told: bool) -> None:
        """`vllm serve` asks its outer parser, which has no such flag."""
        line = read(*argv, "--config", "f.yaml", release="0.28.0", f="enable-prefix-caching: false\n")
        assert ("enable_prefix_caching" in line.settings) is told

    def test_null_is_the_word_none(self) -> None:
        (error,) = read("serve", "m", "--config", "f.yaml", f="max-model-len: null\n").errors
        assert error.kind == "invalid-value"
        assert any(reason.path == "f.yaml" and reason.line == 1 for reason in error.because)

    def test_a_mapping_is_json(self) -> None:
        line = read("serve", "m", "--config", "f.yaml", f="compilation-config:\n  cudagraph_mode: NONE\n")
        assert line.settings["compilation_config"].value == {"cudagraph_mode": "NONE"}

    @pytest.mark.parametrize("text", ["", "- a\n", "just text\n", "a: [\n", "1: x\n", "zz: &a [*a]\n"])
    def test_what_is_no_configuration_stops_the_server(self, text: str) -> None:
        (error,) = read("serve", "m", "--config", "f.yaml", f=text).errors[:1]
        assert error.kind in ("invalid-value", "unknown-flag")

    def test_a_file_that_is_not_there_may_set_anything(self) -> None:
        line = read("serve", "m", "--config", "gone.yaml", "--seed", "1", "-cc.mode=0")
        assert line.open
        assert line.settings["seed"].value == 1
        assert line.settings["compilation_config"].value is UNKNOWN

    def test_a_file_that_is_surely_not_there_is_an_error(self) -> None:
        line = parse(words("serve", "m", "--config", "gone.yaml"), FACTS, {}, all_files=True)
        assert [error.kind for error in line.errors] == ["invalid-value"]

    def test_many_aliases_are_refused(self) -> None:
        bomb = "a: &a [1,2]\n" + "b: [" + ",".join(["*a"] * 200) + "]\n"
        assert read("serve", "m", "--config", "f.yaml", f=bomb).errors


class TestUnknowns:
    def test_an_unknown_value(self) -> None:
        line = read("serve", "m", "--max-model-len", "$N", "--seed=$N")
        assert line.settings["max_model_len"].value is UNKNOWN
        assert line.settings["seed"].value is UNKNOWN
        assert not line.open
        assert line.errors == ()

    def test_a_known_key_beside_an_unknown_one(self) -> None:
        line = read("serve", "m", "--speculative-config", '{"method":"mtp","num_speculative_tokens":$N,"model":"a/$N"}')
        assert line.nested["speculative_config.method"].value == "mtp"
        assert line.nested["speculative_config.num_speculative_tokens"].value is UNKNOWN
        assert line.nested["speculative_config.model"].value is UNKNOWN
        assert any(reason.kind == "assumption" for reason in line.settings["speculative_config"].because)

    def test_json_with_an_unknown_key_is_unknown_as_a_whole(self) -> None:
        assert read("serve", "m", "-sc", '{"$N":1}').settings["speculative_config"].value is UNKNOWN

    def test_an_unknown_dotted_value(self) -> None:
        line = read("serve", "m", "-sc.method=mtp", "-sc.num_speculative_tokens=$N")
        assert line.settings["speculative_config"].value == {"method": "mtp", "num_speculative_tokens": UNKNOWN}

    def test_an_unquoted_unknown_may_be_any_argument(self) -> None:
        line = read("serve", "m", "--seed", "1", "-cc.mode=0", "@N", "word", "--max-num-seqs", "8")
        assert line.open
        assert line.errors == ()
        assert line.settings["seed"].value is UNKNOWN
        assert line.settings["compilation_config"].value is UNKNOWN
        assert line.settings["max_num_seqs"].value == 8
        assert line.settings["model"].value == "m"

    def test_an_unquoted_unknown_as_a_value(self) -> None:
        line = read("serve", "m", "--max-model-len", "@N", "--seed", "1")
        assert line.settings["max_model_len"].value is UNKNOWN
        assert line.settings["seed"].value == 1
        assert line.open

    def test_an_unknown_flag_name(self) -> None:
        line = read("serve", "m", "--seed", "1", "--$N", "x")
        assert line.open
        assert line.settings["seed"].value is UNKNOWN
        assert line.errors == ()

    def test_an_unknown_model(self) -> None:
        line = read("serve", "$N", "--seed", "1")
        assert line.settings["model"].value is UNKNOWN
        assert not line.open

    def test_an_unknown_level(self) -> None:
        assert read("serve", "m", "-O$N").settings["optimization_level"].value is UNKNOWN

    def test_nothing_missing_is_an_error_where_anything_may_stand(self) -> None:
        assert read("serve", "m", "--enable-auto-tool-choice", "@N").errors == ()

    def test_unknown_has_no_truth_value(self) -> None:
        with pytest.raises(TypeError):
            bool(UNKNOWN)


@pytest.mark.parametrize(
    "argv",
    [
        ["serve", "m", *["--seed", "1"] * 5000],
        ["serve", "m", "--compilation-config", "[" * 100_000],
        ["serve", "m", "-cc" + ".a" * 50_000 + "=1"],
        ["serve", "m", "--seed", "9" * 10_000],
        ["serve", "m", "--hf-overrides", '{"a":' * 50_000],
        ["serve", "m", "-" + "n" * 100_000],
        ["serve", "m", "--seed", "\udcff"],
        [],
        [""],
        ["serve"],
    ],
    ids=lambda argv: f"{len(argv)}-{''.join(argv)[:30]!r}",
)
def test_hostile_words_end_in_an_answer(argv: list[str]) -> None:
    assert isinstance(read(*argv), CommandLine)


WORDS = st.one_of(
    st.sampled_from(
        ["serve", "m", "--config", "f.yaml", "-cc", "--model", "--", "-O", "-O3", "-cc.a", "--seed", "1", "{}", "${N}"]
    ),
    st.sampled_from(sorted(FACTS.options)),
    st.text(max_size=12),
    st.builds("{}={}".format, st.sampled_from(sorted(FACTS.options)), st.text(max_size=8)),
    st.builds("--compilation-config.{}={}".format, st.text(max_size=8), st.text(max_size=8)),
)
UNKNOWN_WORDS = st.builds(Word, WORDS.map(lambda text: text + "${N}"), symbols=st.just(("N",)), splits=st.booleans())
ARGVS = st.lists(st.one_of(WORDS.map(Word), WORDS.map(Word), UNKNOWN_WORDS), max_size=8)


def check_any_argv(argv: list[Word], text: str) -> None:
    line = parse(argv, FACTS, {"f.yaml": text})
    assert set(line.settings) <= {*(flag.dest for flag in FACTS.flags.values()), "model"}
    if any(word.splits for word in argv) and not line.errors:
        assert line.open
    for name in line.nested:
        assert name.partition(".")[0] in line.settings


@settings(max_examples=150, deadline=None)
@given(ARGVS, st.text(max_size=30))
def test_any_argv_has_an_answer(argv: list[Word], text: str) -> None:
    check_any_argv(argv, text)


@pytest.mark.soak
@settings(max_examples=50_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(ARGVS, st.text(max_size=60))
def test_any_argv_has_an_answer_at_length(argv: list[Word], text: str) -> None:
    check_any_argv(argv, text)


@settings(max_examples=100, deadline=None)
@given(st.lists(WORDS, max_size=6), st.integers(0, 6))
def test_an_unknown_never_makes_up_a_value(texts: list[str], at: int) -> None:
    """Whatever stands for an unquoted unknown, what was printed as known is what comes out with it."""
    head, tail = ["serve", "m", *texts[:at]], texts[at:]
    unknown = Word("${N}", symbols=("N",), splits=True)
    line = parse([*map(Word, head), unknown, *map(Word, tail)], FACTS)
    if line.errors:
        return
    for inserted in ([], ["--seed", "7"], ["--enforce-eager"], ["--no-enforce-eager"]):
        real = parse([Word(text) for text in (*head, *inserted, *tail)], FACTS)
        if real.errors:
            continue
        for dest, setting in line.settings.items():
            if not holds_unknown(setting.value):
                assert real.settings[dest].value == setting.value


def test_variables_that_the_release_does_not_read() -> None:
    environment = {"VLLM_BOGUS": Word("1"), "VLLM_USE_V2_MODEL_RUNNER": Word("1"), "HF_HOME": Word("/x")}
    (found,) = unread(environment, FACTS)
    assert (found.kind, found.setting, found.argument) == ("unread-variable", "VLLM_BOGUS", "VLLM_BOGUS=1")
