"""From a record to the facts about one fix: what is told, and what is left out."""

from __future__ import annotations

import time

import pytest

from bot.references import UPSTREAM
from bot.upstream.lines import Node
from bot.upstream.recorded import (
    Account,
    Record,
    RecordedCommit,
    RecordedReference,
    Said,
    read_said,
    text_that_matters,
    wanted_tags,
)

N = 48375
TITLE = "[Bugfix] Honour the flag in the manager"


def record(*texts: str, since: float = 0.0, born: float = 1.0, **more: object) -> Record:
    """Main with commits of these texts, one day apart, the oldest first."""
    commits, parent = {}, ""
    for number, text in enumerate(texts):
        sha = f"{number + 0xA000:040x}"
        commits[sha] = RecordedCommit(Node((parent,) if parent else (), 10.0 + number), *text_that_matters(text))
        parent = sha
    reference = RecordedReference(N, "pull", "merged", born, TITLE, merge_commit=next(iter(commits), None))
    made = {"main": parent, "since": since, "commits": commits, "references": {N: reference}}
    return Record(UPSTREAM, **{**made, **more})  # type: ignore[arg-type]


def titles(made: Record) -> list[str]:
    return [fact["title"] for fact in Account(made).facts(N) if fact["kind"] == "commit"]


def test_commits_that_have_nothing_to_do_with_it_are_left_out() -> None:
    texts = (
        f"{TITLE} (#{N})",
        "Faster kernels (#48400)",
        'Revert "Faster kernels (#48400)" (#48401)\n\nThis reverts commit 000000000000000000000000000000000000a001.',
        f'Revert "{TITLE} (#{N})" (#48402)',
        "[Reland] Honour the flag in the manager (#48403)",
        "Undo #48403 (#48404)",
        "Take it back (#48405)\n\nThis reverts commit 000000000000000000000000000000000000a005.",
        f"Document it (#48406)\n\nSee #{N}.",
    )
    assert titles(record(*texts)) == [text.partition("\n")[0] for text in (texts[0], *texts[3:])]


def test_a_chain_of_links_is_followed() -> None:
    made = record(
        f"{TITLE} (#{N})",
        "Undo it (#48500)\n\nThis reverts commit 000000000000000000000000000000000000a000.",
        "Reapply (#48600)\n\nThis reverts commit 000000000000000000000000000000000000a001.",
        'Revert "Reapply" (#48700)',
    )
    assert len(titles(made)) == 4


def test_one_that_was_opened_before_the_history_begins_is_told_without_it() -> None:
    facts = Account(record(f"{TITLE} (#{N})", since=5.0, born=1.0)).facts(N)
    assert [fact["kind"] for fact in facts] == ["pull"]


def test_without_all_of_main_nothing_is_told_of_the_history() -> None:
    made = record(f"{TITLE} (#{N})")
    broken = {**made.commits, "0" * 40: RecordedCommit(Node(("1" * 40,), 50.0), "Merge")}
    account = Account(Record(UPSTREAM, "0" * 40, 0.0, {}, {}, broken, made.references))
    assert account.gaps() == ("1" * 40,)
    assert [fact["kind"] for fact in account.facts(N)] == ["pull"]


def test_the_tags_that_matter() -> None:
    tags = dict.fromkeys(("v0.27.0", "v0.28.0rc1", "v0.28.0rc2", "nightly", "v0.26.0.post1", "v1.0.0.dev3"), "a")
    assert list(wanted_tags(tags)) == ["v0.27.0", "v0.26.0.post1"]
    assert list(wanted_tags(tags, ["v0.28.0rc1"])) == ["v0.27.0", "v0.28.0rc1", "v0.26.0.post1"]


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("Title (#1)\n\nSigned-off-by: a", ""),
        ("Title (#1)\n\nThis reverts commit abc.", "This reverts commit abc."),
        ("Title\n\nFixes #43559", "Fixes #43559"),
        ("Title\n\n(cherry picked from commit abc)", "(cherry picked from commit abc)"),
    ],
)
def test_messages_are_kept_where_they_may_matter(message: str, kept: str) -> None:
    assert text_that_matters(message)[1] == kept


def said(
    number: int, body: str, *, title: str = "Other", who: str = "x", role: str = "NONE", state: str = "open"
) -> Said:
    return Said(number, True, title, body, who, role, state)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "rivals"),
    [
        (said(N, "Superseded by #50000.", role="MEMBER"), [f"{UPSTREAM}#50000"]),
        (
            said(N, "Closing in favor of https://github.com/vllm-project/vllm/pull/50000", who="me"),
            [f"{UPSTREAM}#50000"],
        ),
        (said(N, "Superseded by #50000."), []),
        (said(N, "Not superseded. See #50000", role="OWNER"), []),
        (said(50000, f"This supersedes #{N}.", role="MEMBER"), [f"{UPSTREAM}#50000"]),
        (said(50000, f"This supersedes #{N}."), []),
        (said(50000, f"This supersedes #{N}.", state="merged"), [f"{UPSTREAM}#50000"]),
        (said(50000, f"Supersedes #40000, unlike #{N}.", role="MEMBER"), []),
        (said(50000, f"See #{N}.", role="MEMBER"), []),
    ],
)
def test_who_says_that_another_takes_its_place(words: Said, rivals: list[str]) -> None:
    found, _ = read_said(N, "me", UPSTREAM, [words])
    assert [by for by, _ in found] == rivals


def test_those_that_speak_of_reverting_it_are_no_rivals() -> None:
    _, others = read_said(N, "me", UPSTREAM, [said(50100, f"#{N}", title=f'Revert "{TITLE}"', state="closed")])
    assert others == ((50100, "closed", f'Revert "{TITLE}"'),)


def test_words_that_supersede_nothing_end() -> None:
    words = said(50100, "supersedes-" * 1800, role="MEMBER", state="merged")
    start = time.process_time()
    assert read_said(N, "me", UPSTREAM, [words]) == ((), ())
    assert time.process_time() - start < 2
