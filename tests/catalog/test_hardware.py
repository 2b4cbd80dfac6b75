from __future__ import annotations

import pytest

from bot.catalog import hardware_for, read_catalog, read_header
from bot.tree import MemoryTree

EMPTY = read_catalog(MemoryTree({}))


@pytest.mark.parametrize(
    ("header", "sm"),
    [
        ("Topology: Single 3090 (TP=1)", (86,)),
        ("Topology: Dual RTX 5090 PCIe (TP=2, no NVLink)", (120,)),
        ("Topology: 2x5090", (120,)),
        ("Topology: 2× NVIDIA GeForce RTX 4090s", (89,)),
        ("Hardware: 1x NVIDIA H100 80GB", (90,)),
        ("GPU: RTX 3090 Ti", (86,)),
        ("GPU: RTX PRO 6000 Blackwell", (120,)),
        ("GPU: RTX 6000 Ada", (89,)),
        ("Target: DGX Spark (GB10)", (121,)),
        ("Targets: A100, H100, B200", (80, 90, 100)),
        ("GPUs: 4x sm_120 cards", (120,)),
        ("Hardware: one L40S", (89,)),
        ("Topology: Single Hopper card", (90,)),
        ("Topology: Single Hopper/Blackwell card — 5090 is the target; H100 / GB10 also qualify", (90, 120, 121)),
        ("Topology: Dual 3090 (TP=2) — single-card boot-OOMs on 4090", (86,)),
        ("Topology: 5090 (confirmed on sm_86 2026-01-01, H100 too)", (120,)),
        ("Topology: 5090; not for 3090", (120,)),
        ("Topology: 5090 — required_sm=9.0; fallback_sm=7.5", (120,)),
        ("Topology: 3090\nRequires-sm: 8.0+", (86,)),
        # not stated, or not enough
        ("Topology: Single 3090\nRequires-sm: 9.0+", ()),
        ("Topology: Single Blackwell card", ()),
        ("Topology: Single Hopper/Blackwell card", ()),
        ("Topology: Dual Ampere", ()),
        ("Topology: validated on 2x 3090", ()),
        ("Topology: TP=2", ()),
        ("Topology: see #3090", ()),
        ("Topology: 13090 tokens", ()),
        ("Requires-sm: 9.0+", ()),
        ("Status: runs on a 5090", ()),
        ("A 5090 is needed", ()),
        ("Topology: model a100b-instruct", ()),
    ],
)
def test_headers(header: str, sm: tuple[int, ...]) -> None:
    text = "".join(f"# {line}\n" for line in header.split("\n")) + "services: {}\n"
    assert hardware_for(EMPTY, read_header(text, "c.yml"), "c.yml") == sm


def test_the_repositorys_own_cards_are_known() -> None:
    files = {
        "a.yml": "id: zx-9900\ndisplay_name: NVIDIA ZX 9900 48GB\nsm: 13.0\n",
        "b.yml": "id: rtx-5090\ndisplay_name: NVIDIA RTX 5090\nsm: 12.0\n",
    }
    catalog = read_catalog(MemoryTree(files))
    assert hardware_for(catalog, read_header("# Topology: Dual ZX 9900\n", "c.yml"), "c.yml") == (130,)
    assert hardware_for(catalog, read_header("# Topology: zx-9900 or 5090\n", "c.yml"), "c.yml") == (120, 130)
    assert hardware_for(catalog, read_header("", "c.yml"), "rigs/rtx-5090/c.yml") == (120,)
    assert hardware_for(catalog, read_header("", "c.yml"), "rigs/my-rtx-5090/c.yml") == ()
    assert hardware_for(EMPTY, read_header("", "c.yml"), "rigs/rtx-5090/c.yml") == ()


def test_an_endless_value_ends() -> None:
    text = "# Topology: " + "(" * 50_000 + ", 5090 " * 50_000 + "\n"
    hardware_for(EMPTY, read_header(text, "c.yml"), "c.yml")
