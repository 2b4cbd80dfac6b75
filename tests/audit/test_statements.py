"""What `patches.yml` and the engine profiles say, held against composes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.audit import audit
from bot.audit.attribution import covers
from bot.catalog import VerifiedOn, read_catalog
from bot.compose import Documents
from bot.hazards import Finding, load_rules
from bot.provenance import Position
from bot.resolution import Repository
from bot.tree import MemoryTree

RULES = load_rules()
PROFILE = "id: hare-9b\nnum_hidden_layers: 32\nnum_gdn_layers: 24\nnum_attn_layers: 8\nweights: {a: {path: hare-9b}}\n"
STABLE = "id: stable\ninstall: {method: docker_image, spec: vllm/vllm-openai:v0.25.1}\n"
MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":2}'"""
FOLDER = "./p/pr48375:/etc/fix"
RUN = "bash /etc/fix/install.sh"


def _patches(composes: str = "[engine/dual]", more: str = "") -> str:
    return f"""
patches:
  - id: fix
    files: [p/pr48375/install.sh]
    load_bearing_when: [{{composes: {composes}}}]
    delivery_mechanism: install_script
    delivery_spec: {{script: p/pr48375/install.sh, mounted_at: /etc/fix, invoke: {RUN}}}
    upstream: {{ref: 'vllm#48375'}}
    {more}
"""


def _compose(
    script: str,
    *mounts: str,
    image: str = "vllm/vllm-openai:v0.25.1",
    header: str = "# bash switch.sh engine/dual\n",
    more: str = "",
) -> str:
    lines = "".join(f"        {line}\n" for line in script.split("\n"))
    volumes = f"    volumes: [{', '.join(mounts)}]\n" if mounts else ""
    shell = "    entrypoint: [bash, -c]\n    command:\n      - |\n"
    return f"{header}services:\n  engine:\n    image: {image}\n{volumes}{shell}{lines}{more}"


def _findings(files: Mapping[str, str]) -> list[Finding]:
    tree = MemoryTree({"models/hare.yml": PROFILE, "p/pr48375/install.sh": "true\n", **files})
    report = audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES)
    assert not report.skipped
    return list(report.findings)


def _said(rule: str, compose: str, patches: str | None = None, **files: str) -> list[tuple[str, str]]:
    given = {"compose.yml": compose, **files}
    if patches is not None:
        given["lib/patches.yml"] = patches
    return [(found.status, found.level) for found in _findings(given) if found.rule == rule]


SERVE = "exec vllm serve /models/hare-9b"
ERROR, WARNING, NOTICE, FOLDED = (("active", level) for level in ("error", "warning", "notice", "folded"))
MITIGATED = ("mitigated", "folded")


# A patch that is declared ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "mounts", "expected"),
    [
        pytest.param(f"{RUN} || exit 1\n{SERVE} {MTP}", [FOLDER], [], id="wired"),
        pytest.param(f"set -e\n{RUN}\n{SERVE} {MTP}", [FOLDER], [], id="set -e"),
        pytest.param(f"{SERVE} {MTP} --enable-prefix-caching", [], [ERROR], id="absent"),
        pytest.param(
            f"bash /patches/install.sh || exit 1\n{SERVE} {MTP}", [], [ERROR], id="run and not mounted: told once"
        ),
        pytest.param(f"{SERVE} {MTP}", [FOLDER], [ERROR], id="not invoked"),
        pytest.param(f"{RUN}\n{SERVE} {MTP}", [FOLDER], [ERROR], id="fail-open"),
        pytest.param(f"{RUN} || echo no\n{SERVE} {MTP}", [FOLDER], [ERROR], id="the failure is swallowed"),
        pytest.param(f"{SERVE} {MTP} &\n{RUN} || exit 1\nwait", [FOLDER], [ERROR], id="after the engine"),
        pytest.param(f"{RUN} || exit 1\n{SERVE} {MTP}", ["./q/old:/etc/fix"], [WARNING], id="other files in its place"),
        pytest.param(
            f"{RUN} || exit 1\n{SERVE} {MTP}", ["/srv/fix:/etc/fix"], [("unknown", "notice")], id="files of the host"
        ),
        pytest.param(
            f"bash /opt/fix/install.sh || exit 1\n{SERVE} {MTP}",
            ["./p/pr48375:/opt/fix"],
            [NOTICE],
            id="it works in another place",
        ),
    ],
)
def test_a_declared_patch(script: str, mounts: list[str], expected: list[tuple[str, str]]) -> None:
    assert _said("overlay-not-wired", _compose(script, *mounts), _patches()) == expected


ABSENT = _compose(f"{SERVE} {MTP} --enable-prefix-caching")


@pytest.mark.parametrize(
    ("patches", "compose", "expected"),
    [
        pytest.param(_patches("[./compose.yml]"), ABSENT, [ERROR], id="by its path"),
        pytest.param(_patches("null"), ABSENT, [], id="a row that names nothing"),
        pytest.param(_patches(more="deprecated_on: '2026-01-01'"), ABSENT, [], id="deprecated"),
        pytest.param(_patches().replace("install_script", "none"), ABSENT, [], id="delivered by nothing"),
        pytest.param(
            _patches(more="delivery_gaps: [{composes: [engine/dual]}]"), ABSENT, [MITIGATED], id="a declared gap"
        ),
        pytest.param(_patches(), _compose(f"{SERVE} --no-enable-prefix-caching"), [MITIGATED], id="of no use there"),
        pytest.param(
            _patches().replace("install_script", "baked"),
            ABSENT.replace("    image: vllm/vllm-openai:v0.25.1\n", "    image: ours/engine:1\n    build: .\n"),
            [("unknown", "notice")],
            id="an image that is built",
        ),
        pytest.param(
            _patches(),
            ABSENT + "  other:\n    image: vllm/vllm-openai:v0.25.1\n    volumes: [./p/pr48375:/etc/fix]\n"
            f"    entrypoint: [bash, -c, '{RUN} || exit 1; exec vllm serve m']\n",
            [],
            id="another service has it",
        ),
    ],
)
def test_a_declared_patch_that_is_absent(patches: str, compose: str, expected: list[tuple[str, str]]) -> None:
    assert _said("overlay-not-wired", compose, patches) == expected


def test_what_the_image_is_declared_to_contain_is_not_missing() -> None:
    images = "images: {'vllm/vllm-openai:v0.25.1': {release: 0.25.1, contains: ['vllm#48375']}}\n"
    files = {"compose.yml": ABSENT, "patches.yml": _patches(), ".github/seamguard.yml": images}
    assert [found.status for found in _findings(files) if found.rule == "overlay-not-wired"] == ["mitigated"]


# A patch that nobody declares -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "mounts", "expected"),
    [
        pytest.param(f"bash /x/install.sh\n{SERVE}", ["./patches/a:/x"], [WARNING], id="fail-open"),
        pytest.param(f"bash /x/install.sh || exit 1\n{SERVE}", ["./patches/a:/x"], [], id="wired"),
        pytest.param(SERVE, ["./patches/a.py:/x/y/a.py"], [WARNING], id="not invoked"),
        pytest.param(f"export PYTHONPATH=/x/y\n{SERVE}", ["./patches/a.py:/x/y/a.py"], [], id="on the module path"),
        pytest.param(
            f"{SERVE} --tool-parser-plugin /x/a.py", ["./patches/a.py:/x/a.py"], [], id="named by an argument"
        ),
        pytest.param(f"bash /etc/patches/a.sh || exit 1\n{SERVE}", [], [WARNING], id="run and not mounted"),
        pytest.param(
            f"git clone https://example.com/x /etc/patches\nbash /etc/patches/a.sh || exit 1\n{SERVE}",
            [],
            [],
            id="fetched",
        ),
        pytest.param(f"bash /etc/setup.sh || exit 1\n{SERVE}", [], [], id="not called a patch"),
        pytest.param(SERVE, ["./config:/config"], [], id="no patch"),
    ],
)
def test_an_undeclared_patch(script: str, mounts: list[str], expected: list[tuple[str, str]]) -> None:
    assert _said("overlay-not-wired", _compose(script, *mounts)) == expected


# The list of composes -------------------------------------------------------------------------------------------------

WIRED = f"{RUN} || exit 1\n{SERVE} {MTP}"
PAIR = f"{SERVE} {MTP} --enable-prefix-caching"


@pytest.mark.parametrize(
    ("script", "mounts", "composes", "header", "expected"),
    [
        pytest.param(WIRED, [FOLDER], "[engine/dual]", None, [], id="listed"),
        pytest.param(WIRED, [FOLDER], "[engine/solo]", None, [WARNING], id="unlisted"),
        pytest.param(WIRED, [FOLDER], "null", None, [WARNING], id="nothing is listed"),
        pytest.param(WIRED, [FOLDER], "[engine/solo]", "", [("unknown", "folded")], id="a compose without a name"),
        pytest.param(WIRED, [FOLDER], "[deploy/other.yml]", "", [WARNING], id="only paths are listed"),
        pytest.param(PAIR, [], "[engine/solo]", None, [FOLDED], id="it has what the patch fixes"),
        pytest.param(PAIR, [], "[engine/dual]", None, [FOLDED], id="told by the other rule"),
        pytest.param(SERVE, [], "[engine/dual]", None, [WARNING], id="named without need"),
        pytest.param(SERVE, [], "[engine/solo]", None, [], id="neither"),
    ],
)
def test_attribution(
    script: str, mounts: list[str], composes: str, header: str | None, expected: list[tuple[str, str]]
) -> None:
    compose = _compose(script, *mounts) if header is None else _compose(script, *mounts, header=header)
    assert _said("overlay-missing-attribution", compose, _patches(composes)) == expected


def test_slugs_that_share_a_file() -> None:
    registry = "a/one: {compose_path: compose.yml}\na/two: {compose_path: compose.yml}\n"
    files = {"compose.yml": _compose(WIRED, FOLDER), "patches.yml": _patches("[a/two]"), "registry.yml": registry}
    assert not [found for found in _findings(files) if found.rule.startswith("overlay")]


def test_a_rule_that_is_asked_alone_says_the_same() -> None:
    tree = MemoryTree({"models/hare.yml": PROFILE, "compose.yml": ABSENT, "patches.yml": _patches()})
    repository = Repository(tree, read_catalog(tree), Documents(tree))
    alone = audit(repository, RULES.only({"overlay-not-wired"})).findings
    assert [(found.rule, found.status) for found in alone] == [("overlay-not-wired", "active")]


# Releases -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "image", "expected"),
    [
        ("verified_on: [v0.25.1]", "vllm/vllm-openai:v0.25.1", []),
        ("verified_on: 0.25.x", "vllm/vllm-openai:v0.25.1", []),
        ("verified_on: ['>=0.24.0,<0.26.0']", "vllm/vllm-openai:v0.25.1", []),
        ("verified_on: [0.24.0]", "vllm/vllm-openai:v0.25.1", [ERROR]),
        ("drift_guard: {verified_on: 0.24.0}", "vllm/vllm-openai:v0.25.1", [ERROR]),
        ("verified_on: [0.24.0]", "vllm/vllm-openai:latest", [("unknown", "notice")]),
        ("status: verified", "vllm/vllm-openai:v0.25.1", []),
    ],
)
def test_the_releases_of_an_entry(more: str, image: str, expected: list[tuple[str, str]]) -> None:
    compose = _compose(WIRED, FOLDER, image=image)
    assert _said("overlay-version-guard", compose, _patches(more=more)) == expected


def test_the_releases_in_the_header_of_a_patch() -> None:
    header = "#!/bin/bash\n# Verified on: vLLM 0.24.0\ntrue\n"
    files = {"compose.yml": _compose(WIRED, FOLDER), "patches.yml": _patches(), "p/pr48375/install.sh": header}
    (found,) = (found for found in _findings(files) if found.rule == "overlay-version-guard")
    assert (found.level, "0.24.0" in found.message) == ("error", True)
    assert any(str(reason.path) == "p/pr48375/install.sh" and reason.line == 2 for reason in found.chain)


def test_the_release_in_the_name_of_a_patch() -> None:
    compose = _compose(f"bash /x/install.sh || exit 1\n{SERVE}", "./patches/pr42006-v0.22.0:/x")
    assert _said("overlay-version-guard", compose) == [WARNING]


@pytest.mark.parametrize(("tag", "expected"), [("v0.25.1", [ERROR]), ("v0.27.1", []), ("v0.26.0", [])])
def test_a_backport_that_is_known_to_do_harm(tag: str, expected: list[tuple[str, str]]) -> None:
    script = f"bash /x/install.sh || exit 1\n{SERVE}"
    compose = _compose(script, "./patches/vllm-pr49757:/x", image=f"vllm/vllm-openai:{tag}")
    assert _said("overlay-version-guard", compose) == expected


@pytest.mark.parametrize(
    ("stated", "release", "expected"),
    [
        (("0.25",), "0.25.3", True),
        (("0.25",), "0.26.0", False),
        (("v0.25.1", "0.26.0"), "0.26.0", True),
        ((">=0.25.0, <0.27.0",), "0.26.1", True),
        (("0.25.1",), "not a version", None),
    ],
)
def test_covers(stated: tuple[str, ...], release: str, expected: bool | None) -> None:
    assert covers(VerifiedOn(stated, "entry", Position("p.yml", 1)), release) is expected


# Pins -----------------------------------------------------------------------------------------------------------------

PINNED = "# Engine-profile: stable\n"


@pytest.mark.parametrize(
    ("image", "header", "expected"),
    [
        ("vllm/vllm-openai:v0.25.1", PINNED, []),
        ("docker.io/vllm/vllm-openai:v0.25.1", PINNED, []),
        ("vllm/vllm-openai:v0.24.0", PINNED, [WARNING]),
        ("${IMAGE:-vllm/vllm-openai:v0.24.0}", PINNED, [WARNING]),
        ("vllm/vllm-openai:nightly-${SHA:-}", PINNED, [WARNING]),
        ("vllm/vllm-openai:v0.24.0", "", []),
        ("vllm/vllm-openai:v0.24.0", "# Engine-profile: nobody\n", []),
        ("vllm/vllm-openai:latest", "", [NOTICE]),
        ("vllm/vllm-openai", "", [NOTICE]),
        ("vllm/vllm-openai:latest", PINNED, [WARNING, NOTICE]),
        ("vllm/vllm-openai:nightly-0123456789abcdef", "", [NOTICE]),
        (f"vllm/vllm-openai@sha256:{'a' * 64}", "", []),
        ("ours/vllm:latest", "", []),
    ],
)
def test_pins(image: str, header: str, expected: list[tuple[str, str]]) -> None:
    compose = _compose(SERVE, image=image, header=header)
    assert sorted(_said("pin-drift", compose, **{"engines/stable.yml": STABLE})) == sorted(expected)


def test_another_engine_and_an_image_that_is_built_are_left_alone() -> None:
    llama = "services: {a: {image: 'ggml/llama.cpp:latest', entrypoint: [llama-server], command: [-m, x]}}\n"
    built = _compose(SERVE, image="vllm/vllm-openai:latest", more="    build: .\n")
    assert [_said("pin-drift", text) for text in (llama, built)] == [[], []]
