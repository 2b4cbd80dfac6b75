"""A pull request that touches one compose, in a process that has reviewed others before: as the App has it.

    python benchmarks/pull_request.py [REPOSITORY]

Takes changes of exactly one compose from the history, reviews each twice and counts the second time: rules, facts and
the repository's objects are known by then, what the change says is not kept. The goal is less than 0.1 s of processor
for the median.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
MOST = 12
"""Pull requests that are timed."""


def main() -> None:
    with TemporaryDirectory() as folder:
        repository = Path(sys.argv[1]) if len(sys.argv) > 1 else corpus(Path(folder))
        changes = changes_of_one_compose(repository)
        if not changes:
            sys.exit("no commit changes exactly one compose")
        for change in changes:
            reviewed(repository, change)
        times = [reviewed(repository, change) for change in changes]
    print(f"pull requests of one compose  {len(times)}")
    print(f"load of the machine           {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"review, warm, median          {statistics.median(times) * 1000:.0f} ms of processor  (goal: below 100)")
    print(f"review, warm, slowest         {max(times) * 1000:.0f} ms of processor")


def corpus(folder: Path) -> Path:
    """A clone of the corpus' history."""
    bundle = ROOT.parent / "shared" / "corpus" / "club-history.bundle"
    if not bundle.is_file():
        sys.exit("no corpus beside the project: name a repository")
    subprocess.run(["git", "clone", "--quiet", "--branch", "main", str(bundle), str(folder / "clone")], check=True)
    return folder / "clone"


def changes_of_one_compose(repository: Path) -> list[str]:
    """The newest commits that change one YAML file which is a compose by its name or place."""
    command = ["git", "-C", str(repository), "log", "--no-merges", "--format=%x00%H", "--name-only", "-n", "400"]
    found = []
    for entry in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")[1:]:
        commit, *paths = entry.split()
        composes = [path for path in paths if path.endswith((".yml", ".yaml")) and "compose" in path]
        if len(composes) == 1 and len(paths) <= 3:
            found.append(commit)
    return found[:MOST]


def reviewed(repository: Path, commit: str) -> float:
    """Seconds of processor, those of git among them, for the review of a commit against its parent."""
    from bot.cli.review import review_revisions
    from bot.hazards import load_rules

    rules = load_rules()
    start, used = time.process_time(), children()
    review_revisions(repository, f"{commit}^", commit, rules)
    return time.process_time() - start + children() - used


def children() -> float:
    """Seconds of processor of the processes that have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


if __name__ == "__main__":
    main()
