"""What is made of each wild compose, small enough to be read in a review."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from bot.audit import Unit, audit_unit
from bot.catalog import read_catalog
from bot.compose import Documents, load_project
from bot.hazards import Finding, load_rules
from bot.repositories import DirectoryTree
from bot.resolution import Repository, ResolvedService, resolve_service
from bot.tree import MemoryTree
from tests.corpus import CORPUS

WILD = CORPUS / "wild"
GOLDEN = Path(__file__).parent / "golden.json"

_IMAGE = re.compile(r"\b(ENTRYPOINT of|the image) (?!an image built)\S+")


def files() -> list[str]:
    """The wild composes, as `case/path`."""
    return [row["file"] for row in _index()]


def _index() -> list[dict[str, Any]]:
    path = WILD / "index.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def summary(file: str) -> dict[str, Any]:
    """One compose: why Docker Compose refuses it, each service, and the findings."""
    case, _, path = file.partition("/")
    (row,) = (row for row in _index() if row["file"] == file)
    beside = PurePosixPath(path).parent
    empty = {(beside / name).as_posix(): "" for name in row["empty_env_files_created"]}
    tree = MemoryTree(empty, DirectoryTree(WILD / case))
    repository = Repository(tree, read_catalog(tree), Documents(tree))
    project = load_project(repository.documents, (path,), {})
    services = [resolve_service(repository, (path,), name) for name in project.services]
    report = audit_unit(repository, Unit((path,)), load_rules())
    return {
        "errors": dict(sorted(Counter(error.kind for error in project.errors).items())),
        "services": {service.name: _service(service) for service in services},
        "findings": _counted(report.findings),
    }


def _service(service: ResolvedService) -> dict[str, Any]:
    shown: dict[str, Any] = {"engine": service.kind}
    engines = [world.engine for world in service.worlds if world.engine is not None]
    if engines:
        properties = engines[0].properties.values()
        shown["release"] = engines[0].pin.release
        shown["known"] = sum(found.known for found in properties)
        shown["unknown"] = sum(not found.known for found in properties)
        if engines[0].errors:
            shown["refuses"] = sorted(f"{error.kind} {error.argument}" for error in engines[0].errors)
    exits = sorted({world.outcome.exit for world in service.worlds if world.outcome and world.outcome.exit is not None})
    if exits:
        shown["exits"] = exits
    unresolved = sorted({_reason(item.reason) for world in service.worlds for item in world.unresolved})
    if unresolved:
        shown["unresolved"] = unresolved
    return shown


def _reason(text: str) -> str:
    """A reason without the image's name: that is the repository's affair."""
    return _IMAGE.sub(r"\1 IMAGE", text)


def _counted(findings: Iterable[Finding]) -> dict[str, int]:
    counts = Counter(f"{finding.rule} {finding.level} {finding.status}" for finding in findings)
    return dict(sorted(counts.items()))


def rendered(value: object) -> str:
    """JSON as it is committed: one line for each fact, so that a change is one line of a diff."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
