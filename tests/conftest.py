"""No test uses the network, or what was learnt on the machine that it runs on, or the log of another."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ["SEAMGUARD_OFFLINE"] = "1"
os.environ.setdefault("SEAMGUARD_CACHE", str(Path(tempfile.gettempdir()) / "seamguard-no-such-folder"))


@pytest.fixture(autouse=True)
def _log() -> Iterator[None]:
    """What configures the logs of a process writes to a stream that is closed after its test."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
