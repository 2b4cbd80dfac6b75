"""Writes the golden summary anew: `python -m tests.wild.regenerate`. Read the diff before committing it."""

from __future__ import annotations

import sys

from tests.wild.summary import GOLDEN, files, rendered, summary


def main() -> int:
    names = files()
    if not names:
        sys.stderr.write("the corpus of real data is not here\n")
        return 2
    GOLDEN.write_text(rendered({name: summary(name) for name in names}) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
