"""Registries in Python that were written to take long, or to break what reads them."""

from __future__ import annotations

import pytest

from bot.catalog.document import Value
from bot.catalog.python_registry import MAX_NUMBER, parse_python


def _registry(text: str) -> dict[str, Value]:
    root = parse_python(text, "registry.py")
    assert root is not None
    return root.fields()["R"].fields()


@pytest.mark.parametrize(
    ("number", "known"), [("262144", "262144"), (f"{MAX_NUMBER}", f"{MAX_NUMBER}"), ("0x" + "f" * 8000, None)]
)
def test_a_number_that_cannot_be_written_out_is_not_there(number: str, known: str | None) -> None:
    stated = _registry(f"R = {{'a/b': dict(ctx={number}, tp=2)}}")["a/b"].fields()
    assert stated["tp"].text == "2"
    assert (stated["ctx"].text if "ctx" in stated else None) == known


def test_an_entry_of_which_something_is_assigned_later_is_left_out() -> None:
    text = "R = {'a/b': dict(tp=1), 'c/d': dict(tp=2), 'e/f': dict(tp=4)}\nR['a/b']['tp'] = 2\nR['e/f']['tp'] = 8\n"
    assert list(_registry(text)) == ["c/d"]
