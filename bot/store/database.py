"""The database: an SQLite file, or a PostgreSQL server that several processes share."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

_metadata = sa.MetaData()

DELIVERIES = sa.Table(
    "seamguard_deliveries",
    _metadata,
    sa.Column("sequence", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("partition", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("accepted_at", sa.Float, nullable=False),
    sa.Index("seamguard_deliveries_newest", "partition", "kind", "sequence"),
)
"""Every job that was accepted, in order: which ids are known, and which job of a pull request is the newest."""

FACTS = sa.Table(
    "seamguard_facts",
    _metadata,
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("changed_at", sa.Float, nullable=False),
)

RECORDS = sa.Table(
    "seamguard_records",
    _metadata,
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("changed_at", sa.Float, nullable=False),
)
"""Collections of JSON values."""

USES = sa.Table(
    "seamguard_uses",
    _metadata,
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("use", sa.Text, primary_key=True),
    sa.Column("at", sa.Float, nullable=False),
)
"""How often somebody used something lately."""

WORKERS = sa.Table(
    "seamguard_workers",
    _metadata,
    sa.Column("executor", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("seen_at", sa.Float, nullable=False),
)
"""The processes that work on jobs, and when each was last alive."""

SUBSECONDS = (3, 42)
"""The SQLite that knows `unixepoch('subsec')`, which DBOS takes for granted where Python is 3.12 or newer; systems of
2023 have an older one.
"""

POOL_SIZE = 12
BUSY_MILLISECONDS = 30_000
_SCHEMA_LOCK = 7_305_801
"""A number for PostgreSQL's advisory lock: two processes that start at once must not make the tables at once."""


class DatabaseError(Exception):
    """The database can't be used. The message says what to do, and holds no password."""


class Database:
    """A pool of connections. `url` is SQLAlchemy's form; `DATABASE_URL`'s usual forms for PostgreSQL are understood."""

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
        except ArgumentError as error:
            raise DatabaseError(
                "the database's address is no URL; write postgresql://user:password@host/name, or sqlite:///path"
            ) from error
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        if not self.is_sqlite and parsed.get_backend_name() not in ("postgres", "postgresql"):
            raise DatabaseError(f"{parsed.get_backend_name()} is not supported; use PostgreSQL or SQLite")
        self.shown = parsed.render_as_string(hide_password=True)
        self.engine = _sqlite(parsed) if self.is_sqlite else _postgresql(parsed)

    @classmethod
    def file(cls, path: Path) -> Database:
        """An SQLite file, made with its folder if it isn't there."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # what is kept may be of private repositories
        return cls(f"sqlite:///{path}")

    def prepare(self) -> None:
        """Makes the tables that are missing. Raises `DatabaseError`."""
        try:
            with self.engine.begin() as connection:
                if not self.is_sqlite:
                    connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})"))
                _metadata.create_all(connection)
        except SQLAlchemyError as error:
            raise self.unusable(error) from error

    def check(self) -> None:
        """Asks the database something. Raises `DatabaseError`."""
        try:
            with self.engine.connect() as connection:
                connection.execute(sa.text("SELECT 1"))
        except SQLAlchemyError as error:
            raise self.unusable(error) from error

    def unusable(self, error: SQLAlchemyError) -> DatabaseError:
        """The error with the database's name, and without its password."""
        cause = getattr(error, "orig", None) or error
        return DatabaseError(f"{self.shown} can't be used ({type(cause).__name__}): is it there, may it be written?")

    def insert(self, table: sa.Table, values: Mapping[str, Any] | None = None) -> Any:
        """An INSERT that knows ON CONFLICT, in the database's own dialect; of values that come later without any."""
        statement = (sqlite if self.is_sqlite else postgresql).insert(table)
        return statement if values is None else statement.values(**values)

    def close(self) -> None:
        """End all connections."""
        self.engine.dispose()


def _sqlite(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url, pool_size=POOL_SIZE, max_overflow=POOL_SIZE)

    @sa.event.listens_for(engine, "connect")
    def connected(connection: Any, _: object) -> None:
        connection.isolation_level = "IMMEDIATE"
        if sqlite3.sqlite_version_info < SUBSECONDS:
            connection.create_function("unixepoch", 1, _unixepoch)
        for pragma in (
            f"busy_timeout={BUSY_MILLISECONDS}",
            "journal_mode=WAL",
            "synchronous=FULL",  # what was accepted outlives a power cut, not only the process
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _unixepoch(modifier: str) -> float | int | None:
    return {"subsec": time.time(), "now": int(time.time())}.get(modifier)


def _postgresql(url: sa.URL) -> sa.Engine:
    return sa.create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=POOL_SIZE,
        max_overflow=POOL_SIZE,
        pool_pre_ping=True,
        pool_timeout=30,
        connect_args={"connect_timeout": 10, "application_name": "seamguard"},
    )
