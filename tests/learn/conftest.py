"""A package index for the tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest

from tests.learn.server import Index


@pytest.fixture
def index() -> Iterator[str]:
    """The address of an index without pages, as pip writes it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    Index.pages, Index.asked, Index.ranges = {}, [], {}
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    server.server_close()
    thread.join()
