"""Databases to test with: an SQLite file, and a real PostgreSQL server where its programs are installed."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest


def _program(name: str) -> str | None:
    """Behind wrappers that some distributions put on the path, the real programs lie beside each other."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def _nobody() -> tuple[int, int] | None:
    """PostgreSQL refuses to run as root. None when no other user is needed."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    return None


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def postgresql() -> Iterator[str]:
    """The address of a server of one's own. Skips where there is none."""
    initdb, postgres = _program("initdb"), _program("postgres")
    if initdb is None or postgres is None:
        pytest.skip("PostgreSQL's programs (initdb, postgres) are not installed")
    user = _nobody()
    identity: dict[str, Any] = {} if user is None else {"user": user[0], "group": user[1], "extra_groups": []}
    with tempfile.TemporaryDirectory(prefix="seamguard-postgresql-") as folder:
        data = Path(folder) / "data"
        if user is not None:
            os.chown(folder, *user)
        subprocess.run(
            [initdb, "-D", str(data), "-U", "seamguard", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            **identity,
        )
        port = _free_port()
        options = ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"]
        with subprocess.Popen(
            [postgres, "-D", str(data), "-p", str(port), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            **identity,
        ) as server:
            try:
                _wait(server, port)
                yield f"postgresql://seamguard@127.0.0.1:{port}/postgres"
            finally:
                server.send_signal(signal.SIGINT)  # does not wait for who is still connected


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    import psycopg

    for _ in range(300):
        assert server.poll() is None, "PostgreSQL does not start"
        try:
            psycopg.connect(host="127.0.0.1", port=port, user="seamguard", dbname="postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("PostgreSQL does not answer")


def fresh(server: str) -> str:
    """A new database on a server."""
    import psycopg

    name = f"seamguard_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{server.rpartition('/')[0]}/{name}"


databases = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
"""Runs a test with each kind of database; `url` is a fresh one."""
