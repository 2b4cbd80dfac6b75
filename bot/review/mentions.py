"""Which files can depend on changed ones, by their text alone: a necessary condition, much cheaper than a parse."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping

MANY = 60
"""Names that are looked for one by one; of more, whether any of a text's words is among them is asked."""

MAX_PATH = 4096
"""Characters of a path that are looked at, as many as one may have."""

_BEFORE = 130
"""Characters before the end of a path of dots that are looked at: forty folders up."""

_COMMENT = re.compile(r"\n[ \t]*#[^\n]*")
_WORD = re.compile(r"[\w.+@~-]+")
# Patterns that begin with a plain character are an order faster than a choice.
_ENDS_IN_DOTS = re.compile(r"\.\.?/?[\"'}]*:")
_DOTS_AND_A_VARIABLE = re.compile(r"\.\.?/\$")
_SOURCE_OF_DOTS = re.compile(r"source:[ \t]*[\"']?\.{1,2}(?:/\.{1,2})*/?[\"'\s]")
_DOTS = re.compile(r"(?:^|[^\w.+@~/])\.{1,2}(?:/\.{1,2}){0,40}$", re.MULTILINE)
"""A mount of the compose's own folder, or of one above it: no name is written."""

_PUT_TOGETHER = re.compile(r"\}[\w.+@~-]")
"""A name that is not written in one piece (`${KIND:-dual}.yml`)."""

_DRAWS_IN = re.compile(r"\b(?:extends|include)\b")
_BESIDE = re.compile(r"(?:^|/)(?:\.env|[^/]*\.override\.ya?ml)$")
"""Files that Docker Compose reads from the folder of the compose, unnamed."""


def dependents(texts: Mapping[str, str], changed: frozenset[str]) -> frozenset[str]:
    """Those of the files that are changed, or may depend on changed files, also through other files of `texts`."""
    found = set(changed & texts.keys()) | _beside(texts, changed)
    written = {path: _without_comments(text) for path, text in texts.items() if path not in found}
    asked, news = set(written), set(changed) | found
    while news and asked:
        names = _naming(news)
        news = {path for path in asked if names(written[path])}
        found |= news
        asked = {path for path in asked - news if _DRAWS_IN.search(written[path])} if news else set()
    return frozenset(found)


def _without_comments(text: str) -> str:
    return _COMMENT.sub("", f"\n{text}")


def _beside(texts: Iterable[str], changed: Iterable[str]) -> set[str]:
    folders = {posixpath.dirname(path) for path in changed if _BESIDE.search(path)}
    return {path for path in texts if posixpath.dirname(path) in folders} if folders else set()


def _naming(paths: Iterable[str]) -> Callable[[str], bool]:
    """Whether a text may name one of the files, or mount a folder above one."""
    parts = [path.split("/") for path in paths]
    names = {_last_word(part[-1]) for part in parts}
    folders = {_last_word(folder) for part in parts for folder in part[:-1]}
    if "" in names | folders:
        return lambda _: True
    if len(names) + len(folders) > MANY:
        all_names = names | folders
        return lambda text: _is_open(text) or not all_names.isdisjoint(_WORD.findall(text))
    ends = re.compile(f"(?:/|source:[ \t]*[\"']?)(?:{'|'.join(map(re.escape, folders))})(?![\\w.+@~-]|/[\\w.+@~-])")

    def may(text: str) -> bool:
        if any(name in text for name in names) or _is_open(text):
            return True
        return bool(folders) and any(_is_relative(text, match.start()) for match in ends.finditer(text))

    return may


def _is_open(text: str) -> bool:
    """Whether a text mounts a folder without naming it, or puts a name together."""
    if _PUT_TOGETHER.search(text) or _SOURCE_OF_DOTS.search(text) or _DOTS_AND_A_VARIABLE.search(text):
        return True  # a variable may be empty
    return any(
        _DOTS.search(text[max(match.start() - _BEFORE, 0) : match.start()] + match[0].rstrip("/\"'}:"))
        for match in _ENDS_IN_DOTS.finditer(text)
    )


def _is_relative(text: str, at: int) -> bool:
    """Whether the path around a slash is one of the repository: what begins with a slash is the host's or the
    container's.
    """
    begin = at
    while begin > max(at - MAX_PATH, 0) and (text[begin - 1] == "/" or _WORD.match(text[begin - 1])):
        begin -= 1
    return text[begin] != "/" or begin == at - MAX_PATH or text[begin - 1 : begin] == "}"


def _last_word(name: str) -> str:
    """The end of a name, which stands in any text that writes the name; empty when the name has no plain end."""
    return next(reversed(_WORD.findall(name)), "")
