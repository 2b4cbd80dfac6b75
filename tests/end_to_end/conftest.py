from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.servers import fresh, postgresql


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgresql() as address:
        yield address


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of the kind that is asked for."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.sqlite"
    return fresh(request.getfixturevalue("server"))
