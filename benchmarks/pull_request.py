"""A pull request that touches one compose, in a process that knows the repository: as the App has it.

    python benchmarks/pull_request.py [REPOSITORY]

Takes changes of exactly one compose from the history, oldest first. The process has seen the default branch before (a
review of the commit before the base) and earlier pull requests; what the change itself says it sees for the first time.
Reviews it, writes the summary and counts the processor time, that of git included. The goal is less than 0.1 s for the
median. Then reviews the same change again, as after a second delivery.
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

from bot.cli.opening import Known  # noqa: E402
from bot.cli.review import review_revisions  # noqa: E402
from bot.hazards import Rules, load_rules  # noqa: E402
from bot.review import summary  # noqa: E402

MOST = 12
"""Pull requests that are timed."""


def main() -> None:
    with TemporaryDirectory() as folder:
        repository = Path(sys.argv[1]) if len(sys.argv) > 1 else corpus(Path(folder))
        changes = changes_of_one_compose(repository)
        if not changes:
            sys.exit("no commit changes exactly one compose")
        known = Known()
        rules = load_rules()
        cold = reviewed(repository, changes[0], Known(), rules)
        times, again = [], []
        for change in changes:
            reviewed(repository, f"{change}^", known, rules)  # the base is known, as the head of what was there before
            times.append(reviewed(repository, change, known, rules))
            again.append(reviewed(repository, change, known, rules))
    print(f"pull requests of one compose  {len(times)}")
    print(f"load of the machine           {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"review, nothing known         {cold * 1000:.0f} ms of processor, once the rules are loaded")
    print(f"review, warm, median          {statistics.median(times) * 1000:.0f} ms of processor  (goal: below 100)")
    print(f"review, warm, slowest         {max(times) * 1000:.0f} ms of processor")
    print(f"the same review again         {statistics.median(again) * 1000:.0f} ms of processor")


def corpus(folder: Path) -> Path:
    """A clone of the corpus' history."""
    bundle = ROOT.parent / "shared" / "corpus" / "club-history.bundle"
    if not bundle.is_file():
        sys.exit("no corpus beside the project: name a repository")
    subprocess.run(["git", "clone", "--quiet", "--branch", "main", str(bundle), str(folder / "clone")], check=True)
    return folder / "clone"


def changes_of_one_compose(repository: Path) -> list[str]:
    """The newest commits, oldest first, that change one YAML file which is a compose by its name or place."""
    command = ["git", "-C", str(repository), "log", "--no-merges", "--format=%x00%H", "--name-only", "-n", "400"]
    found = []
    for entry in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")[1:]:
        commit, *paths = entry.split()
        composes = [path for path in paths if path.endswith((".yml", ".yaml")) and "compose" in path]
        if len(composes) == 1 and len(paths) <= 3:
            found.append(commit)
    return found[:MOST][::-1]


def reviewed(repository: Path, commit: str, known: Known, rules: Rules) -> float:
    """Seconds of processor, those of git among them, for the review of a commit against its parent."""
    start, used = time.process_time(), children()
    summary(review_revisions(repository, f"{commit}^", commit, rules, known))
    return time.process_time() - start + children() - used


def children() -> float:
    """Seconds of processor of the processes that have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


if __name__ == "__main__":
    main()
