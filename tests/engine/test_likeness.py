"""A launch asked of all releases: those that answer alike are worked out once, and nothing changes by it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

import pytest

from bot.engine.commandline import parse
from bot.engine.derivations.context import Common
from bot.engine.facts import load, releases
from bot.engine.likeness import Noted, Panel, Question, members, newest
from bot.engine.model import Engine, Launch, Model, Pin, Property
from bot.engine.release import in_release, read_line
from bot.engine.together import Together
from bot.provenance import Word
from tests.differential.vllm_requests import FILES, TRAPS

ALL = [load(version) for version in releases()]

QUESTIONS: list[tuple[list[str], dict[str, str]]] = [([*words], {}) for words in TRAPS] + [
    (["--config", "f.yaml"], {"f.yaml": text}) for text in FILES
]

MTP = {"method": "mtp", "num_speculative_tokens": 3}
LAUNCHES = [
    "",
    "--enable-prefix-caching --kv-cache-dtype fp8 --max-model-len 128k",
    "--async-scheduling --enforce-eager -O1",
    "--compilation-config.cudagraph_mode=PIECEWISE -cc.mode=0 --quantization awq",
    f"--speculative-config {shlex.quote(json.dumps(MTP))} --kv-cache-dtype turboquant_3bit_nc",
    "--mamba-cache-mode all --no-enable-chunked-prefill --tensor-parallel-size 2 --pipeline-parallel-size 2",
    "--data-parallel-size 2 --runner pooling --spec-method ngram --spec-tokens 2",
    '--compilation-config \'{"cudagraph_mode": "${MODE}"}\' --max-num-seqs ${SEQS} ${MORE}',
]
MODELS = [Model(), Model("none", False, "Qwen3ForCausalLM"), Model("gdn", True, None), Model(hybrid=True)]
ENVIRONMENT = {"VLLM_USE_V2_MODEL_RUNNER": "1", "VLLM_ATTENTION_BACKEND": "FLASHINFER", "VLLM_NO_SUCH": "1"}


def _word(text: str) -> Word:
    symbols = tuple(name for name in ("MODE", "SEQS", "MORE") if f"${{{name}}}" in text)
    return Word(text, symbols=symbols, splits="MORE" in symbols)


def _launch(argv: str, model: Model, environment: Mapping[str, str], sm: tuple[int, ...]) -> Launch:
    words = tuple(map(_word, ("serve", "org/name", *shlex.split(argv))))
    variables = {name: Word(text) for name, text in environment.items()}
    return Launch(words, variables, Pin("x", None), model, sm)


@pytest.mark.parametrize(("words", "files"), QUESTIONS, ids=str)
def test_sharing_changes_no_reading(words: list[str], files: dict[str, str]) -> None:
    argv = tuple(Word(text) for text in ("serve", "m", *words))
    launch = Launch(argv, {}, Pin("x", None), Model(), files=files)
    for facts, shared in zip(ALL, Together(launch, ALL, all_files=False).lines(), strict=True):
        assert shared == read_line(launch, facts, all_files=False), facts.version


@pytest.mark.parametrize("model", MODELS, ids=["unnamed", "dense", "gdn", "hybrid"])
@pytest.mark.parametrize("argv", LAUNCHES)
def test_sharing_changes_no_property(argv: str, model: Model) -> None:
    launch = _launch(argv, model, ENVIRONMENT if "fp8" in argv or "O1" in argv else {}, (90, 120))
    together = Together(launch, ALL, all_files=False)
    engines = together.engines()
    last = max(index for index, engine in enumerate(engines) if not engine.refused)
    for index, (engine, facts) in enumerate(zip(engines, ALL, strict=True)):
        alone = in_release(launch, facts)
        assert engine.refused == alone.refused, facts.version
        if engine.refused:
            continue
        assert engine.parsed == alone.parsed, facts.version
        assert _said(engine) == _said(alone), facts.version
        if index % 8 == 0:
            assert {name: together.own(engine, name) for name in engine.properties} == dict(alone.properties)
        if index == last:
            assert dict(engine.properties) == dict(alone.properties)


def _said(engine: Engine) -> dict[str, tuple[object, ...]]:
    return {name: _likeness(found) for name, found in engine.properties.items()}


def _likeness(found: Property) -> tuple[object, ...]:
    return repr(found.value), found.certainty, [reason.kind for reason in found.because]


def test_releases_that_read_a_line_alike_share_its_reading() -> None:
    launch = _launch("--max-model-len 4096 --enforce-eager", Model(), {}, ())
    assert len({id(line) for line in Together(launch, ALL, all_files=False).lines()}) <= 2


def test_a_line_is_read_once_for_several_cards() -> None:
    argv = tuple(Word(text) for text in ("serve", "m", "--enforce-eager"))
    facts = load(releases()[-1])
    assert parse(argv, facts) is parse(argv, facts)
    assert parse(argv, facts) is not parse(argv, facts, {"f.yaml": ""})
    assert parse(argv, facts) is not parse(argv, facts, all_files=True)
    mutable = list(argv)
    assert parse(mutable, facts) is not parse(mutable, facts)


def test_releases_that_answer_alike_are_one_set() -> None:
    asked: list[str] = []

    def parity(member: int, about: str) -> int:
        asked.append(about)
        return member % 2

    panel = Panel([4, 7, 6, 9], {"parity": parity})
    assert list(members(panel.everyone)) == [3, 2, 1, 0]
    assert list(members(panel.alike(0, ("parity", "x")))) == [2, 0]
    assert newest(panel.alike(1, ("parity", "x"))) == 3
    assert len(asked) == 4, "each release is asked once"


def test_the_answers_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.engine.likeness.MAX_CHARACTERS", 10)
    asked: list[str] = []
    panel = Panel([1], {"say": lambda _, about: asked.append(about)})
    for about in ("aaaaaaaa", "bbbbbbbb", "aaaaaaaa"):
        panel.alike(0, ("say", about))
    assert asked == ["aaaaaaaa", "bbbbbbbb", "aaaaaaaa"]


def test_every_look_up_is_noted_and_none_goes_unseen() -> None:
    notes: list[Question] = []
    table = Noted({"a": 1}, notes.append, "table")
    assert table["a"] == 1
    assert table.get("b") is None
    assert "c" not in table
    assert notes == [("table", "a"), ("table", "b"), ("table", "c")]
    with pytest.raises(TypeError, match="by name"):
        list(table)


@pytest.mark.parametrize("model", MODELS, ids=["unnamed", "dense", "gdn", "hybrid"])
@pytest.mark.parametrize("argv", LAUNCHES)
def test_cards_that_share_what_does_not_depend_on_them_are_as_each_alone(argv: str, model: Model) -> None:
    facts = load(releases()[-1])
    common: Common = {}
    for sm in ((), (90, 120), (120,), (90,), (100,)):
        launch = _launch(argv, model, ENVIRONMENT if "fp8" in argv else {}, sm)
        shared, alone = in_release(launch, facts, common=common), in_release(launch, facts)
        assert dict(shared.properties) == dict(alone.properties), sm
        assert shared.errors == alone.errors, sm


def test_cards_differ_where_the_release_looks_at_them() -> None:
    facts = load("0.28.0")
    common: Common = {}
    argv = f"--speculative-config {shlex.quote(json.dumps(MTP))}"
    launches = [_launch(argv, MODELS[1], {}, (sm,)) for sm in (90, 120)]
    first, second = (in_release(launch, facts, common=common).properties for launch in launches)
    assert first["cudagraph_mode_effective"] is not second["cudagraph_mode_effective"]
    assert first["cudagraph_mode"] is second["cudagraph_mode"]
