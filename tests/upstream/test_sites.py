"""Caveat sites: how people write down that they wait for an upstream fix."""

from __future__ import annotations

import pytest

from bot.catalog import read_catalog
from bot.repositories import RevisionTree
from bot.tree import MemoryTree
from bot.upstream.sites import Site, sites_in, sites_of
from tests.corpus import CORPUS, needs_corpus

V = "vllm-project/vllm#"


def only(text: str, path: str = "docs/UPSTREAM.md") -> Site:
    (site,) = sites_of(text, path)
    return site


def found(text: str, path: str = "docs/UPSTREAM.md") -> dict[str, Site]:
    return {site.reference: site for site in sites_of(text, path)}


@pytest.mark.parametrize(
    ("line", "path", "references"),
    [
        ("see vllm#48375", "a.yml", [f"{V}48375"]),
        ("see vllm-project/vllm#48375.", "a.yml", [f"{V}48375"]),
        ("https://github.com/vllm-project/vllm/pull/48375/files", "a.yml", [f"{V}48375"]),
        ("[#48375](https://github.com/vllm-project/vllm/pull/48375)", "a.md", [f"{V}48375"]),
        ("[#98](https://github.com/somebody/else/issues/98)", "a.md", ["somebody/else#98"]),
        ("PR #40391 and PR 40392", "a.yml", [f"{V}40391", f"{V}40392"]),
        ("- ../patches/vllm-pr48375-mamba/install.sh:/etc/x.sh", "a.yml", [f"{V}48375"]),
        ("- ../patches/sglang-pr48375/install.sh:/etc/x.sh", "a.yml", []),
        ("gh api repos/vllm-project/vllm/pulls/40391 --jq .state", "a.yml", [f"{V}40391"]),
        ("closed our #720 and #72", "a.yml", []),
        ("TRT-LLM #10241 and llama.cpp #23398", "a.yml", []),
        ("ggml-org/llama.cpp#23398", "a.yml", ["ggml-org/llama.cpp#23398"]),
        ("club-3090#72, somebody#85", "a.yml", []),
        ("docs/UPSTREAM.md#35936 row", "a.yml", [f"{V}35936"]),
        ("color: #123456ff", "a.yml", []),
        ("vllm#43559 (bug) / vllm#48375 (fix)", "a.yml", [f"{V}43559", f"{V}48375"]),
    ],
)
def test_what_is_a_reference(line: str, path: str, references: list[str]) -> None:
    assert [site.reference for site in sites_of(line, path)] == references


@pytest.mark.parametrize(
    ("text", "reference", "role"),
    [
        ("ref: vllm#43559 (bug; seen) / vllm#48375 (fix PR, OPEN)", f"{V}43559", "bug"),
        ("ref: vllm#43559 (bug; seen) / vllm#48375 (fix PR, OPEN)", f"{V}48375", "fix"),
        ("# Vendored vllm#48375 (MambaManager)", f"{V}48375", "fix"),
        (
            "| [#49757](https://github.com/vllm-project/vllm/pull/49757) | 🔴 **DO NOT VENDOR** | x |",
            f"{V}49757",
            "do-not-vendor",
        ),
        ("| #40361 — pad | 🟣 **superseded by #45295** | x |", f"{V}40361", "superseded"),
        ("| #40361 — pad | 🟣 **superseded by #45295** | x |", f"{V}45295", "superseding"),
        ("| [#43562](https://github.com/vllm-project/vllm/issues/43562) — no | 🟡 Open | x |", f"{V}43562", "bug"),
        ("| [#46329](https://github.com/vllm-project/vllm/pull/46329) — yes | 🟡 Open | x |", f"{V}46329", "fix"),
        ("  - ../patches/vllm-pr48375/install.sh:/etc/install.sh:ro", f"{V}48375", "overlay"),
        ("# like vllm#40391 somehow", f"{V}40391", "mentioned"),
    ],
)
def test_what_a_reference_is_there(text: str, reference: str, role: str) -> None:
    assert found(text)[reference].role == role


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("# Drops out when vllm#40361 lands upstream. More.", "Drops out when vllm#40361 lands upstream"),
        ("**Future Plan**: remove when vllm#40361 merges", "remove when vllm#40361 merges"),
        ("# vllm#40361 fallback (drop when upstream lands).", "drop when upstream lands"),
        ("# relaxes vllm#39226 until\n# the lock is fixed", "until the lock is fixed"),
        ("# returns FREE when PR #40391 merges upstream.", "when PR #40391 merges upstream"),
        ("| #40334 — dtype | 🟡 Open | set it. Drop when this lands. |", "Drop when this lands"),
        ("a plain word on vllm#40334", None),
    ],
)
def test_until_when(text: str, predicate: str | None) -> None:
    assert only(text).predicate == predicate


@pytest.mark.parametrize(
    ("text", "state", "date"),
    [
        ("| #40334 — dtype | 🟡 Open | x |", "open", None),
        ("| #40334 — dtype | ✅ **Merged 2026-05-06 at `d5b31c95`** | x |", "resolved", "2026-05-06"),
        ("| #40334 — dtype | 🔵 Merged into v0.20.0 | x |", "merged", None),
        ("# vllm#40334 merged 2026-05-06", "merged", "2026-05-06"),
        ("# see vllm#40334", None, None),
    ],
)
def test_what_is_believed_of_it(text: str, state: str | None, date: str | None) -> None:
    site = only(text)
    assert (site.state, site.date) == (state, date)


def test_struck_rows_are_history() -> None:
    text = "| ~~Rebase vllm#40361~~ | done: #45295 | — |"
    assert {site.reference: site.struck for site in sites_of(text, "a.md")} == {f"{V}40361": True, f"{V}45295": False}


def test_a_section_says_whose_numbers_they_are() -> None:
    text = "## llama.cpp (`ggml-org/llama.cpp`)\n#23398\n## vLLM (`vllm-project/vllm`)\n#48375\n## Other\n#40391"
    assert [(site.reference, site.position.line) for site in sites_of(text, "a.md")] == [
        ("ggml-org/llama.cpp#23398", 2),
        (f"{V}48375", 4),
        (f"{V}40391", 6),
    ]


PATCHES = """\
patches:
  - id: mamba
    files: [patches/vllm-pr48375-mamba]
    load_bearing_when: []
    upstream:
      ref: "vllm-project/vllm#48375"
      drop_when: "it merges and the pin moves"
  - id: other
    files: [patches/other]
    load_bearing_when: []
    upstream: {ref: vllm#46324}
"""


def test_the_entry_of_a_patch_lends_its_predicate() -> None:
    tree = MemoryTree(
        {
            "patches.yml": PATCHES,
            "a.yml": "x: 1 # vllm#46324",
            ".github/seamguard.yml": "ignore: [b.yml]",
            "b.yml": "# vllm#46324",
        }
    )
    sites = sites_in(tree, read_catalog(tree))
    assert [(site.reference, str(site.position), site.role, site.patch) for site in sites] == [
        (f"{V}46324", "a.yml:1", "mentioned", None),
        (f"{V}48375", "patches.yml:3", "overlay", "mamba"),
        (f"{V}48375", "patches.yml:6", "fix", "mamba"),
        (f"{V}46324", "patches.yml:11", "mentioned", "other"),
    ]
    assert sites[2].predicate == "it merges and the pin moves"


@pytest.mark.parametrize(
    "text",
    [
        "#" * 50_000,
        "drop " * 20_000 + "vllm#48375",
        "[" * 30_000 + "#48375",
        "a.b-" * 20_000 + "#48375",
        "when x" * 5_000 + " vllm#48375",
        "vllm#48375 " * 5_000,
        "~~" * 9_000 + "vllm#48375|",
    ],
)
def test_hostile_lines_end(text: str) -> None:
    assert len(list(sites_of(text, "a.md"))) <= 1


UNNAMED = """\
patches:
  - id: mamba-flag
    files: [patches/mamba_flag/install.sh, patches/mamba_flag/fix_manager.py]
    load_bearing_when: []
    delivery_spec: {mounted_at: /etc/acme/mamba, invoke: "bash /etc/acme/mamba/install.sh"}
    upstream: {ref: "vllm#48375", drop_when: "it is in the pin"}
"""


def test_lines_of_a_patch_need_not_name_what_it_is_for() -> None:
    tree = MemoryTree(
        {
            "patches.yml": UNNAMED,
            "patches/mamba_flag/fix_manager.py": "# also takes over vllm#46324\n",
            "compose/a.yml": "x:\n  - ../patches/mamba_flag/install.sh:/x.sh\n  - ./:/etc/acme/mamba\n"
            "  # fix_manager.py\n  - run fix_manager.py  # vllm#48375\n  - other/install.sh:/y.sh\n",
            "docs/a.md": "fix_manager.py",
        }
    )
    sites = [site for site in sites_in(tree, read_catalog(tree)) if site.position.path != "patches.yml"]
    assert [(site.reference, str(site.position), site.role, site.patch, site.part) for site in sites] == [
        (f"{V}48375", "compose/a.yml:2", "overlay", "mamba-flag", "wiring"),
        (f"{V}48375", "compose/a.yml:3", "overlay", "mamba-flag", "wiring"),
        (f"{V}48375", "compose/a.yml:5", "mentioned", "mamba-flag", "wiring"),
        (f"{V}46324", "patches/mamba_flag/fix_manager.py:1", "mentioned", "mamba-flag", "file"),
    ]
    assert sites[0].predicate == "it is in the pin"


@needs_corpus
def test_no_reference_of_the_corpus_patches_is_missed(tmp_path_factory: pytest.TempPathFactory) -> None:
    import subprocess

    folder = tmp_path_factory.mktemp("club")
    subprocess.run(
        ["git", "clone", "-q", "--bare", "-b", "main", str(CORPUS / "club-history.bundle"), str(folder)], check=True
    )
    with RevisionTree(folder, "main") as tree:
        catalog = read_catalog(tree)
        sites = sites_in(tree, catalog)
    wanted = {reference for patch in catalog.patches for reference in patch.upstream}
    stated = {site.reference for site in sites if site.position.path.endswith("patches.yml")}
    assert len(wanted) > 10
    assert wanted - stated == set()
    tracked = [site for site in sites if site.position.path == "docs/UPSTREAM.md"]
    rows = {(site.reference, site.role, site.state) for site in tracked}
    assert {
        (f"{V}49757", "do-not-vendor", "open"),
        (f"{V}40361", "superseded", "closed"),
        (f"{V}43559", "bug", "open"),
        (f"{V}41800", "fix", "resolved"),
    } <= rows
    assert len({site.reference for site in tracked}) > 100
