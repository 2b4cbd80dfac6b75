"""Plays commits of a real history as pull requests, and prints what their author would read.

    python -m tests.end_to_end.replay_history CLONE COMMIT...

Each commit becomes a pull request over its parent, in a simulated GitHub beside the whole process.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from bot.sandbox.github import PullHandle
from tests.end_to_end.harness import world


def tree(clone: Path, commit: str) -> Mapping[str, str]:
    """The ids of a commit's files, by their paths; links and submodules are left out."""
    listed = _git(clone, "ls-tree", "-r", "-z", "--full-tree", commit).decode().split("\0")
    entries = (entry.split("\t", 1) for entry in listed if entry)
    return {path: meta.split()[2] for meta, path in entries if meta.startswith("100")}


def contents(clone: Path, blobs: Mapping[str, str]) -> Mapping[str, bytes]:
    """The contents of files, by their paths."""
    asked = "\n".join(blobs.values()) + "\n"
    answer = _git(clone, "cat-file", "--batch", given=asked.encode())
    found, at = {}, 0
    for path in blobs:
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split()[2])
        found[path] = answer[end + 1 : end + 1 + size]
        at = end + size + 2
    return found


async def replay(clone: Path, commit: str) -> PullHandle:
    """The pull request that a commit becomes, after its review."""
    before, after = tree(clone, f"{commit}^"), tree(clone, commit)
    edited = contents(clone, {path: sha for path, sha in after.items() if before.get(path) != sha})
    changes = {**dict.fromkeys(before.keys() - after.keys()), **edited}
    with tempfile.TemporaryDirectory() as folder:
        async with world(Path(folder), contents(clone, before)) as here:
            pull = here.repository.open_pull(changes)
            await here.settle(120)
            return pull


def conversation(pull: PullHandle) -> Iterator[str]:
    """Everything that a pull request shows, as Markdown."""
    shown = pull.conversation()
    for check in shown.checks:
        yield f"# Check: {check.conclusion}: {check.title}\n\n{check.summary}\n\n{check.text or ''}"
        yield from (f"- {note}" for note in check.annotations)
    for review in shown.reviews:
        yield f"# Review\n\n{review.body}"
    for thread in shown.threads:
        yield f"# On {thread.comment.path}:{thread.comment.line}\n\n{thread.comment.body}"
    for comment in shown.comments:
        yield f"# {comment.user.login}\n\n{comment.body}"


def _git(clone: Path, *arguments: str, given: bytes = b"") -> bytes:
    return subprocess.run(["git", "-C", str(clone), *arguments], input=given, capture_output=True, check=True).stdout


def main(clone: str, *commits: str) -> None:
    """Prints the conversations."""
    for commit in commits:
        print(f"<!-- {commit} -->\n")
        print("\n\n".join(conversation(asyncio.run(replay(Path(clone), commit)))), end="\n\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
