"""Which lines of a comment are commands."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.commands import MAX_COMMANDS, Explain, Found, Help, Mistake, Recheck, Request, find


def _asked(comment: str) -> list[Request]:
    return [item.request for item in find(comment) if isinstance(item, Found)]


@pytest.mark.parametrize(
    ("comment", "asked"),
    [
        ("/recheck", [Recheck()]),
        ("  /recheck  ", [Recheck()]),
        ("Thanks!\n/recheck\nBye", [Recheck()]),
        ("/RECHECK\r\n/help", [Recheck(), Help()]),
        ("/recheck\n---\nsignature", [Recheck()]),
        ("- done\n/recheck", [Recheck()]),
        ("/help\n\n/help", [Help()]),
        ("<b>x</b>\n/recheck", [Recheck()]),
        ("/explain models/_a_/x*y*.yml prefix_caching", [Explain("models/_a_/x*y*.yml", None, "prefix_caching")]),
        ("/explain ./a.yml", [Explain("a.yml")]),
        ("/explain vllm/dual", [Explain("vllm/dual")]),
        ("/explain `a b.yml`:engine `prefix_caching`", [Explain("a b.yml", "engine", "prefix_caching")]),
        ("> /recheck\n\n/help", [Help()]),
    ],
)
def test_a_line_that_begins_with_a_slash_is_a_command(comment: str, asked: list[Request]) -> None:
    assert _asked(comment) == asked


@pytest.mark.parametrize(
    "comment",
    [
        "",
        "please /recheck",
        "> /recheck",
        "> said\n/recheck",
        "> - > /recheck",
        "- /recheck",
        "1. /recheck",
        "# /recheck",
        "    /recheck",
        "\t/recheck",
        "```\n/recheck\n```",
        "~~~\n/recheck",
        "`/recheck`",
        "`a\n/recheck`",
        "``\n/recheck\n` ``",
        "<!-- /recheck -->",
        "<!--\n\n/recheck\n\n-->",
        "a <!--\n/recheck\n--> b",
        "<!--\n/recheck",
        "<pre>\n/recheck\n</pre>",
        "| a |\n|---|\n| /recheck |",
        "a | b\n--|--\n/recheck | x",
        "\\/recheck",
        "&#47;recheck",
        "/etc/passwd",
        "//recheck",
        "/ recheck",
        "/retest",
        "/lgtm",
        "/recheck/",
        "/recheck: now",
        "[/recheck](x)\n",
        "**/recheck**",
    ],
)
def test_other_text_is_none(comment: str) -> None:
    assert find(comment) == ()


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ("/rechek", "did you mean `/recheck`?"),
        ("/explian a.yml", "did you mean `/explain`?"),
        ("/recheck now", "`/recheck` takes nothing behind it."),
        ("/explain", "`/explain` needs the path of a compose, its slug, or the id of a hazard."),
        ("/explain a b c", "`/explain` takes a path or a slug, and a property;"),
    ],
)
def test_a_mistake_is_told(comment: str, told: str) -> None:
    (mistake,) = find(comment)
    assert isinstance(mistake, Mistake)
    assert told in mistake.message


def test_only_the_first_commands_of_a_comment_count() -> None:
    assert len(find("\n".join(f"/explain a{number}.yml" for number in range(50)))) == MAX_COMMANDS


HOSTILE = {
    "backquotes": "/explain " + "`" * 60_000,
    "spans": "/explain " + "`a" * 30_000,
    "quotes": "> " * 35_000 + "\n\n/recheck",
    "lists": "- " * 35_000 + "\n\n/recheck",
    "commands of others": "/x\n" * 20_000,
    "comments": "a " + "<!-- " * 13_000 + "\n/recheck",
    "tags": "a " + "<a b='" * 11_000 + "\n/recheck",
    "words": "/explain " + "a " * 34_000,
    "fences": "`" * 350 + "\n" * 60_000 + "\n/recheck",
    "a long word": "/" + "a" * 1_000_000,
}


@pytest.mark.parametrize("comment", HOSTILE.values(), ids=HOSTILE)
def test_hostile_lengths_end_soon(comment: str) -> None:
    before = time.process_time()
    assert len(find(comment)) <= MAX_COMMANDS
    assert time.process_time() - before < 10


WORDS = st.lists(
    st.sampled_from(
        [*"` \n>-*<&\\|#~\t", "/recheck", "/help", "/explain x", "<!--", "-->", "```", "1. ", "a", "\n\n", "    ", "> "]
    ),
    max_size=30,
).map("".join)


@given(WORDS)
@settings(deadline=None)
def test_no_command_is_found_inside_a_fence_or_an_html_comment_whatever_is_in_it(words: str) -> None:
    fence = "`" * 40
    assert find(f"{fence}\n{words}\n{fence}") == ()
    assert find("<!--\n" + words.replace("-->", "") + "\n-->") == ()
    assert find("\n".join(f"> {line}" for line in words.split("\n"))) == ()


@given(WORDS)
@settings(deadline=None)
def test_a_command_of_its_own_paragraph_is_found_before_any_text(words: str) -> None:
    assert _asked(f"/recheck\n\n{words}")[:1] == [Recheck()]
