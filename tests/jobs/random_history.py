"""Random histories of an upstream, as git holds them, and the truth of each tag: whether the fix's file is there."""

from __future__ import annotations

import random
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from bot.repositories import git

N = 48375
TITLE = "[Bugfix] Honour the flag"
MARK = "vllm/fix.py"
START = 1_780_000_000
BORN = START + 40 * 86_400
"""When the pull request of the fix was opened: what is older does not name it."""


@dataclass
class Line:
    """A branch while it is made: its tip, what it has, and what landed the fix last."""

    tip: int
    has: bool = False
    landed: tuple[int, str] | None = None


@dataclass
class Made:
    """A history: what git holds, and what GitHub would say of it."""

    truth: dict[str, bool] = field(default_factory=dict)
    pulls: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Merged pull requests by number: title, and the mark of the commit."""
    marks: dict[int, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)


class Maker:
    """Writes a history for git's fast-import, by dice."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.made = Made()
        self.stream: list[tuple[str, str, str]] = []
        """Pieces for fast-import: what stands before a message, the message, and what stands behind it."""
        self.mark = 0
        self.number = N + 100
        self.time = START
        self.lines: dict[str, Line] = {}
        self.tagged: dict[str, int] = {}

    def commit(
        self, branch: str, message: str, files: str = "", merge: int | None = None, base: int | None = None
    ) -> int:
        self.mark += 1
        self.time += self.dice.randint(60, 3 * 86_400)
        line = self.lines.get(branch)
        parent = base if base is not None else line.tip if line else None
        head = [
            f"commit refs/heads/{branch}",
            f"mark :{self.mark}",
            f"committer dev <dev@example.org> {self.time} +0000",
        ]
        rest = f"from :{parent}\n" if parent else ""
        rest += f"merge :{merge}\n" if merge else ""
        self.stream.append(("\n".join(head), message, rest + files))
        if line is not None:
            line.tip = self.mark
        return self.mark

    def noise(self, branch: str) -> None:
        self.number += 1
        words = [
            "Faster kernels",
            "Fix a typo",
            f"Follow-up of #{N}",
            "Revert to the old scheduler",
            "Document the flag",
        ]
        title = self.dice.choice(words)
        self.commit(branch, f"{title} (#{self.number})", f"M 644 inline a/{self.number}\ndata 1\nx\n")

    def merged_branch(self) -> None:
        """A side branch that is merged, with older commits of its own."""
        base = self.lines["main"].tip
        self.number += 1
        side = self.commit(f"side-{self.number}", "Work on it", f"M 644 inline s/{self.number}\ndata 1\nx\n", base=base)
        for _ in range(self.dice.randint(0, 2)):
            self.noise("main")
        self.commit(
            "main",
            f"Merge pull request #{self.number} from dev/side\n\nWork on it",
            f"M 644 inline s/{self.number}\ndata 1\nx\n",
            merge=side,
        )

    def land(self, branch: str) -> None:
        """The fix comes to a branch, in one of the ways in which fixes do."""
        line = self.lines[branch]
        on = "M 644 inline vllm/fix.py\ndata 5\nfixed\n"
        if branch == "main" and N not in self.made.pulls:
            message = f"{TITLE} (#{N})"
            line.landed = self.commit(branch, message, on), message
            self.made.pulls[N] = (TITLE, line.landed[0])
        elif line.landed is not None:  # it was here before, and was reverted
            self.number += 1
            message = f'Revert "{line.landed[1].partition(chr(10))[0]}" (#{self.number})'
            if self.dice.random() < 0.3:
                message = f"[Reland] {TITLE} (#{N}) (#{self.number})"
            else:
                message += f"\n\nThis reverts commit {{:{line.landed[0]}}}."
            line.landed = self.commit(branch, message, on), message
        else:
            source = self.lines["main"].landed
            how = self.dice.random()
            message = f"{TITLE} (#{N})"
            if how < 0.3 and source is not None:
                message += f"\n\n(cherry picked from commit {{:{source[0]}}})"
            elif how < 0.5:
                self.number += 1
                message = f"{TITLE} (#{N}) (#{self.number})"
            line.landed = self.commit(branch, message, on), message
        line.has = True
        self.made.told.append(f"{branch}: {line.landed[1]}")

    def revert(self, branch: str) -> None:
        line = self.lines[branch]
        assert line.landed is not None
        self.number += 1
        title = line.landed[1].partition("\n")[0]
        message = f'Revert "{title}" (#{self.number})'
        if self.dice.random() < 0.7:
            message += f"\n\nThis reverts commit {{:{line.landed[0]}}}."
        line.landed = self.commit(branch, message, "D vllm/fix.py\n"), message
        line.has = False
        self.made.told.append(f"{branch}: {message}")

    def tag(self, branch: str, name: str) -> None:
        line = self.lines[branch]
        annotated = self.dice.random() < 0.5
        if annotated:
            who = f"tagger dev <dev@example.org> {self.time} +0000"
            self.stream.append((f"tag {name}\nfrom :{line.tip}\n{who}", "A release", ""))
        else:
            self.stream.append((f"reset refs/tags/{name}\nfrom :{line.tip}\n", "", ""))
        self.made.truth[name] = line.has
        self.tagged[name] = line.tip

    def cut(self, name: str) -> None:
        main = self.lines["main"]
        self.lines[name] = Line(main.tip, main.has, main.landed)
        self.stream.append((f"reset refs/heads/{name}\nfrom :{main.tip}\n", "", ""))
        self.made.told.append(f"{name} cut")

    def run(self) -> Made:
        first = self.commit("main", "Begin", "M 644 inline README\ndata 1\nx\n")
        self.lines["main"] = Line(first)
        self.noise("main")
        self.tag("main", "v0.20.0")
        self.time = BORN
        minor = 21
        for _ in range(self.dice.randint(5, 26)):
            step = self.dice.random()
            branch = self.dice.choice(list(self.lines))
            line = self.lines[branch]
            if step < 0.22:
                self.noise(branch)
            elif step < 0.3:
                self.merged_branch()
            elif step < 0.62:
                if line.has:
                    self.revert(branch)
                elif branch == "main" or N in self.made.pulls:
                    self.land(branch)
            elif step < 0.76:
                self.cut(f"releases/v0.{minor}.0")
                minor += 1
            elif branch == "main":
                self.tag("main", f"v0.{minor}.0")
                minor += 1
            else:
                patches = sum(name.startswith(branch.removeprefix("releases/")[:-1]) for name in self.made.truth)
                self.tag(branch, f"{branch.removeprefix('releases/')[:-1]}{patches}")
        gone = [name for name in self.lines if name != "main" and self.dice.random() < 0.2]
        for name in gone:  # tags stay, their branch does not
            self.stream.append((f"reset refs/heads/{name}\nfrom {'0' * 40}\n", "", ""))
        return self.made


def make(seed: int, folder: Path) -> Made:
    """A history in a bare repository, which must not be there."""
    maker = Maker(random.Random(seed))
    made = maker.run()
    environment = git.environment()
    subprocess.run(["git", "init", "-q", "--bare", str(folder)], check=True, env=environment)
    command = ["git", "-C", str(folder), "fast-import", "--quiet", "--force"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for head, message, rest in maker.stream:
            for mark in re.findall(r"\{:(\d+)\}", message):  # a commit that was made before has an id by now
                message = message.replace(f"{{:{mark}}}", made.marks[int(mark)])
            data = f"data {len(message.encode())}\n{message}\n" if message else ""
            process.stdin.write(f"{head}\n{data}{rest}".encode())
            if head.startswith("commit "):
                process.stdin.write(b"\n")
                mark = head.split("mark :")[1].split("\n")[0]
                process.stdin.write(f"get-mark :{mark}\n".encode())
                process.stdin.flush()
                made.marks[int(mark)] = process.stdout.readline().decode().strip()
        process.stdin.close()
    assert process.returncode == 0
    return made
