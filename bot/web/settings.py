"""What the server is told by its environment."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bot.github.hosts import GITHUB_API, GITHUB_DOWNLOADS, Hosts
from bot.web.dotenv import NotDotenv, read_dotenv

DOTENV = Path(".env")
MIN_SECRET = 16
MAX_MINUTES = 24 * 60


class SettingsError(Exception):
    """The settings can't be used. Each of `problems` says what is wrong and what to do; no secret is quoted."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked settings. `issuer` is the App's client id, or its number; it, the key and the secret are None together,
    when nothing is configured.
    """

    issuer: str | None = None
    private_key: str | None = field(default=None, repr=False)
    webhook_secret: str | None = field(default=None, repr=False)
    api_url: str = GITHUB_API
    download_urls: tuple[str, ...] = GITHUB_DOWNLOADS
    database_url: str = field(default="sqlite:///.data/seamguard.sqlite", repr=False)
    host: str = "127.0.0.1"
    port: int = 8080
    public_url: str | None = None
    cache_folder: Path | None = None
    log_level: str = "INFO"
    github_token: str | None = field(default=None, repr=False)
    poll_seconds: float | None = 1800.0
    metrics_token: str | None = field(default=None, repr=False)

    @property
    def configured(self) -> bool:
        """Whether there are credentials; without any, the server is a sandbox."""
        return self.issuer is not None

    @property
    def hosts(self) -> Hosts:
        """Where requests may go."""
        return Hosts(self.api_url, self.download_urls)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What may appear in no log."""
        password = urlsplit(self.database_url).password
        return tuple(
            secret
            for secret in (
                self.private_key,
                self.webhook_secret,
                self.github_token,
                self.metrics_token,
                password,
            )
            if secret
        )


VARIABLES: Mapping[str, str] = {
    "CLIENT_ID": "the App's client id (or APP_ID, its number)",
    "APP_ID": "the App's number, where CLIENT_ID is not set",
    "PRIVATE_KEY": "the App's private key, in PEM; line ends may be written as \\n",
    "PRIVATE_KEY_PATH": "a file with the private key, instead of PRIVATE_KEY",
    "WEBHOOK_SECRET": f"the secret that GitHub signs webhooks with; at least {MIN_SECRET} characters",
    "GITHUB_API_URL": f"the API, {GITHUB_API} by default; https://HOST/api/v3 for GitHub Enterprise Server",
    "GITHUB_DOWNLOAD_URLS": "where archives may be downloaded from, separated by commas",
    "DATABASE_URL": "postgresql://user:password@host/name; an SQLite file in .data by default",
    "HOST": "the address to listen at, 127.0.0.1 by default; 0.0.0.0 for all",
    "PORT": "the port to listen at, 8080 by default",
    "PUBLIC_URL": "where people reach this server: comments link to its rule pages",
    "CACHE_DIR": "a folder for file contents that were read; .data/cache by default, empty for none",
    "GITHUB_TOKEN": "reads upstream where it is given, else an installation's token does; `watch` works with it alone",
    "POLL_MINUTES": "how often upstream is asked what became of fixes; 30 by default, 0 for never",
    "METRICS_TOKEN": f"what who reads /metrics sends as `Authorization: Bearer`, at least {MIN_SECRET} characters; "
    "without one, only this machine may read them",
    "LOG_LEVEL": "DEBUG, INFO, WARNING or ERROR",
}
"""Every variable that is read, and what it means."""


def load(environment: Mapping[str, str] | None = None, dotenv: Path = DOTENV) -> Settings:
    """The settings of the process: `.env`, and over it the environment. Raises `SettingsError`."""
    return read({**written(dotenv), **(os.environ if environment is None else environment)})


def written(dotenv: Path) -> dict[str, str]:
    """The variables of a file, none where it is not there. Raises `SettingsError`."""
    try:
        return read_dotenv(dotenv.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, NotDotenv) as error:
        raise SettingsError([f"{dotenv} can't be read: {error}"]) from error


def api_url(dotenv: Path) -> str:
    """Where the API is, whatever else is set or missing. Raises `SettingsError`."""
    reader = _Reader({**written(dotenv), **os.environ})
    address = reader.address("GITHUB_API_URL") or GITHUB_API
    if reader.problems:
        raise SettingsError(reader.problems)
    return address


def read(variables: Mapping[str, str]) -> Settings:
    """Checks variables. Raises `SettingsError` with everything that is wrong."""
    reader = _Reader(variables)
    settings = Settings(
        issuer=reader.text("CLIENT_ID") or reader.text("APP_ID"),
        private_key=reader.private_key(),
        webhook_secret=reader.text("WEBHOOK_SECRET"),
        api_url=reader.address("GITHUB_API_URL") or GITHUB_API,
        download_urls=reader.addresses("GITHUB_DOWNLOAD_URLS") or GITHUB_DOWNLOADS,
        database_url=reader.text("DATABASE_URL") or "sqlite:///.data/seamguard.sqlite",
        host=reader.text("HOST") or "127.0.0.1",
        port=reader.port("PORT", 8080),
        public_url=reader.address("PUBLIC_URL"),
        cache_folder=reader.folder("CACHE_DIR", Path(".data/cache")),
        log_level=reader.level("LOG_LEVEL"),
        github_token=reader.text("GITHUB_TOKEN"),
        poll_seconds=reader.minutes("POLL_MINUTES", 30),
        metrics_token=reader.token("METRICS_TOKEN"),
    )
    reader.credentials(settings)
    if reader.problems:
        raise SettingsError(reader.problems)
    return settings


class _Reader:
    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.problems: list[str] = []

    def text(self, name: str) -> str | None:
        return self._variables.get(name, "").strip() or None

    def private_key(self) -> str | None:
        text, path = self.text("PRIVATE_KEY"), self.text("PRIVATE_KEY_PATH")
        if text is None and path is not None:
            try:
                text = Path(path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                self.problems.append(f"PRIVATE_KEY_PATH names a file that can't be read: {type(error).__name__}")
                return None
        if text is None:
            return None
        text = text.replace("\\n", "\n").strip() + "\n"
        if not _is_key(text):
            self.problems.append(
                "PRIVATE_KEY is no RSA private key in PEM; download one from the App's settings page, "
                "or name its file in PRIVATE_KEY_PATH"
            )
        return text

    def address(self, name: str) -> str | None:
        text = self.text(name)
        if text is None:
            return None
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            self.problems.append(f"{name} is no address; write it like https://example.org")
            return None
        return text.rstrip("/")

    def addresses(self, name: str) -> tuple[str, ...]:
        listed = (self.text(name) or "").split(",")
        checked = [_Reader({name: item}) for item in listed if item.strip()]
        found = [reader.address(name) for reader in checked]
        self.problems += [problem for reader in checked for problem in reader.problems]
        return tuple(address for address in found if address is not None)

    def port(self, name: str, default: int) -> int:
        text = self.text(name)
        if text is None:
            return default
        if not text.isdecimal() or not 0 <= int(text) <= 65535:
            self.problems.append(f"{name} is no port; write a number up to 65535")
            return default
        return int(text)

    def minutes(self, name: str, default: int) -> float | None:
        """In seconds; None for 0."""
        text = self.text(name)
        if text is None:
            return default * 60.0
        if not text.isdecimal() or int(text) > MAX_MINUTES:
            self.problems.append(f"{name} is no number of minutes; write one from 1 to {MAX_MINUTES}, or 0 for never")
            return None
        return int(text) * 60.0 or None

    def folder(self, name: str, default: Path) -> Path | None:
        if name not in self._variables:
            return default
        text = self.text(name)
        return None if text is None else Path(text)

    def token(self, name: str) -> str | None:
        text = self.text(name)
        if text is not None and len(text) < MIN_SECRET:
            self.problems.append(f"{name} has fewer than {MIN_SECRET} characters; set a long random one")
        return text

    def level(self, name: str) -> str:
        text = (self.text(name) or "INFO").upper()
        if text not in logging.getLevelNamesMapping():
            self.problems.append(f"{name} is no level; write DEBUG, INFO, WARNING or ERROR")
            return "INFO"
        return text

    def credentials(self, settings: Settings) -> None:
        """All of them or none, and a secret that is one."""
        given = {
            "CLIENT_ID (or APP_ID)": settings.issuer,
            "PRIVATE_KEY (or PRIVATE_KEY_PATH)": settings.private_key,
            "WEBHOOK_SECRET": settings.webhook_secret,
        }
        missing = [name for name, value in given.items() if value is None]
        if missing and len(missing) < len(given):
            self.problems.append(
                f"{' and '.join(missing)} missing, while other credentials are set; run `seamguard register`, or set "
                f"{', '.join(given)}"
            )
        if settings.webhook_secret is not None and len(settings.webhook_secret) < MIN_SECRET:
            self.problems.append(
                f"WEBHOOK_SECRET has fewer than {MIN_SECRET} characters; set a long random one here and at GitHub"
            )


def _is_key(text: str) -> bool:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        return isinstance(load_pem_private_key(text.encode(), None), RSAPrivateKey)
    except (ValueError, TypeError):
        return False
