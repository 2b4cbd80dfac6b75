"""What registries state of composes, held against them."""

from __future__ import annotations

import json

import pytest

from bot.audit import audit
from bot.audit.registered import agrees
from bot.catalog import Stated, read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.provenance import Position
from bot.resolution import Repository
from bot.review import review
from bot.tree import MemoryTree

RULES = load_rules()
MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":2}'"""
ARGUMENTS = "--max-model-len 65536 --gpu-memory-utilization 0.85 --tensor-parallel-size 2 --kv-cache-dtype fp8"


def _compose(arguments: str = ARGUMENTS, *, image: str = "vllm/vllm-openai:v0.25.1", more: str = "") -> str:
    return f"services:\n  engine:\n    image: {image}\n    command: /models/hare-9b {arguments}\n{more}"


def _registry(*entries: str) -> str:
    listed = "".join(f"  vllm/{number}: {{compose_path: dual.yml, {entry}}}\n" for number, entry in enumerate(entries))
    return f"schema: 1\nentries:\n{listed}"


def _findings(compose: str, **files: str) -> list[Finding]:
    tree = MemoryTree({"dual.yml": compose, **files})
    report = audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES.only({"registry-drift", "pin-drift"}))
    assert not report.skipped
    return [found for found in report.findings if "drift" in found.rule]


@pytest.mark.parametrize(
    ("entry", "causes"),
    [
        ("max_ctx: 65536, mem_util: 0.85, tp: 2, kv_format: fp8_e4m3, drafter: null", []),
        ("ctx: 64K, gpu_memory_utilization: 85%, tensor_parallel: 2, kv_cache_dtype: fp8", []),
        ("max_ctx: 32768", ["max_model_len"]),
        ("max_model_len: 128K", ["max_model_len"]),
        ("mem_util: 0.92", ["gpu_memory_utilization"]),
        ("tp: 4", ["tensor_parallel_size"]),
        ("kv: bf16", ["kv_cache_dtype"]),
        ("kv: quantised somehow", []),
        ("drafter: qwen-mtp-builtin", ["spec_decode.method"]),
        ("serving: {ctx: 32768}", ["max_model_len"]),
        ("max_ctx: 32768, env: {MAX_MODEL_LEN: '32768'}", []),
        ("max_ctx: large", []),
        ("max_ctx: [1, 2], tp: {a: b}", []),
        ("image: vllm/vllm-openai:v0.24.0", ["image"]),
        ("max_ctx_supported: 262144, default_port: 8010", []),
    ],
)
def test_an_entry(entry: str, causes: list[str]) -> None:
    found = _findings(_compose(), **{"lib/registry.yaml": _registry(entry)})
    assert [(one.rule, one.level, one.cause) for one in found] == [("registry-drift", "warning", c) for c in causes]


def test_a_drafter_that_the_registry_denies() -> None:
    registry = {"lib/registry.yaml": _registry("drafter: null, spec_method: null")}
    assert [one.cause for one in _findings(_compose(MTP), **registry)] == ["spec_decode.method"]
    assert _findings(_compose(MTP), **{"lib/registry.yaml": _registry("spec_method: null")}) == []


def test_the_value_is_shown_with_both_places() -> None:
    (found,) = _findings(_compose(), **{"lib/registry.yaml": _registry("max_ctx: 32768")})
    assert "`32768` (`lib/registry.yaml:3`)" in found.message
    assert "`65536`" in found.message
    assert (found.path, found.line) == ("dual.yml", 4)


def test_entries_that_share_a_compose() -> None:
    assert _findings(_compose(), **{"registry.yml": _registry("tp: 2", "tp: 4")}) == []
    assert len(_findings(_compose(), **{"registry.yml": _registry("tp: 8", "tp: 4")})) == 1


def test_several_engines_leave_it_open() -> None:
    other = "  other: {image: 'vllm/vllm-openai:v0.25.1', command: /models/b}\n"
    assert _findings(_compose(more=other), **{"registry.yml": _registry("tp: 4")}) == []


@pytest.mark.parametrize("path", ["registry.json", "lib/compose_registry.json"])
def test_json(path: str) -> None:
    text = json.dumps({"entries": {"vllm/dual": {"compose_path": "dual.yml", "tp": 4}}}, indent=2)
    assert [one.cause for one in _findings(_compose(), **{path: text})] == ["tensor_parallel_size"]


def test_a_path_seen_from_the_registry() -> None:
    tree = {"a/dual.yml": _compose(), "a/registry.yml": _registry("tp: 4")}
    assert len(_findings("services: {x: {image: y}}\n", **tree)) == 1


def test_a_profile_that_only_the_registry_names() -> None:
    profile = "id: stable\ninstall: {method: docker_image, spec: vllm/vllm-openai:v0.24.0}\n"
    (found,) = _findings(_compose(), **{"e.yml": profile, "registry.yml": _registry("engine: stable")})
    assert (found.rule, found.level) == ("pin-drift", "warning")
    assert "which the registry names" in found.message
    header = "# Engine-profile: other\n"
    assert _findings(header + _compose(), **{"e.yml": profile, "registry.yml": _registry("engine: stable")}) == []


def test_a_pull_request_that_moves_the_compose_alone() -> None:
    registry = {"registry.yml": _registry("max_ctx: 65536")}
    trees = [MemoryTree({"dual.yml": text, **registry}) for text in (_compose(), _compose("--max-model-len 32768"))]
    base, head = (audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES) for tree in trees)
    assert "registry-drift" in [found.rule for found in review(base, head, {}, {}).introduced]


@pytest.mark.parametrize(
    ("name", "stated", "actual", "expected"),
    [
        ("max_model_len", "128K", 131072, True),
        ("max_model_len", "128K", 128000, True),
        ("max_model_len", "262144", 131072, False),
        ("kv_cache_dtype", "fp8", "fp8_e5m2", True),
        ("kv_cache_dtype", "fp8_e4m3", "fp8_e5m2", False),
        ("kv_cache_dtype", "fp8", "auto", None),
        ("spec_decode.method", "gemma-it-assistant", "mtp", None),
        ("spec_decode.method", "none", None, True),
        ("spec_decode.method", "eagle3-head", "mtp", False),
        ("gpu_memory_utilization", "much", "0.9", None),
    ],
)
def test_verdicts(name: str, stated: str, actual: object, expected: bool | None) -> None:
    assert agrees(Stated("s", name, stated, Position("r.yml", 1)), actual) is expected


PYTHON = '''
"""What there is."""
DUAL = 2

def entry(*, tp, max_ctx, compose_path, drafter=None, mem_util=0.9, **more):
    return dict(more, tp=tp)

REGISTRY: dict = {
    "vllm/dual": entry(
        tp=%s, max_ctx=%s, mem_util=0.85, drafter=%s,
        compose_path="dual.yml",
    ),
}
'''


@pytest.mark.parametrize(
    ("values", "causes"),
    [
        (("2", "65536", "None"), []),
        (("DUAL", "64 * 1024", "None"), []),
        (("4", "65536", "None"), ["tensor_parallel_size"]),
        (("2", "32 * 1024", "None"), ["max_model_len"]),
        (("2", "65536", '"qwen-mtp-builtin"'), ["spec_decode.method"]),
        (("cards()", "2 ** 70", "drafter_of('x')"), []),
        (("2", "f'{1}'", "None"), []),
    ],
)
def test_a_registry_in_python(values: tuple[str, str, str], causes: list[str]) -> None:
    found = _findings(_compose(), **{"lib/compose_registry.py": PYTHON % values})
    assert [one.cause for one in found] == causes
    assert all("lib/compose_registry.py:10" in one.message for one in found)


@pytest.mark.parametrize(
    "more",
    [
        'REGISTRY["vllm/dual"]["tp"] = 2\n',
        "REGISTRY = load()\n",
        "def broken(:\n",
        "x = " + "(" * 5000,
        'REGISTRY = {"vllm/dual": entry(**rest, tp=4, compose_path="dual.yml")}\n',
    ],
)
def test_what_a_module_computes_or_changes_is_not_known(more: str) -> None:
    text = PYTHON % ("4", "65536", "None")
    assert _findings(_compose(), **{"registry.py": f"{text}{more}"}) == []


def test_entries_that_are_added_one_by_one() -> None:
    text = 'REGISTRY = {}\nREGISTRY["vllm/dual"] = dict(compose_path="dual.yml", tp=4)\n'
    (found,) = _findings(_compose(), **{"registry.py": text})
    assert (found.cause, "registry.py:2" in found.message) == ("tensor_parallel_size", True)


@pytest.mark.parametrize(
    ("method", "argument", "causes"),
    [
        ("mtp", MTP, []),
        ("mtp", "", ["spec_decode.method"]),
        ("eagle3", MTP, ["spec_decode.method"]),
        ("mtp_gguf", MTP, []),
        ("mtp_gguf", "", ["spec_decode.method"]),
    ],
)
def test_a_drafter_is_what_its_profile_says(method: str, argument: str, causes: list[str]) -> None:
    profile = {"profiles/drafters/helper.yml": f"id: helper\nspec_method: {method}\n"}
    registry = {"registry.yml": _registry("drafter: helper")}
    found = _findings(_compose(f"{ARGUMENTS} {argument}"), **registry, **profile)
    assert [one.cause for one in found] == causes
