"""The CUDA graph mode that a worker ends with."""

from __future__ import annotations

import pytest

from tests.engine.launches import run, value

MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":3}'"""
BOTH, PIECES = "FULL_AND_PIECEWISE", "PIECEWISE"


@pytest.mark.parametrize(
    ("sm", "dtype", "modes"),
    [
        (80, "auto", (BOTH, BOTH, BOTH)),
        (86, "auto", (BOTH, BOTH, BOTH)),
        (86, "fp8", (PIECES, PIECES, PIECES)),
        (86, "fp8_e5m2", (PIECES, PIECES, PIECES)),
        (89, "fp8_e4m3", (PIECES, PIECES, PIECES)),
        (90, "fp8", (BOTH, BOTH, BOTH)),
        (90, "fp8_e5m2", (PIECES, PIECES, PIECES)),
        (100, "fp8", (BOTH, BOTH, BOTH)),
        (100, "nvfp4", (BOTH, BOTH, BOTH)),
        (120, "auto", (BOTH, BOTH, BOTH)),
        (120, "fp8", (PIECES, PIECES, BOTH)),
        (121, "fp8_e5m2", (PIECES, PIECES, BOTH)),
        (120, "nvfp4", ("unknown",) * 3),
        (120, "fp8_per_token_head", (BOTH, BOTH, BOTH)),
        (120, "turboquant_k8v4", (BOTH, BOTH, BOTH)),
        (75, "fp8", ("unknown",) * 3),
    ],
)
def test_drafted_decoding_on_a_hybrid(sm: int, dtype: str, modes: tuple[str, ...]) -> None:
    for release, mode in zip(("0.25.1", "0.27.1", "0.28.0"), modes, strict=True):
        engine = run(f"--kv-cache-dtype {dtype} {MTP}", release, sm=(sm,))
        assert value(engine, "cudagraph_mode") == BOTH
        assert value(engine, "cudagraph_mode_effective") == mode


@pytest.mark.parametrize(
    ("argv", "model", "sm", "mode"),
    [
        ("--kv-cache-dtype fp8", "hybrid", (120,), BOTH),
        ("--kv-cache-dtype fp8", "dense", (), BOTH),
        ("-cc.cudagraph_mode=FULL", "hybrid", (90,), BOTH),
        ("-cc.cudagraph_mode=FULL", "dense", (90,), "FULL"),
        ("-cc.cudagraph_mode=FULL", "dense", (86,), BOTH),
        ("-cc.cudagraph_mode=FULL", "dense", (), "unknown"),
        ("""-cc '{"mode":0,"cudagraph_mode":"FULL"}'""", "dense", (86,), "FULL_DECODE_ONLY"),
        (f"""-cc '{{"mode":0,"cudagraph_mode":"FULL"}}' --kv-cache-dtype fp8 {MTP}""", "hybrid", (120,), "NONE"),
        (f"-cc.cudagraph_mode=PIECEWISE {MTP}", "unknown", (), PIECES),
        ("--enforce-eager", "unknown", (), "NONE"),
        (MTP, "hybrid", (), "unknown"),
        (MTP, "unknown", (120,), "unknown"),
        (f"--kv-cache-dtype fp8 {MTP}", "hybrid", (86, 120), PIECES),
        (f"--kv-cache-dtype fp8 {MTP}", "hybrid", (90, 120), "unknown"),
        (f"--attention-backend FLASHINFER {MTP}", "hybrid", (120,), PIECES),
        (f"--attention-backend TRITON_ATTN --kv-cache-dtype fp8 {MTP}", "hybrid", (120,), BOTH),
        (f"--attention-backend FLASH_ATTN --kv-cache-dtype fp8 {MTP}", "hybrid", (120,), "unknown"),
        (f"-ac.use_trtllm_attention=false --kv-cache-dtype fp8 {MTP}", "hybrid", (100,), PIECES),
        (f"-dcp 2 {MTP}", "hybrid", (120,), "unknown"),
        ('--speculative-config \'{"method":"ngram","num_speculative_tokens":2}\'', "dense", (86,), BOTH),
        (MTP, "deepseek", (100,), "unknown"),
        ("", "deepseek", (100,), BOTH),
    ],
)
def test_other_launches(argv: str, model: str, sm: tuple[int, ...], mode: str) -> None:
    assert value(run(argv, model=model, sm=sm), "cudagraph_mode_effective") == mode


@pytest.mark.parametrize(
    ("argv", "model", "sm", "env", "mode"),
    [
        (MTP, "hybrid-moe", (120,), {}, BOTH),
        (f"--kv-cache-dtype fp8 {MTP}", "hybrid-moe", (120,), {}, BOTH),
        (f"--kv-cache-dtype fp8_e5m2 {MTP}", "hybrid-moe", (86,), {}, BOTH),
        (f"--kv-cache-dtype fp8 {MTP}", "hybrid-moe", (90,), {}, BOTH),
        (f"--kv-cache-dtype fp8_e5m2 {MTP}", "hybrid-moe", (90,), {}, "unknown"),
        (f"--kv-cache-dtype fp8 {MTP}", "hybrid-moe", (100,), {}, PIECES),
        (MTP, "hybrid-moe", (100,), {}, PIECES),
        (MTP, "hybrid-moe", (103,), {}, BOTH),
        (MTP, "hybrid-moe", (120,), {"VLLM_ATTENTION_BACKEND": "FLASHINFER"}, PIECES),
        (MTP, "hybrid-moe", (120,), {"VLLM_ATTENTION_BACKEND": "XFORMERS"}, "unknown"),
        (MTP, "hybrid-moe", (90,), {"VLLM_FLASH_ATTN_VERSION": "2"}, "unknown"),
        (f"--kv-cache-dtype bfloat16 {MTP}", "hybrid-moe", (120,), {}, "unknown"),
        ("""-O '{"cudagraph_mode":"FULL"}'""", "dense", (90,), {}, "FULL"),
        ("""-O '{"cudagraph_mode":"FULL"}'""", "dense", (86,), {}, BOTH),
        ("""-O '{"cudagraph_mode":"FULL"}' --kv-cache-dtype fp8""", "dense", (86,), {}, "FULL"),
    ],
)
def test_the_first_release_chooses_by_rules_of_its_own(
    argv: str, model: str, sm: tuple[int, ...], env: dict[str, str], mode: str
) -> None:
    assert value(run(argv, "0.11.0", model, sm=sm, env=env), "cudagraph_mode_effective") == mode


@pytest.mark.parametrize(
    ("release", "backend", "mode"),
    [
        ("0.13.0", "FLASH_ATTN", BOTH),
        ("0.13.0", "FLEX_ATTENTION", "unknown"),
        ("0.19.1", "TREE_ATTN", "unknown"),
        ("0.20.0", "FLEX_ATTENTION", BOTH),
        ("0.21.0", "TRITON_MLA", "unknown"),
        ("0.22.0", "TRITON_MLA", BOTH),
    ],
)
def test_a_backend_that_captures_nothing(release: str, backend: str, mode: str) -> None:
    found = run(f"--attention-backend {backend}", release, "dense", sm=(90,))
    assert value(found, "cudagraph_mode_effective") == mode


@pytest.mark.parametrize(("sm", "mode"), [((90,), BOTH), ((100,), BOTH), ((86,), "unknown"), ((), "unknown")])
def test_latent_attention_before_tritons_kernel_captured(sm: tuple[int, ...], mode: str) -> None:
    assert value(run("", "0.21.0", "deepseek", sm=sm), "cudagraph_mode_effective") == mode


def test_a_lowered_mode_is_assumed_and_names_the_backend() -> None:
    found = run(f"--kv-cache-dtype fp8 {MTP}", sm=(120,)).properties["cudagraph_mode_effective"]
    assert found.certainty == "assumed"
    text = " ".join(reason.text for reason in found.because)
    assert "FLASHINFER runs on sm_120 with KV cache format fp8" in text
    assert "captures single-token decoding only" in text


def test_gemma4_takes_triton_where_flash_attention_4_is_not_available() -> None:
    assert value(run("", model="gemma4", sm=(86,)), "attention_backend") == "TRITON_ATTN"
    assert value(run("", model="gemma4", sm=(90,)), "attention_backend") == "unknown"
