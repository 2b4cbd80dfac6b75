"""Words of a command that is written over several lines point at their own line."""

import pytest

from bot.compose import Documents, Service, load_project
from bot.tree import MemoryTree


def _service(command: str) -> Service:
    text = f"services:\n  s:\n    image: i\n    command: {command}\n"
    return load_project(Documents(MemoryTree({"c.yml": text})), ["c.yml"], {}).services["s"]


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (">-\n      serve m\n      --port 80\n      --x '{\"a\": 1}'", [5, 5, 6, 6, 7, 7]),
        (">\n      serve\n        --more\n      --x", [5, 6, 7]),
        ("serve m\n      --port\n      80", [4, 4, 5, 6]),
        ("\"serve\n      --port 'a b'\n      --x\"", [4, 5, 5, 6]),
        ("serve --port 80", [4, 4, 4]),
    ],
)
def test_each_word_has_its_line(command: str, lines: list[int]) -> None:
    words = _service(command).command or ()
    assert [word.because[0].line for word in words] == lines


def test_each_variable_has_its_line() -> None:
    service = _service(">-\n      serve ${MODEL:-m}\n      --port\n      ${PORT:-80} --y=${Y:-1}")
    assert [(read.name, read.position.line) for read in service.reads] == [("MODEL", 5), ("PORT", 7), ("Y", 7)]
    words = service.command or ()
    assert [(word.text, word.because[0].line) for word in words][-2:] == [("80", 7), ("--y=1", 7)]
