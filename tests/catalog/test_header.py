from __future__ import annotations

import pytest

from bot.catalog import read_header, slugs_of
from bot.catalog.model import Catalog, Configuration

TEXT = """\
# A fine compose
# ============================
# Profile (at-a-glance):
#   Model:     Some 27B
#   Topology:  Dual 5090 (TP=2) — the primary
#              target; H100 also qualifies.
#                GB10 (128 GB): MAX_MODEL_LEN=262144
#   KV:        fp8
#
#   Empty:
# NOTE: prose here
# Run it:
#   bash scripts/switch.sh engine/dual --force

# Engine-profile: stable
# Tensor-parallel: 2
# Topology: never this one
services:   # the only one
  a:
    image: x#y
    # SPEC=off turns the drafter off
"""


def test_keys_values_and_lines() -> None:
    header = read_header(TEXT, "c.yml")
    assert header.get("engine-PROFILE") == "stable"
    assert header.get("Topology") == (
        "Dual 5090 (TP=2) — the primary target; H100 also qualifies. GB10 (128 GB): MAX_MODEL_LEN=262144"
    )
    assert (header.get("KV"), header.get("empty"), header.get("tensor-parallel"), header.get("image")) == (
        "fp8", "", "2", None
    )  # fmt: skip
    assert str(header.values["topology"][1]) == "c.yml:5"


@pytest.mark.parametrize(
    "text", ["", "\n\n", "services: {}\n", "\ufeff# A: b\n", "# A: b\r\nx: 1\r\n", "---\n# A: b\n"]
)
def test_odd_files(text: str) -> None:
    assert read_header(text, "c.yml").get("a") in ("b", None)
    assert ("A: b" in text) == (read_header(text, "c.yml").get("a") == "b")


@pytest.mark.parametrize(
    ("comment", "slug"),
    [
        ("bash scripts/switch.sh engine/dual", "engine/dual"),
        ("1. ./switch.sh engine/dual --force", "engine/dual"),
        ("(direct docker; or `launch.sh engine/dual`):", "engine/dual"),
        ("N=2 bash scripts/switch.sh engine/dual.", "engine/dual"),
        ("bash scripts/switch.sh engine/dual or bash scripts/switch.sh engine/other", None),
        ("bash scripts/download.sh org/model", None),
        ("bash scripts/switch.sh --force", None),
        ("bash scripts/run.sh deploy/dual.yml", None),
        ("bash scripts/run.sh a/b/c", None),
        ("switch.sh injects engine/dual", None),
    ],
)
def test_the_slug_that_the_header_runs(comment: str, slug: str | None) -> None:
    assert read_header(f"# {comment}\nservices: {{}}\n", "c.yml").slug == slug
    assert read_header(f"services: {{}}\n# {comment}\n", "c.yml").slug is None


def test_the_registry_comes_before_the_header() -> None:
    header = read_header("# bash switch.sh engine/dual\n", "c.yml")

    def slugs(registry: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
        return slugs_of(Catalog(Configuration(), (), {}, {}, (), registry), "c.yml", header)

    assert slugs({}) == ("engine/dual",)
    assert slugs({"a/b": ("c.yml",), "a/c": ("c.yml", "d.yml")}) == ("a/b", "a/c")
    assert slugs({"engine/dual": ("other.yml",)}) == ()
