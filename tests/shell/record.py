"""Records what the real bash does: with the scripts of `scripts.txt`, into `recorded.jsonl`, and with the lines of
`lines.txt`, each alone behind `generators.SETUP`, into `recorded_lines.jsonl`.

Run it as `python -m tests.shell.record` where bash 5.2 is installed. Stub programs stand for the engines.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.shell.generators import SETUP

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts.txt"
RECORDED = HERE / "recorded.jsonl"
LINES = HERE / "lines.txt"
RECORDED_LINES = HERE / "recorded_lines.jsonl"
_OWN = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "PATH"})

_STUB = """#!/bin/bash
{{ printf '%s\\0' {name} "$@"; printf '\\1\\0'; }} >> {folder}/calls
env -0 > {folder}/environment
"""
_NUMACTL = """#!/bin/bash
while [[ $1 == -* ]]; do shift; done
exec "$@"
"""


def cases(text: str) -> Iterator[dict[str, Any]]:
    """The scripts of the text: `=== name`, then `# args:`, `# env:`, `# files:` lines, then the script."""
    for block in re.split(r"^=== ", text, flags=re.M)[1:]:
        name, _, script = block.partition("\n")
        case: dict[str, Any] = {"id": name, "args": [], "env": {}, "files": {}}
        while found := re.match(r"# (args|env|files): (.*)\n", script):
            script = script[found.end() :]
            if found[1] == "args":
                case["args"] = found[2].split(" ")
            else:
                pairs = (
                    re.findall(r"(\S+?)=(.*?)(?= [A-Za-z_.]+=|$)", found[2]) if found[1] == "env" else _files(found[2])
                )
                case[found[1]] = dict(pairs)
        case["script"] = "#!/bin/bash\n" + script
        yield case


def _files(text: str) -> list[tuple[str, str]]:
    if re.fullmatch(r"(?:[\w./]+=\w* ?)+", text):
        return [(name, content + "\n") for name, _, content in (one.partition("=") for one in text.split())]
    name, _, content = text.partition("=")
    return [(name, content + "\n")]


MAX_SECONDS = 30
"""Scripts here take milliseconds; one that recurses without end is stopped before it fills the machine."""


def bash(
    script: str, args: Sequence[str] = (), env: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What the real bash does: the last call of a stub, the exit status, and the variables that differ at the call."""
    env, files = env or {}, files or {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work, programs = folder / "work", folder / "programs"
        work.mkdir()
        programs.mkdir()
        for stub in ("vllm", "python3", "python"):
            (programs / stub).write_text(_STUB.format(name=stub, folder=folder))
        (programs / "numactl").write_text(_NUMACTL)
        for program in programs.iterdir():
            program.chmod(0o755)
        for path, text in {**files, "entrypoint.sh": script}.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(text)
        environment = {"PATH": f"{programs}:/usr/bin:/bin", **env}
        status = _run_in_a_group(["bash", "entrypoint.sh", *args], work, environment)
        return {"exit": status, **_calls(folder, env)}


def _run_in_a_group(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> int:
    """Runs a script that ends, or ends it with all of its children. Raises `subprocess.TimeoutExpired`."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        return process.wait(timeout=MAX_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _calls(folder: Path, env: Mapping[str, str]) -> dict[str, Any]:
    if not (folder / "calls").exists():
        return {"argv": None, "env": {}}
    calls = os.fsdecode((folder / "calls").read_bytes()).split("\1\0")[:-1]
    pairs = (one.partition("=") for one in os.fsdecode((folder / "environment").read_bytes()).split("\0") if "=" in one)
    found = {key: value for key, _, value in pairs}
    changed = {key: value for key, value in found.items() if key not in _OWN and env.get(key) != value}
    return {"argv": calls[-1].split("\0")[:-1], "env": changed}


def lines(text: str) -> list[str]:
    """The lines to ask, without comments."""
    return [line for line in text.splitlines() if line and not line.startswith("# ")]


def script_of(line: str) -> str:
    """The script that a line is asked in."""
    return f'{SETUP}\ni=3; j=5; out=()\n{line}\nvllm "${{out[@]}}"\n'


def main() -> None:
    """Writes the files anew."""
    with RECORDED_LINES.open("w") as out:
        for line in lines(LINES.read_text()):
            out.write(json.dumps({"line": line, "expect": bash(script_of(line))}, ensure_ascii=False) + "\n")
    with RECORDED.open("w") as out:
        for case in cases(SCRIPTS.read_text()):
            case["expect"] = bash(case["script"], case["args"], case["env"], case["files"])
            out.write(json.dumps(case, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
