"""Hostile and broken input through the commands: a clear error or an unknown with its place, and the rest goes on."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.audit import Report, audit
from bot.cli.audit import report_json
from bot.cli.opening import opened
from bot.cli.resolve import _Opened
from bot.hazards import load_rules
from bot.worlds.seams import MAX_DEVIATIONS
from tests.schemas import violations

ROOT = Path(__file__).parent.parent
GUARD_SECONDS = 20
"""After this a test counts as hanging; the bounds themselves are asserted by counts."""

MEMORY = 512 * 1024 * 1024


@pytest.fixture(autouse=True)
def _guard() -> Iterator[None]:
    def hang(*_: object) -> None:
        raise TimeoutError(f"not done after {GUARD_SECONDS} s")

    before = signal.signal(signal.SIGALRM, hang)
    signal.alarm(GUARD_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _engine(*lines: str) -> str:
    return "\n".join(
        ["services:", "  engine:", "    image: vllm/vllm-openai:v0.25.1", *(f"    {x}" for x in lines), ""]
    )


def _script(*lines: str) -> str:
    return _engine("entrypoint:", "  - bash", "  - -c", "  - |", *(f"    {line}" for line in lines))


def _bomb() -> str:
    rows = [f"x{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    return "\n".join(["x0: &a0 [a, a, a, a, a, a, a, a, a, a]", *rows, _engine("command: *a8")])


def _folder(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def _resolve(root: Path, file: str = "compose.yml", worlds: str = "default") -> dict[str, Any]:
    with _Opened() as states:
        answer = states.answer({"file": file, "repo": str(root), "worlds": worlds})
    assert violations("resolve", answer) == []
    return answer


def _audit(root: Path) -> Report:
    with opened(root, None) as repository:
        report = audit(repository, load_rules())
    assert violations("audit", report_json(report)) == []
    return report


# Files that cannot be read as a compose -------------------------------------------------------------------------------

UNREADABLE: dict[str, tuple[str | bytes, str]] = {
    "not YAML": ("services:\n  a: [\n", "line 2"),
    "text": ("just some text\n", ""),
    "list": ("- a\n- b\n", ""),
    "empty": ("", "empty"),
    "bomb of aliases": (_bomb(), "aliases"),
    "10 MB": (_engine("command: [m]") + "#" * (10 * 1024 * 1024), "larger than 2 MiB"),
    "deep sequences": ("services: " + "[" * 100_000, "nest"),
    "deep mappings": ("services: " + "{a: " * 50_000, "nest"),
    "deep blocks": ("services:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 1000)), "nest"),
    "anchor in itself": ("services: &s\n  engine: {image: x, x-a: *s}\n", "contains itself"),
    "merge of itself": ("x-a: &a {<<: *a}\n" + _engine("command: [m]"), "contains itself"),
    "binary": (b"\x00\x01services:" + bytes(range(256)), "binary"),
    "not UTF-8": (_engine("command: [m]").encode() + b"# \xff\xfe\n", "not UTF-8"),
    "UTF-16": (_engine("command: [m]").encode("utf-16"), "binary"),
    "lone surrogate": (_engine('command: ["\\ud800"]'), "invalid Unicode"),
    "cycle of extends": (_engine("extends: {service: engine}"), "ircular"),
    "cycle of extends over files": (_engine("extends: {file: other.yml, service: engine}"), "ircular"),
    "3,000 services": ("services:\n" + "".join(f"  s{n}: {{image: x}}\n" for n in range(3000)), "more than 1000"),
    "3,000 links of extends": (
        "services:\n" + "".join(f"  s{n}: {{extends: {{service: s{n + 1}}}}}\n" for n in range(3000)),
        "more than 1000",
    ),
    "extends that leaves the repository": (_engine("extends: {file: ../../etc/passwd, service: a}"), "leaves"),
    "env_file that leaves the repository": (_engine("env_file: ../../../etc/passwd"), "leaves"),
    "10,000 nested defaults": (_engine(f"command: ['{'${A:-' * 10_000}{'}' * 10_000}']"), "nested too deeply"),
}
OTHER = _engine("extends: {file: compose.yml, service: engine}")


@pytest.mark.parametrize(("content", "words"), UNREADABLE.values(), ids=list(UNREADABLE))
def test_a_file_that_cannot_be_read_has_an_error_with_its_place(
    tmp_path: Path, content: str | bytes, words: str
) -> None:
    answer = _resolve(_folder(tmp_path, {"compose.yml": content, "other.yml": OTHER}))
    assert answer["services"] == []
    assert answer["errors"]
    error = answer["errors"][0]
    assert words in error["message"]
    assert error["path"] in ("compose.yml", "other.yml")
    assert error["line"]


@pytest.mark.parametrize(("content", "words"), UNREADABLE.values(), ids=list(UNREADABLE))
def test_the_rest_of_the_repository_is_still_audited(tmp_path: Path, content: str | bytes, words: str) -> None:
    good = _engine("command: [m, --no-such-flag]")
    root = _folder(tmp_path, {"bad/compose.yml": content, "bad/other.yml": OTHER, "a.yml": good, "z/compose.yml": good})
    report = _audit(root)
    assert [f.path for f in report.findings if f.rule == "unknown-flag"] == ["a.yml", "z/compose.yml"]


@pytest.mark.parametrize("field", ["include: [/etc/passwd]", "include: [../../x.yml]"])
def test_a_bad_include_leaves_the_files_own_services(tmp_path: Path, field: str) -> None:
    answer = _resolve(_folder(tmp_path, {"compose.yml": f"{field}\n{_engine('command: [m]')}"}))
    assert len(answer["errors"]) == 1
    assert [service["service"] for service in answer["services"]] == ["engine"]


def test_a_file_that_includes_itself_has_no_services(tmp_path: Path) -> None:
    answer = _resolve(_folder(tmp_path, {"compose.yml": f"include: [compose.yml]\n{_engine('command: [m]')}"}))
    assert [error["line"] for error in answer["errors"]] == [1]
    assert answer["services"] == []


@pytest.mark.parametrize("encode", ["\ufeff{}", "{}"], ids=["byte order mark", "Windows line ends"])
def test_files_of_windows_are_read_like_others(tmp_path: Path, encode: str) -> None:
    text = _script("A=1", "exec vllm serve m --seed $$A")
    text = encode.format(text if "\ufeff" in encode else text.replace("\n", "\r\n"))
    answer = _resolve(_folder(tmp_path, {"compose.yml": text.encode()}))
    assert answer["errors"] == []
    assert answer["services"][0]["worlds"][0]["argv"] == ["serve", "m", "--seed", "1"]


# Scripts that do not end, or that are made to hurt --------------------------------------------------------------------

END = "exec vllm serve m"
ENDLESS: dict[str, tuple[str, ...]] = {
    "while true": ("while true; do :; done", END),
    "until false": ("until false; do :; done", END),
    "while true that waits": ("while true; do sleep 1; done", END),
    "a loop of arithmetic": ("for ((i = 0; i < 1000000000; i++)); do :; done", END),
    "a brace of a billion": ("for i in {1..1000000000}; do :; done", END),
    "recursion": ("f() { f; }; f", END),
    "a fork bomb": ("f() { f | f & }; f", END),
    "a value that doubles": ("X=aaaaaaaa", "while :; do X=$$X$$X; done", END),
    "a width without end": ("X=$$(printf %0100000000d 1)", END),
    "20,000 arguments": ("exec vllm serve m " + " ".join(f"--x{n}" for n in range(20_000)),),
    "nested parentheses": ("(" * 2000, END),
    "nested substitutions": ("X=" + "$$(" * 2000 + ")" * 2000, END),
    "nested conditions": ("if true; then " * 2000 + "fi;" * 2000, END),
    "eval of what nobody knows": ('eval "$$(cat /x)"', END),
}


@pytest.mark.parametrize("lines", ENDLESS.values(), ids=list(ENDLESS))
def test_a_script_that_cannot_be_followed_is_unknown(tmp_path: Path, lines: tuple[str, ...]) -> None:
    root = _folder(tmp_path, {"compose.yml": _script(*lines)})
    for world in _resolve(root)["services"][0]["worlds"]:
        assert (world["argv"], world["exit"]) == (None, None)
        assert world["unresolved"]
    assert [finding for finding in _audit(root).findings if finding.level == "error"] == []


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param((f"X={'a' * 5000}", "[[ $$X == *a*a*a*a*a*a*a*a*a*b ]] && X=", END), id="globs"),
        pytest.param((f"X={'a' * 60}", "[[ $$X =~ ^(a+)+b$$ ]] && X=", END), id="regular expression"),
        pytest.param((f"X=$$(echo {'a' * 60} | sed -E 's/^(a+)+b$$/x/')", END), id="sed"),
        pytest.param((f"X={'a' * 5000}", "X=$${X//*a*a*a*b/x}", END), id="replacement"),
    ],
)
def test_a_pattern_that_backtracks_is_bounded(tmp_path: Path, lines: tuple[str, ...]) -> None:
    (world,) = _resolve(_folder(tmp_path, {"compose.yml": _script(*lines)}))["services"][0]["worlds"]
    assert world["argv"] == ["serve", "m"] or world["unresolved"]


def test_ways_through_a_script_are_bounded(tmp_path: Path) -> None:
    tests = [f'A{n}=; [ "$$S{n}" = 1 ] && A{n}=--x{n}' for n in range(60)]
    text = _script("source /absent", *tests, "exec vllm serve m " + " ".join(f"$$A{n}" for n in range(60)))
    worlds = _resolve(_folder(tmp_path, {"compose.yml": text}))["services"][0]["worlds"]
    assert 2 <= len(worlds) <= 65  # the last one stands for the ways that were not followed
    assert any("ways" in item["reason"] for item in worlds[-1]["unresolved"])


@pytest.mark.soak
def test_a_megabyte_of_parentheses_is_refused_at_once(tmp_path: Path) -> None:
    root = _folder(tmp_path, {"compose.yml": _script("(" * 1_000_000, END)})
    command = [sys.executable, "-m", "bot", "resolve", "compose.yml", "--repo", str(root)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=GUARD_SECONDS - 5)


# Many seams -----------------------------------------------------------------------------------------------------------

CONTAINER_SEAMS = _script("exec vllm serve m " + " ".join(f"$${{S{n}:+--x{n}}}" for n in range(10_000))).replace(
    "    entrypoint:", f"    environment: [{', '.join(f'S{n}' for n in range(10_000))}]\n    entrypoint:"
)
HOST_SEAMS = _engine("command: [" + ", ".join(f"'${{S{n}:-{n}}}'" for n in range(10_000)) + "]")


@pytest.mark.parametrize("text", [CONTAINER_SEAMS, HOST_SEAMS], ids=["container", "host"])
def test_ten_thousand_seams_are_listed_and_few_worlds_looked_at(tmp_path: Path, text: str) -> None:
    (service,) = _resolve(_folder(tmp_path, {"compose.yml": text}))["services"]
    assert len(service["seams"]) == 10_000
    assert sum(len(seam["values"]) for seam in service["seams"]) <= MAX_DEVIATIONS


@pytest.mark.soak
def test_an_audit_of_ten_thousand_flags_behind_seams_stays_within_its_memory(tmp_path: Path) -> None:
    signal.alarm(0)
    flags = ", ".join(f"'${{S{n}:---enable-x{n}}}'" for n in range(10_000))
    _folder(tmp_path, {"compose.yml": _engine(f"command: [{flags}]")})
    child = (
        "import resource, subprocess, sys; subprocess.run([sys.executable, '-m', 'bot', 'audit', sys.argv[1]], "
        "stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", child, str(tmp_path)], cwd=ROOT, check=True, capture_output=True, timeout=300
    )
    assert int(done.stdout) * 1024 <= MEMORY


# The file system ------------------------------------------------------------------------------------------------------

FOUND = _engine("command: [m, --no-such-flag]")


def _unknown_flags(root: Path) -> list[str]:
    return [finding.path for finding in _audit(root).findings if finding.rule == "unknown-flag"]


def test_a_link_inside_the_tree_is_followed_and_one_out_of_it_is_not(tmp_path: Path) -> None:
    outside = _folder(tmp_path / "outside", {"secret.yml": FOUND, "start.sh": "exec vllm serve secret"})
    root = _folder(tmp_path / "root", {"compose.yml": FOUND})
    for link, target in {
        "in.yml": "compose.yml",
        "out.yml": str(outside / "secret.yml"),
        "folder": str(outside),
        "dangling.yml": "nowhere.yml",
        "loop.yml": "loop2.yml",
        "loop2.yml": "loop.yml",
        "self": ".",
        "everything": "/",
    }.items():
        (root / link).symlink_to(target)
    assert _unknown_flags(root) == ["compose.yml", "in.yml"]
    answer = _resolve(root, "out.yml")
    assert (answer["services"], "symbolic link" in answer["errors"][0]["message"]) == ([], True)


@pytest.mark.parametrize(
    "line",
    [
        "extends: {file: link/secret.yml, service: engine}",
        "env_file: link/secret.env",
        "label_file: link/secret.env",
    ],
)
def test_a_compose_cannot_read_through_a_link_out_of_the_tree(tmp_path: Path, line: str) -> None:
    secret = {"secret.yml": _engine("labels: {a: S3CRET}"), "secret.env": "A=S3CRET\n"}
    outside = _folder(tmp_path / "outside", secret)
    root = _folder(tmp_path / "root", {"compose.yml": _engine("command: [m]", line)})
    (root / "link").symlink_to(outside)
    answer = _resolve(root)
    assert answer["errors"]
    assert "S3CRET" not in json.dumps(answer)


@pytest.mark.parametrize("source", ["link", "../outside", "{outside}", "~/outside"])
def test_a_mount_cannot_show_what_lies_outside_of_the_tree(tmp_path: Path, source: str) -> None:
    outside = _folder(tmp_path / "outside", {"start.sh": "exec vllm serve S3CRET"})
    volume = f"volumes: ['{source.format(outside=outside)}:/x']"
    root = _folder(tmp_path / "root", {"compose.yml": _engine("entrypoint: [bash, /x/start.sh]", volume)})
    (root / "link").symlink_to(outside)
    answer = _resolve(root)
    (world,) = answer["services"][0]["worlds"]
    assert world["argv"] is None
    assert world["unresolved"]
    assert "S3CRET" not in json.dumps(answer)


def test_a_pipe_or_a_folder_with_the_name_of_a_compose_does_not_stop_the_rest(tmp_path: Path) -> None:
    root = _folder(tmp_path, {"a.yml": FOUND, "compose.yaml/b.yml": FOUND})
    os.mkfifo(root / "compose.yml")
    assert _unknown_flags(root) == ["a.yml", "compose.yaml/b.yml"]
    assert _resolve(root)["errors"][0]["message"].endswith("not a regular file")


@pytest.mark.parametrize("name", ["with space.yml", "with:colon#hash,comma.yml", "-rf.yml", "名.yml", "a'b\"c.yml"])
def test_names_that_need_quoting(tmp_path: Path, name: str) -> None:
    assert _unknown_flags(_folder(tmp_path, {name: FOUND})) == [name]


def test_a_file_that_git_cannot_name_does_not_stop_the_rest(tmp_path: Path) -> None:
    root = _folder(tmp_path, {"a.yml": FOUND})
    Path(os.fsdecode(os.fsencode(root) + b"/bad\xff.yml")).write_text(FOUND)
    assert "a.yml" in _unknown_flags(root)


# Everything at once ---------------------------------------------------------------------------------------------------


def test_a_repository_of_nothing_but_bad_files_is_audited_within_its_memory(tmp_path: Path) -> None:
    """In a process of its own, so that the bound is its own. Nothing that the scripts name is run."""
    bad = {f"{n}/compose.yml": content for n, (content, _) in enumerate(UNREADABLE.values())}
    bad |= {f"s{n}.yml": _script("touch $$PWD/ran", *lines) for n, lines in enumerate(ENDLESS.values())}
    root = _folder(tmp_path, {**bad, "good.yml": FOUND})

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    command = [sys.executable, "-m", "bot", "audit", ".", "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=root, env=environment, check=False, capture_output=True, timeout=GUARD_SECONDS, preexec_fn=limit
    )
    assert (done.returncode, done.stderr) == (1, b"")
    answer = json.loads(done.stdout)
    assert [f["path"] for f in answer["findings"] if f["rule"] == "unknown-flag"] == ["good.yml"]
    assert not list(root.rglob("ran"))
