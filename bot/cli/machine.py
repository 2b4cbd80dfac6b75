"""Output for programs: JSON in ASCII, so that no character of a file acts on the terminal that shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click


def print_json(answer: Mapping[str, Any]) -> None:
    """One answer, indented."""
    click.echo(json.dumps(answer, indent=2))


def json_line(answer: Mapping[str, Any]) -> str:
    """One answer of several, on a line of its own."""
    return json.dumps(answer)
