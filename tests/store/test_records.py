"""Collections of JSON values, in both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.store import Database, Records


@pytest.fixture
def records(url: str) -> Iterator[Records]:
    database = Database(url)
    database.prepare()
    yield Records(database)
    database.close()


DATABASES = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)


@DATABASES
def test_values_are_added_replaced_and_taken_out(records: Records) -> None:
    records.put("commit", "a/b", {str(number): {"n": number} for number in range(1200)})
    records.put("commit", "a/b", {"3": {"n": "three"}})
    records.put("commit", "c/d", {"3": None})
    found = records.all("commit", "a/b")
    assert (len(found), found["3"], found["1199"]) == (1200, {"n": "three"}, {"n": 1199})
    records.remove("commit", "a/b", [str(number) for number in range(1100)])
    assert len(records.all("commit", "a/b")) == 100
    records.replace("commit", "a/b", {"x": [1, "ä"]})
    assert records.all("commit", "a/b") == {"x": [1, "ä"]}
    assert records.all("commit", "c/d") == {"3": None}
    assert records.all("other", "a/b") == {}


@DATABASES
def test_what_is_too_large_is_refused_and_nothing_is_changed(records: Records) -> None:
    records.put("site", "a/b", {"1": "kept"})
    with pytest.raises(ValueError, match="too large"):
        records.replace("site", "a/b", {"1": "x" * 300_000})
    assert records.all("site", "a/b") == {"1": "kept"}
