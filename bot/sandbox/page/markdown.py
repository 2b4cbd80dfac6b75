"""Markdown as GitHub shows it, made of text that nobody trusts.

HTML is never passed on. Of GitHub's own additions it knows folded sections (`<details>` and `<summary>` on lines of
their own), small print, hidden comments, tables, struck-out text, alerts and suggested changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

MAX_NESTING = 20

_OPEN = re.compile(r"<details(?P<open> open)?>\s*(?:<summary>(?P<summary>.*?)</summary>)?\s*")
_SUMMARY = re.compile(r"<summary>(?P<summary>.*?)</summary>\s*")
_CLOSE = re.compile(r"</details>\s*")
_ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\n?")
_SMALL = re.compile(r"<(sub|sup|kbd)>")
_TAGS = re.compile(r"</?(?:b|strong|i|em|code|sub|sup)>")


def render(text: str) -> str:
    """HTML that is safe to show."""
    tokens = _MARKDOWN.parse(text)
    return str(_MARKDOWN.renderer.render(_balanced(_alerts(tokens)), _MARKDOWN.options, {}))


def _hidden_block(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """A comment that starts a line: dropped, whole, through the line where it ends."""
    start = state.bMarks[line] + state.tShift[line]
    if not state.src.startswith("<!--", start) or state.is_code_block(line):
        return False
    close = state.src.find("-->", start + 4)
    if close < 0:
        return False
    last = line
    while last + 1 < end and state.bMarks[last + 1] <= close:
        last += 1
    if state.src[close + 3 : state.eMarks[last]].strip():
        return False  # more text on the line: left to the inline rule
    if not silent:
        state.line = last + 1
    return True


def _details(state: StateBlock, line: int, _: int, silent: bool) -> bool:
    """The lines that open and close a folded section, outside of lists and quotes."""
    if state.level or state.is_code_block(line):
        return False
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    found = _OPEN.fullmatch(text) or _SUMMARY.fullmatch(text) or _CLOSE.fullmatch(text)
    if found is None:
        return False
    if silent:
        return True
    if text.startswith("</"):
        state.push("details_close", "details", -1)
    elif text.startswith("<details"):
        token = state.push("details_open", "details", 1)
        token.meta = {"open": found["open"] is not None}
    state.level = 0  # what is inside is read like everything else; `_balanced` looks after the pairs
    summary = found.groupdict().get("summary")
    if summary is not None:
        state.push("summary_open", "summary", 1)
        token = state.push("inline", "", 0)
        token.content, token.map, token.children = _TAGS.sub("", summary), [line, line + 1], []
        state.push("summary_close", "summary", -1)
    state.line = line + 1
    return True


def _hidden_inline(state: StateInline, _: bool) -> bool:
    """A comment inside of text."""
    if not state.src.startswith("<!--", state.pos):
        return False
    close = state.src.find("-->", state.pos + 4)
    if close < 0:
        return False
    state.pos = close + 3
    return True


def _small(state: StateInline, silent: bool) -> bool:
    """`<sub>`, `<sup>` and `<kbd>` where they are closed again. What is inside is read by itself, so that nothing in
    it reaches beyond its end.
    """
    found = _SMALL.match(state.src, state.pos, state.posMax)
    close = -1 if found is None else state.src.find(f"</{found[1]}>", found.end(), state.posMax)
    if found is None or close < 0:
        return False
    if not silent:
        end, state.pos, state.posMax = state.posMax, found.end(), close
        state.push(f"{found[1]}_open", found[1], 1)
        state.md.inline.tokenize(state)
        state.push(f"{found[1]}_close", found[1], -1)
        state.posMax = end
    state.pos = close + len(f"</{found[1]}>")
    return True


def _balanced(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with every folded section closed, and nothing closed that is not open."""
    depth = 0
    kept: list[Token] = []
    for token in tokens:
        if token.type == "details_open":
            depth += 1
        elif token.type == "details_close":
            if depth == 0:
                continue
            depth -= 1
        kept.append(token)
    return kept + [Token("details_close", "details", -1) for _ in range(depth)]


def _alerts(tokens: list[Token]) -> list[Token]:
    """Quotes that begin with a word like [!WARNING] are marked as such."""
    for index, token in enumerate(tokens):
        if token.type != "blockquote_open" or tokens[index + 1].type != "paragraph_open":
            continue
        inline = tokens[index + 2]
        found = _ALERT.match(inline.content)
        if found is None or not inline.children:
            continue
        token.attrSet("class", f"alert {found[1].lower()}")
        rest = inline.children[1:]
        if rest and rest[0].type in ("softbreak", "hardbreak"):
            rest = rest[1:]
        title = Token("html_inline", "", 0)
        title.content = f'<b class="alert-title">{found[1].capitalize()}</b><br>'
        inline.children = [title, *rest]
    return tokens


class _Renderer(RendererHTML):
    def details_open(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return "<details open>\n" if tokens[index].meta.get("open") else "<details>\n"

    def fence(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        token = tokens[index]
        word = token.info.strip().partition(" ")[0]
        content = escape(token.content)
        if word == "suggestion":
            return f'<div class="suggestion"><p>Suggested change</p><pre>{content}</pre></div>\n'
        if word == "diff":
            kinds = {"+": "add", "-": "del", "@": "at"}
            rows = [
                f'<span class="{kinds.get(row[:1], "same")}">{escape(row)}</span>' for row in token.content.splitlines()
            ]
            content = "\n".join(rows)
        return f"<pre><code>{content}</code></pre>\n"

    def link_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        tokens[index].attrSet("rel", "nofollow noopener noreferrer")
        return self.renderToken(tokens, index, options, env)

    def image(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        """No picture is fetched: its description stands for it."""
        return f"<i>{escape(tokens[index].content)}</i>"


def _make() -> MarkdownIt:
    options = {"html": False, "maxNesting": MAX_NESTING}
    markdown = MarkdownIt("commonmark", options, renderer_cls=_Renderer).enable(["table", "strikethrough"])
    stops: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    markdown.block.ruler.before("fence", "details", _details, stops)
    markdown.block.ruler.before("fence", "hidden", _hidden_block, stops)
    markdown.inline.ruler.before("text", "hidden", _hidden_inline)
    markdown.inline.ruler.before("text", "small", _small)
    return markdown


_MARKDOWN = _make()
