"""Upstream references in a line of text, with what a person who wrote them left out filled in.

In a document, `#48375` means the project that its section is about, the one that its link leads to, or the one that
stands before it; a short number is an issue of the repository itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.references import OWNERS, UPSTREAM, normalise

SHORTEST = 5
"""Digits from which on a bare number is taken for one of the upstream project: repositories of deployments have few
thousand issues of their own, vLLM passed ten thousand in 2024."""

MAX_LINE = 20_000
"""Characters of a line that are looked at; rows of tracker tables are long."""

_NUMBER = r"[1-9][0-9]{0,8}"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_ANY = re.compile(
    rf"(?:https?://)?(?:www\.)?github\.com/(?P<url>{_NAME}/{_NAME})/(?P<kind>pull|pulls|issues)/(?P<url_number>{_NUMBER})"
    rf"(?:[/?#][^\s)\]>|]*)?"
    rf"|repos/(?P<api>{_NAME}/{_NAME})/(?:pulls|issues)/(?P<api_number>{_NUMBER})"
    rf"|(?<![\w/&.-])(?P<repo>(?:{_NAME}/)?{_NAME})?\#(?P<number>{_NUMBER})(?!\w)"
    rf"|(?<![A-Za-z0-9])(?P<mark>[Pp][Rr][-_ ]?)(?P<pr>[1-9][0-9]{{4,5}})(?![0-9])"
)
_LINK = re.compile(r"\[(?P<text>[^\[\]]{0,400})\]\((?P<target>[^()\s]{1,400})\)")
_HEADING = re.compile(r"#{1,6}\s")
_PROJECT = re.compile(rf"(?<![\w/.-])({_NAME}/{_NAME})(?![\w/-])")
_OTHERS = re.compile(
    r"sglang|llama[._ -]?cpp|ik[-_ ]?llama|lmcache|flashinfer|transformers|triton|torch|tensorrt|trt[-_ ]?llm|cutlass"
    r"|xformers|exllama|ollama|compressed[-_ ]tensors|beellama",
    re.IGNORECASE,
)
_FILE = re.compile(r"\.(?:md|rst|txt|ya?ml|html)$", re.IGNORECASE)
"""`docs/UPSTREAM.md#35936` names a row of a tracker, not a repository."""

_VLLM = re.compile(r"\bvllm\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """A reference in a line; `start` and `end` are columns from 0. `kind` is what a URL says it is."""

    reference: str
    start: int
    end: int
    kind: str | None = None
    by_path: bool = False


class Reader:
    """Reads the lines of one file in order; headings say which project a bare number belongs to."""

    def __init__(self, default: str | None = UPSTREAM) -> None:
        self._default = default
        self._section = default

    def heading(self, line: str) -> None:
        """Take note of a heading of a document."""
        if not _HEADING.match(line):
            return
        named = _PROJECT.search(line)
        if named:
            self._section = UPSTREAM if named[1].lower() == UPSTREAM else named[1]
        elif _OTHERS.search(line) and not _VLLM.search(line):
            self._section = None
        elif line.startswith("## ") or _VLLM.search(line):
            self._section = self._default

    def mentions(self, line: str) -> Iterator[Mention]:
        """Every reference of a line, from left to right."""
        line = line[:MAX_LINE]
        links = [(match.span("text"), self._linked(match["target"])) for match in _LINK.finditer(line)]
        for match in _ANY.finditer(line):
            found = self._one(match, line, links)
            if found is not None:
                yield found

    def _linked(self, target: str) -> str | None:
        match = _ANY.search(target)
        return match["url"] if match else None

    def _one(self, match: re.Match[str], line: str, links: list[tuple[tuple[int, int], str | None]]) -> Mention | None:
        start, end = match.span()
        if match["url"]:
            reference = normalise(f"{match['url']}#{match['url_number']}")
            kind = "issue" if match["kind"] == "issues" else "pull"
            return Mention(reference, start, end, kind) if reference else None
        if match["api"]:
            reference = normalise(f"{match['api']}#{match['api_number']}")
            return Mention(reference, start, end) if reference else None
        if match["repo"] and not _FILE.search(match["repo"]):
            reference = normalise(f"{match['repo']}#{match['number']}")
            return Mention(reference, start, end) if reference else None
        number = match["number"] or match["pr"]
        linked = next((project for (low, high), project in links if low <= start < high and project), None)
        repository = linked or self._meant(number, line[:start])
        if repository is None:
            return None
        if match["pr"] and not match["mark"].endswith(" ") and _OTHERS.search(_word_around(line, start)):
            return None
        reference = normalise(f"{repository}#{number}")
        by_path = bool(match["pr"]) and match["mark"] in ("pr", "pr-", "pr_")
        return Mention(reference, start, end, None, by_path) if reference else None

    def _meant(self, number: str, before: str) -> str | None:
        """Whose a bare number is."""
        nearby = before[-24:].rpartition(" ")[0].rpartition(" ")[2] + " " + before[-24:].rpartition(" ")[2]
        if _OTHERS.search(nearby) and not _VLLM.search(nearby):
            return None
        if OWNERS.get(nearby.strip(" ([*`").lower()) == UPSTREAM:
            return UPSTREAM
        return self._section if len(number) >= SHORTEST else None


def _word_around(line: str, start: int) -> str:
    """The word (a path) that a column lies in."""
    left = max(line.rfind(mark, 0, start) for mark in " \t\"'`(=:") + 1
    return line[left : start + 40].split(" ", 1)[0]
