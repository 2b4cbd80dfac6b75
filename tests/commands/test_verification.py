"""The answers to `/verify`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.bootlog import read
from bot.catalog import read_catalog
from bot.cli.verify import verify_command
from bot.commands import Verification, Verify, find, verify
from bot.compose import Documents
from bot.hazards import load_rules
from bot.resolution import Repository
from bot.review import Links
from bot.tree import MemoryTree
from tests.bootlog.test_reading import LOWERED, text
from tests.bootlog.test_verify import CACHED, COMPOSE, OTHER
from tests.corpus import needs_corpus
from tests.history.conftest import History, history  # noqa: F401

LINKS = Links("https://github.com/acme/serving", "a" * 40, "https://bot.example.org/hazards")
LOG = text("0.25.1-mtp") + LOWERED
LONGER = COMPOSE.replace("--max-model-len 32768", "--max-model-len 65536")
OPEN = COMPOSE.replace("--max-model-len 32768", "--max-model-len $${LEN:-65536}").replace(
    "    environment:\n", "    environment:\n      # LEN=32768\n      - LEN=${LEN:-65536}\n"
)
CACHES = COMPOSE.replace("$${PREFIX_CACHE_ARG:-}", "--enable-prefix-caching")


def asked(log: str = LOG, asked: Verify | None = None, **files: str) -> Verification:
    """What is answered in a repository with these files."""
    tree = MemoryTree({name.replace("_", "/", 1) + ".yml": compose for name, compose in files.items()})
    repository = Repository(tree, read_catalog(tree), Documents(tree))
    return verify(asked or Verify(), read(log), repository, load_rules(), LINKS)


def rows(answer: str) -> dict[str, str]:
    """The cells of the answer's tables by the property."""
    return dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", answer, re.MULTILINE))


def test_the_only_compose_that_fits_is_taken() -> None:
    found = asked(deploy_next=COMPOSE, deploy_other="services:\n" + OTHER)
    assert found.settled
    assert found.answer.startswith("#### [`deploy/next.yml:3`](https://github.com/acme/serving/blob/aaaa")
    assert "No compose was named; this is the one that it fits." in found.answer
    assert [pin.release for pin in found.pins][:1] == ["0.25.1"]


def test_what_contradicts_stands_before_what_the_log_alone_says_and_what_agrees_is_folded_away() -> None:
    answer = asked(deploy_next=COMPOSE).answer
    contradicting, rest = answer.split("It fits with")
    table, _, agreeing = rest.partition("<details><summary>15 agree</summary>")
    assert rows(contradicting)["prefix_caching"] == "off (assumed) | **on**, line 20"
    assert "kv_cache_dtype" not in rows(table)
    assert rows(agreeing)["kv_cache_dtype"] == "`fp8` | 20"
    assert "<sub>Not said: " in agreeing


def test_a_value_of_the_files_leads_to_its_line() -> None:
    answer = asked(deploy_next=LONGER).answer
    line = next(number for number, line in enumerate(LONGER.splitlines(), 1) if "65536" in line)
    assert f"`65536`, [line {line}](" in rows(answer)["max_model_len"]


def test_the_world_that_it_fits_is_named() -> None:
    assert f"It fits with `{CACHED}` set on the host." in asked(deploy_next=COMPOSE).answer
    assert "It fits none of the other worlds either (1 tried, " in asked(deploy_next=LONGER).answer
    closed = LONGER.replace("$${PREFIX_CACHE_ARG:-}", "").partition("    environment:")[0]
    assert "Nothing that is set on the host changes what runs here" in asked(deploy_next=closed).answer


def test_what_the_log_proves_and_which_hazards_are_others_by_it() -> None:
    compose = CACHES.replace("--kv-cache-dtype fp8", "--kv-cache-dtype auto")
    answer = asked(LOG.replace("kv_cache_dtype=fp8", "kv_cache_dtype=auto"), deploy_next=compose).answer
    assert "**The log agrees with the files** in all 16 values that they decide." in answer
    assert "fits none" not in answer
    assert rows(answer)["cudagraph_mode_effective"].endswith(" | **`PIECEWISE`**, line 21")
    assert (
        "**The log proves** (`cudagraph_mode_effective`): the worker runs with CUDA graph mode PIECEWISE "
        "(line 21: the worker lowered the configured mode)." in answer
    )
    rule = "[`mtp-full-cudagraph-blackwell`](https://bot.example.org/hazards/mtp-full-cudagraph-blackwell)"
    assert f"- {rule} is not there on this stack" in answer
    assert "piecewise-spec-decode-misaligned" in answer


def test_what_the_log_does_not_prove_is_told() -> None:
    answer = asked(text("0.25.1-mtp"), deploy_next=CACHES).answer
    assert "The log does not say how the worker ends with the CUDA graphs" in answer
    assert "The log proves" not in answer


@pytest.mark.parametrize("same", [CACHES, LONGER])
def test_several_that_fit_alike_are_named(same: str) -> None:
    found = asked(deploy_one=same, deploy_two=same.replace("  vllm:", "  twin:"), deploy_x="services:\n" + OTHER)
    assert not found.settled
    assert "`/verify deploy/one.yml:vllm`" in found.answer
    assert "`/verify deploy/two.yml:twin`" in found.answer
    assert "deploy/x.yml" not in found.answer
    assert ("`max_model_len`" in found.answer) == (same is LONGER)


def test_the_values_tell_composes_of_one_model_apart() -> None:
    found = asked(deploy_one=CACHES, deploy_two=COMPOSE)
    assert found.answer.startswith("#### [`deploy/one.yml:")
    number = "'max_num_seqs': 8"
    others = [
        CACHES.replace("--max-num-seqs", f"--gpu-memory-utilization 0.{share} --max-num-seqs") for share in (8, 9)
    ]
    found = asked(
        LOG.replace(number, f"{number}, 'gpu_memory_utilization': 0.9"), deploy_one=others[0], deploy_two=others[1]
    )
    assert found.answer.startswith("#### [`deploy/two.yml:")


def test_the_one_that_it_fits_in_another_world_is_taken() -> None:
    found = asked(
        LOG.replace("caching=True", "caching=False")
        .replace("'enable_prefix_caching': True, ", "")
        .replace("Mamba cache mode is set to 'align'", "x"),
        deploy_one=LONGER,
        deploy_two=OPEN,
    )
    assert found.answer.startswith("#### [`deploy/two.yml:")
    assert "It fits with `LEN=32768` set on the host." in found.answer


def test_a_named_compose_is_taken_at_its_word() -> None:
    found = asked(asked=Verify("deploy/x.yml", "other"), deploy_x=COMPOSE + OTHER)
    assert found.settled
    assert "service `other`" in found.answer
    assert "No compose was named" not in found.answer


def test_an_argument_that_is_no_property_is_told_too() -> None:
    log = LOG.replace("'max_num_seqs': 8", "'max_num_seqs': 8, 'gpu_memory_utilization': 0.5")
    compose = CACHES.replace("--max-num-seqs", "--gpu-memory-utilization 0.9 --max-num-seqs")
    answer = asked(log, deploy_next=compose).answer
    assert "Arguments with another value in the log than in the files: `gpu_memory_utilization`." in answer


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (Verify("deploy/nxt.yml"), "There is no compose `deploy/nxt.yml` here. Did you mean `deploy/next.yml`"),
        (Verify("deploy/next.yml", "vlm"), "There is no service `vlm` here. Did you mean `vllm`?"),
        (Verify("deploy/web.yml"), "is known to run a vLLM engine"),
        (Verify("deploy/bad.yml"), "Docker Compose refuses this file, at [`deploy/bad.yml"),
        (Verify("deploy/x.yml"), "fits no service of this compose"),
    ],
)
def test_what_can_not_be_held_against_anything(wanted: Verify, told: str) -> None:
    two = "services:\n" + OTHER + OTHER.replace("other:", "more:")
    web = "services:\n  web:\n    image: nginx\n"
    bad = "services:\n  web:\n    image: [vllm]\n"
    found = asked(asked=wanted, deploy_next=COMPOSE, deploy_web=web, deploy_bad=bad, deploy_x=two)
    assert not found.settled
    assert told in found.answer


def test_a_repository_where_nothing_fits() -> None:
    assert "fits no service of this repository" in asked(deploy_x="services:\n" + OTHER).answer
    assert "known to run a vLLM engine" in asked(deploy_web="services:\n  web:\n    image: nginx\n").answer
    assert asked().answer == "There is no compose here."


def test_each_engine_of_a_log_has_its_answer() -> None:
    log = "".join(f"{name}-1  | {line}\n" for name in ("vllm", "twin") for line in LOG.splitlines())
    answer = asked(
        log, deploy_next=COMPOSE + COMPOSE.partition("services:\n")[2].replace("  vllm:", "  twin:", 1)
    ).answer
    assert re.findall(r"^#### .* service `(\w+)`", answer, re.MULTILINE) == ["vllm", "twin"]


def test_lines_of_another_engine_are_left_out_where_one_is_found() -> None:
    log = "".join(f"{name}-1  | {line}\n" for name in ("vllm", "elsewhere") for line in LOG.splitlines())
    answer = asked(log, deploy_next=COMPOSE).answer
    assert len(re.findall("^#### ", answer, re.MULTILINE)) == 1


HOSTILE = re.compile(r"<(?!/?(?:details|summary|sub)>)|(?<![\w`])@\w|^/verify", re.MULTILINE)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(
        ["Qwen/Qwen3-Next-80B-A3B-Instruct", "'mtp'", "fp8", "0.25.1", "next", "Qwen3NextForCausalLM", "line"]
    ),
    st.text(alphabet="@`|<>[]()!*_~#/:\\\n\rax.-&", max_size=12),
)
def test_nothing_of_a_log_is_more_than_a_value(piece: str, text: str) -> None:
    answer = asked(LOG.replace(piece, text), asked=Verify("deploy/next.yml"), deploy_next=COMPOSE).answer
    outside = re.sub(r"(`+).*?\1", "", answer)
    assert not HOSTILE.search(outside)
    assert find(answer) == ()
    for line in answer.splitlines():
        assert not line.startswith("|") or len(re.findall(r"(?<!\\)\|", line)) == 4


EXAMPLE = Path(__file__).parent.parent.parent / "docs" / "examples" / "boot-logs" / "prefix-caching-off.md"


@needs_corpus
def test_the_example_is_what_its_command_prints(history: History) -> None:  # noqa: F811
    command = (EXAMPLE.parent.parent / "README.md").read_text(encoding="utf-8")
    path, revision = re.findall(r"\$name\.log (\S+) \\\n.* --rev (\w+) ", command)[0]
    given = [str(EXAMPLE.with_suffix(".log")), path, "--repo", str(history.root), "--rev", revision]
    result = CliRunner().invoke(verify_command, [*given, "--format", "markdown", "--offline"])
    assert result.exit_code == 1
    assert result.stdout == EXAMPLE.read_text(encoding="utf-8"), "run the command of docs/examples/README.md"
