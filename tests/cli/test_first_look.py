"""What a maintainer reads who tries the command line for the first time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest

from bot.cli import cli, progress
from bot.hazards import load_rules
from tests.cli.conftest import CORRUPT, ENGINE, PROFILE, Run
from tests.schemas import violations

Folder = Callable[..., Path]
BROKEN = "composes: [a.yml]\nimages: [\n"
SERVE = "services: {{engine: {{image: '{image}', command: [{command}]}}}}\n"
MTP = """--speculative-config, '{"method":"mtp","num_speculative_tokens":1}'"""
SEAM = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    entrypoint: [vllm, serve, /models/hare-9b]
    command:
      - --speculative-config
      - '{"method":"mtp","num_speculative_tokens":2}'
      - ${PREFIX_CACHE_ARG:---no-enable-prefix-caching}
# PREFIX_CACHE_ARG=--enable-prefix-caching turns it on
"""


def _served(image: str, command: str) -> str:
    return SERVE.format(image=image, command=command)


# Input that cannot be read --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "{root}"),
        ("audit", "{root}", "--format", "json"),
        ("resolve", "{root}/compose.yml", "--repo", "{root}"),
        ("explain", "compose.yml:engine", "prefix_caching", "--repo", "{root}"),
        ("flips", "0.25.1", "0.28.0", "--repo", "{root}"),
    ],
)
def test_a_configuration_that_is_not_yaml_ends_with_status_2(
    run: Run, folder: Folder, arguments: tuple[str, ...]
) -> None:
    root = folder({"compose.yml": CORRUPT, ".github/seamguard.yml": BROKEN})
    answer = run(*(argument.format(root=root) for argument in arguments))
    assert (answer.status, answer.out) == (2, "")
    assert ".github/seamguard.yml:3: not YAML" in answer.err


def test_a_glob_that_fits_nothing_is_told_with_its_place(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": CORRUPT, ".github/seamguard.yml": "composes:\n- compose.yml\n- deplyo/*.yml\n"})
    assert ".github/seamguard.yml:3: the glob 'deplyo/*.yml' fits no file" in run("audit", root).out
    (error,) = run("audit", root, "--format", "json").json["errors"]
    assert (error["path"], error["line"]) == (".github/seamguard.yml", 3)


def test_a_compose_that_docker_compose_refuses_ends_with_status_2_and_is_shown(run: Run, folder: Folder) -> None:
    root = folder({"typo.yml": "services: {engine: {image: 'vllm/vllm-openai:v0.25.1', comand: [m]}}\n"})
    answer = run("resolve", root / "typo.yml")
    assert answer.status == 2
    assert "'comand' not allowed" in answer.out
    assert "typo.yml: engine" in answer.out


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize("command", ["audit", "resolve"])
def test_files_are_named_relative_to_the_repository(run: Run, folder: Folder, command: str, output: str) -> None:
    compose = "services: {engine: {image: 'vllm/vllm-openai:v0.25.1', env_file: [x.env], command: [m]}}\n"
    root = folder({"deploy/a.yml": compose})
    answer = run("audit", root, "--format", output) if command == "audit" else None
    answer = answer or run("resolve", "deploy/a.yml", "--repo", root, "--format", output)
    assert "env file deploy/x.env not found" in answer.out
    assert " /deploy" not in answer.out


def test_a_script_that_ends_early_says_why_and_where(run: Run, folder: Folder) -> None:
    root = folder({"u.sh": "set -u\ntrue\necho $FOO\nexec vllm serve m\n", "x.sh": "if true; then\n  exit 3\nfi\n"})
    (unset,) = run("inspect", "shell", root / "u.sh").json["outcomes"]
    assert (unset["exit"], unset["ended"]) == (1, {"reason": "FOO is not set, under `set -u`", "line": 3})
    (told,) = run("inspect", "shell", root / "x.sh").json["outcomes"]
    assert (told["exit"], told["ended"]) == (3, {"reason": "the script says `exit`", "line": 2})
    (demanded,) = run("inspect", "shell", folder({"d.sh": ": ${FOO:?}\n"}) / "d.sh").json["outcomes"]
    assert demanded["ended"] == {"reason": "FOO is not set, and `${FOO:?…}` demands it", "line": 1}
    (whole,) = run("inspect", "shell", folder({"w.sh": "exec vllm serve m\n"}) / "w.sh").json["outcomes"]
    assert "ended" not in whole


# Words that nobody knows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["explain", "unknown-flag", "prefix_caching"],
            "unknown-flag is a rule: `explain unknown-flag` prints its page",
        ),
        (["explain", "prefix_caching"], "prefix_caching is a property: `explain FILE[:SERVICE] prefix_caching`"),
        (["explain", "compose.yml", "cache"], "did you mean kv_cache_dtype or mamba_cache_mode?"),
        (["explain", "compose.yml", "zzz"], "there are async_scheduling, attention_backend"),
        (["explain", "compose.yml:zzz", "prefix_caching"], "no service 'zzz'; it has engine, other"),
        (["explain", "compose.yml:engin", "prefix_caching"], "it has engine, other (did you mean engine?)"),
        (["explain", "deploy", "prefix_caching"], "deploy is a folder"),
        (["explain", "unknown-flags"], "did you mean unknown-flag?"),
    ],
)
def test_what_is_not_found_is_answered_with_what_there_is(
    run: Run, folder: Folder, arguments: list[str], words: str
) -> None:
    root = folder({"compose.yml": ENGINE, "deploy/x.yml": CORRUPT})
    answer = run(*arguments, "--repo", root)
    assert (answer.status, answer.out) == (2, "")
    assert words in answer.err


def test_only_the_rules_that_are_asked_for_are_reported(run: Run, folder: Folder) -> None:
    refused = "services: {e: {image: 'vllm/vllm-openai:v0.25.1', nonsense: 1}}\n"
    exits = "services: {e: {image: 'vllm/vllm-openai:v0.25.1', entrypoint: [bash, -c, 'exit 1; vllm serve m']}}\n"
    root = folder({"compose.yml": CORRUPT, "refused.yml": refused, "exits.yml": exits, "models/hare.yml": PROFILE})
    found = run("audit", root, "--rule", "mtp-prefix-cache-hybrid", "--format", "json").json["findings"]
    assert {finding["rule"] for finding in found} == {"mtp-prefix-cache-hybrid"}
    answer = run("audit", root, "--rule", "mtp-prefix-cach")
    assert (answer.status, "did you mean mtp-prefix-cache-hybrid?" in answer.err) == (2, True)


def test_every_rule_is_listed(run: Run) -> None:
    rules = load_rules().rules
    lines = run("rules").out.splitlines()
    assert [line.split()[:2] for line in lines] == [[rule.id, rule.level] for rule in rules]
    assert all(rule.title in line and "e" in line for rule, line in zip(rules, lines, strict=True))
    listed = run("rules", "--format", "json").json["rules"]
    assert [(rule["id"], rule["title"]) for rule in listed] == [(rule.id, rule.title) for rule in rules]
    assert all(rule["grades"] for rule in listed)


# A finding ------------------------------------------------------------------------------------------------------------


def test_a_finding_names_its_service_and_the_command_that_replays_it(run: Run, folder: Folder) -> None:
    root = folder({"deploy/it.yml": SEAM, "models/hare.yml": PROFILE})
    command = "PREFIX_CACHE_ARG=--enable-prefix-caching docker compose -f deploy/it.yml up engine"
    out = run("audit", root).out
    assert "mtp-prefix-cache-hybrid  deploy/it.yml:8  engine\n" in out
    assert f"when: {command}\n" in out
    found = run("audit", root, "--format", "json").json
    assert violations("audit", found) == []
    assert command in {finding["replay"] for finding in found["findings"]}
    assert f"\n{command}\n" in run("resolve", "deploy/it.yml", "--repo", root, "--worlds", "all").out


def test_an_override_belongs_to_the_command(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": SEAM, "compose.override.yml": "services: {}\n", "models/hare.yml": PROFILE})
    assert "docker compose -f compose.yml -f compose.override.yml up engine" in run("audit", root).out


def test_worlds_show_what_differs_from_the_default(run: Run, folder: Folder) -> None:
    root = folder({"it.yml": SEAM, "models/hare.yml": PROFILE})
    out = run("resolve", root / "it.yml", "--worlds", "all").out
    first, _, rest = out.partition("\nPREFIX_CACHE_ARG=--enable-prefix-caching docker compose")
    other, _, _ = rest.partition("\nseams")
    assert "tensor_parallel_size" in first
    assert "tensor_parallel_size" not in other
    assert "prefix_caching" in other
    assert "--enable-prefix-caching" in other


@pytest.mark.parametrize("output", ["text", "json", "github", "sarif"])
def test_an_undecided_finding_speaks_in_conditional_words(run: Run, folder: Folder, output: str) -> None:
    root = folder({"compose.yml": _served("vllm/vllm-openai:latest", f"Qwen/Qwen3-Next-80B-A3B-Instruct, {MTP}")})
    out = run("audit", root, "--rule", "mtp-prefix-cache-hybrid", "--format", output).out
    assert "Undecided: if prefix caching is on" in out
    assert "answers would go wrong silently" in out
    assert "on by default here" not in out
    assert "Pin a release" in out
    assert "If it is so: Pass `--no-enable-prefix-caching`, until" in out.replace("\\\\", "")
    if output == "text":
        assert "not known: whether prefix caching is on: releases differ, " in out
        assert "how sure, if it is so: reported." in out


def test_a_gpu_that_is_not_known_can_be_declared(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": _served("vllm/vllm-openai:v0.25.1", f"Qwen/Qwen3-Next-80B-A3B-Instruct, {MTP}")})
    rule = ("--rule", "mtp-full-cudagraph-blackwell", "--format", "json")
    (open_one,) = run("audit", root, *rule).json["findings"]
    assert open_one["status"] == "unknown"
    assert "# GPU: RTX 5090" in open_one["remedy"]
    assert "`hardware:`" in open_one["remedy"]
    for card in ("H100", "sm_86"):
        folder({".github/seamguard.yml": f"hardware: {{'*.yml': {card}}}\n"})
        assert run("audit", root, *rule).json["findings"] == []


def test_a_tag_without_a_release_names_what_is_assumed(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": _served("vllm/vllm-openai:latest", "m, --enable-auto-tool-choice")})
    (found,) = run("audit", root, "--rule", "engine-refuses", "--format", "json").json["findings"]
    assert "in every release from 0.11.0 to 0.33.0" in found["message"]
    assert "is assumed" in found["evidence"]
    assert any("a floating tag: latest" in reason["text"] and "assumed" in reason["text"] for reason in found["chain"])


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        ("m, --enable-auto-tool-choice", "Add `--tool-call-parser`, or take `--enable-auto-tool-choice` out."),
        ("m, --max-model-len", "Give `--max-model-len` its value, or take it out."),
        ("m, --max-model-len, abc", "Correct `--max-model-len abc`, or take it out."),
    ],
)
def test_a_refusal_says_what_its_message_asks_for(run: Run, folder: Folder, command: str, remedy: str) -> None:
    root = folder({"compose.yml": _served("vllm/vllm-openai:v0.25.1", command)})
    (found,) = run("audit", root, "--rule", "engine-refuses", "--format", "json").json["findings"]
    assert found["remedy"] == remedy


def test_a_flag_that_is_spelt_wrong_is_answered_with_the_right_one(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": _served("vllm/vllm-openai:v0.25.1", "m, --max-modl-len, '3'")})
    (found,) = run("audit", root, "--rule", "unknown-flag", "--format", "json").json["findings"]
    assert found["remedy"] == "Write `--max-model-len`, if that is what is meant; else remove `--max-modl-len`."


def test_prefix_caching_stays_where_a_kv_connector_needs_it(run: Run, folder: Folder) -> None:
    connector = """--kv-transfer-config, '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'"""
    command = f"Qwen/Qwen3-Next-80B-A3B-Instruct, {MTP}, --enable-prefix-caching, {connector}"
    root = folder({"compose.yml": _served("vllm/vllm-openai:v0.25.1", command)})
    (found,) = run("audit", root, "--rule", "mtp-prefix-cache-hybrid", "--format", "json").json["findings"]
    assert "--no-enable-prefix-caching" not in found["remedy"]
    assert "Take the drafter out" in found["remedy"]


def test_reasons_in_a_releases_source_have_an_address(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": _served("vllm/vllm-openai:v0.28.0", f"Qwen/Qwen3-Next-80B-A3B-Instruct, {MTP}")})
    address = "https://github.com/vllm-project/vllm/blob/v0.28.0/vllm/engine/arg_utils.py#L"
    assert address in run("audit", root).out
    found = run("audit", root, "--format", "json").json
    assert any(reason.get("url", "").startswith(address) for item in found["findings"] for reason in item["chain"])
    resolved = run("resolve", root / "compose.yml", "--format", "json").json
    assert violations("resolve", resolved) == []
    because = resolved["services"][0]["worlds"][0]["properties"]["prefix_caching"]["because"]
    assert because[0]["url"].startswith(address)


# Long work ------------------------------------------------------------------------------------------------------------


def test_long_work_without_a_terminal_says_now_and_then_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 1.0, 16.0, 16.0, 17.0])
    advance = progress.lines("composes", lambda: next(times))
    for number in range(3):
        advance(f"{number}.yml", 9)
    assert capsys.readouterr().err == "seamguard: composes: 1 of 9 done, next is 1.yml\n"


def test_what_takes_long_before_the_first_compose_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Impatient:
        daemon = False

        def __init__(self, _seconds: float, action: Callable[[], None]) -> None:
            self.action = action

        def start(self) -> None:
            self.action()

        def cancel(self) -> None:
            pass

    monkeypatch.setattr(progress, "Timer", Impatient)
    with progress.announced(lambda: "reading \x1b[2J"):
        pass
    assert capsys.readouterr().err == "seamguard: reading \\x1b[2J\n"


@pytest.mark.parametrize(
    "command", ["resolve", "inspect compose", "inspect shell", "inspect engine", "inspect hazards"]
)
def test_the_help_names_the_keys_of_a_request(run: Run, command: str) -> None:
    out = run(*command.split(), "--help").out
    assert "Keys of a --batch request" in out
    assert "id " in out


def test_the_readme_names_every_command() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    table = text.partition("## Commands")[2].partition("## Words")[0]
    missing = [name for name in cli.list_commands(click.Context(cli)) if f"`{name}" not in table]
    assert missing == []


# Mistyped words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("adit", "."), "No such command 'adit': did you mean audit?"),
        (("inspect", "compos"), "No such command 'compos': did you mean compose?"),
        (("xyzzy",), "the commands are audit, clocks"),
    ],
)
def test_a_mistyped_command_names_the_nearest(run: Run, arguments: tuple[str, ...], hint: str) -> None:
    answer = run(*arguments)
    assert answer.status == 2
    assert hint in answer.err


@pytest.mark.parametrize("command", [("resolve", "compose.yml"), ("explain", "compose.yml:engine", "prefix_caching")])
def test_a_variable_that_nothing_reads_is_told(run: Run, folder: Folder, command: tuple[str, ...]) -> None:
    root = folder({"compose.yml": SEAM})
    rest = ("--repo", root, "--env", "PREFIX_CACHE_ARG=x", "--env", "COMPOSE_PROFILES=x")
    assert run(*command, *rest).err == ""
    answer = run(*command, *rest, "--env", "PREFX_CACHE_ARG=x")
    assert answer.status == 0
    assert answer.err == "compose.yml: --env PREFX_CACHE_ARG: nothing reads it; did you mean PREFIX_CACHE_ARG?\n"


def test_faults_of_the_configuration_come_before_the_findings(run: Run, folder: Folder) -> None:
    root = folder({"compose.yml": CORRUPT, ".github/seamguard.yml": "compose: [compose.yml]\n"})
    assert run("audit", root).out.startswith(".github/seamguard.yml:1: unknown key 'compose'")
