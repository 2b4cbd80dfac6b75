"""What a moved pin changes, although no line sets it."""

from __future__ import annotations

import pytest

from bot.audit import Report, audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.resolution import Repository
from bot.review import grouping, review
from bot.review.diff import FileDiff
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


PROFILE = "engines/hare.yml"
HEADED = "# Engine-profile: hare\n"
SERVICE = "services:\n  {}:\n    image: ${{VLLM_IMAGE:-vllm/vllm-openai:v0.25.1}}\n    command: [--model, {}]\n"
MOVED_PIN = FileDiff(added=frozenset({4}), shown=frozenset({4}))
SET_BY_LAUNCHER = "${VLLM_IMAGE:-vllm/vllm-openai:v0.25.1}"


def _with_profiles(
    named: str,
    pins: dict[str, str],
    image: str = SET_BY_LAUNCHER,
    more: str = "command: [--model, Qwen/Qwen3.5-27B]",
    **files: str,
) -> Report:
    texts = {
        f"engines/{name}.yml": f"id: {name}\ninstall:\n  method: docker_image\n  spec: {pin}\n"
        for name, pin in pins.items()
    }
    head = HEADED.replace("hare", named) if named else ""
    for name in ("one", "two"):
        texts[f"models/{name}/compose.yml"] = f"{head}services:\n  {name}:\n    image: {image}\n    {more}\n"
    tree = MemoryTree({**texts, **files})
    return audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES)


def test_an_engine_profile_that_many_composes_use() -> None:
    """One short finding for each compose that its launcher runs with the profile; its comment sits at the new pin."""
    base, head = (_with_profiles("hare", {"hare": f"vllm/vllm-openai:v{release}"}) for release in ("0.27.1", "0.28.0"))
    found = _flips(base, head)
    assert [(one.path, one.service, one.level) for one in found] == [
        ("models/one/compose.yml", "one", "warning"),
        ("models/two/compose.yml", "two", "warning"),
    ]
    assert "from 0.27.1 to 0.28.0 in the engine profile changes" in found[0].message
    assert "prefix_caching from off to on" in found[0].message
    assert (PROFILE, 4) in [(reason.path, reason.line) for reason in found[0].chain]
    assert any("blob/v0.28.0/" in link for link in found[0].links.values())


def test_one_comment_for_all_composes_of_a_profile() -> None:
    base, head = (_with_profiles("hare", {"hare": f"vllm/vllm-openai:v{release}"}) for release in ("0.27.1", "0.28.0"))
    found = review(base, head, {PROFILE: MOVED_PIN}, {})
    assert [(one.path, one.cause) for one in found.introduced if one.rule == "default-flip"] == [
        ("models/one/compose.yml", ""),
        ("models/two/compose.yml", ""),
    ]
    (comment,) = found.comments
    assert (comment.path, comment.line, comment.finding.level) == (PROFILE, 4, "warning")
    assert comment.body.count("prefix_caching from off to on") == 1
    assert "In 2 composes:\n\n- `models/one/compose.yml`, `models/two/compose.yml`: Moving" in comment.body


def test_composes_that_differ_are_told_apart_in_one_comment() -> None:
    dense = SERVICE.format("three", "Qwen/Qwen3-8B")
    base, head = (
        _with_profiles(
            "hare", {"hare": f"vllm/vllm-openai:v{release}"}, **{"models/three/compose.yml": f"{HEADED}{dense}"}
        )
        for release in ("0.13.0", "0.28.0")
    )
    (comment,) = review(base, head, {PROFILE: MOVED_PIN}, {}).comments
    rows = [line for line in comment.body.splitlines() if line.startswith("- `models/")]
    assert [(row.split(": ")[0], "prefix_caching" in row) for row in rows] == [
        ("- `models/one/compose.yml`, `models/two/compose.yml`", True),
        ("- `models/three/compose.yml`", False),
    ]


def test_the_composes_that_one_comment_names_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "MAX_NAMED", 1)
    base, head = (_with_profiles("hare", {"hare": f"vllm/vllm-openai:v{release}"}) for release in ("0.27.1", "0.28.0"))
    (comment,) = review(base, head, {PROFILE: MOVED_PIN}, {}).comments
    assert "- `models/one/compose.yml`, 1 more: Moving" in comment.body


def test_one_compose_of_a_profile_keeps_its_comment() -> None:
    base, head = (
        _with_profiles("hare", {"hare": f"vllm/vllm-openai:v{release}"}, **{"models/two/compose.yml": "services: {}\n"})
        for release in ("0.27.1", "0.28.0")
    )
    (comment,) = review(base, head, {PROFILE: MOVED_PIN}, {}).comments
    assert (comment.path, comment.line, comment.finding.path) == (PROFILE, 4, "models/one/compose.yml")
    assert "composes" not in comment.body


def test_a_registry_entry_that_names_another_engine() -> None:
    pins = {"old": "vllm/vllm-openai:v0.27.1", "new": "vllm/vllm-openai:v0.28.0"}
    base, head = (
        _with_profiles("", pins, **{"registry.yml": f"hare:\n  compose: models/one/compose.yml\n  engine: {name}\n"})
        for name in ("old", "new")
    )
    (found,) = _flips(base, head)
    assert (found.service, found.slug) == ("one", "hare")
    assert "prefix_caching from off to on" in found.message


@pytest.mark.parametrize(
    ("before", "after", "image"),
    [
        ("vllm/vllm-openai:v0.27.1", "vllm/vllm-openai:v0.28.0", "vllm/vllm-openai:v0.25.1"),
        ("vllm/vllm-openai:v0.27.1", "vllm/vllm-openai:v0.27.1", SET_BY_LAUNCHER),
        ("vllm/vllm-openai:latest", "vllm/vllm-openai:v0.28.0", SET_BY_LAUNCHER),
        ("vllm/vllm-openai:v0.28.0", "vllm/vllm-openai:nightly", SET_BY_LAUNCHER),
        ("vllm/vllm-openai:v0.27.1", "ghcr.io/someone/other:1", SET_BY_LAUNCHER),
    ],
)
def test_a_profile_that_changes_nothing_known(before: str, after: str, image: str) -> None:
    base, head = (_with_profiles("hare", {"hare": pin}, image) for pin in (before, after))
    assert not _flips(base, head)


def test_a_pin_that_moves_in_the_file_and_in_its_profile_is_told_once() -> None:
    base, head = (
        _with_profiles("hare", {"hare": image}, f"${{VLLM_IMAGE:-{image}}}")
        for image in ("vllm/vllm-openai:v0.27.1", "vllm/vllm-openai:v0.28.0")
    )
    found = _flips(base, head)
    assert [one.service for one in found] == ["one", "two"]
    assert not any("profile" in one.message for one in found)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("command: [--model, Qwen/Qwen3.5-27B, --calculate-kv-scales]", "--calculate-kv-scales is refused"),
        ("environment: {VLLM_TPU_MOST_MODEL_LEN: '1'}", "VLLM_TPU_MOST_MODEL_LEN=1 is no longer read"),
    ],
)
def test_what_the_new_release_of_a_profile_no_longer_takes(more: str, said: str) -> None:
    """Other rules tell this of the pin in the file; of the profile's there is no one else to tell it."""
    base, head = (
        _with_profiles("hare", {"hare": f"vllm/vllm-openai:v{release}"}, more=more) for release in ("0.25.1", "0.28.0")
    )
    found = _flips(base, head)
    assert [one.service for one in found] == ["one", "two"]
    assert said in found[0].message
