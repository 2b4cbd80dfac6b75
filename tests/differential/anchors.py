"""Add a release that somebody has read to the table of fingerprints: a script for developers.

    python -m tests.differential.anchors VERSION

`releases` in rules/vllm/derivations.yml must have it already. What its facts have is what is written down as read.
"""

from __future__ import annotations

import sys

from bot.engine.derivations.basis import ANCHORS, readings, written
from bot.engine.facts import load
from bot.rules import RULES


def extended(release: str) -> str:
    """The table with the fingerprints of a release."""
    known, found = readings(), load(release).anchors
    table = {name: dict(hashes) for name, hashes in known.fingerprints.items()}
    for name, hashes in table.items():
        entry = found.get(name)
        hashes.pop(release, None)
        if entry is not None:
            hashes[release] = entry[0]
    return written(table, known.releases)


if __name__ == "__main__":
    (RULES / ANCHORS).write_text(extended(sys.argv[1]), encoding="utf-8")
