"""Tables that state values of composes."""

from __future__ import annotations

import time

import pytest

from bot.catalog.tables import may_have_tables, read_tables

PATHS = frozenset({"m/compose/dual/a.yml", "m/compose/dual/b.yml", "m/compose/single/c.yml", "top.yml"})
HERE = "m/compose/dual/a.yml"
ALIGNED = """\
# All variants in this folder:
#
#   File                 Ctx    Streams  Narr/Code TPS   KV       Vision  Notes
#   a.yml (this)         262K   2        69 / 89         fp8      yes     the default
#   dual/b.yml           185K   1        82 / 125        FP16     yes
#   single/c.yml         75K    1        60              TQ3      no      x  y
#   gone.yml             1K     1        1               fp8      no      z
#   b.yml (deprecated)   1K     1        1               fp8      no      z
#
#   b.yml                2K     1        1               fp8      no      behind the table
"""


def _read(text: str, path: str = HERE) -> dict[str, list[tuple[str, str, int]]]:
    assert may_have_tables(text)
    found = read_tables(path, text, PATHS)
    return {
        key: [(one.property, one.value or "", one.position.line) for one in stated] for key, stated in found.items()
    }


def test_columns_that_stand_below_each_other() -> None:
    assert _read(ALIGNED) == {
        "m/compose/dual/a.yml": [("max_model_len", "262K", 4), ("kv_cache_dtype", "fp8", 4)],
        "m/compose/dual/b.yml": [("max_model_len", "185K", 5), ("kv_cache_dtype", "FP16", 5)],
        "m/compose/single/c.yml": [("max_model_len", "75K", 6), ("kv_cache_dtype", "TQ3", 6)],
    }


MARKED = """\
| Compose | Context | KV cache | TP | Image |
|:--|--:|---|---|---|
| [`a.yml`](compose/dual/a.yml) | 262144 | `fp8_e4m3` | 2 | vllm/vllm-openai:v0.25.1 |
| `vllm/dual` | **128K** | fp8 or so | two | |
| ~~compose/dual/b.yml~~ | 1K | fp8 | 1 | |

Then text, and compose/dual/b.yml | 1K | fp8 | 1 |
"""


def test_a_table_in_markdown() -> None:
    assert _read(MARKED, "m/README.md") == {
        "m/compose/dual/a.yml": [
            ("max_model_len", "262144", 3),
            ("kv_cache_dtype", "fp8_e4m3", 3),
            ("tensor_parallel_size", "2", 3),
            ("image", "vllm/vllm-openai:v0.25.1", 3),
        ],
        "vllm/dual": [("max_model_len", "128K", 4)],
    }


@pytest.mark.parametrize(
    "row",
    [
        "#   a.yml   up to 262K   fp8",
        "#   a.yml   262K",
        "#   other.yml   262K   fp8",
        "#   a.yml (retired)   262K   fp8",
        "#   any name   262K   fp8",
        "#   a.yml   ~262K   fp8-ish",
        "#   a.yml   —   —",
    ],
)
def test_what_is_no_statement(row: str) -> None:
    found = _read(f"#   File   Ctx   KV\n{row}\n")
    assert found in ({}, {"m/compose/dual/a.yml": [("kv_cache_dtype", "fp8", 2)]})


def test_a_hostile_table_is_bounded() -> None:
    text = "#  File  Ctx  KV\n" + "#  a.yml  1K  fp8  " * 200_000 + "\n" + "#  a.yml  1K  fp8\n" * 20_000
    begun = time.process_time()
    assert len(_read(text)["m/compose/dual/a.yml"]) <= 800
    assert time.process_time() - begun < 2
