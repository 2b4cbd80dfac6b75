"""What the GitHub Action installs: the part of `runtime.lock` that `audit` and `review` need.

python -m tests.packaging.action_lock > action.lock
"""

from __future__ import annotations

import re
from pathlib import Path

LOCK = Path(__file__).parents[2] / "runtime.lock"
NEEDED = ("click", "markdown-it-py", "mdurl", "packaging", "pygments", "pyyaml", "rich", "ruamel-yaml", "unidiff")
"""What `audit` and `review` import, and what that imports."""


def action_lock() -> str:
    """The stanzas of the needed packages, as they are."""
    stanzas = re.findall(r"^[a-z0-9].*?(?=^[a-z0-9]|\Z)", LOCK.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    found = {_name(stanza): stanza for stanza in stanzas}
    return "".join(found[name] for name in NEEDED)


def _name(stanza: str) -> str:
    return re.sub(r"[-_.]+", "-", stanza.partition("==")[0]).lower()


if __name__ == "__main__":
    print(action_lock(), end="")
