"""The answers of every probe for many releases: a table to read, and what stands behind each answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from packaging.version import Version

from bot.learn.source import SourceTree
from bot.markdown import cell
from bot.upstream.probes import ContentProbe, ProbeAnswer, probe

COMMAND = "seamguard inspect probes --format markdown --source DIR… > docs/upstream-probes.md"
_WORDS = {True: "yes", False: "no", None: "?"}
_ROW = re.compile(r"\| (\d+(?:\.\d+)+[a-z0-9.]*) \|(.*)\|")


@dataclass(frozen=True, slots=True)
class Column:
    """One question: a probe, or an observation beside one (`beside`)."""

    question: ContentProbe
    beside: bool
    answers: Mapping[str, ProbeAnswer]


def columns(probes: Mapping[str, ContentProbe], sources: Iterable[tuple[str, SourceTree]]) -> tuple[Column, ...]:
    """The answers for each release, lowest first; a source is read once and let go."""
    questions = [(asked, beside) for one in probes.values() for asked, beside in _questions(one)]
    answers: list[dict[str, ProbeAnswer]] = [{} for _ in questions]
    for release, source in sources:
        for (question, _), found in zip(questions, answers, strict=True):
            found[release] = probe(question, source)
    return tuple(
        Column(question, beside, dict(sorted(found.items(), key=lambda item: Version(item[0]))))
        for (question, beside), found in zip(questions, answers, strict=True)
    )


def _questions(question: ContentProbe) -> Iterator[tuple[ContentProbe, bool]]:
    yield question, False
    for other in question.beside:
        yield other, True


def markdown(found: tuple[Column, ...]) -> str:
    """The document: a table of releases and fixes, then the reasons, release ranges with one reason together."""
    fixes = [column for column in found if not column.beside]
    releases = list(fixes[0].answers) if fixes else []
    lines = [
        "# Which release contains which upstream fix",
        "",
        "Found in the released source by the probes of `rules/probes.yml`, not in the state of a pull request. "
        "`?` is unknown: it clears nothing.",
        f"Made by `{COMMAND}`; not to be edited by hand.",
        "",
        "| release | " + " | ".join(_short(column) for column in fixes) + " |",
        "|---|" + "---|" * len(fixes),
    ]
    for release in releases:
        words = (_WORDS[column.answers[release].holds] for column in fixes)
        lines.append(f"| {release} | " + " | ".join(words) + " |")
    for column in found:
        heading = f"{_short(column)}, beside: " if column.beside else f"{column.question.reference}: "
        lines += ["", f"{'###' if column.beside else '##'} {heading}{column.question.title}", ""]
        lines += ["| releases | answer | because | where, in the last of them |", "|---|---|---|---|"]
        for first, last, answer in runs(column):
            span = first if first == last else f"{first} to {last}"
            places = ", ".join(f"`{place}`" for place in answer.places[:3])
            lines.append(f"| {span} | {_WORDS[answer.holds]} | {cell(answer.text)} | {places} |")
    return "\n".join(lines) + "\n"


def runs(column: Column) -> list[tuple[str, str, ProbeAnswer]]:
    """Neighbouring releases with the same answer for the same reason: first, last, and the answer of the last."""
    found: list[tuple[str, str, ProbeAnswer]] = []
    for release, answer in column.answers.items():
        if found and (found[-1][2].holds, found[-1][2].text) == (answer.holds, answer.text):
            found[-1] = (found[-1][0], release, answer)
        else:
            found.append((release, release, answer))
    return found


def read_table(text: str) -> dict[str, dict[str, bool | None]]:
    """The answers of the document: by fix (`#48375`), then by release."""
    heads: list[str] = []
    found: dict[str, dict[str, bool | None]] = {}
    meaning = {word: holds for holds, word in _WORDS.items()}
    for line in text.splitlines():
        if line.startswith("| release |"):
            heads = [head.strip() for head in line.strip("|").split("|")[1:]]
        elif heads and (row := _ROW.fullmatch(line)):
            for head, word in zip(heads, row[2].split("|"), strict=True):
                found.setdefault(head, {})[row[1]] = meaning[word.strip()]
        elif line.startswith("## "):
            break
    return found


def _short(column: Column) -> str:
    return f"#{column.question.reference.rpartition('#')[2]}"
