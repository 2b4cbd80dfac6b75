"""What a repository waits for: found in its files, kept as JSON, bounded."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from bot.github.model import Blob, TreeEntry
from bot.jobs import waiting
from bot.jobs.analysis import repository
from bot.jobs.files import FetchedTree
from bot.jobs.waiting import Waiting, as_records, from_records, waiting_in
from bot.references import UPSTREAM
from tests.end_to_end.harness import CLEAN

RULES = (f"{UPSTREAM}#46324",)


def found(files: Mapping[str, str]) -> Waiting:
    entries = {path: TreeEntry(path, f"{number:040x}", len(text), "100644") for number, (path, text) in
               enumerate(files.items())}  # fmt: skip
    blobs = {entry.sha: Blob(entry.sha, files[path], None) for path, entry in entries.items()}
    return waiting_in(repository(FetchedTree(entries, blobs)), RULES)


def test_references_pins_and_lines_and_back_from_json() -> None:
    told = found({"compose/one.yml": CLEAN, "overlays.yml": "# drop it when vllm#48375 merges\n"})
    assert told.references == (f"{UPSTREAM}#46324", f"{UPSTREAM}#48375")
    assert told.asked == ("v0.25.1",)
    assert [str(site.position) for site in told.sites] == ["overlays.yml:1"]
    assert from_records(json.loads(json.dumps({**as_records(told), "about": {}}))) == told


def test_where_no_engine_runs_and_nothing_is_patched_nothing_is_waited_for() -> None:
    assert found({"README.md": "Drop it when vllm#48375 merges (fix PR).\n"}) == Waiting()


def test_of_too_many_references_those_of_rules_and_the_newest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MAX_REFERENCES", 3)
    many = "".join(f"# drop it when vllm#{number} merges\n" for number in range(47000, 47020))
    told = found({"compose/one.yml": CLEAN, "overlays.yml": many})
    assert told.references == (*RULES, f"{UPSTREAM}#47018", f"{UPSTREAM}#47019")
    assert len(told.sites) == 2
