"""Takes credentials out of text before it is written anywhere.

Tokens are known by their shape, since new ones are made all the time, and the configured secrets by their value. Shapes
have no fixed length: installation tokens grew from 40 characters to several hundred.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

HIDDEN = "[redacted]"

MIN_SECRET = 6
"""Shorter values are not searched for: they would hide half of every line."""

_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_RUN = re.compile(r"[A-Za-z0-9_.\-]{10,}")
_TOKEN = re.compile(r"gh[a-z]{1,3}_|github_pat_|(?<![A-Za-z0-9])v1\.[0-9a-f]{40}|eyJ(?=.*\.)")
_HEADER = re.compile(
    r"(?P<name>\b(?:proxy-)?authorization\b[\"']?\s*[:=,]\s*)(?:b(?=[\"']))?[\"']?(?:(?:bearer|token|basic)\s+)?[^\s\"',;)}\]]+[\"']?",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"(?P<name>\b(?:bearer|basic)\s+)[A-Za-z0-9_.~+/\-]{16,}=*", re.IGNORECASE)
_PASSWORD = re.compile(r"(?P<name>://[^\s/:@]{0,200}:)[^\s@]{0,200}@")
_PARAMETER = re.compile(
    r"(?P<name>\b(?:password|access_token|client_secret|webhook_secret|private_key|secret|token)\b[\"']?\s*[=:]\s*)"
    r"(?:\"[^\"]*\"|'[^']*'|[^\s&\"',;)}\]]+)",
    re.IGNORECASE,
)


class Redactor:
    """Replaces every credential in a text by `[redacted]`. `secrets` are values whose shape tells nothing."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {spelling for secret in secrets if len(secret) >= MIN_SECRET for spelling in _spellings(secret)}
        longest_first = sorted(spellings, key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def __call__(self, text: str) -> str:
        """The text without what gives access to anything."""
        if self._secrets is not None:
            text = self._secrets.sub(HIDDEN, text)
        text = _PEM.sub(HIDDEN, text)
        text = _RUN.sub(_without_token, text)
        text = _HEADER.sub(rf"\g<name>{HIDDEN}", text)
        text = _SCHEME.sub(rf"\g<name>{HIDDEN}", text)
        text = _PASSWORD.sub(rf"\g<name>{HIDDEN}@", text)
        return _PARAMETER.sub(rf"\g<name>{HIDDEN}", text)


def _without_token(run: re.Match[str]) -> str:
    """A run of the characters that tokens are made of, up to where a token begins. One look at each run: searching for
    whole tokens would take a time that grows with the square of a hostile text.
    """
    token = _TOKEN.search(run[0])
    return run[0] if token is None else run[0][: token.start()] + HIDDEN


def _spellings(secret: str) -> set[str]:
    """A secret as it stands in a message, in JSON, in an address and in Python's own notation."""
    written = {secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote_plus(secret), repr(secret)[1:-1]}
    return {spelling for spelling in written if len(spelling) >= MIN_SECRET}


class RedactingFilter(logging.Filter):
    """A logging filter, for handlers, that lets no credential through: in messages, arguments, tracebacks, fields."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redact = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record. Always lets it pass."""
        record.msg = self._redact(_message(record))
        record.args = ()
        if record.exc_info:
            record.exc_text = self._redact(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        elif record.exc_text:
            record.exc_text = self._redact(record.exc_text)
        if record.stack_info:
            record.stack_info = self._redact(record.stack_info)
        for name, value in record.__dict__.items():
            if name not in _OWN and not isinstance(value, bool | int | float | None):
                record.__dict__[name] = self._redact(str(value))
        return True


_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # a wrong format must not lose the line, nor leave it unredacted
        return f"{record.msg} {record.args!r}"
