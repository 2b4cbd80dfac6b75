"""The issues in the documentation are those that Seamguard writes."""

from __future__ import annotations

from tests.notices.examples import FOLDER, examples


def test_the_examples_are_what_is_written() -> None:
    written = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    assert written == examples(), "run `python -m tests.notices.examples`"
