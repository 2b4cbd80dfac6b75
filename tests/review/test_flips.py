"""What a moved pin changes, although no line sets it."""

from __future__ import annotations

import pytest

from bot.audit import Report, audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.review import review
from bot.tree import MemoryTree

PATH = "models/hare/docker-compose.yml"
MTP = """--speculative-config, '{"method":"mtp","num_speculative_tokens":2}'"""
RULES = load_rules()


def _audit(release: str, *words: str, path: str = PATH) -> Report:
    image = release if "/" in release or ":" in release else f"vllm/vllm-openai:v{release}"
    command = ", ".join(["--model", "Qwen/Qwen3.5-27B", *words])
    text = f"services:\n  engine:\n    image: {image}\n    command: [{command}]\n"
    tree = MemoryTree({path: text})
    return audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES)


def _flips(base: Report, head: Report, renamed: dict[str, str] | None = None) -> list[Finding]:
    return [found for found in review(base, head, {}, renamed or {}).introduced if found.rule == "default-flip"]


def test_a_default_that_moves_with_the_pin() -> None:
    found = _flips(_audit("0.27.1"), _audit("0.28.0"))
    assert [(one.level, one.status, one.path, one.line) for one in found] == [("warning", "active", PATH, 3)]
    assert "from 0.27.1 to 0.28.0" in found[0].message
    assert "prefix_caching from off to on" in found[0].message
    sources = [reason for reason in found[0].chain if reason.kind == "engine-default"]
    assert not any("https:" in reason.text for reason in sources)
    links = [found[0].links[reason] for reason in sources]
    assert any("blob/v0.27.1/" in link for link in links)
    assert any("blob/v0.28.0/" in link for link in links)


def test_a_default_that_a_hazard_needs_is_an_error() -> None:
    (found,) = _flips(_audit("0.27.1", MTP), _audit("0.28.0", MTP))
    assert found.level == "error"
    assert "mtp-prefix-cache-hybrid" in found.message


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (("0.27.1",), ("0.27.1",)),
        (("0.27.0",), ("0.27.1",)),
        (("0.25.1",), ("0.27.1",)),
        (("0.27.1", "--no-enable-prefix-caching"), ("0.28.0", "--no-enable-prefix-caching")),
        (("0.27.1",), ("0.27.1", "--enable-prefix-caching")),
        (("0.27.1",), ("0.28.0", "--no-enable-prefix-caching")),
        (("vllm/vllm-openai:latest",), ("0.28.0",)),
        (("0.27.1",), ("ghcr.io/someone/vllm:mine",)),
        (("0.27.1",), ("0.28.0", "--no-such-flag")),
    ],
)
def test_what_is_no_flip(base: tuple[str, ...], head: tuple[str, ...]) -> None:
    assert not _flips(_audit(*base), _audit(*head))


def test_what_the_lines_of_the_change_set_is_no_flip() -> None:
    (found,) = _flips(_audit("0.28.0"), _audit("0.29.0", "--enforce-eager"))
    assert "v2_model_runner from off to on" in found.message
    assert "cudagraph" not in found.message


def test_a_file_that_was_moved_keeps_its_pin() -> None:
    old = _audit("0.27.1", path="old/docker-compose.yml")
    (found,) = _flips(old, _audit("0.28.0"), {"old/docker-compose.yml": PATH})
    assert found.path == PATH


def test_a_default_that_takes_a_hazard_away_is_only_told() -> None:
    (found,) = _flips(_audit("0.28.0", MTP), _audit("0.27.1", MTP))
    assert found.level == "notice"
    assert "That ends" in found.message
