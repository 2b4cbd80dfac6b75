"""`rules/probes.yml`: the content probes, read once and checked."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bot.references import normalise
from bot.rules import RULES
from bot.upstream.probes import Check, ContentProbe, Form

FILE = "probes.yml"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CHECK = {field.name for field in fields(Check)}
_WORDS: Mapping[Any, bool | None] = {True: True, False: False, "unknown": None}


class BadProbe(Exception):
    """A probe that cannot be used; the message names it."""


@cache
def load_probes(folder: Path = RULES) -> Mapping[str, ContentProbe]:
    """Every probe, by its reference in normal form. Raises `BadProbe`."""
    try:
        data = yaml.load((folder / FILE).read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - a safe loader
    except (OSError, yaml.YAMLError) as error:
        raise BadProbe(f"{FILE}: cannot be read: {error}") from error
    return read_probes(data)


def read_probes(data: Any) -> Mapping[str, ContentProbe]:
    """Probes from their parsed form. Raises `BadProbe`."""
    found: dict[str, ContentProbe] = {}
    for key, entry in _mapping(data, FILE).items():
        reference = normalise(str(key))
        if reference is None or reference in found:
            raise BadProbe(f"{key}: {'twice' if reference else 'not a reference'}")
        found[reference] = _probe(reference, entry)
    return found


def _probe(reference: str, data: Any, *, beside: bool = False) -> ContentProbe:
    entry = _only(data, {"title", "forms"} | (set() if beside else {"beside"}), reference)
    title, forms = entry.get("title"), entry.get("forms")
    if not isinstance(title, str) or not isinstance(forms, list) or not forms:
        raise BadProbe(f"{reference}: a probe has a title and a list of forms")
    return ContentProbe(
        reference,
        title,
        tuple(_form(item, f"{reference}, form {number}") for number, item in enumerate(forms, 1)),
        tuple(_probe(reference, item, beside=True) for item in entry.get("beside", ())),
    )


def _form(data: Any, where: str) -> Form:
    entry = _only(data, {"holds", "because", "checks"}, where)
    if not isinstance(entry.get("holds"), bool | str) or entry["holds"] not in _WORDS:
        raise BadProbe(f"{where}: `holds` is true, false or unknown")
    if not isinstance(entry.get("because"), str) or not isinstance(entry.get("checks"), list) or not entry["checks"]:
        raise BadProbe(f"{where}: a form has a reason (`because`) and a list of checks")
    return Form(_WORDS[entry["holds"]], entry["because"], tuple(_check(item, where) for item in entry["checks"]))


def _check(data: Any, where: str) -> Check:
    entry = dict(_only(data, _CHECK | {"in"}, where))
    entry["within"] = entry.pop("in", None)
    given: dict[str, Any] = {}
    for key, value in entry.items():
        if key in ("read", "absent"):
            if not isinstance(value, bool):
                raise BadProbe(f"{where}: `{key}` is true or false")
            given[key] = value
        elif key in ("calls_of", "under"):
            given[key] = _one(value, where, key)
        else:
            given[key] = _texts(value, where, key)
    if not given.get("within"):
        raise BadProbe(f"{where}: a check says where, with `in`")
    check = Check(**given)
    for snippet in (*check.has, *check.lacks, *((check.under,) if check.under else ())):
        try:
            if not ast.parse(snippet).body:
                raise BadProbe(f"{where}: an empty snippet")
        except SyntaxError as error:
            raise BadProbe(f"{where}: {snippet!r} is not Python") from error
    return check


def _texts(value: Any, where: str, key: str) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(_one(item, where, key) for item in values)


def _one(value: Any, where: str, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise BadProbe(f"{where}: `{key}` is a text")
    return value


def _only(data: Any, known: set[str], where: str) -> Mapping[str, Any]:
    entry = _mapping(data, where)
    if unknown := sorted(str(key) for key in entry if key not in known):
        raise BadProbe(f"{where}: unknown key {unknown[0]!r}")
    return entry


def _mapping(data: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise BadProbe(f"{where}: not a mapping")
    return data
