"""`serve`, `worker` and `doctor` where they can't do their work: one sentence that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.github.scripted import PEM


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("CLIENT_ID", "APP_ID", "PRIVATE_KEY", "PRIVATE_KEY_PATH", "WEBHOOK_SECRET", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_a_worker_needs_credentials(run: Run) -> None:
    answer = run("worker")
    assert answer.status == 2
    assert "seamguard register" in answer.err


def test_the_doctor_needs_credentials(run: Run) -> None:
    answer = run("doctor")
    assert answer.status == 2
    assert "seamguard register" in answer.err


@pytest.mark.parametrize("command", ["serve", "worker", "doctor"])
def test_wrong_settings_are_told(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("CLIENT_ID", "Iv1.x")
    monkeypatch.setenv("PORT", "web")
    answer = run(command)
    assert answer.status == 2
    assert "PORT is no port" in answer.err
    assert "WEBHOOK_SECRET" in answer.err


def test_a_database_that_is_none_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLIENT_ID", "Iv1.x")
    monkeypatch.setenv("PRIVATE_KEY", PEM)
    monkeypatch.setenv("WEBHOOK_SECRET", "a secret of 16+ characters")
    monkeypatch.setenv("DATABASE_URL", "mysql://user:hunter2@host/db")
    answer = run("worker")
    assert answer.status == 2
    assert "use PostgreSQL or SQLite" in answer.err
    assert "hunter2" not in answer.err
