"""Which property is verified in which release, as a table for people.

python -m tests.differential.verified > docs/verified.md
"""

from __future__ import annotations

import sys

from bot.engine.derivations.basis import Basis, lacks, readings
from bot.engine.facts import load, releases

HEAD = """# What is verified of which vLLM release

A property is derived in a release where the functions of vLLM's source that decide it were read
([rules/vllm/derivations.yml](../rules/vllm/derivations.yml)). Elsewhere it is `unverified`: what a deployment sets
explicitly still resolves, a default does not. `conflicts` are the configuration's own refusals. "·" is a property that
the release does not have, and that is none there.

Made by `python -m tests.differential.verified > docs/verified.md`; a test fails when it is not current.
"""


def table() -> str:
    """The page."""
    known = readings()
    subjects = list(known.definitions)
    lines = [HEAD, "| release | " + " | ".join(f"`{subject}`" for subject in subjects) + " |"]
    lines.append("|---" * (len(subjects) + 1) + "|")
    for release in releases():
        basis = Basis(load(release), known)
        lines.append(f"| {release} | " + " | ".join(_cell(basis, subject) for subject in subjects) + " |")
    return "\n".join(lines) + "\n"


def _cell(basis: Basis, subject: str) -> str:
    if lacks(basis.facts, subject):
        return "·"
    return "yes" if basis.behaviour(subject) is not None else "unverified"


if __name__ == "__main__":
    sys.stdout.write(table())
