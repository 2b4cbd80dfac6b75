"""Markdown of strangers: what is shown of it, and that nothing of it acts."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sandbox.page.markdown import render

_ALLOWED = re.compile(
    "p|br|hr|h[1-6]|b|i|em|sub|sup|kbd|strong|s|code|pre|ul|ol|li|blockquote|a|table|thead|tbody|tr|th|td|details|summary|div|span"
)
_VOID = {"br", "hr"}


class _Reader(HTMLParser):
    """Notes every tag, and whether they pair."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.paired = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            self.paired = self.paired and bool(self.open) and self.open.pop() == tag


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**bold** and `code`", "<p><strong>bold</strong> and <code>code</code></p>"),
        ("a <!-- hidden --> b", "<p>a  b</p>"),
        ("<!-- seamguard:finding v1 abc sha=1 -->", ""),
        ("text\n<!-- seamguard\nover lines -->\nmore", "<p>text</p><p>more</p>"),
        ("`<!-- shown -->`", "<p><code>&lt;!-- shown --&gt;</code></p>"),
        ("    <details>", "<pre><code>&lt;details&gt;</code></pre>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>"),
        ("![a picture](http://example.invalid/x.png)", "<p><i>a picture</i></p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("<sub>for `a`, *b*</sub>", "<p><sub>for <code>a</code>, <em>b</em></sub></p>"),
        ("*a <sub>b* c</sub> <sup>d", "<p>*a <sub>b* c</sub> &lt;sup&gt;d</p>"),
        ("~~gone~~", "<p><s>gone</s></p>"),
        (
            "> [!WARNING]\n> Look.",
            '<blockquote class="alert warning"><p><b class="alert-title">Warning</b><br>Look.</p></blockquote>',
        ),
        (
            "<details><summary>More <b>x</b></summary>\n\n- a\n\n</details>",
            "<details><summary>More x</summary><ul><li>a</li></ul></details>",
        ),
        (
            "<details open>\n<summary>A & B</summary>\n\nx\n</details>",
            "<details open><summary>A &amp; B</summary><p>x</p></details>",
        ),
        ("</details>\n\nx\n\n<details>\n\ny", "<p>x</p><details><p>y</p></details>"),
        ("```suggestion\n<b>\n```", '<div class="suggestion"><p>Suggested change</p><pre>&lt;b&gt;</pre></div>'),
    ],
)
def test_what_is_shown(text: str, html: str) -> None:
    assert re.sub(r"\n(?=<|$)", "", render(text)) == html


def test_a_link_leads_out_without_a_trace() -> None:
    ((_, _), (_, attributes)) = _read(render("[x](https://example.invalid)")).tags
    assert attributes == {"href": "https://example.invalid", "rel": "nofollow noopener noreferrer"}


_PIECES = st.sampled_from(
    [
        *("<details>", "<details open>", "</details>", "<summary>s</summary>", "<details><summary>x</summary>"),
        *("<sub>", "</sub>", "<sup>", "</sup>", "**", "~~", "["),
        *("<!--", "-->", "<script>", "</script>", "<img src=x onerror=y>", "<a href='javascript:x'>", "<style>"),
        *(
            "[x](javascript:y)",
            '[x](http://y "t")',
            "![p](q)",
            "&lt;",
            "\"'><b>",
            "*",
            "_",
            "`",
            "text",
            "\0",
            "\u202e",
        ),
        *("> ", "- ", "1. ", "    ", "# ", "```", "```diff", "```suggestion", "\n", "\n\n", "> [!NOTE]\n> "),
        "|a|b|\n|-|-|\n|1|2|",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=25).map("".join) | st.text(max_size=200))
def test_nothing_of_it_acts_and_every_tag_is_closed(text: str) -> None:
    reader = _read(render(text))
    assert reader.paired
    assert reader.open == []
    for tag, attributes in reader.tags:
        assert _ALLOWED.fullmatch(tag)
        assert attributes.keys() <= {"class", "open", "href", "rel", "title", "style", "start"}
        assert not (attributes.get("href") or "").lower().startswith(("javascript:", "data:", "vbscript:"))
        assert attributes.get("style") in (None, "text-align:left", "text-align:right", "text-align:center")
