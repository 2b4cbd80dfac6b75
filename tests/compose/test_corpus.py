"""The recorded answers of real Docker Compose 2.40.3."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot.cli.inspect_compose import answer
from tests.corpus import CORPUS, needs_corpus

pytestmark = needs_corpus


def _cases() -> list[dict[str, Any]]:
    path = CORPUS / "compose_cases.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
def test_small_case(case: dict[str, Any]) -> None:
    given = answer({"files": case["files"], "env": case["env"], "args": case["args"], "root": "/R/proj"})
    expected = case["expect"]
    if "error" in expected:
        assert any(re.search(expected["error"], error["message"]) for error in given["errors"])
        return
    assert given["errors"] == []
    assert sorted(given["services"]) == case["services"]
    plain = json.loads(json.dumps(expected).replace("$$", "$").replace("@DIR@", "/R/proj"))
    for service, fields in plain.items():
        for name, value in fields.items():
            assert given["services"][service].get(name) == value


_WILD = CORPUS / "wild"
_ROOT = "/CASEROOT/CASE"
_RECORDED = re.compile(r"\.(resolved.*json|error\.txt|warnings\.txt)$")


def _wild() -> list[dict[str, Any]]:
    path = _WILD / "index.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def _variants(row: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    name, _, inner = row["file"].partition("/")
    everything = {"profiles": ["*"]}
    variants: list[tuple[str, dict[str, Any]]] = [("", {}), (".allprofiles", everything)]
    stub = Path(f"{inner}.stub.env")
    if (_WILD / name / stub).is_file():
        variants.append((".stub", {**everything, "env_files": [str(stub)]}))
    example = row.get("resolved_with_env_example")
    if example:
        beside = (Path(inner).parent / example).as_posix()
        there = (_WILD / name / beside).is_file()
        variants.append((".env", {**everything, "env_files": [beside if there else example]}))
    return variants


@pytest.mark.parametrize("row", _wild(), ids=lambda row: row["file"])
def test_wild_compose_and_its_variants(row: dict[str, Any]) -> None:
    name, _, inner = row["file"].partition("/")
    files = {
        path.relative_to(_WILD / name).as_posix(): path.read_text()
        for path in (_WILD / name).rglob("*")
        if path.is_file() and not _RECORDED.search(path.name)
    }
    for created in row["empty_env_files_created"]:
        files.setdefault((Path(inner).parent / created).as_posix(), "")
    for suffix, options in _variants(row):
        resolved = _WILD / f"{row['file']}.resolved{suffix}.json"
        refused = _WILD / f"{row['file']}{suffix}.error.txt"
        request = {"files": files, "main": [inner], "env": {"HOME": "/tmp"}, "root": _ROOT, **options}
        if resolved.is_file():
            given = json.loads(json.dumps(answer(request)).replace(_ROOT, "/CASE"))
            expected = json.loads(resolved.read_text().replace("$$", "$"))["services"]
            assert given["errors"] == []
            assert given["services"] == expected
        elif refused.is_file():
            lines = [line for line in refused.read_text().splitlines() if not line.startswith("time=")]
            messages = [error["message"].replace(_ROOT, "/CASE") for error in answer(request)["errors"]]
            assert "\n".join(lines) in messages
