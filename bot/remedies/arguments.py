"""Edits of the engine's arguments, where the repository writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.provenance import Word
from bot.remedies.case import FIELDS, Case
from bot.remedies.flow import put_before
from bot.remedies.model import Candidate, Meant, NoEdit, TextEdit

_ON, _OFF = "--enable-prefix-caching", "--no-enable-prefix-caching"
_CACHING = frozenset({"prefix_caching", "mamba_cache_mode"})
_GRAPHS = frozenset({"cudagraph_mode", "cudagraph_mode_effective", "optimization_level"})
_OPPOSITES = ("disable", "no")
_ITEM = re.compile(r" *- +(?P<quote>['\"]?)")


def no_prefix_caching(case: Case) -> Iterator[Candidate]:
    """Turns the flag round where it is written, be it an argument, a script or a variable's default; where nobody
    writes it, it goes before another flag.
    """
    argv = case.argv()
    written = [word for word in argv if word.text == _ON]
    if written:
        does = f"Passes `{_OFF}` instead of `{_ON}`"
        for path, line in case.lines_of(written[-1]):
            try:
                edit = case.token(path, line, _ON, _OFF)
            except NoEdit:
                continue
            yield Candidate((edit,), does, _meant(case, _CACHING, _ON, _OFF), by_default=True)
        return
    for word in reversed(argv):
        if word.text.startswith("--") and word.known:
            yield from _before(case, word)


def _before(case: Case, word: Word) -> Iterator[Candidate]:
    """The flag put in before another one: as an item of its own in a list, on the same line in a script."""
    flag = word.text.partition("=")[0]
    for path, line in case.lines_of(word):
        try:
            there = case.token(path, line, flag, flag)
            start, text = case.line(path, line)
        except NoEdit:
            continue
        item = _ITEM.match(text)
        entry = case.entry(path, line, flag)
        if entry is not None:
            edit = put_before(case.layout(path), entry, _OFF)
        elif item and start + item.end() == there.start:
            own = f"{text[: item.end()]}{_OFF}{item['quote']}"
            end = "\r\n" if case.text(path)[start + len(text) :][:1] == "\r" else "\n"
            edit = TextEdit(path, start, start, f"{own}{end}")
        elif text[: there.start - start].strip() and not text[: there.start - start].endswith(" "):
            continue  # inside a word: `["--a"`, `X=--a`
        else:
            edit = TextEdit(path, there.start, there.start, f"{_OFF} ")
        yield Candidate((edit,), f"Passes `{_OFF}`", _meant(case, _CACHING, flag, _OFF))
        return


def _meant(case: Case, properties: frozenset[str], old: str, new: str) -> Meant:
    """One word of the command line for another, wherever it is written: in the variables too that carry it."""
    carriers = {name for name, value in case.environment().items() if old in value}
    words = {word.text for word in case.argv() if word.text.startswith(f"{old}=")}
    renamed = {f"{new}{word.removeprefix(old)}" for word in words}
    return Meant(frozenset(FIELDS), frozenset(carriers), properties, frozenset({old, new, *words, *renamed}))


def binding_spelling(case: Case) -> Iterator[Candidate]:
    """`-O.x=y` in the spelling that sets x."""
    argument = str(case.finding.observed.get("argument", "")).split(" ", 1)[0]
    if not argument.startswith("-O."):
        raise NoEdit("only `-O.name=value` has a spelling that binds")
    for spelling in ("-cc.", "--compilation-config."):
        new = f"{spelling}{argument.removeprefix('-O.')}"
        for edit in _everywhere(case, argument, new):
            meant = _meant(case, _GRAPHS, argument, new)
            yield Candidate((edit,), f"Writes `{argument}` as `{new}`, which binds", meant)


def near_flag(case: Case) -> Iterator[Candidate]:
    """A flag that the release does not have, as the one that is spelt most like it."""
    flag, near = case.finding.cause.partition(":")[2], str(case.finding.observed.get("near", ""))
    parts = (set(flag.strip("-").split("-")), set(near.strip("-").split("-")))
    if any((word in parts[0]) != (word in parts[1]) for word in _OPPOSITES):
        raise NoEdit(f"{near} would do the opposite of {flag}")
    meant = _meant(case, frozenset({near.strip("-").replace("-", "_")}), flag, near)
    for edit in _everywhere(case, flag, near):
        yield Candidate((edit,), f"Writes `{near}` instead of `{flag}`, which the release does not have", meant)


def moved_flag(case: Case) -> Iterator[Candidate]:
    """A flag that the release does not have, as what does the same there."""
    flag, new = case.finding.cause.partition(":")[2], str(case.finding.observed.get("successor", ""))
    meant = _meant(case, frozenset(), flag, new)
    for edit in _everywhere(case, flag, new):
        yield Candidate((edit,), f"Writes `{new}` instead of `{flag}`, which the release does not have", meant)


def _everywhere(case: Case, old: str, new: str) -> Iterator[TextEdit]:
    """The places that the chain names, where the old text stands."""
    places = [(reason.path, reason.line) for reason in case.finding.chain if reason.kind in ("compose", "shell")]
    for path, line in dict.fromkeys([(case.finding.path, case.finding.line), *places]):
        if path and line:
            try:
                yield case.token(path, line, old, new)
            except NoEdit:
                continue


def pin_of_profile(case: Case) -> Iterator[Candidate]:
    """The image that the engine profile pins, as the default of the compose."""
    image, pinned = (str(case.finding.observed.get(name, "")) for name in ("image", "pinned"))
    if not image or not pinned or re.search(r"[\s'\"$}{]", pinned):
        raise NoEdit("the profile's image cannot be written there as it is")
    edit = case.token(case.finding.path, case.finding.line, image, pinned)
    does = f"Starts `{pinned}` by default, as the engine profile `{case.finding.observed.get('profile', '')}` says"
    yield Candidate((edit,), does, Meant(frozenset({"image"})))
