"""What released sources say: first what was looked up and shipped, then what a probe finds in the source itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from bot.learn.source import SourceTree
from bot.upstream.probefile import load_probes
from bot.upstream.probes import ContentProbe, paths_of, probe

Known = Callable[[str, str], tuple[bool | None, str] | None]
"""(reference, release) → what was found in the released source, and how; None when nobody looked."""

Sources = Callable[[str, Iterable[str]], SourceTree | str]
"""(release or commit, modules) → its source with those modules at hand; or in a few words why there is none."""


def no_source(_release: str, _paths: Iterable[str]) -> str:
    """Nobody to ask."""
    return "its source is not at hand"


def known_from(shipped: Known, sources: Sources, probes: Mapping[str, ContentProbe] | None = None) -> Known:
    """Asks `shipped` first, and the source where that has no answer and there is a probe of the fix."""
    asked: dict[tuple[str, str], tuple[bool | None, str] | None] = {}

    def found(reference: str, release: str) -> tuple[bool | None, str] | None:
        told = shipped(reference, release)
        question = (load_probes() if probes is None else probes).get(reference)
        if question is None or (told is not None and told[0] is not None):
            return told
        source = sources(release, paths_of(question))
        if isinstance(source, str):
            return told
        answer = probe(question, source)
        return answer.holds, answer.text

    def known(reference: str, release: str) -> tuple[bool | None, str] | None:
        key = (reference, release)
        if key not in asked:
            asked[key] = found(reference, release)
        return asked[key]

    return known
