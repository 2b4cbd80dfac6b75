"""Runs `action.yml` as GitHub's runner does: each step in bash, told by its variables alone.

Installing is the only thing that is played: the interpreter that is named makes a real environment, and a `pip` in it
that writes down what it is asked to install and shows the packages of the tests instead.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bot.repositories import git

ROOT = Path(__file__).parents[2]
ACTION: Mapping[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
_EXPRESSION = re.compile(r"\$\{\{\s*inputs\.([a-z-]+)\s*\}\}")

_PYTHON = """\
#!/bin/bash
set -e
if [ "$2" = -c ]; then exec {real} "$@"; fi
[ "$1 $2 $3 $4" = "-I -m venv --clear" ]
{real} -I -m venv --without-pip --clear "$5"
site="$("$5/bin/python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
echo {packages} > "$site/zzz.pth"
mkdir "$site/pip"
touch "$site/pip/__init__.py"
cat > "$site/pip/__main__.py" <<'END'
import sys
open({asked!r}, "w").write("\\n".join(sys.argv[1:]))
END
"""


@dataclass(frozen=True)
class Ran:
    """What a run of the action did."""

    status: int
    out: str
    err: str
    outputs: Mapping[str, str]
    summary: str

    @property
    def commands(self) -> list[str]:
        """The lines that the runner takes for commands: none while they are stopped."""
        found, stopped = [], None
        for line in self.out.splitlines():
            if stopped is not None:
                stopped = None if line.strip() == f"::{stopped}::" else stopped
            elif line.startswith("::stop-commands::"):
                stopped = line.removeprefix("::stop-commands::")
            elif line.lstrip().startswith("::") or "##[" in line:
                found.append(line)
        return found


class Runner:
    """A machine on which the action runs, in a checkout."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self.folder = folder
        self.workspace = workspace
        self.temp = folder / "temp"
        self.temp.mkdir(parents=True)
        self.asked = folder / "asked"
        self.python = folder / "python"
        packages = sysconfig.get_path("purelib")
        self.python.write_text(_PYTHON.format(real=sys.executable, packages=packages, asked=str(self.asked)))
        self.python.chmod(0o755)

    def run(self, event: str, payload: str, **inputs: str) -> Ran:
        """The action in an event; inputs by their names, `_` for `-`."""
        given = {name: str(default["default"]) for name, default in ACTION["inputs"].items()}
        given |= {"python": str(self.python)} | {name.replace("_", "-"): value for name, value in inputs.items()}
        (self.folder / "event.json").write_text(payload, encoding="utf-8")
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        machine = {
            **{name: value for name, value in git.environment().items() if not name.startswith("PYTHON")},
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_REPOSITORY": "acme/serving",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_WORKSPACE": str(self.workspace),
            "PYTHONDONTWRITEBYTECODE": "1",
            "RUNNER_TEMP": str(self.temp),
            **{name: str(file) for name, file in files.items()},
        }
        status, out, err = 0, "", ""
        for number, step in enumerate(STEPS):
            script = self.folder / f"step-{number}.sh"
            script.write_text(step["run"])
            told = {name: _EXPRESSION.sub(lambda match: given[match[1]], value) for name, value in step["env"].items()}
            command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
            done = subprocess.run(
                command,
                cwd=self.workspace,
                env={**machine, **told},
                check=False,
                capture_output=True,
                encoding="utf-8",
                stdin=subprocess.DEVNULL,
                timeout=120,
            )
            status, out, err = done.returncode, out + done.stdout, err + done.stderr
            if status:
                break
        return Ran(status, out, err, _outputs(files["GITHUB_OUTPUT"]), files["GITHUB_STEP_SUMMARY"].read_text())


def _outputs(file: Path) -> dict[str, str]:
    """Outputs in the form with an end of their own, which is the only one that is used."""
    lines = iter(file.read_text(encoding="utf-8").splitlines())
    found = {}
    for line in lines:
        name, mark, end = line.partition("<<")
        assert mark
        assert len(end) == 32
        value = []
        for part in lines:
            if part == end:
                break
            value.append(part)
        found[name] = os.linesep.join(value)
    return found
