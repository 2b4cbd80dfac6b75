"""SARIF's own schema, which `python -m tests.contract.fetch` fetches."""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft4Validator

from tests.contract.fetch import SARIF

needs_sarif_schema = pytest.mark.skipif(
    not SARIF.file.exists(), reason="the schema of SARIF is not in .cache/contract: it needs npm"
)


@cache
def _validator() -> Draft4Validator:
    schema = json.loads(gzip.decompress(SARIF.file.read_bytes()))
    Draft4Validator.check_schema(schema)
    return Draft4Validator(schema, format_checker=Draft4Validator.FORMAT_CHECKER)


def sarif_violations(log: Any) -> list[str]:
    """Where a log breaks the schema."""
    return [f"{error.json_path}: {error.message}" for error in _validator().iter_errors(log)]
