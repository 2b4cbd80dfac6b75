"""Collections that outlive the process: many JSON values under one key, each with an id of its own."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from bot.store.database import RECORDS, Database

MAX_ID = 200
MAX_VALUE = 200_000
"""Characters of one value."""

AT_ONCE = 500
"""Rows of one statement: databases bound the parameters of one."""


class Records:
    """Usable from several processes. Each method is one transaction. `kind` and `key` name a collection."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, kind: str, key: str) -> dict[str, Any]:
        """Every value of a collection, by its id."""
        query = sa.select(RECORDS.c.id, RECORDS.c.value).where(RECORDS.c.kind == kind, RECORDS.c.key == key)
        with self._database.engine.connect() as connection:
            rows = connection.execute(query).all()
        return {row.id: json.loads(row.value) for row in rows}

    def put(self, kind: str, key: str, values: Mapping[str, Any]) -> None:
        """Add values, or replace those of the same ids. Raises `ValueError` for one that is too large."""
        with self._database.engine.begin() as connection:
            self._put(connection, kind, key, values)

    def replace(self, kind: str, key: str, values: Mapping[str, Any]) -> None:
        """Let a collection be these values and no others."""
        with self._database.engine.begin() as connection:
            connection.execute(sa.delete(RECORDS).where(RECORDS.c.kind == kind, RECORDS.c.key == key))
            self._put(connection, kind, key, values)

    def remove(self, kind: str, key: str, ids: Iterable[str]) -> None:
        """Take values out of a collection."""
        wanted = sorted(set(ids))
        with self._database.engine.begin() as connection:
            for start in range(0, len(wanted), AT_ONCE):
                these = RECORDS.c.id.in_(wanted[start : start + AT_ONCE])
                connection.execute(sa.delete(RECORDS).where(RECORDS.c.kind == kind, RECORDS.c.key == key, these))

    def _put(self, connection: sa.Connection, kind: str, key: str, values: Mapping[str, Any]) -> None:
        now = time.time()
        rows = [
            {"kind": kind, "key": key, "id": identity, "value": text, "changed_at": now}
            for identity, text in ((name, _text(kind, name, value)) for name, value in sorted(values.items()))
        ]
        statement = self._database.insert(RECORDS)
        changed = {"value": statement.excluded.value, "changed_at": statement.excluded.changed_at}
        statement = statement.on_conflict_do_update(index_elements=["kind", "key", "id"], set_=changed)
        for start in range(0, len(rows), AT_ONCE):
            connection.execute(statement, rows[start : start + AT_ONCE])

    async def all_soon(self, kind: str, key: str) -> dict[str, Any]:
        """`all`, without blocking the event loop."""
        return await asyncio.to_thread(self.all, kind, key)

    async def put_soon(self, kind: str, key: str, values: Mapping[str, Any]) -> None:
        """`put`, without blocking the event loop."""
        await asyncio.to_thread(self.put, kind, key, values)

    async def replace_soon(self, kind: str, key: str, values: Mapping[str, Any]) -> None:
        """`replace`, without blocking the event loop."""
        await asyncio.to_thread(self.replace, kind, key, values)


def _text(kind: str, identity: str, value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if not identity or len(identity) > MAX_ID or len(text) > MAX_VALUE:
        raise ValueError(f"too large to be recorded: {kind} {identity[:80]}")
    return text
