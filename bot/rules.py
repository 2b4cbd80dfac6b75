"""Where the rules are: `rules/` of the checkout, or the copy that an installed wheel carries."""

from __future__ import annotations

from pathlib import Path

_INSTALLED = Path(__file__).parent / "_rules"
INSTALLED: bool = _INSTALLED.is_dir()
RULES: Path = _INSTALLED if INSTALLED else Path(__file__).parent.parent / "rules"
