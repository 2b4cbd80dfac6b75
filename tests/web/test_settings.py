"""Settings: everything that is wrong is told at once, with what to do, and without secrets."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.web.dotenv import NotDotenv, read_dotenv, write_dotenv
from bot.web.settings import VARIABLES, Settings, SettingsError, load, read
from tests.github.scripted import PEM

SECRET = "a secret of 16+ characters"
CREDENTIALS = {"CLIENT_ID": "Iv1.x", "PRIVATE_KEY": PEM, "WEBHOOK_SECRET": SECRET}


def test_nothing_set_is_a_sandbox() -> None:
    assert read({}) == Settings(cache_folder=Path(".data/cache"))
    assert not read({}).configured


def test_all_credentials() -> None:
    settings = read({**CREDENTIALS, "PRIVATE_KEY": PEM.replace("\n", "\\n")})
    assert settings.configured
    assert settings.private_key == PEM
    assert "PRIVATE" not in repr(settings)
    assert SECRET not in repr(settings)


def test_a_key_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_text(PEM)
    variables = {**CREDENTIALS, "PRIVATE_KEY_PATH": str(file)}
    del variables["PRIVATE_KEY"]
    assert read(variables).private_key == PEM


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"WEBHOOK_SECRET": ""}, "WEBHOOK_SECRET missing"),
        ({"CLIENT_ID": " "}, "CLIENT_ID (or APP_ID) missing"),
        ({"WEBHOOK_SECRET": "short"}, "fewer than 16"),
        ({"PRIVATE_KEY": "hello"}, "no RSA private key"),
        ({"PRIVATE_KEY": "", "PRIVATE_KEY_PATH": "/nonexistent"}, "can't be read"),
        ({"PORT": "http"}, "PORT is no port"),
        ({"PORT": "70000"}, "PORT is no port"),
        ({"PUBLIC_URL": "example.org"}, "PUBLIC_URL is no address"),
        ({"GITHUB_API_URL": "https://u:p@x"}, "GITHUB_API_URL is no address"),
        ({"GITHUB_DOWNLOAD_URLS": "https://a, b"}, "GITHUB_DOWNLOAD_URLS is no address"),
        ({"LOG_LEVEL": "loud"}, "LOG_LEVEL is no level"),
        ({"POLL_MINUTES": "often"}, "POLL_MINUTES is no number of minutes"),
        ({"POLL_MINUTES": "100000"}, "POLL_MINUTES is no number of minutes"),
    ],
)
def test_what_is_wrong_is_told(change: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read({**CREDENTIALS, **change})
    assert words in str(caught.value)
    assert SECRET not in str(caught.value)
    assert all(name in VARIABLES for name in change)


def test_how_often_upstream_is_asked() -> None:
    asked = [read({"POLL_MINUTES": minutes}).poll_seconds for minutes in ("", "5", "0")]
    assert asked == [1800.0, 300.0, None]
    token = read({"GITHUB_TOKEN": "not-to-be-shown"})
    assert "not-to-be-shown" in token.secrets
    assert "not-to-be-shown" not in repr(token)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        read({"CLIENT_ID": "x", "PORT": "x", "LOG_LEVEL": "x"})
    assert len(caught.value.problems) == 3


def test_the_environment_is_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("PORT=1\nHOST=0.0.0.0  # all\n")
    assert (load({"PORT": "2"}, file).port, load({}, file).host) == (2, "0.0.0.0")
    file.write_text("PORT\n")
    with pytest.raises(SettingsError, match="line 1"):
        load({}, file)


names = st.from_regex(r"[A-Z_][A-Z0-9_]{0,10}", fullmatch=True)
values = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")) | st.sampled_from("\n\r"))


@given(st.dictionaries(names, values, max_size=5))
@settings(deadline=None, max_examples=40)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, variables: dict[str, str]) -> None:
    file = tmp_path_factory.mktemp("env") / ".env"
    file.write_text("# kept\nOTHER_ONE_ENTIRELY='x y'\n")
    write_dotenv(file, variables)
    write_dotenv(file, variables)
    assert read_dotenv(file.read_text(encoding="utf-8")) == {"OTHER_ONE_ENTIRELY": "x y", **variables}
    assert "# kept" in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["NAME", "1A=b", 'A="open', "A='open", "A = 'x' y"])
def test_other_lines_are_told_by_their_number(text: str) -> None:
    with pytest.raises(NotDotenv, match="line 2"):
        read_dotenv(f"OK=1\n{text}\n")
