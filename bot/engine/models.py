"""What a model is, from its architecture's name or from the name under which the server loads it.

The table is `rules/models.yml`. It is asked only where the repository itself says nothing: a name can mislead (a
finetune hides what it was made from), so an answer that rests on a name is `assumed`, and most names have no answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import yaml
from packaging.version import Version

from bot.engine.model import Model
from bot.provenance import Reason
from bot.rules import RULES

TABLE = "models.yml"
MAX_NAME = 512
"""Characters of a model's name that are looked at; a longer one names nothing known."""

_HUB_CACHE = re.compile(r"models--(?:[^/]+?)--([^/]+)")
_PLACE = re.compile(r"[0-9a-f]{12,64}|main|master|latest|snapshots|weights|model|models")

_WORD_ENDS = re.compile(r"[-.+:@ ]")


@dataclass(frozen=True, slots=True)
class Traits:
    """What an architecture decides in the engine. None is "not known" for each field.

    `hybrid` is true where recurrent layers stand beside attention. `recurrent` is their kind, "none" without any.
    `mtp` says whether the engine can draft with the checkpoint's own prediction layers, `mtp_since` from which release
    on (None: from the oldest), `mamba_all` whether the class supports the mamba cache mode "all". `attention` is
    "standard", "mla", "chunked" or "other".
    `kind` is "generate", "pooling", "encoder-decoder", "diffusion" or "attention-free".
    """

    hybrid: bool | None = None
    recurrent: str | None = None
    moe: bool | None = None
    attention: str | None = None
    mtp: bool | None = None
    mtp_since: str | None = None
    mamba_all: bool | None = None
    kind: str | None = None


@cache
def drafts_itself(architecture: str | None, release: str) -> bool | None:
    """Whether the release can draft with the prediction layers of the architecture's checkpoints; None if unknown.

    `release` is empty where that is not known.
    """
    known = traits(architecture)
    early = bool(release) and known.mtp_since is not None and Version(release) < Version(known.mtp_since)
    return False if early else known.mtp


UNKNOWN_TRAITS = Traits()


@dataclass(frozen=True, slots=True)
class _Name:
    pattern: re.Pattern[str]
    architecture: str | None
    stated: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Table:
    architectures: Mapping[str, Traits]
    names: tuple[_Name, ...]
    drafters: tuple[tuple[re.Pattern[str], str], ...]
    not_the_model: frozenset[str]
    pooling: frozenset[str]


def traits(architecture: str | None) -> Traits:
    """What the architecture decides; all None for one that the table does not have."""
    if architecture is None:
        return UNKNOWN_TRAITS
    return _table().architectures.get(architecture, UNKNOWN_TRAITS)


def model_from_argv(name: str | None) -> Model:
    """The model that the server's `--model` names, by its name alone. Empty when the name says nothing sure."""
    found = _match(name)
    if name is None or found is None:
        return Model()
    known = traits(found.architecture)
    recurrent = found.stated.get("recurrent", known.recurrent)
    moe = found.stated.get("moe", known.moe)
    because = (Reason("assumption", "", None, f"the name {last_part(name)!r} stands for {_meaning(found)}"),)
    values = {"recurrent": recurrent, "moe": moe, "architecture": found.architecture}
    return Model(
        recurrent=recurrent,
        moe=moe,
        architecture=found.architecture,
        hybrid=recurrent in ("gdn", "mamba") and known.kind != "attention-free" if recurrent else known.hybrid,
        certainty="assumed",
        because={key: because for key, value in values.items() if value is not None},
    )


FIELDS: Final = ("recurrent", "moe", "architecture")
"""The fields of a model that its name may say."""


def sure(model: Model) -> Model:
    """What is known of a model without what is only assumed of it."""
    if not model.assumed:
        return model
    kept = {name: value for name, value in model.because.items() if name not in model.assumed}
    lost: dict[str, Any] = dict.fromkeys(model.assumed & {*FIELDS, "hybrid"})
    return replace(model, **lost, because=kept, assumed=frozenset())


def filled(model: Model, name: str | None) -> Model:
    """The model with what nothing states of it taken from its architecture, then from its name; all of it `assumed`.

    A name that contradicts what is stated says nothing: it stands for another model.
    """
    stated = _said(model)
    if len(stated) == len(FIELDS) + 1:
        return model
    named = model_from_argv(name)
    told = _said(named)
    if any(told.get(field, value) != value for field, value in stated.items()) or not _alike(model, named):
        told, named = {}, Model()
    known = traits(model.architecture)
    own = {
        field: getattr(known, field) for field in ("recurrent", "moe", "hybrid") if getattr(known, field) is not None
    }
    added = {field: value for field, value in {**told, **own}.items() if field not in stated}
    why = model.because.get("architecture", ())
    reasons = {field: why if field in own else named.because.get(field, ()) for field in added}
    because = {**{field: found for field, found in reasons.items() if found}, **model.because}
    return replace(model, **added, because=because, certainty="assumed", assumed=frozenset())


def _said(model: Model) -> dict[str, Any]:
    """The fields that are known."""
    return {field: getattr(model, field) for field in (*FIELDS, "hybrid") if getattr(model, field) is not None}


def _alike(model: Model, named: Model) -> bool:
    """Whether both are hybrids or neither is, as far as is known."""
    one, other = _is_hybrid(model), _is_hybrid(named)
    return one is None or other is None or one == other


def _is_hybrid(model: Model) -> bool | None:
    if model.hybrid is not None:
        return model.hybrid
    return None if model.recurrent is None else model.recurrent != "none"


def drafter_kind(name: str) -> str | None:
    """The speculative method that a drafter's name stands for: "mtp" or "draft_model"; None for an unknown name."""
    part = last_part(name) if len(name) <= MAX_NAME else ""
    for pattern, kind in _table().drafters:
        if pattern.match(part):
            return kind
    model = model_from_argv(name)
    drafts_itself = traits(model.architecture).mtp
    if model.architecture is None or drafts_itself is None:
        return None
    return "mtp" if drafts_itself else "draft_model"


def last_part(name: str) -> str:
    """The part of a name or path that names the model, in lower case with dashes."""
    cached = _HUB_CACHE.search(name)
    if cached:
        return cached.group(1).lower().replace("_", "-")
    parts = [part.lower().replace("_", "-") for part in name.rstrip("/").split("/")]
    while len(parts) > 1 and _PLACE.fullmatch(parts[-1]):
        parts.pop()
    return parts[-1]


@cache
def named_for_pooling(name: str) -> bool:
    """Whether a name says that the checkpoint embeds, ranks or classifies."""
    return len(name) <= MAX_NAME and not _table().pooling.isdisjoint(_WORD_ENDS.split(last_part(name)))


@cache
def _match(name: str | None) -> _Name | None:
    if not name or len(name) > MAX_NAME:
        return None
    part = last_part(name)
    table = _table()
    if not table.not_the_model.isdisjoint(_WORD_ENDS.split(part)):
        return None
    return next((entry for entry in table.names if entry.pattern.match(part)), None)


def _meaning(entry: _Name) -> str:
    return entry.architecture or " ".join(f"{key}: {value}" for key, value in entry.stated.items())


@cache
def _table() -> _Table:
    data = yaml.load((RULES / TABLE).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return _Table(
        architectures={name: _traits(entry) for name, entry in data["architectures"].items()},
        names=tuple(
            _Name(
                re.compile(entry["match"]),
                entry.get("architecture"),
                {key: value for key, value in entry.items() if key not in ("match", "architecture")},
            )
            for entry in data["names"]
        ),
        drafters=tuple((re.compile(entry["match"]), entry["method"]) for entry in data["drafters"]),
        not_the_model=frozenset(data["not_the_model"]),
        pooling=frozenset(data["pooling"]),
    )


def _traits(entry: Mapping[str, Any]) -> Traits:
    kind = entry.get("kind", "generate")
    recurrent = entry.get("recurrent", "none")
    hybrid: bool | None = recurrent != "none" and kind != "attention-free"
    return Traits(
        hybrid=None if recurrent == "varies" else hybrid,
        recurrent=None if recurrent in ("varies", "other") else recurrent,
        moe=entry.get("moe", False),
        attention=entry.get("attention", "other"),
        mtp=entry.get("mtp", False),
        mtp_since=entry.get("mtp_since"),
        mamba_all=entry.get("mamba_all", False),
        kind=kind,
    )
