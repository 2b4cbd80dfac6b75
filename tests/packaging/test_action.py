"""The GitHub Action, run by bash in checkouts as GitHub makes them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.cli.action import step
from bot.cli.review import FORMATS, review_command, review_revisions
from bot.hazards import load_rules
from bot.repositories import git
from bot.review import Links, summary
from tests.cli.conftest import CORRUPT, PROFILE
from tests.packaging.action_lock import NEEDED, action_lock
from tests.packaging.runner import ACTION, ROOT, STEPS, Ran, Runner

PAIR = "mtp-prefix-cache-hybrid"
SAFE = CORRUPT.replace("--enable-prefix-caching", "--no-enable-prefix-caching")
UNKNOWN = "services: {e: {image: 'vllm/vllm-openai:v0.25.1', command: [--model, m, --nope]}}\n"
NAMED = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid")
HOSTILE_BRANCH = "x;touch${IFS}owned;$(touch${IFS}owned)`touch${IFS}owned`\"'&&!owned"
HOSTILE_PATH = "a $(touch owned);`touch owned`\n::error title=owned::owned\n##[error]owned/compose.yml"


class Origin:
    """A repository at GitHub: its main branch, and a pull request."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "uploadpack.allowAnySHA1InWant", "true")
        self.commit({"models/hare.yml": PROFILE, "compose.yml": SAFE})

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.root), *NAMED, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=git.environment()).stdout.strip()

    def commit(self, files: Mapping[str, str]) -> str:
        for name, content in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "state")
        return self.git("rev-parse", "HEAD")

    def pull(self, files: Mapping[str, str], branch: str = "topic", meanwhile: Mapping[str, str] | None = None) -> str:
        """Opens a pull request, merges it as GitHub tries it, and gives the event."""
        self.git("checkout", "-q", "-b", branch)
        head = self.commit(files)
        self.git("checkout", "-q", "main")
        if meanwhile:
            self.commit(meanwhile)
        base = self.git("rev-parse", "main")
        self.git("checkout", "-q", "--detach")
        self.git("merge", "-q", "--no-ff", "-m", "merge", head)
        self.git("update-ref", "refs/pull/1/merge", "HEAD")
        self.git("update-ref", "refs/pull/1/head", head)
        self.git("checkout", "-q", "main")
        sides = {"base": {"sha": base, "ref": "main"}, "head": {"sha": head, "ref": branch}}
        return json.dumps({"action": "opened", "number": 1, "pull_request": {"title": branch, **sides}})

    def checkout(self, folder: Path, ref: str, depth: int | None = None) -> Path:
        """What actions/checkout makes of a ref: all branches too, unless it is told how deep to go."""
        how = [f"--depth={depth}"] if depth else []
        what = [f"+{ref}:refs/remotes/it", *([] if depth else ["+refs/heads/*:refs/remotes/origin/*"])]
        environment = {**git.environment(), "GIT_ALLOW_PROTOCOL": "file"}
        for arguments in (
            ["init", "-q", str(folder)],
            ["-C", str(folder), "fetch", "-q", *how, self.root.as_uri(), *what],
            ["-C", str(folder), "checkout", "-q", "--detach", "refs/remotes/it"],
        ):
            subprocess.run(["git", *arguments], check=True, capture_output=True, env=environment)
        return folder


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin(tmp_path / "origin")


def _ran(tmp_path: Path, workspace: Path, event: str, payload: str, **inputs: str) -> Ran:
    return Runner(tmp_path / "machine", workspace).run(event, payload, **inputs)


def _sarif(ran: Ran) -> list[dict[str, Any]]:
    results = json.loads(Path(ran.outputs["sarif"]).read_text())["runs"][0]["results"]
    assert isinstance(results, list)
    return results


# A pull request -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [None, 2])
def test_a_pull_request_is_reviewed_in_its_usual_checkout(origin: Origin, tmp_path: Path, depth: int | None) -> None:
    payload = origin.pull({"compose.yml": CORRUPT}, meanwhile={"main.yml": UNKNOWN})
    workspace = origin.checkout(tmp_path / "work", "refs/pull/1/merge", depth)
    ran = _ran(tmp_path, workspace, "pull_request", payload)
    assert (ran.status, ran.err) == (1, "")
    assert ran.outputs["mode"] == "review"
    assert (ran.outputs["failed"], ran.outputs["errors"]) == ("true", "1")
    assert any(line.startswith("::error file=compose.yml,line=9,") for line in ran.commands)
    assert not any("main.yml" in line for line in ran.commands)
    assert {result["baselineState"] for result in _sarif(ran)} == {"new"}
    outcome = review_revisions(workspace, "HEAD^1", "HEAD", load_rules())
    links = Links("https://github.com/acme/serving", git.commit(workspace, "HEAD"))
    assert ran.summary == f"## Seamguard\n\n{summary(outcome, links)}"
    asked = (tmp_path / "machine" / "asked").read_text().splitlines()
    assert "--require-hashes" in asked
    assert asked[-1] == str(ROOT / "action.lock")


def test_a_head_is_compared_with_where_it_left_the_base(origin: Origin, tmp_path: Path) -> None:
    payload = origin.pull({"compose.yml": CORRUPT}, meanwhile={"main.yml": UNKNOWN})
    ran = _ran(tmp_path, origin.checkout(tmp_path / "work", "refs/pull/1/head"), "pull_request", payload)
    assert (ran.status, ran.outputs["errors"]) == (1, "1")


def test_a_pull_request_that_brings_nothing_passes_whatever_was_there(origin: Origin, tmp_path: Path) -> None:
    origin.commit({"old.yml": UNKNOWN})
    payload = origin.pull({"README.md": "x"})
    ran = _ran(tmp_path, origin.checkout(tmp_path / "work", "refs/pull/1/merge"), "pull_request", payload)
    assert (ran.status, ran.commands, _sarif(ran)) == (0, [], [])
    assert "introduces no hazard" in ran.summary


@pytest.mark.parametrize("ref", ["refs/pull/1/merge", "refs/pull/1/head"])
def test_a_checkout_without_the_base_says_what_it_needs(origin: Origin, tmp_path: Path, ref: str) -> None:
    payload = origin.pull({"compose.yml": CORRUPT}, meanwhile={"main.yml": UNKNOWN})
    ran = _ran(tmp_path, origin.checkout(tmp_path / "work", ref, depth=1), "pull_request", payload)
    (fault,) = ran.commands
    assert ran.status == 2
    assert fault.startswith("::error title=Seamguard::")
    assert "fetch-depth: 0" in fault


def test_a_level_that_nothing_reaches_passes(origin: Origin, tmp_path: Path) -> None:
    payload = origin.pull({"compose.yml": CORRUPT})
    workspace = origin.checkout(tmp_path / "work", "refs/pull/1/merge")
    ran = _ran(tmp_path, workspace, "pull_request", payload, fail_on="never", annotations="false", summary="false")
    assert (ran.status, ran.outputs["failed"], ran.outputs["errors"]) == (0, "false", "1")
    assert (ran.commands, ran.summary) == ([], "")


# Other events ---------------------------------------------------------------------------------------------------------


def test_a_push_is_audited(origin: Origin, tmp_path: Path) -> None:
    before = origin.git("rev-parse", "HEAD")
    after = origin.commit({"old.yml": UNKNOWN})
    workspace = origin.checkout(tmp_path / "work", "refs/heads/main", depth=1)
    ran = _ran(tmp_path, workspace, "push", json.dumps({"before": before, "after": after, "ref": "refs/heads/main"}))
    assert (ran.status, ran.err, ran.outputs["mode"]) == (1, "", "audit")
    assert ran.commands[0].startswith("::error file=old.yml,line=1,")
    assert f"https://github.com/acme/serving/blob/{after}/old.yml#L1" in ran.summary


def test_a_push_is_reviewed_where_that_is_asked_for(origin: Origin, tmp_path: Path) -> None:
    origin.commit({"old.yml": UNKNOWN})
    before = origin.git("rev-parse", "HEAD")
    origin.commit({"README.md": "x"})
    workspace = origin.checkout(tmp_path / "work", "refs/heads/main")
    ran = _ran(tmp_path, workspace, "push", json.dumps({"before": before}), mode="review")
    assert (ran.status, ran.outputs["mode"], ran.commands) == (0, "review", [])


def test_a_merge_group_is_reviewed(origin: Origin, tmp_path: Path) -> None:
    base = origin.git("rev-parse", "HEAD")
    origin.commit({"compose.yml": CORRUPT})
    workspace = origin.checkout(tmp_path / "work", "refs/heads/main")
    ran = _ran(tmp_path, workspace, "merge_group", json.dumps({"merge_group": {"base_sha": base}}))
    assert (ran.status, ran.outputs["mode"], ran.outputs["errors"]) == (1, "review", "1")


def test_named_revisions_win(origin: Origin, tmp_path: Path) -> None:
    origin.commit({"compose.yml": CORRUPT})
    workspace = origin.checkout(tmp_path / "work", "refs/heads/main")
    ran = _ran(tmp_path, workspace, "workflow_dispatch", "{}", base="HEAD^", head="HEAD")
    assert (ran.status, ran.outputs["mode"]) == (1, "review")


def test_a_folder_of_a_checkout_keeps_the_names_of_the_repository(origin: Origin, tmp_path: Path) -> None:
    origin.commit({"deploy/old.yml": UNKNOWN})
    workspace = origin.checkout(tmp_path / "work", "refs/heads/main")
    ran = _ran(tmp_path, workspace, "schedule", "{}", path="deploy", sarif="out/seamguard.sarif")
    assert ran.commands[0].startswith("::error file=deploy/old.yml,line=1,")
    results = json.loads((workspace / "out" / "seamguard.sarif").read_text())["runs"][0]["results"]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "deploy/old.yml"


@pytest.mark.parametrize(
    ("event", "payload", "inputs", "words"),
    [
        ("push", "{}", {"mode": "sometimes"}, "none of auto, review, audit"),
        ("push", "{}", {"fail_on": "warnings"}, "none of error, warning"),
        ("push", "{}", {"annotations": "yes"}, "none of true, false"),
        ("push", "{}", {"path": "nowhere"}, "nowhere: no such file or folder"),
        ("push", "{}", {"base": "--upload-pack=touch owned"}, "not the name of a revision"),
        ("push", "{}", {"base": "HEAD", "head": "a\n::error::owned"}, "not the name of a revision"),
        ("push", "{", {"mode": "review"}, "event cannot be read"),
        ("pull_request", "{", {}, "event cannot be read"),
        ("pull_request", "[]", {}, "fetch-depth"),
        ("pull_request", '{"pull_request": {"base": {"sha": 1}}}', {}, "fetch-depth"),
        ("push", '{"before": "0000000000000000000000000000000000000000"}', {"mode": "review"}, "give the input `base`"),
        ("push", "{}", {"sarif": "compose.yml/x.sarif"}, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_fault(
    origin: Origin,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    event: str,
    payload: str,
    inputs: dict[str, str],
    words: str,
) -> None:
    """Asked of the program alone: what bash passes on to it was tested above."""
    monkeypatch.chdir(origin.checkout(tmp_path / "work", "refs/heads/main"))
    (tmp_path / "event.json").write_text(payload)
    machine = {
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "RUNNER_TEMP": str(tmp_path),
    }
    status = step({**machine, **{f"INPUT_{name.upper()}": value for name, value in inputs.items()}})
    ran = Ran(status, *capsys.readouterr(), {}, "")
    (fault,) = ran.commands
    assert (ran.status, ran.err, fault.startswith("::error title=Seamguard::")) == (2, "", True)
    assert words in fault
    assert not list(tmp_path.rglob("owned"))


def test_a_fault_of_the_program_is_no_finding_and_no_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken() -> None:
        raise RuntimeError("\n::error::owned")

    monkeypatch.setattr("bot.cli.action.load_rules", broken)
    ran = Ran(step({"RUNNER_TEMP": str(tmp_path)}), *capsys.readouterr(), {}, "")
    (fault,) = ran.commands
    assert (ran.status, ran.err) == (2, "")
    assert fault.startswith("::error title=Seamguard::a fault of Seamguard itself")
    assert "RuntimeError" in ran.out


def test_an_old_python_is_named(origin: Origin, tmp_path: Path) -> None:
    workspace = origin.checkout(tmp_path / "work", "refs/heads/main")
    ran = _ran(tmp_path, workspace, "push", "{}", python="false")
    assert ran.status == 2
    assert "needs Python 3.11" in ran.commands[0]


# Hostile checkouts ----------------------------------------------------------------------------------------------------


def test_names_of_branches_and_files_are_never_commands(origin: Origin, tmp_path: Path) -> None:
    payload = origin.pull({HOSTILE_PATH: UNKNOWN}, branch=HOSTILE_BRANCH)
    workspace = origin.checkout(tmp_path / "work", "refs/pull/1/merge")
    ran = _ran(tmp_path, workspace, "pull_request", payload)
    assert (ran.status, ran.outputs["errors"]) == (1, "1")
    assert not list(tmp_path.rglob("owned"))
    (line,) = ran.commands
    assert re.match(r"::error file=a \$\(touch owned\);`touch owned`%0A%3A%3Aerror title=owned%3A%3Aowned%0A", line)
    ran = Runner(tmp_path / "again", workspace).run("pull_request", payload, base="HEAD^1", head=HOSTILE_BRANCH)
    assert ran.status == 2
    assert not list(tmp_path.rglob("owned"))


def test_nothing_of_the_checkout_is_imported(origin: Origin, tmp_path: Path) -> None:
    owned = tmp_path / "owned"
    program = f"open({str(owned)!r}, 'w').write(__file__)\n"
    names = ("pip", "venv", "bot", "yaml", "click", "sitecustomize", "usercustomize", "encodings", "sysconfig", "json")
    files = {f"{name}/__init__.py": program for name in names} | {f"{name}/__main__.py": program for name in names}
    files |= {"click.py": program, "conftest.py": program, "pyvenv.cfg": "home = /nowhere\n", "pip.conf": "[global]\n"}
    origin.commit(files)
    workspace = origin.checkout(tmp_path / "work", "refs/heads/main")
    ran = _ran(tmp_path, workspace, "push", "{}")
    assert (ran.status, ran.err) == (0, "")
    assert not owned.exists()


def test_a_link_of_the_checkout_is_not_written_through(origin: Origin, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("untouched")
    (origin.root / "seamguard.sarif").symlink_to(theirs)
    origin.commit({})
    workspace = origin.checkout(tmp_path / "work", "refs/heads/main")
    assert _ran(tmp_path, workspace, "push", "{}", sarif="seamguard.sarif").status == 0
    assert theirs.read_text() == "untouched"


# The file itself ------------------------------------------------------------------------------------------------------


def test_no_step_is_a_template() -> None:
    for part in STEPS:
        assert set(part) <= {"name", "id", "shell", "env", "run"}
        assert part["shell"] == "bash"
        assert "${{" not in part["run"]
        assert all(re.fullmatch(r"\$\{\{ inputs\.[a-z-]+ \}\}", value) for value in part["env"].values())


def test_every_input_is_told_and_described() -> None:
    told = " ".join(value for part in STEPS for value in part["env"].values())
    assert set(re.findall(r"inputs\.([a-z-]+)", told)) == set(ACTION["inputs"])
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    for kind in ("inputs", "outputs"):
        for name, about in ACTION[kind].items():
            assert about["description"].strip()
            assert f"`{name}`" in page


def test_the_examples_of_the_documentation_are_ones() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    workflow, scanning, hooks, gitlab = blocks
    assert workflow["jobs"]["seamguard"]["permissions"] == {"contents": "read"}
    assert set(scanning[0]["with"]) <= set(ACTION["inputs"])
    assert f"steps.{scanning[0]['id']}.outputs.sarif" in scanning[1]["with"]["sarif_file"]
    assert [hook["id"] for hook in hooks["repos"][0]["hooks"]] == ["seamguard"]
    command = shlex.split(gitlab["seamguard"]["script"][1])
    options = {option for parameter in review_command.params for option in parameter.opts}
    assert {word for word in command if word.startswith("--")} <= options
    assert {word.partition("=")[0] for word in command if "=" in word} <= set(FORMATS)


def test_what_is_installed_is_a_part_of_the_lock() -> None:
    assert (ROOT / "action.lock").read_text(encoding="utf-8") == action_lock()
    assert action_lock().count("==") == len(NEEDED)


@pytest.mark.parametrize("command", ["demo", "audit", "action"])
def test_nothing_else_is_needed(command: str, tmp_path: Path) -> None:
    allowed = {"click", "markdown_it", "mdurl", "packaging", "pygments", "yaml", "_yaml", "rich", "ruamel", "unidiff"}
    program = f"""
import sys
class Guard:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top not in {allowed | {"bot"}!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Guard())
sys.path.insert(0, {str(ROOT)!r})
sys.argv = ["seamguard", {command!r}]
from bot.cli import main
main()
"""
    (tmp_path / "compose.yml").write_text("services: {e: {image: 'vllm/vllm-openai:v0.25.1', command: [--model, m]}}\n")
    environment = {**git.environment(), "RUNNER_TEMP": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
