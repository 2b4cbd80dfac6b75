"""Who may use the commands, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.commands import (
    COMMANDS,
    HELP,
    NO_ENGINE,
    Explain,
    Found,
    Mistake,
    elsewhere_answer,
    find,
    help_text,
    may,
    mistake_answer,
    page,
    refusal_answer,
)
from bot.commands.catalogue import RECHECK, Permission

PAGE = Path(__file__).parent.parent.parent / "docs" / "commands.md"


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("permission", "is_author", "is_bot", "allowed"),
    [
        ("admin", False, False, True),
        ("write", False, False, True),
        ("read", False, False, False),
        ("none", False, False, False),
        ("read", True, False, True),
        ("none", True, False, True),
        ("admin", True, True, False),
    ],
)
def test_who_may(command, permission: Permission, is_author: bool, is_bot: bool, allowed: bool) -> None:  # type: ignore[no-untyped-def]
    assert may(command, permission, is_author, is_bot) is allowed


def test_the_page_is_that_of_the_commands() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m bot.commands > docs/commands.md"


def test_every_command_is_named_and_can_be_written_as_its_usage_says() -> None:
    for name, command in COMMANDS.items():
        assert command.name == name
        assert f"`{command.usage}`" in help_text()
        assert f"`{command.usage}`" in page()
        written = command.usage.replace("<path, slug or hazard>", "a.yml").replace("[property]", "prefix_caching")
        (found,) = find(written.replace("[FILE[:SERVICE]]", "a.yml:engine") + "\n```\na log\n```")
        assert isinstance(found, Found)
        assert found.command is command


def test_no_answer_is_a_command() -> None:
    answers = [help_text(), *(refusal_answer(command) for command in COMMANDS.values())]
    answers += [elsewhere_answer(RECHECK), NO_ENGINE]
    wrong = ("/rechek", "/explain", "/explain a b c", "/verify", "/verify a b")
    mistakes = [item for text in wrong for item in find(text)]
    answers += [mistake_answer(item) for item in mistakes if isinstance(item, Mistake)]
    assert len(answers) == 12
    assert [find(answer) for answer in answers] == [()] * 12


def test_a_refusal_says_who_may() -> None:
    assert refusal_answer(HELP) == (
        "`/help` is for people with write access, and the author of the pull request or issue."
    )
    assert refusal_answer(RECHECK).endswith("and the author of the pull request.")


def test_what_is_asked_is_a_value() -> None:
    assert Explain("a.yml") == Explain("a.yml", None, None)
