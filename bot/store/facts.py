"""Small facts that outlive the process: JSON under a kind and a key."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from bot.store.database import FACTS, USES, Database
from bot.store.records import Records

MAX_KEY = 500
MAX_VALUE = 1_000_000


class Facts:
    """Usable from several processes. Each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.records = Records(database)
        """Beside the facts: collections that are too large for one."""

    def recall(self, kind: str, key: str) -> Mapping[str, Any] | None:
        """What is known under a key."""
        query = sa.select(FACTS.c.value).where(FACTS.c.kind == kind, FACTS.c.key == key)
        with self._database.engine.connect() as connection:
            value = connection.execute(query).scalar()
        return None if value is None else json.loads(value)

    def remember(self, kind: str, key: str, value: Mapping[str, Any]) -> None:
        """Replace what is known under a key. Raises `ValueError` for what is too large to be a small fact."""
        changed = {"value": _text(kind, key, value), "changed_at": time.time()}
        statement = self._database.insert(FACTS, {"kind": kind, "key": key, **changed})
        with self._database.engine.begin() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["kind", "key"], set_=changed))

    def replace(self, kind: str, key: str, known: Mapping[str, Any] | None, value: Mapping[str, Any]) -> bool:
        """`remember`, if what is known is still `known` (None: nothing). False when somebody else was faster: of
        several processes that try at once, one succeeds.
        """
        text = _text(kind, key, value)
        changed = {"value": text, "changed_at": time.time()}
        with self._database.engine.begin() as connection:
            if known is None:
                added = self._database.insert(FACTS, {"kind": kind, "key": key, **changed}).on_conflict_do_nothing()
                return bool(connection.execute(added).rowcount == 1)
            mine = (FACTS.c.kind == kind, FACTS.c.key == key, FACTS.c.value == _json(known))
            return bool(connection.execute(sa.update(FACTS).where(*mine).values(**changed)).rowcount == 1)

    def all(self, kind: str, prefix: str = "") -> Mapping[str, Mapping[str, Any]]:
        """Everything of a kind, by key, where the key begins so."""
        query = sa.select(FACTS.c.key, FACTS.c.value).where(FACTS.c.kind == kind).order_by(FACTS.c.key)
        with self._database.engine.connect() as connection:
            rows = connection.execute(query.where(FACTS.c.key.startswith(prefix, autoescape=True))).all()
        return {row.key: json.loads(row.value) for row in rows if row.key.startswith(prefix)}

    def forget(self, kind: str, key: str) -> None:
        """Nothing is known under a key any more."""
        with self._database.engine.begin() as connection:
            connection.execute(sa.delete(FACTS).where(FACTS.c.kind == kind, FACTS.c.key == key))

    def keys(self, kind: str, prefix: str = "") -> tuple[str, ...]:
        """The keys of a kind, sorted."""
        query = sa.select(FACTS.c.key).where(FACTS.c.kind == kind).order_by(FACTS.c.key)
        with self._database.engine.connect() as connection:
            return tuple(key for key in connection.execute(query).scalars() if key.startswith(prefix))

    def forget_older(self, kind: str, seconds: float) -> int:
        """Forget what hasn't changed for so long. Returns how many facts that were."""
        with self._database.engine.begin() as connection:
            statement = sa.delete(FACTS).where(FACTS.c.kind == kind, FACTS.c.changed_at < time.time() - seconds)
            return int(connection.execute(statement).rowcount)

    def may_use(self, kind: str, key: str, use: str, limit: int, seconds: float) -> bool:
        """Whether somebody (`key`) may do something (`kind`) once more, and notes it: at most `limit` times in so many
        seconds. Asking again about the same `use` gives the same answer, and counts once.
        """
        now = time.time()
        mine = (USES.c.kind == kind, USES.c.key == key)
        with self._database.engine.begin() as connection:
            connection.execute(sa.delete(USES).where(USES.c.kind == kind, USES.c.at < now - seconds))
            uses = list(connection.execute(sa.select(USES.c.use).where(*mine)).scalars())
            if use in uses:
                return True
            if len(uses) >= limit:
                return False
            row = {"kind": kind, "key": key, "use": use, "at": now}
            connection.execute(self._database.insert(USES, row).on_conflict_do_nothing())
            return True

    async def may_use_soon(self, kind: str, key: str, use: str, limit: int, seconds: float) -> bool:
        """`may_use`, without blocking the event loop."""
        return await asyncio.to_thread(self.may_use, kind, key, use, limit, seconds)

    async def recall_soon(self, kind: str, key: str) -> Mapping[str, Any] | None:
        """`recall`, without blocking the event loop."""
        return await asyncio.to_thread(self.recall, kind, key)

    async def remember_soon(self, kind: str, key: str, value: Mapping[str, Any]) -> None:
        """`remember`, without blocking the event loop."""
        await asyncio.to_thread(self.remember, kind, key, value)


def _json(value: Mapping[str, Any]) -> str:
    """What is read and written again is the same text."""
    return json.dumps(dict(value), ensure_ascii=False)


def _text(kind: str, key: str, value: Mapping[str, Any]) -> str:
    text = _json(value)
    if len(key) > MAX_KEY or len(text) > MAX_VALUE:
        raise ValueError(f"too large to be remembered: {kind} {key[:80]}")
    return text
