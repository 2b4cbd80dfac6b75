"""What a change inherits by moving a pin."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from bot.audit import audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import load_rules
from bot.learn.source import SourceTree
from bot.resolution import Repository
from bot.review import OFFLINE, Bump, Knowledge, Links, bumps, review, summary
from bot.tree import MemoryTree
from bot.upstream.facts import Facts, Pull, collected

RULES = load_rules()
SHA = "bf610c2f56764e1b30bc6065f4ceace3d6e59036"
V = "vllm-project/vllm#"
TARGET = "vllm/v1/core/manager.py"
STOCK = "def hit(drop):\n    length = longest()\n    return length\n"
OLD, NEW = "    return length\n", "    return length - int(drop)\n"
SCRIPT = f"""from pathlib import Path
P = Path("/usr/lib/python3/dist-packages/{TARGET}")
P.write_text(P.read_text().replace({OLD!r}, {NEW!r}, 1))
"""
PATCHES = f"""patches:
  - id: drop
    files: [tools/fix.py]
    load_bearing_when: []
    upstream: {{ref: '{V}48375', drop_when: merged}}
  - id: unheard
    files: []
    load_bearing_when: []
    upstream: {{ref: '{V}12345'}}
"""


def compose(image: str, mount: str = "") -> str:
    volumes = f"    volumes: ['{mount}']\n" if mount else ""
    return f"services:\n  engine:\n    image: {image}\n    command: [--model, Qwen/Qwen3.5-27B]\n{volumes}"


def vllm(release: str, mount: str = "") -> dict[str, str]:
    return {"compose.yml": compose(f"vllm/vllm-openai:{release}", mount)}


def moved(before: dict[str, str], after: dict[str, str], knowledge: Knowledge | None = None) -> tuple[Bump, ...]:
    sides = [Repository(tree, read_catalog(tree), Documents(tree)) for tree in map(MemoryTree, (before, after))]
    reports = (audit(sides[0], RULES), audit(sides[1], RULES))
    return bumps(sides[0], sides[1], reports, {}, RULES.upstream, knowledge)


def sources(**texts: str) -> Knowledge:
    """Sources of releases, `v0_28_0="…"`."""
    known = {name[1:].replace("_", "."): text for name, text in texts.items()}

    def source(release: str, _paths: Iterable[str]) -> SourceTree | str:
        return SourceTree({TARGET: known[release]}.get) if release in known else "its source is not at hand"

    return Knowledge(sources=source)


def kinds(bump: Bump) -> dict[str, str]:
    return {fix.reference.rpartition("#")[2]: fix.kind for fix in bump.fixes}


def test_what_a_bump_inherits_and_what_not() -> None:
    (bump,) = moved(vllm("v0.23.0"), vllm("v0.24.0"))
    found = kinds(bump)
    assert (found["45295"], found["48375"], found["41800"]) == ("inherits", "does-not-inherit", "keeps")
    assert f"{V}43559" in bump.unrecorded
    assert [(use.name, use.position.line) for use in bump.uses] == [("engine", 3)]


def test_a_pin_that_moves_back_loses() -> None:
    (bump,) = moved(vllm("v0.24.0"), vllm("v0.23.0"))
    assert kinds(bump)["45295"] == "loses"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("v0.24.0", "v0.24.0"),
        ("v0.24.0", "v0.24.0-cu129"),
        ("v0.24.0", f"v0.24.0@sha256:{'a' * 64}"),
        ("latest", "latest"),
    ],
)
def test_no_move(before: str, after: str) -> None:
    assert moved(vllm(before), vllm(after)) == ()


@pytest.mark.parametrize("after", ["latest", f"nightly-{SHA}", "gemma4-unified"])
def test_a_pin_of_which_nobody_knows(after: str) -> None:
    (bump,) = moved(vllm("v0.24.0"), vllm(after))
    assert set(kinds(bump).values()) == {"unknown"}
    assert all(fix.before.state == "pinned" for fix in bump.fixes)  # the others are only named
    assert bump.after.why


def test_an_engine_profile_and_a_declared_image() -> None:
    profile = "id: stable\ninstall:\n  method: docker\n  spec: vllm/vllm-openai:{}\n"
    (bump,) = moved({"engines/a.yml": profile.format("v0.23.0")}, {"engines/a.yml": profile.format("v0.24.0")})
    assert ([use.name for use in bump.uses], kinds(bump)["45295"]) == (["stable"], "inherits")
    declared = "images:\n  ghcr.io/x/y:1: {{release: '0.24.0', contains: [{}]}}\n"
    files = {
        "compose.yml": compose("ghcr.io/x/y:1").replace("    command", "    entrypoint: [vllm, serve]\n    command")
    }
    before, after = ({**files, ".github/seamguard.yml": declared.format(contains)} for contains in ("", f"'{V}48375'"))
    (bump,) = moved(before, after)
    assert kinds(bump)["48375"] == "inherits"
    assert "declares" in next(fix for fix in bump.fixes if fix.reference == f"{V}48375").after.evidence[0]


def test_several_moves_stand_apart_and_alike_ones_together() -> None:
    one, other = compose("vllm/vllm-openai:v0.23.0"), compose("vllm/vllm-openai:v0.22.0")
    new = compose("vllm/vllm-openai:v0.24.0")
    found = moved(
        {"a/compose.yml": one, "b/compose.yml": one, "c/compose.yml": other},
        dict.fromkeys(("a/compose.yml", "b/compose.yml", "c/compose.yml"), new),
    )
    assert [(bump.before.release, len(bump.uses)) for bump in found] == [("0.23.0", 2), ("0.22.0", 1)]


def test_recorded_facts_are_asked() -> None:
    pull = Pull(12345, "open", None, None, None, "a fix")
    known = Knowledge(lambda reference: collected([pull]) if reference == f"{V}12345" else Facts())
    (bump,) = moved({**vllm("v0.23.0"), "patches.yml": PATCHES}, {**vllm("v0.24.0"), "patches.yml": PATCHES}, known)
    assert kinds(bump)["12345"] == "does-not-inherit"
    assert next(iter(kinds(bump))) == "12345"  # what the repository waits for comes first


def overlaid(release: str) -> dict[str, str]:
    return {**vllm(release, "./tools/fix.py:/etc/fix.py"), "patches.yml": PATCHES, "tools/fix.py": SCRIPT}


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (STOCK, []),
        (STOCK.replace(OLD, NEW), ["applied"]),
        ("def hit(drop):\n    return longest(drop)\n", ["gone"]),
    ],
)
def test_an_overlay_on_the_new_source(text: str, state: list[str]) -> None:
    (bump,) = moved(overlaid("v0.27.1"), overlaid("v0.28.0"), sources(v0_27_1=STOCK, v0_28_0=text))
    (overlay,) = bump.overlays
    assert (overlay.mounted, overlay.checks[0].line) == (True, 3)
    assert [check.state for check in overlay.changed] == state


def test_what_did_not_fit_before_is_not_told_again() -> None:
    known = sources(v0_27_1="x = 1\n", v0_28_0="x = 2\n")
    (bump,) = moved(overlaid("v0.27.1"), overlaid("v0.28.0"), known)
    assert bump.overlays[0].changed == ()


def test_without_the_source_it_is_said_why() -> None:
    (bump,) = moved(overlaid("v0.27.1"), overlaid("v0.28.0"))
    assert (bump.overlays, bump.unread) == ((), "its source is not at hand")
    (bump,) = moved(overlaid("v0.27.1"), overlaid("latest"))
    assert bump.unread == "a floating tag: latest"


def told(
    before: dict[str, str], after: dict[str, str], knowledge: Knowledge | None = None, links: Links = OFFLINE
) -> str:
    sides = [Repository(tree, read_catalog(tree), Documents(tree)) for tree in map(MemoryTree, (before, after))]
    reports = (audit(sides[0], RULES), audit(sides[1], RULES))
    found = bumps(sides[0], sides[1], reports, {}, RULES.upstream, knowledge)
    return summary(review(*reports, {}, {}, bumps=found), links)


def test_the_summary_is_short_and_folds_the_rest() -> None:
    text = told(overlaid("v0.23.0"), overlaid("v0.24.0"), sources(v0_23_0=STOCK, v0_24_0="x = 1\n"))
    assert "it inherits 1, does not inherit 8, has 1 as before" in text
    assert f"| **inherits** | {V}45295 Marlin pads" in text
    assert "<details><summary>Upstream fixes that this bump does not inherit (8)</summary>" in text
    assert "| `tools/fix.py:3` | **the anchor is gone** | `vllm/v1/core/manager.py` |" in text
    assert "Nothing is recorded of `vllm#12345`" in text
    assert told(overlaid("v0.24.0"), overlaid("v0.24.0")).find("Upstream fixes") == -1


def test_links_lead_to_the_script_and_the_fix() -> None:
    links = Links("https://github.com/acme/serving", "f" * 40)
    text = told(overlaid("v0.23.0"), overlaid("v0.24.0"), sources(v0_24_0="x = 1\n"), links)
    assert f"[`tools/fix.py:3`](https://github.com/acme/serving/blob/{'f' * 40}/tools/fix.py#L3)" in text
    assert f"[{V}45295](https://redirect.github.com/vllm-project/vllm/issues/45295)" in text


def test_strangers_are_quoted_as_code() -> None:
    bad = "ghcr.io/x/vllm:<b>@somebody|x"
    text = told({"compose.yml": compose("vllm/vllm-openai:v0.24.0")}, {"compose.yml": compose(f"'{bad}'")})
    assert "<b>" not in re.sub("`[^`]*`", "", text)
