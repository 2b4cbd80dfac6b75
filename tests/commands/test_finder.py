"""Which lines of a comment are commands."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.commands import MAX_COMMANDS, Explain, Found, Help, Mistake, Recheck, Request, Verify, find


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
        ("/verify a b\n```\n```", "`/verify` takes a path or a slug, and the log in a code block below;"),
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


BLOCKS = {
    "backquotes": ("/verify\n```\na\nb\n```", "a\nb\n"),
    "tildes": ("/verify\n\n~~~text\na\n~~~\n", "a\n"),
    "words between": ("/verify\n\nThis is what it said:\n\n```\na\n```", "a\n"),
    "the first of two": ("/verify\n```\na\n```\n```\nb\n```", "a\n"),
    "not the one before": ("```\nb\n```\n/verify\n```\na\n```", "a\n"),
    "folded": ("/verify\n<details><summary>log</summary>\n\n```\na\n```\n\n</details>", "a\n"),
    "in a list": ("/verify\n\n- log\n\n  ```\n  a\n  ```", "a\n"),
    "a fence in a longer one": ("/verify\n````\n```\na\n```\n````", "```\na\n```\n"),
    "unclosed": ("/verify\n```\na\n\nb", "a\n\nb\n"),
    "CRLF": ("/verify\r\n```\r\na\r\n```", "a\n"),
    "a command in it": ("/verify\n```\n/recheck\n```", "/recheck\n"),
    "a quoted one before it": ("/verify\n\n> ```\n> b\n> ```\n\n```\na\n```", "a\n"),
    "an HTML comment before it": ("/verify\n\n<!--\n```\nb\n```\n-->\n\n```\na\n```", "a\n"),
    "empty": ("/verify\n```\n```", ""),
}


@pytest.mark.parametrize(("comment", "block"), BLOCKS.values(), ids=BLOCKS)
def test_the_block_behind_a_command_is_its_own(comment: str, block: str) -> None:
    (found,) = find(comment)
    assert isinstance(found, Found)
    assert (found.request, (found.block or "").strip("\n")) == (Verify(), block.strip("\n"))


@pytest.mark.parametrize(
    "comment",
    [
        "/verify",
        "/verify\n\nINFO 12-01 00:29:25 [core.py:115] Initializing",
        "```\na\n```\n/verify",
        "/verify\n\n> ```\n> a\n> ```",
        "/verify\n<!--\n```\na\n```\n-->",
        "/verify\n<details>\n```\na\n```\n</details>",
        "/verify `a`",
        "/verify\n\n    a\n",
    ],
)
def test_a_log_that_is_in_no_block_behind_the_command_is_asked_for(comment: str) -> None:
    (mistake,) = find(comment)
    assert isinstance(mistake, Mistake)
    assert mistake.message.startswith("`/verify` needs a boot log in a code block behind it")


def test_several_may_be_about_one_block_and_others_take_none() -> None:
    found = find("/verify a.yml:one\n/verify b.yml\n/help\n```\na\n```")
    assert [(item.request, item.block) for item in found if isinstance(item, Found)] == [
        (Verify("a.yml", "one"), "a\n"),
        (Verify("b.yml"), "a\n"),
        (Help(), None),
    ]


HOSTILE = {
    "backquotes": "/explain " + "`" * 60_000,
    "spans": "/explain " + "`a" * 30_000,
    "quotes": "> " * 35_000 + "\n\n/recheck",
    "lists": "- " * 35_000 + "\n\n/recheck",
    "commands of others": "/x\n" * 20_000,
    "comments": "a " + "<!-- " * 13_000 + "\n/recheck",
    "tags": "a " + "<a b='" * 11_000 + "\n/recheck",
    "words": "/explain " + "a " * 34_000,
    "blocks": "/verify\n" + "```\n" * 17_000,
    "commands with one block": "/verify\n" * 8_000 + "```",
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
def test_whatever_is_in_a_block_is_the_block(words: str) -> None:
    (found,) = find(f"/verify\n{'~' * 40}\n{words}\n{'~' * 40}\nBye")
    assert isinstance(found, Found)
    assert found.block == f"{words}\n"


@given(WORDS)
@settings(deadline=None)
def test_a_command_of_its_own_paragraph_is_found_before_any_text(words: str) -> None:
    assert _asked(f"/recheck\n\n{words}")[:1] == [Recheck()]
