"""`serve`, `worker` and `doctor` where they can't do their work: one sentence that says what to do."""

from __future__ import annotations

import socket
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


REGISTER = ("register", "--no-open", "--url")


@pytest.mark.parametrize("url", ["bot.example.org", "ftp://bot.example.org", "https://"])
def test_an_address_that_is_none_is_told_before_github_is_asked(run: Run, url: str) -> None:
    answer = run(*REGISTER, url)
    assert answer.status == 2
    assert "write it like https://bot.example.org" in answer.err


def test_credentials_that_are_there_are_not_overwritten(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("CLIENT_ID=Iv1.x\n")
    answer = run(*REGISTER, "https://bot.example.org")
    assert answer.status == 2
    assert "CLIENT_ID" in answer.err
    assert "--env-file" in answer.err


def test_credentials_that_could_not_be_kept_are_not_asked_for(run: Run) -> None:
    answer = run(*REGISTER, "https://bot.example.org", "--env-file", "nowhere/.env")
    assert answer.status == 2
    assert "is its folder there" in answer.err


def test_a_port_that_is_taken_is_told(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer = run(*REGISTER, "https://bot.example.org", "--port", str(taken.getsockname()[1]))
    assert answer.status == 2
    assert "choose another --port" in answer.err


def test_a_sandbox_without_git_is_told(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = run("serve")
    assert answer.status == 2
    assert "needs git" in answer.err
