from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.repositories import git
from bot.sandbox import sample_repository
from tests.cli.conftest import CORRUPT, PROFILE, Run
from tests.schemas import violations

Folder = Callable[..., Path]
PAIR = "mtp-prefix-cache-hybrid"
SAFE = CORRUPT.replace("--enable-prefix-caching", "--no-enable-prefix-caching")
NAMED = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid")


class History:
    """A repository to which states are added; `review` compares two of them."""

    def __init__(self, root: Path, run: Run) -> None:
        self.root = root
        self._run = run
        self._git("init", "-q")

    def state(self, files: dict[str, str | None]) -> str:
        for name, content in files.items():
            file = self.root / name
            if content is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content)
        self._git("add", "-A")
        self._git(*NAMED, "commit", "-q", "--allow-empty", "-m", "state")
        return self._git("rev-parse", "HEAD")

    def review(self, base: str, head: str, *options: str):  # type: ignore[no-untyped-def]
        return self._run("review", "--repo", self.root, "--base", base, "--head", head, *options)

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.root), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=git.environment()).stdout.strip()


@pytest.fixture
def history(tmp_path: Path, run: Run) -> History:
    found = History(tmp_path, run)
    found.state({"models/hare.yml": PROFILE, "compose.yml": SAFE})
    return found


# The sample -----------------------------------------------------------------------------------------------------------


def test_the_demo_names_the_hazard_that_the_sample_change_brings(run: Run) -> None:
    answer = run("demo")
    assert (answer.status, answer.err) == (0, "")
    assert "\x1b" not in answer.out
    for words in ("conclusion: failure", "was warning reachable, is now:", f"error active  {PAIR}", "otter-single"):
        assert words in answer.out


def test_the_sample_change_in_json_keeps_to_its_schema(run: Run) -> None:
    with sample_repository() as root:
        there = run("review", "--repo", root, "--base", "before", "--head", "after", "--format", "json")
        back = run("review", "--repo", root, "--base", "after", "--head", "before", "--format", "json")
        same = run("review", "--repo", root, "--base", "before", "--head", "before", "--format", "json")
    assert not root.exists()
    assert [violations("review", answer.json) for answer in (there, back, same)] == [[], [], []]
    assert [answer.status for answer in (there, back, same)] == [1, 0, 0]
    assert [answer.json["conclusion"] for answer in (there, back, same)] == ["failure", "success", "success"]
    (worse,) = (pair["after"] for pair in there.json["changed"] if pair["after"]["level"] == "error")
    pairs = (item for item in there.json["comments"] if item["finding"]["rule"] == PAIR)
    comment = next(item for item in pairs if item["path"] == worse["path"])
    assert worse["rule"] == PAIR
    assert (comment["path"], comment["line"], comment["side"]) == (worse["path"], worse["line"], "RIGHT")
    assert same.json["property_changes"] == same.json["comments"] == same.json["introduced"] == []


def test_the_sample_change_in_markdown(run: Run) -> None:
    with sample_repository() as root:
        answer = run("review", "--repo", root, "--base", "before", "--head", "after", "--format", "markdown")
    assert answer.out.startswith("**This change introduces a hazard.**")
    assert "compose/otter-single.yml:" in answer.out


# Exit status and conclusion -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "conclusion", "status"),
    [
        pytest.param({"compose.yml": CORRUPT}, "failure", 1, id="an error comes in"),
        pytest.param({"README.md": "x"}, "success", 0, id="nothing that concerns a compose"),
        pytest.param({"compose.yml": "# x\n" + SAFE}, "success", 0, id="lines move"),
        pytest.param({"compose.yml": None}, "success", 0, id="a compose goes"),
        pytest.param({"new.yml": CORRUPT}, "failure", 1, id="a compose with an error comes"),
        pytest.param({"models/hare.yml": PROFILE + "display_name: Hare\n"}, "success", 0, id="words of a profile"),
    ],
)
def test_a_change_is_concluded(history: History, change: dict[str, str | None], conclusion: str, status: int) -> None:
    base = history.state({})
    answer = history.review(base, history.state(change), "--format", "json")
    assert (answer.json["conclusion"], answer.status) == (conclusion, status)
    assert violations("review", answer.json) == []


def test_what_stood_before_never_fails(history: History) -> None:
    base = history.state({"compose.yml": CORRUPT})
    answer = history.review(base, history.state({"compose.yml": "# x\n" + CORRUPT}), "--format", "json")
    assert (answer.status, answer.json["introduced"], answer.json["changed"]) == (0, [], [])
    assert answer.json["unchanged_count"] >= 1


@pytest.mark.parametrize(("threshold", "status"), [("error", 0), ("warning", 1), ("notice", 1), ("never", 0)])
def test_fail_on_counts_what_is_introduced(history: History, threshold: str, status: int) -> None:
    base = history.state({})
    head = history.state(
        {"compose.yml": SAFE.replace("    command:", "    command: &c\n      - --seed=1\n      - --seed=2")}
    )
    assert history.review(base, head, "--fail-on", threshold).status == status


def test_another_value_for_a_wrong_flag_is_the_same_finding(history: History) -> None:
    base = history.state({"compose.yml": SAFE + "      - --nope=1\n      - --dtype=float1\n"})
    head = history.state({"compose.yml": SAFE + "      - --nope=2\n      - --dtype=float2\n"})
    answer = history.review(base, head, "--format", "json")
    assert (answer.json["introduced"], answer.json["fixed"], answer.status) == ([], [], 0)


def test_a_moved_compose_keeps_its_findings(history: History) -> None:
    base = history.state({"compose.yml": CORRUPT})
    head = history.state({"compose.yml": None, "deploy/compose.yml": CORRUPT})
    answer = history.review(base, head, "--format", "json")
    assert (answer.json["introduced"], answer.json["fixed"], answer.status) == ([], [], 0)


def test_a_profile_that_changes_what_a_model_is_concerns_every_compose(history: History) -> None:
    base = history.state({"compose.yml": CORRUPT, "models/hare.yml": "id: hare-9b\nweights: {fp8: {path: hare-9b}}\n"})
    answer = history.review(base, history.state({"models/hare.yml": PROFILE}), "--format", "json")
    moved = {change["property"]: (change["before"], change["after"]) for change in answer.json["property_changes"]}
    assert moved["model.recurrent"] == ("unknown", "gdn")
    assert answer.status == 1


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(
            CORRUPT + "  other: [\n",
            id="not YAML",
        ),
        pytest.param(CORRUPT.replace("image:", "imag:"), id="refused"),
        pytest.param(CORRUPT.replace("- --model", "- 1"), id="refused at its command"),
    ],
)
def test_a_hazard_whose_file_cannot_be_resolved_any_more_is_not_fixed(history: History, broken: str) -> None:
    base = history.state({"compose.yml": CORRUPT})
    answer = history.review(base, history.state({"compose.yml": broken}), "--format", "json")
    assert PAIR not in {finding["rule"] for finding in answer.json["fixed"]}
    assert answer.json["conclusion"] != "success"


SCRIPT = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    entrypoint: [bash, -c, '{}', --]
    command: [vllm, serve, --model=/models/hare-9b, --enable-prefix-caching, '--speculative-config={{"method":"mtp"}}']
"""


@pytest.mark.parametrize(
    "unknown",
    [
        pytest.param('eval "$$(cat /x)"', id="an eval of what is not known"),
        pytest.param("exec /start.sh", id="a script that is not there"),
        pytest.param("if grep -q x /y; then eval $$(cat /x); fi; exec $$@", id="only in some fork"),
    ],
)
def test_a_hazard_is_not_fixed_by_an_entrypoint_that_nobody_can_follow(history: History, unknown: str) -> None:
    base = history.state({"compose.yml": SCRIPT.format("exec $$@")})
    answer = history.review(base, history.state({"compose.yml": SCRIPT.format(unknown)}), "--format", "json")
    assert PAIR not in {finding["rule"] for finding in answer.json["fixed"]}
    pairs = {pair["before"]["rule"]: pair for pair in answer.json["changed"]}
    assert (pairs[PAIR]["before"]["status"], pairs[PAIR]["after"]["status"]) == ("active", "unknown")
    assert "### Improved" not in answer.json["summary"]
    assert violations("review", answer.json) == []


@pytest.mark.parametrize("content", ["\0", "# " + "x" * 2**21])
def test_a_hazard_is_not_fixed_by_a_file_that_cannot_be_read(history: History, content: str) -> None:
    base = history.state({"stack.yml": CORRUPT})
    answer = history.review(base, history.state({"stack.yml": CORRUPT + content}), "--format", "json")
    assert answer.json["fixed"] == []
    assert PAIR in {pair["after"]["rule"] for pair in answer.json["changed"]}


def test_a_hazard_is_fixed_by_another_program(history: History) -> None:
    base = history.state({"compose.yml": SCRIPT.format("exec $$@")})
    head = history.state({"compose.yml": SCRIPT.format("exec nginx")})
    assert PAIR in {finding["rule"] for finding in history.review(base, head, "--format", "json").json["fixed"]}


@pytest.mark.parametrize(
    "configuration",
    [
        'ignore: ["**"]',
        'composes: ["nothing/**"]',
        'images: {"vllm/vllm-openai:v0.25.1": {release: "0.25.1", contains: ["vllm#48375"]}}',
    ],
)
def test_a_change_does_not_choose_what_it_is_judged_by(history: History, configuration: str) -> None:
    base = history.state({})
    head = history.state({"compose.yml": CORRUPT, ".github/seamguard.yml": configuration})
    answer = history.review(base, head, "--format", "json")
    assert (answer.json["conclusion"], answer.status) == ("failure", 1)


# What cannot be asked -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "head", "words"),
    [
        ("no-such-revision", "HEAD", "no-such-revision"),
        ("HEAD", "no-such-revision", "no-such-revision"),
        ("HEAD", "--output=/tmp/x", "--output=/tmp/x"),
        ("HEAD", "HEAD:compose.yml", "HEAD:compose.yml"),
        ("HEAD", "", ""),
    ],
)
def test_an_unknown_revision_ends_with_status_2(history: History, base: str, head: str, words: str) -> None:
    answer = history.review(base, head)
    assert (answer.status, answer.out) == (2, "")
    assert words in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("folder", ["{plain}", "/no/such/folder"])
def test_a_folder_that_is_no_repository_ends_with_status_2(run: Run, tmp_path: Path, folder: str) -> None:
    where = folder.format(plain=tmp_path)
    answer = run("review", "--repo", where, "--base", "a", "--head", "b")
    assert (answer.status, answer.out) == (2, "")
    assert "Traceback" not in answer.err


def test_both_revisions_must_be_given(run: Run, tmp_path: Path) -> None:
    assert run("review", "--repo", tmp_path, "--base", "a").status == 2


# Markdown -------------------------------------------------------------------------------------------------------------


def test_markdown_holds_what_would_be_said_on_the_lines(history: History) -> None:
    base = history.state({})
    out = history.review(base, history.state({"compose.yml": CORRUPT}), "--format", "markdown").out
    assert "### On the lines of this change\n#### `compose.yml:" in out
    for part in (
        f"(error, `{PAIR}`)",
        "**When:** by default",
        "**Why:**",
        "**How sure:** established",
        "**What to do:**",
    ):
        assert part in out


def test_with_an_address_markdown_has_links_to_the_commit(history: History) -> None:
    base = history.state({})
    head = history.state({"compose.yml": CORRUPT})
    url = "https://github.com/acme/serving"
    out = history.review(base, head, "--format", "markdown", "--url", f"{url}/").out
    assert f"]({url}/blob/{head}/compose.yml#L" in out
    assert "](https://redirect.github.com/vllm-project/vllm/issues/43559)" in out
    assert url not in history.review(base, head, "--format", "markdown").out
