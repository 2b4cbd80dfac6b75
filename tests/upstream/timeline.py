"""Facts of a made-up upstream, written short."""

from __future__ import annotations

from typing import Any

from bot.upstream.clock import Clock, read_clock
from bot.upstream.facts import read_facts

N = 48375
REFERENCE = f"vllm-project/vllm#{N}"
TITLE = "[Bugfix] Honour the flag in the manager"

Fact = dict[str, Any]


def sha(name: str) -> str:
    """A hash that looks like one, the same for the same name."""
    return (name.encode().hex() * 8)[:40].ljust(40, "0")


def pull(number: int = N, state: str = "merged", commit: str | None = "fix", title: str = TITLE) -> Fact:
    merged = state == "merged"
    return {
        "kind": "pull",
        "number": number,
        "state": state,
        "merge_commit": sha(commit) if merged and commit else None,
        "merged_at": "2026-06-01T00:00:00Z" if merged else None,
        "closed_at": None if state == "open" else "2026-06-01T00:00:00Z",
        "title": title,
    }


def commit(name: str, position: int | None, title: str, message: str = "", branch: str | None = "main") -> Fact:
    return {
        "kind": "commit",
        "sha": sha(name),
        "branch": branch,
        "position": position,
        "title": title,
        "message": message,
    }


def fix(position: int = 10, branch: str = "main") -> Fact:
    return commit("fix", position, f"{TITLE} (#{N})", branch=branch)


def revert(position: int = 15, branch: str = "main", number: int = 50100, of: str = "fix") -> Fact:
    return commit(
        "revert", position, f'Revert "{TITLE} (#{N})" (#{number})', f"This reverts commit {sha(of)}.", branch=branch
    )


def tag(name: str, position: int | None, branch: str | None = "main", of: str | None = None) -> Fact:
    return {"kind": "tag", "name": name, "sha": sha(of or name), "branch": branch, "position": position}


def branch(name: str, position: int, origin: str = "main") -> Fact:
    return {"kind": "branch", "name": name, "from": origin, "position": position}


def probe(release: str, holds: bool | None, text: str = "") -> Fact:
    return {"kind": "probe", "release": release, "holds": holds, "text": text}


def contains(release: str, holds: bool) -> Fact:
    return {"kind": "contains", "release": release, "holds": holds}


def supersedes(by: str) -> Fact:
    return {"kind": "supersedes", "by": by, "source": "a comment"}


def clock(facts: list[Fact], *pins: str, reference: str = REFERENCE) -> Clock:
    return read_clock(reference, pins, read_facts(facts, "vllm-project/vllm"))
