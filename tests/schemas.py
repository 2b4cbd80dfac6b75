"""The committed JSON schemas."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).parent.parent / "docs" / "schema"


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def violations(name: str, answer: object) -> list[str]:
    """Where an answer breaks the schema `name` ("resolve", "audit", "review"); empty when it keeps to it."""
    plain = json.loads(json.dumps(answer))
    return [f"{error.json_path}: {error.message}" for error in _validator(name).iter_errors(plain)]
