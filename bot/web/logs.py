"""Logs: one JSON object a line, without credentials, each with the delivery that it belongs to."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import IO, Any

from bot.github.redaction import RedactingFilter, Redactor
from bot.store import CURRENT

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
MAX_TEXT = 4000
"""Characters of one field: a stranger's text must not fill the disk."""


class JsonFormatter(logging.Formatter):
    """Time, level, logger, message, and what was given as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage()[:MAX_TEXT],
        }
        job = CURRENT.get()
        if job is not None:
            entry |= {"delivery": job.id, "kind": job.kind, "about": job.partition}
        entry |= {name: _plain(value) for name, value in vars(record).items() if name not in _OWN}
        trace = record.exc_text or (self.formatException(record.exc_info) if record.exc_info else "")
        if trace:
            entry["exception"] = trace[-MAX_TEXT:]
        return json.dumps(entry, ensure_ascii=False)


def _plain(value: object) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)[:MAX_TEXT]


def configure(level: str, redactor: Redactor, stream: IO[str] | None = None) -> logging.Handler:
    """Send all logs of the process to a stream, standard error by default. Returns the handler."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    handler.addFilter(RedactingFilter(redactor))
    root = logging.getLogger()
    for other in list(root.handlers):
        root.removeHandler(other)
    root.addHandler(handler)
    root.setLevel(level)
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
    return handler
