"""The layouts that docs/layouts.md describes: what works without a configuration, and what two lines add."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.audit import Report, audit
from bot.catalog import read_catalog
from bot.catalog.configuration import PATH
from bot.compose import Documents
from bot.hazards import load_rules
from bot.resolution import EngineWorld, Repository
from bot.tree import MemoryTree

RULES = load_rules()
PAGE = Path(__file__).parents[2] / "docs" / "layouts.md"
DRAFTER = """'{"method":"mtp","num_speculative_tokens":2}'"""


@dataclass(frozen=True)
class Layout:
    """A small repository of a layout. `engines` are (compose, service, prefix caching, drafter) without a
    configuration, None where that is unknown or off; `rules` those that then find something that is not folded.
    With the `configuration` it is `configured` and `more`.
    """

    name: str
    files: dict[str, str]
    engines: set[tuple[str, str, object, object]]
    rules: set[str]
    configuration: str = ""
    configured: set[tuple[str, str, object, object]] = field(default_factory=set)
    more: set[str] = field(default_factory=set)


PER_MODEL = Layout(
    "One folder for each model",
    {
        "serving/heron/docker-compose.yml": f"""
x-limits: &limits {{shm_size: 16gb, restart: unless-stopped}}
services:
  heron:
    <<: *limits
    image: vllm/vllm-openai:v0.27.1
    command:
      - --model
      - birds/heron-27b
      - --speculative-config
      - {DRAFTER}
      - --no-enable-prefix-caching
""",
        "serving/stork/docker-compose.yml": """
services:
  stork:
    image: vllm/vllm-openai:v0.27.1
    command: [--model, birds/stork-9b, --max-model-len, "32768"]
""",
    },
    {
        ("serving/heron/docker-compose.yml", "heron", False, "mtp"),
        ("serving/stork/docker-compose.yml", "stork", None, None),
    },
    {"gdn-spec-decode-wild-write", "mtp-full-cudagraph-blackwell"},
    'hardware:\n  "serving/*": RTX 3090\n',
    {
        ("serving/heron/docker-compose.yml", "heron", False, "mtp"),
        ("serving/stork/docker-compose.yml", "stork", None, None),
    },
    {"gdn-spec-decode-wild-write"},
)
STACK = Layout(
    "One stack, many services behind profiles",
    {
        "docker-compose.yml": "include: [compose/models-heron.yml]\nservices: {gateway: {image: nginx:1.29}}\n",
        "compose/models-heron.yml": """
services:
  heron:
    image: ${ENGINE_IMAGE:-registry.example/engine:7}
    profiles: [heron]
    entrypoint: [bash, -c, 'bash /mods/fix-heron/run.sh; exec vllm serve birds/heron-9b --enable-prefix-caching']
    volumes: ["../mods/fix-heron:/mods/fix-heron:ro"]
""",
        "mods/fix-heron/run.sh": "true\n",
    },
    {("compose/models-heron.yml", "heron", True, None), ("docker-compose.yml", "heron", True, None)},
    set(),
    'images:\n  "registry.example/engine:7": {release: 0.25.1}\npatches: ["mods/*"]\n',
    {("compose/models-heron.yml", "heron", True, None), ("docker-compose.yml", "heron", True, None)},
    {"overlay-not-wired"},
)
FRAGMENTS = Layout(
    "A base and files laid over it",
    {
        "base.yml": """
services:
  vllm: {image: "vllm/vllm-openai:v0.25.1"}
""",
        "gpu.yml": f"""
services:
  vllm:
    command: [--model, birds/heron-27b, --speculative-config, {DRAFTER}, --enable-prefix-caching]
""",
    },
    {("base.yml", "vllm", True, None)},
    {"compose-broken"},
    "together: [[base.yml, gpu.yml]]\n",
    {("base.yml", "vllm", True, "mtp")},
    {"gdn-spec-decode-wild-write", "mtp-full-cudagraph-blackwell", "mtp-prefix-cache-hybrid"},
)
SCRIPTED = Layout(
    "A script in the entrypoint, with seams",
    {
        "compose/heron.yml": f"""
# Stack: pinned
services:
  heron:
    image: ${{ENGINE_IMAGE:-vllm/vllm-openai:v0.24.0}}
    environment:
      - CACHE=${{CACHE:-off}}
    entrypoint:
      - bash
      - -c
      - |
        if [ "$$CACHE" = on ]; then set -- --enable-prefix-caching; else set -- --no-enable-prefix-caching; fi
        exec vllm serve birds/heron-27b --speculative-config {DRAFTER} "$$@"
""",
        "engines/pinned.yml": "id: pinned\ninstall: {method: docker, spec: 'vllm/vllm-openai:v0.25.1'}\n",
    },
    {("compose/heron.yml", "heron", False, "mtp")},
    {"gdn-spec-decode-wild-write", "mtp-full-cudagraph-blackwell", "seam-value-trap"},
    "headers:\n  engine-profile: Stack\n",
    {("compose/heron.yml", "heron", False, "mtp")},
    {"gdn-spec-decode-wild-write", "mtp-full-cudagraph-blackwell", "pin-drift", "seam-value-trap"},
)
BUILT = Layout(
    "Everything in an image that is built here",
    {
        "docker-compose.yml": "services:\n  engine:\n    build: .\n    image: heron-engine:latest\n",
        "entrypoint.sh": "exec vllm serve birds/heron-9b --enable-prefix-caching\n",
    },
    set(),
    set(),
)
IN_ENV = Layout(
    "The arguments in .env",
    {
        "vllm/docker-compose.yml": """
services:
  engine:
    image: vllm/vllm-openai:${VLLM_TAG:?set it in .env}
    command: ["--model", "${MODEL}", "--max-model-len", "${CONTEXT:-8192}"]
""",
        "vllm/.env.example": "VLLM_TAG=v0.25.1\nMODEL=birds/heron-9b\n",
    },
    set(),
    set(),
)
LAYOUTS = [PER_MODEL, STACK, FRAGMENTS, SCRIPTED, BUILT, IN_ENV]


def _audit(layout: Layout, configuration: str) -> Report:
    tree = MemoryTree({**layout.files, **({PATH: configuration} if configuration else {})})
    return audit(Repository(tree, read_catalog(tree), Documents(tree)), RULES)


def _engines(report: Report) -> set[tuple[str, str, object, object]]:
    return {
        (unit.unit.path, service.name, _value(world, "prefix_caching"), _value(world, "spec_decode.method"))
        for unit in report.units
        for service in unit.services
        for world in service.defaults[:1]
        if world.engine is not None
    }


def _value(world: EngineWorld, name: str) -> object:
    assert world.engine is not None
    found = world.engine.properties[name]
    return found.value if found.known else None


def _rules(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings if finding.level != "folded"}


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_what_works_without_a_configuration(layout: Layout) -> None:
    report = _audit(layout, "")
    assert report.problems == ()
    assert _engines(report) == layout.engines
    assert _rules(report) == layout.rules


@pytest.mark.parametrize("layout", [one for one in LAYOUTS if one.configuration], ids=lambda layout: layout.name)
def test_what_a_few_lines_add(layout: Layout) -> None:
    report = _audit(layout, layout.configuration)
    assert report.problems == ()
    assert _engines(report) == layout.configured
    assert _rules(report) == layout.more


def test_the_page_describes_these_layouts() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"^## (.+)$", page, re.MULTILINE)) == {layout.name for layout in LAYOUTS}
    for layout in LAYOUTS:
        assert all(line in page for line in layout.configuration.splitlines()), layout.name
