"""What a stranger wrote in a file, in the Markdown of a comment and of a summary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.audit import audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import Finding, World, load_rules
from bot.provenance import Reason
from bot.resolution import Repository
from bot.review import ConfigurationEdit, FileDiff, Links, Review, plan, report, review, summary
from bot.review.comments import body
from bot.tree import MemoryTree
from tests.review.conversation import finding, reviewed

EVIL = "@evil <img src=x> [l](http://x) **b** | `c` #1 ![i](http://y)"
PATH = f"{EVIL.replace('/', '')}.yml"
COMPOSE = """\
services:
  engine:
    image: "vllm/vllm-openai:v0.25.1"
    environment: ["VLLM_X<b>=@evil|`c`", "VLLM_@evil=1"]
    command:
      - --model=/models/<b>@evil
      - "--nope=@evil <img src=x> | `c`"
      - "--@evil|<b>"
      - "--dtype=@evil <b> **b** http://x"
"""


def _review(path: str = PATH, text: str = COMPOSE) -> Review:
    tree = MemoryTree({path: text, "registry.yml": f"'{EVIL}': {{compose: {path!r}}}"})
    empty = MemoryTree({})
    rules = load_rules()
    before, after = (audit(Repository(side, read_catalog(side), Documents(side)), rules) for side in (empty, tree))
    lines = frozenset(range(1, 20))
    return review(before, after, {path: FileDiff(lines, lines)}, {})


def _tokens(markdown: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        yield token
        yield from token.children or ()


FOLDS = ("<details>", "</details>")


def _assert_harmless(markdown: str, html: tuple[str, ...] = ()) -> None:
    for token in _tokens(markdown):
        assert token.type not in ("link_open", "image", "html_inline"), token.content
        if token.type == "html_block":
            assert token.content.startswith(html), token.content
        if token.type == "text":
            assert not {"@", "#", "<", "|"} & set(token.content), token.content


def test_a_strangers_words_are_code_in_every_comment() -> None:
    outcome = _review()
    assert {"unknown-flag", "flag-without-effect"} <= {comment.finding.rule for comment in outcome.comments}
    for comment in outcome.comments:
        assert "@evil" in comment.body
        _assert_harmless(comment.body, FOLDS)


def test_a_strangers_words_are_code_in_the_summary() -> None:
    text = summary(_review())
    assert text.count("@evil") > 3
    _assert_harmless(text, FOLDS)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows
    assert {len(line.replace("\\|", "").split("|")) for line in rows} == {6}


@pytest.mark.parametrize("field", ["missing", "chain", "symbols", "world"])
def test_a_strangers_words_are_code_in_every_part(field: str) -> None:
    found = _review().comments[0].finding
    assert isinstance(found, Finding)
    changes = {
        "missing": replace(found, missing=(EVIL, f"whether {EVIL}")),
        "chain": replace(found, chain=(Reason("shell", EVIL, 3, EVIL), Reason("assumption", "", None, EVIL))),
        "symbols": replace(found, world=replace(found.world, symbols={EVIL: EVIL})),
        "world": replace(found, world=replace(found.world, environment={"X": EVIL})),
    }
    _assert_harmless(body(changes[field]))


# Any words ------------------------------------------------------------------------------------------------------------

MARKS = [*"ab `@#<>[]()!*_|\\~$&;:/-\n\r\t\u2028\u202e", "``", "www.", "http:\x2f/x.y", "<!--", "-->"]
HOSTILE = st.lists(st.sampled_from(MARKS), max_size=24).map("".join)
ONLINE = Links("https://github.com/acme/serving", "a" * 40, "https://seamguard.example/hazards")
OURS = ("https://github.com/", "https://seamguard.example/", "https://redirect.github.com/")


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    words = st.lists(HOSTILE, max_size=3)
    kinds = st.sampled_from(["compose", "shell", "engine-default", "catalog", "assumption"])
    reasons = st.builds(Reason, kinds, HOSTILE, st.none() | st.integers(1, 9), HOSTILE)
    return replace(
        finding(status=draw(st.sampled_from(["active", "reachable", "unknown"]))),
        path=draw(HOSTILE) or "x",
        service=draw(HOSTILE),
        slug=draw(st.none() | HOSTILE),
        cause=draw(HOSTILE),
        world=World(
            draw(st.dictionaries(HOSTILE, HOSTILE, max_size=2)), draw(st.dictionaries(HOSTILE, HOSTILE, max_size=2))
        ),
        chain=tuple(draw(st.lists(reasons, max_size=9))),
        missing=tuple(draw(words)),
    )


@given(st.lists(findings(), min_size=1, max_size=4), HOSTILE)
@settings(max_examples=150, deadline=None)
def test_whatever_a_stranger_writes_stays_a_quotation(found: list[Finding], problem: str) -> None:
    diffs = {one.path: FileDiff(frozenset({1}), frozenset({1})) for one in found[:2]}
    outcome = replace(reviewed(found, diffs, unchanged=found), configuration=ConfigurationEdit(((1, problem),)))
    made = plan(outcome, "a" * 40, diffs, [], links=ONLINE)
    texts = [new.body for new in made.inline] + [made.check.summary, made.check.text, report(outcome)]
    texts += [made.summary.body] if made.summary else []
    for text in texts:
        for token in _tokens(text):
            if token.type == "link_open":
                assert str(token.attrs["href"]).startswith(OURS)
            if token.type in ("html_block", "html_inline"):
                assert re.fullmatch(
                    r"(<!-- seamguard:[^>]*-->|</?details>|</?summary>|</?sub>|[\w ()…,]|\n)*", token.content
                )
            assert token.type != "image"
            if token.type == "text":
                assert not re.search(r"@|(?<!\()#\d|[<>|]|://|www\.", token.content), token.content
