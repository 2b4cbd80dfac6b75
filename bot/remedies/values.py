"""Values that a release refuses, as what it takes, where only one thing can be meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from bot.engine.facts import load as load_facts
from bot.provenance import Word
from bot.remedies.case import FIELDS, Case
from bot.remedies.dropping import dropped
from bot.remedies.model import Candidate, Meant, NoEdit

_NEAR = 0.8
_SHORT = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "f16": "float16", "f32": "float32"}
"""What people write for the types that a release spells out."""

_JSON = (
    (re.compile(r"(?<=[:\[,\s])0+(?=[1-9]\d*\s*[,}\]])"), ""),
    (re.compile(r",(?=\s*[}\]])"), ""),
    (re.compile(r"(?<=[:\[,\s])True(?=\s*[,}\]])"), "true"),
    (re.compile(r"(?<=[:\[,\s])False(?=\s*[,}\]])"), "false"),
    (re.compile(r"(?<=[:\[,\s])None(?=\s*[,}\]])"), "null"),
)
"""What is no JSON, and what it can only mean."""


def accepted_value(case: Case) -> Iterator[Candidate]:
    """The value that the release takes and that is spelt most like the refused one; JSON without what is none; or the
    `true` behind a switch taken out.
    """
    argument = str(case.finding.observed.get("argument", ""))
    flag, _, value = argument.partition(" ")
    if not value:
        flag, _, value = argument.partition("=")
    if argument.lower() == "true":
        yield from _without_true(case, argument)
    elif value.startswith(("{", "[")):
        yield from _in_json(case, argument, value)
    elif value and (near := _nearest(case, flag, value)):
        yield from _written(case, value, near, f"Writes `{flag} {near}` instead of `{argument}`, which is no choice")
    else:
        raise NoEdit("what is meant is for a person to say")


def _nearest(case: Case, flag: str, value: str) -> str:
    """The choice that is spelt like a value and clearly more so than the others; empty when there is none."""
    world = next(iter(case.service.defaults), None) if case.service else None
    asked = world.engine.releases if world is not None and world.engine is not None else ()
    known = load_facts(asked[-1]).flag(flag) if asked else None
    choices = [choice for choice in (known.choices if known else None) or () if isinstance(choice, str)]
    if _SHORT.get(value.lower()) in choices:
        return _SHORT[value.lower()]
    plain = {re.sub(r"[\W_]", "", choice).lower(): choice for choice in choices}
    if (same := plain.get(re.sub(r"[\W_]", "", value).lower())) is not None:
        return same
    ranked = sorted(((SequenceMatcher(None, value, choice).ratio(), choice) for choice in choices), reverse=True)
    if not ranked or ranked[0][0] < _NEAR or (len(ranked) > 1 and ranked[1][0] == ranked[0][0]):
        return ""
    return ranked[0][1]


def _in_json(case: Case, argument: str, value: str) -> Iterator[Candidate]:
    repaired = value
    for pattern, better in _JSON:
        repaired = pattern.sub(better, repaired)
    try:
        json.loads(repaired)
    except (ValueError, RecursionError):
        repaired = value
    if repaired == value:
        raise NoEdit("what the JSON should say is for a person to say")
    yield from _written(case, value, repaired, f"Writes the JSON of `{argument.partition(' ')[0]}` as JSON has it")


def _without_true(case: Case, argument: str) -> Iterator[Candidate]:
    """A switch takes no value."""
    argv = case.argv()
    places = [at for at, word in enumerate(argv) if word.text == argument and argv[at - 1].text.startswith("--")]
    if len(places) != 1:
        raise NoEdit(f"`{argument}` does not stand behind exactly one switch")
    edits = dropped(case, argv[places[0] : places[0] + 1])
    does = f"Takes `{argument}` out, which `{argv[places[0] - 1].text}` does not take"
    yield Candidate(edits, does, Meant(frozenset(FIELDS), words=frozenset({argument})))


def _written(case: Case, old: str, new: str, does: str) -> Iterator[Candidate]:
    """A value put in the place of another, wherever it is written."""
    for word in [word for word in case.argv() if word.text == old or word.text.endswith(f"={old}")]:
        for path, line in case.lines_of(word):
            for was, now in ((old, new), (_escaped(old), _escaped(new))):
                try:
                    edit = case.token(path, line, was, now)
                except NoEdit:
                    continue
                yield Candidate((edit,), does, _meant(case, word, old, new))
                return
    raise NoEdit(f"`{old}` is not written where it can be put right alone")


def _escaped(text: str) -> str:
    """A value as it stands in double quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _meant(case: Case, word: Word, old: str, new: str) -> Meant:
    carriers = {name for name, value in case.environment().items() if old in value}
    flags = {word.text, f"{word.text.removesuffix(old)}{new}"}
    return Meant(frozenset(FIELDS), frozenset(carriers), frozenset(), frozenset({old, new, *flags}))
