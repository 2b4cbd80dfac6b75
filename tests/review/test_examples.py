"""The reviews in the documentation are those that Seamguard writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.cli.review import review_revisions
from bot.hazards import load_rules
from bot.review import report
from tests.corpus import needs_corpus
from tests.history.conftest import History, history  # noqa: F401

FOLDER = Path(__file__).parent.parent.parent / "docs" / "examples"
COMMANDS = dict(
    re.findall(
        r"^review ([0-9a-f]{12}) > docs/examples/([a-z-]+\.md)$", (FOLDER / "README.md").read_text(), re.MULTILINE
    )
)


def test_every_example_has_its_command_and_its_line() -> None:
    names = {file.name for file in FOLDER.glob("*.md")} - {"README.md"}
    assert set(COMMANDS.values()) == names
    assert len(names) == 3
    assert all(f"]({name})" in (FOLDER / "README.md").read_text() for name in names)


@needs_corpus
@pytest.mark.parametrize(("commit", "name"), COMMANDS.items())
def test_an_example_is_what_the_command_prints(history: History, commit: str, name: str) -> None:  # noqa: F811
    written = report(review_revisions(history.root, f"{commit}^", commit, load_rules()))
    assert (FOLDER / name).read_text() == written, "run the commands of docs/examples/README.md"
