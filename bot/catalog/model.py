"""What a repository says about itself, as far as resolution and rules need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Literal

from bot.claims import Claim
from bot.provenance import Position, Reason


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """A model as the repository describes it. Layer counts are None when the profile does not state them.

    `weights` are the path fragments under which composes name the model (`qwen3.6-27b-nvfp4`), longest first, and
    `repositories` the hub names (`nvidia/Qwen3.6-27B-NVFP4`). `assumed` names those of the fields that rest on the
    family's name alone; what the profile states otherwise is certain. `places` are where each of `weights` and
    `repositories` is stated.
    """

    id: str
    family: str | None
    recurrent: str | None
    moe: bool | None
    architecture: str | None
    weights: tuple[str, ...]
    because: Mapping[str, tuple[Reason, ...]]
    position: Position
    repositories: tuple[str, ...] = ()
    assumed: frozenset[str] = frozenset()
    places: Mapping[str, Position] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EngineProfile:
    """An engine as the repository describes it; `image` is its pin (`install.spec`), None when no image is used."""

    id: str
    image: str | None
    position: Position


@dataclass(frozen=True, slots=True)
class DrafterProfile:
    """A drafter as the repository describes it; `method` is its `spec_method`, as it is written."""

    id: str
    method: str
    position: Position


@dataclass(frozen=True, slots=True)
class HardwareProfile:
    """A card; `sm` is its compute capability times ten (12.0 is 120), `names` what people call it."""

    id: str
    sm: int | None
    position: Position
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribution:
    """One row of `load_bearing_when`: the composes (slugs or paths) that need the patch."""

    composes: tuple[str, ...]
    reason: str
    position: Position


@dataclass(frozen=True, slots=True)
class VerifiedOn:
    """The vLLM releases that a patch was verified on, as written: releases (`0.25.1`) or ranges (`>=0.25.0,<0.26.0`).

    `basis` is where that is stated: "entry" (`patches.yml`), "header" (the patch's own leading comments), or "name"
    (of its file or folder, which says for which release the patch was made).
    """

    releases: tuple[str, ...]
    basis: Literal["entry", "header", "name"]
    position: Position


FaultKind = Literal[
    "no-id",
    "not-an-entry",
    "wrong-type",
    "nameless-row",
    "second-id",
    "repeated-key",
    "cut-by-comment",
    "unknown-key",
    "misplaced-key",
    "unknown-value",
    "unread-release",
    "empty-range",
    "named-twice",
    "undelivered",
    "retired-named",
    "not-read",
]


@dataclass(frozen=True, slots=True)
class Fault:
    """What a list of patches says and can't mean, by its text alone. `about` tells two faults of a kind apart, wherever
    they stand. `patch` is the id of the entry, `part` the part of it, `key` the word that is wrong, `meant` what may be
    meant by it or belongs there, `also` where the same stands once more, or how often. `minor`: it may be meant as it
    is.
    """

    kind: FaultKind
    about: str
    position: Position
    patch: str = ""
    part: str = ""
    key: str = ""
    meant: str = ""
    also: str = ""
    minor: bool = False


@dataclass(frozen=True, slots=True)
class Patch:
    """An entry of `patches.yml`.

    `upstream` are normal references (`vllm-project/vllm#48375`) that it stands for. `files` are paths of the
    repository, files or folders; `script` is the one that is run, where the entry says so. `gaps` are composes that the
    entry itself says to lack the patch (`delivery_gaps`). `baked`: images that the repository builds have it. `places`
    are where each of the files and of the named composes is written. `guard`: the entry says that its patch is not to
    be vendored.
    """

    id: str
    files: tuple[str, ...]
    load_bearing_when: tuple[Attribution, ...]
    mechanism: str | None
    mounted_at: str | None
    invoke: str | None
    upstream: tuple[str, ...]
    status: str | None
    drop_when: str | None
    deprecated: bool
    position: Position
    script: str | None = None
    gaps: tuple[str, ...] = ()
    baked: bool = False
    verified: VerifiedOn | None = None
    places: Mapping[str, Position] = field(default_factory=dict, hash=False)
    guard: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """A sentence that forbids to vendor `reference`: everywhere, or in the compose where it stands (`own`); on every
    release, or only on `release`.
    """

    reference: str
    position: Position
    sentence: str
    release: str | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """What the leading comments of a compose declare (`# Engine-profile: vllm-stable`), key in lower case.

    `slug` is the repository's name for the compose, where the leading comments run exactly one.
    """

    values: Mapping[str, tuple[str, Position]]
    slug: str | None = None

    def get(self, key: str) -> str | None:
        """The value of a key, in any case; None when the header does not have it."""
        found = self.values.get(key.lower())
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class ImageDeclaration:
    """`images:` of the configuration: what an image is, in the repository's own word."""

    image: str
    release: str | None
    contains: tuple[str, ...]
    adds: tuple[str, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class SeamDeclaration:
    """`seams:` of the configuration: a variable that a launcher (`set_by`) sets by itself, and to which values."""

    values: tuple[str, ...]
    set_by: str | None
    position: Position


@dataclass(frozen=True, slots=True)
class HardwareDeclaration:
    """`hardware:` of the configuration: the cards that the composes of a glob are meant for, as they are written."""

    glob: str
    cards: tuple[str, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class Stated:
    """What a registry's entry states of its compose: a property's name (or `image`, or `engine`) and the value as it is
    written; None where it says that there is none. `table`: it is a row of a table for people, not an entry.
    """

    slug: str
    property: str
    value: str | None
    position: Position
    table: bool = False


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An entry of `accepted:` in the configuration: a risk that the repository takes, and why (`reason`).

    `where` is a glob of composes or a slug, either with `:service` behind it. `world` are host variables that somebody
    has to set to run the risk; without any it is taken in every world. `until` are the upstream fixes that end the
    acceptance, once the pin has all of them; without any it lasts. `ends_at` is where they are written.
    """

    rule: str
    where: str
    reason: str
    position: Position
    world: Mapping[str, str] = field(default_factory=dict)
    until: tuple[str, ...] = ()
    by: str | None = None
    ends_at: Position | None = None


@dataclass(frozen=True, slots=True)
class InheritOnly:
    """`policy: {vendoring: inherit-only}` of the configuration: no new vendored patches, fixes come with the pin.

    `fixes` are the upstream fixes that this is about; empty means all.
    """

    position: Position
    reason: str | None = None
    fixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """A catalog file that could not be read or does not say what it should."""

    message: str
    position: Position


@dataclass(frozen=True, slots=True)
class Configuration:
    """`.github/seamguard.yml`. `composes` are globs; empty means "every file that looks like a compose".

    `together` are the files that run together, in `-f` order. `profiles` are globs of the files that describe the
    repository (profiles, registry, `patches.yml`); empty means every YAML file. `patches` are globs of vendored patches
    whose names do not say so. `headers` gives the repository's own words for the keys of headers, all in lower case.

    `globs` are those of every key, each with its place. `unreadable` says that the file is there and says nothing: it
    is not YAML, or cannot be read (`problems` has the reason).
    """

    composes: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    images: Mapping[str, ImageDeclaration] = field(default_factory=dict)
    seams: Mapping[str, SeamDeclaration] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    hardware: tuple[HardwareDeclaration, ...] = ()
    globs: Mapping[str, Position] = field(default_factory=dict)
    unreadable: bool = False
    accepted: tuple[Acceptance, ...] = ()
    inherit_only: InheritOnly | None = None
    together: tuple[tuple[str, ...], ...] = ()
    profiles: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Catalog:
    """Everything above, for one state of a repository; compared by identity, or by `without_positions`.

    `slugs` maps each slug of the repository's registry to the composes that it names, `slug_engines` to the id of its
    engine profile. `problems` holds those of the configuration too. `claims` are what the notes of `patches.yml` say of
    composes that they name, `stated` what the entries of registries state of each compose. `faults` are those of lists
    of patches. `own_names` are the names in those lists that composes give themselves. `guards` forbid to vendor a fix.
    """

    configuration: Configuration
    models: tuple[ModelProfile, ...]
    engines: Mapping[str, EngineProfile]
    hardware: Mapping[str, HardwareProfile]
    patches: tuple[Patch, ...]
    slugs: Mapping[str, tuple[str, ...]]
    problems: tuple[Problem, ...] = ()
    slug_engines: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    stated: Mapping[str, tuple[Stated, ...]] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    own_names: frozenset[str] = frozenset()
    guards: tuple[Guard, ...] = ()
    drafters: Mapping[str, DrafterProfile] = field(default_factory=dict)

    def without_positions(self) -> object:
        """What the catalog says, wherever it says it: equal before and after a change that only moves lines."""
        return _unplaced(self)


def _unplaced(value: object) -> object:
    if isinstance(value, Position):
        return value.path
    if isinstance(value, Reason):
        return (value.kind, value.path, value.text)
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(_unplaced(getattr(value, part.name)) for part in fields(value))
    if isinstance(value, Mapping):
        return {key: _unplaced(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_unplaced(part) for part in value)
    return value
