"""What a repository says about itself, as far as resolution and rules need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.provenance import Position, Reason


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """A model as the repository describes it. Layer counts are None when the profile does not state them.

    `weights` are the path fragments under which composes name the model (`qwen3.6-27b-nvfp4`), longest first.
    """

    id: str
    family: str | None
    recurrent: str | None
    moe: bool | None
    architecture: str | None
    weights: tuple[str, ...]
    because: Mapping[str, tuple[Reason, ...]]
    position: Position


@dataclass(frozen=True, slots=True)
class EngineProfile:
    """An engine as the repository describes it; `image` is its pin (`install.spec`)."""

    id: str
    image: str | None
    position: Position


@dataclass(frozen=True, slots=True)
class HardwareProfile:
    """A card; `sm` is its compute capability times ten (12.0 is 120)."""

    id: str
    sm: int | None
    position: Position


@dataclass(frozen=True, slots=True)
class Attribution:
    """One row of `load_bearing_when`: the composes (slugs or paths) that need the patch."""

    composes: tuple[str, ...]
    reason: str
    position: Position


@dataclass(frozen=True, slots=True)
class Patch:
    """An entry of `patches.yml`. `upstream` are normal references (`vllm-project/vllm#48375`) that it stands for."""

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


@dataclass(frozen=True, slots=True)
class Header:
    """What the leading comments of a compose declare (`# Engine-profile: vllm-stable`), key in lower case."""

    values: Mapping[str, tuple[str, Position]]
    comments: tuple[tuple[int, str], ...] = ()

    def get(self, key: str) -> str | None:
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
class Problem:
    """A catalog file that could not be read or does not say what it should."""

    message: str
    position: Position


@dataclass(frozen=True, slots=True)
class Configuration:
    """`.github/seamguard.yml`. `composes` are globs; empty means "every file that looks like a compose"."""

    composes: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    images: Mapping[str, ImageDeclaration] = field(default_factory=dict)
    seams: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything above, for one state of a repository."""

    configuration: Configuration
    models: tuple[ModelProfile, ...]
    engines: Mapping[str, EngineProfile]
    hardware: Mapping[str, HardwareProfile]
    patches: tuple[Patch, ...]
    slugs: Mapping[str, tuple[str, ...]]
    problems: tuple[Problem, ...] = ()
