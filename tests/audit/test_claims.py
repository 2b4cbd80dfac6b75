"""What comments and notes claim of a service, held against what it runs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.audit import audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.tree import MemoryTree

RULES = load_rules()
MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":2}'"""
SERVE = "exec vllm serve /models/hare-9b --max-model-len 32768 --max-num-seqs 4 --kv-cache-dtype fp8"
SEAM = 'if [ "$${SPEC:-on}" != "off" ]; then\n  A=(' + MTP + ')\nfi\nexec vllm serve /models/hare-9b "$${A[@]}"'


def _service(script: str, name: str = "engine", above: str = "", image: str = "vllm/vllm-openai:v0.25.1") -> str:
    lines = "".join(f"        {line}\n" for line in script.split("\n"))
    return (
        f"{above}  {name}:\n    image: {image}\n    environment: [SPEC]\n"
        f"    entrypoint: [bash, -c]\n    command:\n      - |\n{lines}"
    )


def _compose(header: str, *services: str) -> str:
    comment = "".join(f"# {line}\n" for line in header.split("\n")) if header else ""
    return f"{comment}services:\n{''.join(services)}"


def _found(files: Mapping[str, str]) -> list[Finding]:
    tree = MemoryTree(dict(files))
    report = audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES)
    assert not report.skipped
    return [finding for finding in report.findings if finding.rule == "stale-claim"]


def _causes(header: str, script: str = SERVE, **more: str) -> list[str]:
    return [finding.cause for finding in _found({"compose.yml": _compose(header, _service(script)), **more})]


@pytest.mark.parametrize(
    ("header", "script", "causes"),
    [
        ("Drafter: MTP n=2", f"{SERVE} {MTP}", []),
        ("Drafter: MTP n=3", f"{SERVE} {MTP}", ["spec_decode.num_speculative_tokens=3"]),
        ("Drafter: none", f"{SERVE} {MTP}", ["spec_decode.method=none"]),
        ("Drafter: none", SEAM, ["spec_decode.method=none"]),
        # One sentence is one finding: where no drafter runs, its depth is not told besides.
        ("Drafter: MTP n=3", SERVE, ["spec_decode.method=mtp"]),
        ("Max ctx: 32K", SERVE, []),
        ("Max ctx: 64K", SERVE, ["max_model_len=64000"]),
        ("KV: fp8_e4m3", SERVE, []),
        ("KV: bf16", SERVE, ["kv_cache_dtype=16 bits"]),
        ("TP=2 + 4 streams", SERVE, ["tensor_parallel_size=2"]),
        ("Prefix caching OFF by default.", f"{SERVE} --enable-prefix-caching", ["prefix_caching=False"]),
        ("Pinned to vLLM STABLE v0.25.1.", SERVE, []),
        ("Pinned to vLLM v0.25.", SERVE, []),
        ("Pinned to vLLM STABLE v0.24.0.", SERVE, ["release=0.24.0"]),
        ("Engine: vllm/vllm-openai:v0.24.0", SERVE, ["release=0.24.0"]),
        ("No --kv-cache-dtype (the checkpoint decides)", SERVE, ["kv_cache_dtype=none"]),
        ("Ships no --quantization flag.", SERVE, []),
        ("SPEC=off disables the drafter.", SEAM, []),
        ("SPEC=off disables the drafter.", SEAM.replace("!= ", "!= x"), ["spec_decode.method=none with SPEC=off"]),
        # What is not known contradicts nothing.
        ("Max ctx: 64K", 'exec vllm serve /models/hare-9b --max-model-len "$$UNSEEN"', []),
        ("Drafter: none", "exec llama-server -m x", []),
    ],
)
def test_a_header_speaks_of_the_service_of_its_file(header: str, script: str, causes: list[str]) -> None:
    assert _causes(header, script) == causes


def test_a_finding_says_the_sentence_its_place_and_what_runs() -> None:
    (found,) = _found({"compose.yml": _compose("Title\n\nDrafter: none, and so it is safe", _service(SEAM))})
    assert (found.path, found.line, found.service, found.level, found.status) == (
        "compose.yml", 3, "engine", "warning", "active",
    )  # fmt: skip
    assert "`compose.yml:3` says `none`" in found.message
    assert "drafter mtp, not none" in found.message
    assert found.chain[0].line == 3
    assert any("SPEC_CONFIG" in r.text or "speculative-config" in r.text for r in found.chain[1:])


def test_the_same_words_in_several_places_are_one_finding() -> None:
    (found,) = _found({"compose.yml": _compose("Max ctx: 64K\nBest for: full 64K ctx, 4 streams", _service(SERVE))})
    assert "also in lines 2" in found.message


def test_a_comment_belongs_to_the_service_that_it_stands_in_or_above() -> None:
    plain, other = (
        _service(SERVE, "plain"),
        _service(f"{SERVE} {MTP}", "drafting", above="  # It carries no drafter.\n"),
    )
    inside = _service(f"# It carries no drafter.\n{SERVE}", "plain")
    assert [(f.service, f.line) for f in _found({"c.yml": _compose("", plain, other)})] == [("drafting", 9)]
    assert _found({"c.yml": _compose("", inside, _service(f"{SERVE} {MTP}", "drafting"))}) == []


def test_a_header_above_several_engines_is_true_when_it_is_of_one() -> None:
    both = (_service(SERVE, "plain"), _service(f"{SERVE} {MTP}", "drafting"))
    assert _found({"c.yml": _compose("Drafter: none", *both)}) == []
    assert [f.service for f in _found({"c.yml": _compose("Drafter: MTP n=5", *both)})] == ["plain"]


def test_a_statement_about_another_compose_is_left_alone() -> None:
    assert _causes("dual/other.yml: TP=2 + MTP n=3") == []
    assert _causes("engine/other (TP=2 + MTP n=3) is vllm/other") == []
    assert _causes("compose.yml: TP=2 + 4 streams") == ["tensor_parallel_size=2"]


def test_a_table_of_variables_is_held_against_their_defaults() -> None:
    compose = _compose(
        "SEQS     sequences   (default: 8)\nMODEL_DIR   weights  (default: ../models)",
        _service(SERVE.replace("--max-num-seqs 4", "--max-num-seqs ${SEQS:-6}")),
    )
    (found,) = _found({"compose.yml": compose})
    assert found.cause == "SEQS=8"
    assert "in engine the default is `6`" in found.message


def test_what_the_launcher_runs_is_true_as_well() -> None:
    profile = "id: stable\ninstall: {method: docker_image, spec: vllm/vllm-openai:v0.24.0}\n"
    header = "Engine-profile: stable\nPinned to vLLM STABLE v0.24.0."
    script = _service(SERVE, image="${IMAGE:-vllm/vllm-openai:v0.25.1}")
    assert _found({"compose.yml": _compose(header, script), "engines/stable.yml": profile}) == []
    assert len(_found({"compose.yml": _compose(header, script)})) == 1


# Vendored patches, weights, and what the image is ---------------------------------------------------------------------

FIXED = "bash /opt/pr12345/install.sh || exit 1\nexec vllm serve /models/hare-9b"
STOCK = "vllm/vllm-openai:v0.25.1"


def _mounting(script: str, *mounts: str, image: str = STOCK) -> str:
    volumes = "".join(f"      - {mount}\n" for mount in mounts)
    return _service(script, image=image).replace("    entrypoint:", f"    volumes:\n{volumes}    entrypoint:")


FIX = "./patches/vllm-pr12345-fix:/opt/pr12345:ro"
TEMPLATE = "./patches/template/chat.jinja:/opt/chat.jinja:ro"
HERE = "The vendored pr12345 fixes vllm#9999 and does NOT cover this."


@pytest.mark.parametrize(
    ("header", "service", "causes"),
    [
        (HERE, _mounting(FIXED, FIX), []),
        (HERE, _mounting(SERVE, TEMPLATE), ["overlay #12345=here"]),
        (HERE, _service(SERVE), ["overlay #12345=here"]),
        # It is mounted, and that nothing runs it is another rule's.
        (HERE, _mounting(SERVE, FIX), []),
        # What nobody can tell may have it: an image of one's own, a folder without a name, a download.
        (HERE, _service(SERVE, image="me/vllm:1"), []),
        (HERE, _mounting(SERVE, "./patches/hare:/opt/hare:ro"), []),
        (HERE, _service(f"curl -L https://x.invalid/pull/12345.patch | patch -p1\n{SERVE}"), []),
        (HERE, _service(f"# pr12345 is not here\n{SERVE}"), ["overlay #12345=here"]),
        ("Status: fine — overlay-free.", _mounting(FIXED, FIX), ["overlay any=none"]),
        (
            "Status: fine — overlay-free.",
            _mounting(FIXED.replace(" || exit 1", " || true"), FIX),
            ["overlay any=none"],
        ),
        ("Status: fine — overlay-free.", _mounting(SERVE, FIX), []),
        ("Status: fine — overlay-free.", _mounting(f"{SERVE} --chat-template /opt/chat.jinja", TEMPLATE), []),
        ("This slug does NOT vendor pr12345.", _mounting(FIXED, FIX), ["overlay #12345=none"]),
        ("This slug does NOT vendor pr12346.", _mounting(FIXED, FIX), []),
        ("Pinned to a known-good vLLM nightly.", _service(SERVE), ["nightly=True"]),
        ("Pinned to a known-good vLLM nightly.", _service(SERVE, image="vllm/vllm-openai:nightly-0123456789ab"), []),
        ("Pinned to a known-good vLLM nightly.", _service(SERVE, image="vllm/vllm-openai:latest"), []),
        ("Int4 + the external assistant drafter.", _service(SERVE), ["spec_decode.method=any"]),
        ("Int4 + the external assistant drafter.", _service(f"{SERVE} {MTP}"), []),
        ("Max ctx: 32K (mem-util 0.95)", _service(SERVE), []),
        ("Max ctx: 32K (mem-util 0.95)", _service(f"{SERVE} --gpu-memory-utilization=0.95"), []),
        (
            "Max ctx: 32K (mem-util 0.95)",
            _service(f"{SERVE} --gpu-memory-utilization 0.92"),
            ["gpu_memory_utilization=0.95"],
        ),
        ("TP=1 + batched-tokens 8192", _service(f"{SERVE} --max-num-batched-tokens 8192"), []),
        (
            "TP=1 + batched-tokens 8192",
            _service(f"{SERVE} --max-num-batched-tokens 2048"),
            ["max_num_batched_tokens=8192"],
        ),
        ("hf download org/hare --local-dir $MODEL_DIR/hare-9b", _service(SERVE), []),
        ("hf download org/hare --local-dir $MODEL_DIR/hare-8b", _service(SERVE), ["folder=hare-8b"]),
        (
            "hf download org/hare --local-dir $MODEL_DIR/hare-8b",
            _service(SERVE.replace("/models/hare-9b", "/models/$${HARE:-hare-8b}")),
            [],
        ),
        ("hf download org/hare --local-dir $MODEL_DIR/hare-8b", _service(SERVE.replace("/models/", "org/")), []),
    ],
)
def test_what_is_vendored_pinned_and_loaded(header: str, service: str, causes: list[str]) -> None:
    assert [finding.cause for finding in _found({"compose.yml": _compose(header, service)})] == causes


def test_a_patch_is_that_of_its_entry() -> None:
    row = (
        "patches:\n  - id: fix\n    files: [patches/hare/install.sh]\n    load_bearing_when: [{composes: [x]}]\n"
        "    delivery_mechanism: install_script\n    delivery_spec: {mounted_at: /opt/hare}\n"
        "    upstream: {ref: 'vllm#12345'}\n"
    )
    compose = _compose(HERE, _mounting(SERVE, "./patches/hare:/opt/hare:ro"))
    assert _found({"compose.yml": compose, "lib/patches.yml": row}) == []
    (found,) = _found({"compose.yml": compose, "lib/patches.yml": row.replace("12345", "12346")})
    assert "nothing that engine mounts or runs is `#12345`" in found.message


# Notes ----------------------------------------------------------------------------------------------------------------


def _patches(note: str, more: str = "") -> str:
    return (
        f"patches:\n  - id: fix\n    files: [p/fix.sh]\n    load_bearing_when: [{{composes: [engine/solo]}}]\n"
        f'    delivery_mechanism: install_script\n    delivery_spec: {{note: "{note}"}}\n{more}'
    )


DRAFTING = _compose("", _service(SEAM))
PLAIN = _compose("bash switch.sh engine/solo", _service(SERVE))
GROUP = (
    "Wired where needed. The seam-only no-MTP composes (solo, 35b trio, dual/nvfp4-mtp) are NOT wired - it is clean."
)


@pytest.mark.parametrize(
    ("note", "stale"),
    [
        (GROUP, True),
        ("dual/nvfp4/mtp.yml ships no MTP arg, so it is not wired here.", True),
        ("`dual/nvfp4-mtp` and engine/solo run with TP=2 for now, that is all.", True),
        ("dual/nvfp4-mtp ships MTP n=2 and is wired, as it has to be.", False),
        ("Before the change dual/nvfp4-mtp ships no MTP arg, people said.", False),
        ("nvfp4-mtp ships no MTP arg, so it is not wired here.", False),
        ("The no-MTP composes (nothing/known) are not wired.", False),
    ],
)
def test_a_note_speaks_of_the_composes_that_it_names(note: str, stale: bool) -> None:
    files = {"a/dual/nvfp4/mtp.yml": DRAFTING, "a/solo.yml": PLAIN, "lib/patches.yml": _patches(note)}
    found = [finding for finding in _found(files) if finding.path == "lib/patches.yml"]
    assert bool(found) is stale
    for finding in found:
        assert finding.line == 6
        assert finding.files in (("a/dual/nvfp4/mtp.yml",), ("a/solo.yml",))
        assert "lib/patches.yml" not in finding.replay


def test_a_name_that_fits_several_files_means_none() -> None:
    files = {"a/dual/nvfp4/mtp.yml": DRAFTING, "b/dual/nvfp4/mtp.yml": DRAFTING, "lib/patches.yml": _patches(GROUP)}
    assert _found(files) == []
    away = {"a/dual/nvfp4/mtp.yml": DRAFTING, "_archive/dual/nvfp4/mtp.yml": DRAFTING}
    assert len(_found({**away, "lib/patches.yml": _patches(GROUP)})) == 1


def test_a_deprecated_entry_is_history() -> None:
    files = {"a/dual/nvfp4/mtp.yml": DRAFTING, "lib/patches.yml": _patches(GROUP, "    deprecated_on: '2026-01-01'\n")}
    assert _found(files) == []


def test_a_line_is_quoted_in_its_own_words() -> None:
    compose = "# Context: 65K tokens\nservices:\n" + _service("exec vllm serve /m --max-model-len 32768")
    tree = MemoryTree({"compose.yml": compose})
    found = audit(Repository(tree, read_catalog(tree), Documents(tree)), load_rules().only({"stale-claim"})).findings
    assert found[0].chain[0].text == "it says: Context: 65K tokens"
