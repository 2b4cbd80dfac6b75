"""How an audit's time grows with the repository: ten times the composes may take ten times as long, not more.

    python benchmarks/growth.py [REPOSITORY]

The larger repository has the files of the other ten times, each copy in a folder of its own. Prints seconds of
processor and the most memory of a new process each, and how the times relate.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
TIMES = 10


def main() -> None:
    with TemporaryDirectory() as folder:
        one, many = Path(folder) / "one", Path(folder) / "many"
        export(Path(sys.argv[1]) if len(sys.argv) > 1 else corpus(), one)
        for copy in range(TIMES):
            shutil.copytree(one, many / f"copy{copy}")
        small, large = audited(one), audited(many)
    print(f"load of the machine           {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"audit                         {small[0]:6.2f} s of processors  {small[1]:5.0f} MB")
    print(f"audit of {TIMES} copies            {large[0]:6.2f} s of processors  {large[1]:5.0f} MB")
    print(f"growth                        {large[0] / small[0]:6.1f}  (goal: at most {TIMES})")


def corpus() -> Path:
    """The corpus' history."""
    bundle = ROOT.parent / "shared" / "corpus" / "club-history.bundle"
    if not bundle.is_file():
        sys.exit("no corpus beside the project: name a repository")
    return bundle


def export(repository: Path, folder: Path) -> None:
    """The files of a repository without its history."""
    subprocess.run(["git", "clone", "--quiet", "--branch", "main", str(repository), str(folder)], check=True)
    shutil.rmtree(folder / ".git")


def audited(folder: Path) -> tuple[float, float]:
    """Seconds of processor and megabytes of an audit."""
    command = [sys.executable, "-m", "bot", "audit", str(folder), "--format", "json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, _, spent = os.wait4(process.pid, 0)
        process.returncode = 0
    return spent.ru_utime + spent.ru_stime, spent.ru_maxrss / 1024


if __name__ == "__main__":
    main()
