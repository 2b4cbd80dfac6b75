"""Which comments are claims, and which only mention a value."""

from __future__ import annotations

import pytest

from bot.claims import Claim, claims_of_comments


def _claims(comment: str) -> list[Claim]:
    lines = "".join(f"# {line}\n" if line else "#\n" for line in comment.split("\n"))
    return list(claims_of_comments("compose.yml", f"{lines}services: {{}}\n"))


def _said(comment: str) -> set[str]:
    return {claim.identity for claim in _claims(comment) if not claim.about}


DRAFTER, DEPTH = "spec_decode.method", "spec_decode.num_speculative_tokens"
MTP3 = {f"{DRAFTER}=mtp", f"{DEPTH}=3"}
NO_DRAFTER = {f"{DRAFTER}=none"}


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        # Keys of a header
        ("Drafter:   MTP n=3 (built-in)", MTP3),
        ("Drafter: none (n=3 was slower)", NO_DRAFTER),
        ("Drafter:   external assistant, n=4 by default", {f"{DEPTH}=4"}),
        ("KV:   fp8_e4m3 (more mantissa than e5m2)", {"kv_cache_dtype=fp8_e4m3"}),
        ("KV cache: bfloat16", {"kv_cache_dtype=16 bits"}),
        ("Max ctx:   262K (237K verified)", {"max_model_len=262000"}),
        ("Max ctx: 131,072 — native", {"max_model_len=131072"}),
        ("Topology:  Two cards (TP=2, no NVLink)", {"tensor_parallel_size=2"}),
        ("Tensor-parallel: 4", {"tensor_parallel_size=4"}),
        ("Engine: vLLM v0.25.1 (stable)", {"release=0.25.1"}),
        ("Engine: vllm/vllm-openai:v0.24.0", {"release=0.24.0"}),
        ("Image: vllm/vllm-openai:hare-preview", {"image=vllm/vllm-openai:hare-preview"}),
        ("Prefix caching: off", {"prefix_caching=False"}),
        ("Cudagraph mode: PIECEWISE", {"cudagraph_mode=PIECEWISE"}),
        # A line that puts the whole together
        (
            "Hare-9B on two cards, TP=2 + MTP n=3 + fp8 KV + 32K ctx + 4 streams.",
            {*MTP3, "tensor_parallel_size=2", "kv_cache_dtype=fp8", "max_model_len=32000", "max_num_seqs=4"},
        ),
        ("Full 262K ctx, 2 concurrent streams, vision", {"max_model_len=262000", "max_num_seqs=2"}),
        # What stands alone
        ("- max_num_seqs=2 → two agents at once", {"max_num_seqs=2"}),
        ("MTP n=3 — the checkpoint keeps its head", MTP3),
        ("NO --speculative-config: the head is dead in these weights", NO_DRAFTER),
        ("No --kv-cache-dtype (the checkpoint decides)", {"kv_cache_dtype=none"}),
        # What says itself that it is about the default
        ("this compose ships NO MTP arg, so the pair cannot form", NO_DRAFTER),
        ("It carries no drafter and is safe", NO_DRAFTER),
        ("Prefix-caching ON by default (flipped 2026-07-17): the fix is here", {"prefix_caching=True"}),
        ("Prefix caching defaults OFF here by policy", {"prefix_caching=False"}),
        ("Vendored fix, inert under the prefix-off default", {"prefix_caching=False"}),
        ("The script injects MTP by default, which is fine", {f"{DRAFTER}=mtp"}),
        ("CUDA graphs are disabled by default", {"enforce_eager=True"}),
        ("Pinned to vLLM STABLE v0.24.0 (immutable)", {"release=0.24.0"}),
        ("vLLM STABLE image (v0.24.0, from the profile)", {"release=0.24.0"}),
        ("the kernel is there in v0.24.0 (this pin) and in v0.25.0", {"release=0.24.0"}),
        ("Hare on two cards, stock vLLM v0.24.0.", {"release=0.24.0"}),
        ("Best for:  the Hare dual on v0.24.0 — no overlays", {"release=0.24.0", "overlay any=none"}),
        (
            "The shared fix. Inert while prefix caching is\noff; it protects those who switch it on",
            {"prefix_caching=False"},
        ),
        (
            "Two cards, TP=2 + fp8 KV + ~120K ctx target.",
            {"tensor_parallel_size=2", "kv_cache_dtype=fp8", "max_model_len=120000"},
        ),
        ("Max ctx ~120K (one stream)", {"max_model_len=120000"}),
        ("Targets:\n  code      ~142 TPS\n  Max ctx   ~120K (4x lift vs the 32K of dual)", {"max_model_len=120000"}),
        ("KV format = int8_per_token_head. On these cards", {"kv_cache_dtype=int8"}),
        ("draft : none on this compose", NO_DRAFTER),
        ("This compose ships the safe defaults (48K context, 0.92 mem-util)", {"max_model_len=48000"}),
        ("Default KV_DTYPE is int8_per_token_head because that runs here", {"kv_cache_dtype=int8"}),
        ("The n=3 default stays.", {f"{DEPTH}=3"}),
        # A table of variables, and toggles
        ("MAX_NUM_SEQS   sequences at once   (default: 8)", {"MAX_NUM_SEQS=8"}),
        ("SPEC=off disables the built-in MTP drafter.", {f"{DRAFTER}=none with SPEC=off"}),
        ("MITIGATION: run the drafter off — SPEC_N=0.", {f"{DRAFTER}=none with SPEC_N=0"}),
        # Vendored patches
        ("The vendored pr12345 fixes vllm#9999 and does NOT cover this fault.", {"overlay #12345=here"}),
        ("prefix caching (#736 — vllm#12345 vendored; it is a hybrid)", {"overlay #12345=here"}),
        ("Caveats: (1) Requires the vendored PR #12345 per-head overlay (not upstream).", {"overlay #12345=here"}),
        ("Carries ONE small overlay: the #12345 streaming fix (both share it)", {"overlay #12345=here"}),
        ("The fix (vllm#12345) is VENDORED on this compose and applied at\nboot.", {"overlay #12345=here"}),
        ("This slug does NOT vendor pr12345 and will not.", {"overlay #12345=none"}),
        ("Status: fine — OVERLAY-FREE on the stable image", {"overlay any=none"}),
        ("- vLLM stable image (from the profile) — no source overlays. The weights are big.", {"overlay any=none"}),
        ("fp8 KV means no patch overlays are anchored here, so we ride releases.", {"overlay any=none"}),
        ("Keeping zero source mounts is what makes this path immune.", {"overlay any=none"}),
        # A drafter in prose
        (
            "AWQ-4bit weights + the external MTP\nassistant drafter wired via `--speculative-config`.",
            {f"{DRAFTER}=any"},
        ),
        ("Two cards, bf16 + the assistant speculative-decode draft, as its sibling.", {f"{DRAFTER}=any"}),
        ("Elsewhere is the baseline; this is the tp=2 + MTP path.", {f"{DRAFTER}=any"}),
        ("Minimal — no spec-decode, no patches, no frills.", NO_DRAFTER),
        ("Enabling it loads an empty head. Runs drafter-free. ---", NO_DRAFTER),
        # The pin, shares of memory, batches
        ("Pinned to the hare-stable engine spec (v0.25.1) so that both agree", {"release=0.25.1"}),
        ("Pin uses the post-merge nightly. Note: others stay.", {"nightly=True"}),
        ("Pinned to a known-good vLLM nightly (immutable).", {"nightly=True"}),
        ("Max ctx: 65K (mem-util 0.95)", {"max_model_len=65000", "gpu_memory_utilization=0.95"}),
        (
            "Max ctx: 262K at util 0.85 + batched-tokens 8192 — both cards",
            {"max_model_len=262000", "gpu_memory_utilization=0.85", "max_num_batched_tokens=8192"},
        ),
        # Weights
        ("Weights: hf download org/hare \\\n    --local-dir $MODEL_DIR/hare-9b", {"folder=hare-9b"}),
        ("  hf download org/hare --local-dir <MODEL_DIR>/hare-9b", {"folder=hare-9b"}),
    ],
)
def test_a_statement_about_the_default_is_a_claim(comment: str, expected: set[str]) -> None:
    assert _said(comment) == expected


@pytest.mark.parametrize(
    "comment",
    [
        # History
        "Prefix caching was ON by default until the pair was known",
        "n=5 WAS the knee; default was n = 5",
        "Formerly pinned to vLLM STABLE v0.21.0",
        "max_model_len 262K → 185K (the draft model needs the room)",
        "bumped v0.24.0 -> v0.25.1, then pinned to v0.25.1 -> v0.26.0",
        # Conditions and advice
        "If you set SPEC=on, MTP n=3 + fp8 KV fit",
        "When prefix caching is ON by default upstream, revisit",
        "Use MTP n=3 + fp8 KV for code",
        "You may raise it: max_num_seqs=4 + 32K ctx",
        "Without the patch, TP=2 + fp8 KV is lost",
        # Comparisons and other composes
        "higher fidelity than TP=2 + fp8 KV",
        "vllm/other-hare: TP=2 + MTP n=3 + fp8 KV",
        "dual/other.yml: TP=2, bf16 KV, 262K ctx",
        "Unlike the sibling, prefix caching ON by default",
        # Measurements
        "Measured: 72 tok/s with TP=2 + MTP n=3",
        "69 MB free with MTP n=5",
        "n-sweep: MTP n=2 70, MTP n=3 74",
        "broken on stock vLLM v0.24.0 because of the parser",
        "MTP n=4 crashes within two hours",
        # Plans and theory
        "TODO: MTP n=3 + fp8 KV",
        "Max ctx: ~16K (theoretical) — it never boots",
        "Max ctx: 118K (one stream) / 65K (four streams)",
        "a 120K ctx target for the next release",
        "the dual on v0.24.0 was slower",
        "Max ctx   ~98K-200K (by the room that is left)",
        "Max ctx: 98K – 200K",
        "lowered from the n=5 default → 3",
        "Accept length 2.3 (n=3 default)",
        "inert if prefix caching is off",
        "when it is inert while prefix caching is off, drop it",
        "will be pinned to v0.26.0",
        # The checkpoint, not the launch
        "this checkpoint ships NO MTP head",
        "config declares a head but ships ZERO mtp.* weights",
        # Quotations and questions
        'they wrote "TP=2 + MTP n=3" in the thread',
        "Is prefix caching ON by default?",
        # The end of a remark whose beginning is elsewhere
        "no spec-decode)",
        # Code, commands, tables
        "- --max-num-seqs",
        "MAX_NUM_SEQS=2 docker compose up with TP=2 + MTP n=3",
        "vllm/hare   262K   2   fp8 KV   TP=2",
        "HARE_HOME   where it lives   (default: none)",
        # Patches that are gone, needed, somebody else's, or that only one thing needs
        "The vendored pr12345 was dropped with the new pin",
        "When vllm#12345 is vendored here, flip it",
        "Without the vendored PR #12345 it crashes",
        "No overlay needed for this quant",
        "no source overlays\nrequired on a current release",
        "bf16 is the no-overlay default",
        "KV: that of the engine (overlay-free)",
        "The former vendored pr12345 is upstream now",
        "It would run without: vllm#12345 merged",
        # Drafters that are not here
        "It fits + the drafter weights",
        "Try the AWQ + the external drafter",
        "MTP DISABLED; restore the assistant drafter wired below",
        "unlike nightlies, it is immutable",
        "It was pinned to a vLLM nightly",
        # Shares of memory, and batches, of other runs
        "If boot fails, drop util 0.92",
        "KV pool est. 196,527 tok @ mem-util 0.95.",
        "batched-tokens 8192 → 2048",
        "util 0.85 / 0.92",
        # Weights that are an alternative
        "or hf download org/hare --local-dir $MODEL_DIR/hare-9b",
        "hf download org/hare --local-dir $MODEL_DIR/hare-9b\nthen MODEL_SUBDIR=hare-9b",
        "hf download org/hare --local-dir $MODEL_DIR",
        # Negations of a toggle
        "SPEC_N=0 does not work; it never was that SPEC_N=0 disables MTP",
    ],
)
def test_a_mention_is_not_a_claim(comment: str) -> None:
    assert _said(comment) == set()


def test_a_list_of_what_is_not_here_claims_nothing() -> None:
    assert _said("What is intentionally NOT enabled:\n  - int4 KV — too coarse\n  - TP=2 — one card only") == set()
    assert _said("What this gives you:\n  - int4 KV — plenty\n  - TP=2 — both cards") != set()


def test_a_heading_ends_where_what_stands_less_deep_begins() -> None:
    header = (
        "Max ctx: 65K\n  ⤷ Known since the test on other images:\n  more\nStatus: fine. The vendored pr12345 helps."
    )
    assert _said(header) == {"max_model_len=65000", "overlay #12345=here"}


def test_a_choice_of_values_claims_none_of_them() -> None:
    menu = "Lower it only where needed.\n\n  max-num-seqs=4 → the widest\n\n  max-num-seqs=2 → two long ones"
    assert _said(menu) == set()


def test_lines_that_belong_together_are_read_together() -> None:
    text = "The fix is\nvendored here and inert under the prefix-off\ndefault, which is why"
    (claim,) = _claims(text)
    assert (claim.position.line, claim.position.column) == (2, 37)
    assert claim.words == "prefix-off default"


def test_a_claim_knows_where_its_words_stand() -> None:
    text = "services:\n  hare:\n    # Note: x.\n    #   - KV fine. Pinned to vLLM v0.24.0 (for good)\n    image: x\n"
    (claim,) = claims_of_comments("compose.yml", text)
    line = text.split("\n")[claim.position.line - 1]
    assert line[claim.position.column - 1 : claim.end - 1] == claim.words == "Pinned to vLLM v0.24.0"


def test_this_file_is_not_another_one() -> None:
    assert {claim.about for claim in _claims("dual/hare.yml (this file): TP=2 + MTP n=3")} == {()}
    assert {claim.about for claim in _claims("dual/hare.yml: TP=2 + MTP n=3")} <= {("dual/hare.yml",)}


@pytest.mark.parametrize(
    "line",
    [
        "MTP n=3 + " * 100_000,
        "(" * 500 + " MTP n=3.",
        ". ; " * 140 + " TP=2",
        "1,111" * 110 + " ctx",
        "pinned to" + " " * 500 + "x 0.25",
        "a/" * 280 + " TP=2",
        "Topology: " + "a" * 500 + " TP=2",
        "MTP off " * 70,
        "A_" * 20 + " " * 300 + "(default",
        "vendored " * 60,
        "vendored pr#1 " * 40,
        "carries one small overlay " * 22,
        "no source patch " * 36 + "overlays",
        "+ the external assistant " * 20,
        "pinned to a a a a a a " * 20 + "nightly",
        "hf download a/b " + "x " * 250 + "--local-dir $M/x",
        "hf download a/b --local-dir ${M:-" + "y" * 500,
    ],
)
def test_hostile_comments_end_soon_and_claim_little(line: str) -> None:
    text = "\n".join(f"# {line}\n#" for _ in range(2_000))[:1_200_000]
    assert len(claims_of_comments("compose.yml", text)) <= 400
