"""What docs/app.md says of the settings is what the settings say."""

from __future__ import annotations

from pathlib import Path

from bot.web.settings import VARIABLES

PAGE = (Path(__file__).parents[2] / "docs/app.md").read_text(encoding="utf-8")


def test_every_variable_is_documented() -> None:
    rows = [f"| `{name}` | {meaning} |" for name, meaning in VARIABLES.items()]
    table = PAGE.partition("| variable | meaning |\n|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == rows
