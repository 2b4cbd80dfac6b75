"""Small facts: replaced by one of several who try at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.store import Facts
from bot.store import database as database_module
from bot.store.database import Database


@pytest.fixture
def facts(tmp_path: Path) -> Iterator[Facts]:
    database = Database.file(tmp_path / "store.sqlite")
    database.prepare()
    yield Facts(database)
    database.close()


def test_a_fact_is_replaced_by_who_knows_it(facts: Facts) -> None:
    assert facts.replace("notice", "a", None, {"n": 1, "text": "ü"})
    assert not facts.replace("notice", "a", None, {"n": 2})
    known = facts.recall("notice", "a")
    assert known == {"n": 1, "text": "ü"}
    assert facts.replace("notice", "a", known, {"n": 3})
    assert not facts.replace("notice", "a", known, {"n": 4})
    assert facts.recall("notice", "a") == {"n": 3}
    with pytest.raises(ValueError, match="too large"):
        facts.replace("notice", "x" * 501, None, {})


@pytest.mark.parametrize("known", [None, {"n": 0}])
def test_of_many_at_once_one_succeeds(facts: Facts, known: dict[str, int] | None) -> None:
    if known is not None:
        facts.remember("notice", "a", known)
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: facts.replace("notice", "a", known, {"n": n}), range(1, 9)))
    assert won.count(True) == 1
    assert facts.recall("notice", "a") == {"n": won.index(True) + 1}


def test_everything_that_begins_so(facts: Facts) -> None:
    for key in ("acme/a x", "acme/a y", "acme/ab z", "acme/_ x", "ACME/a x"):
        facts.remember("notice", key, {"key": key})
    facts.remember("other", "acme/a x", {})
    assert facts.all("notice", "acme/a ") == {"acme/a x": {"key": "acme/a x"}, "acme/a y": {"key": "acme/a y"}}
    assert len(facts.all("notice")) == 5


def test_every_sqlite_tells_the_time_below_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DBOS asks for it where Python is new, though the system's SQLite may be old."""
    for known in (database_module.SUBSECONDS, (99, 0)):
        monkeypatch.setattr(database_module, "SUBSECONDS", known)
        database = Database(f"sqlite:///{tmp_path}/{known[0]}.sqlite")
        with database.engine.begin() as connection:
            connection.execute(sa.text("CREATE TABLE t (at INTEGER DEFAULT (unixepoch('subsec') * 1000), x)"))
            connection.execute(sa.text("INSERT INTO t (x) VALUES (1)"))
            at = connection.execute(sa.text("SELECT at FROM t")).scalar()
        database.close()
        assert abs(float(at or 0) / 1000 - time.time()) < 60
