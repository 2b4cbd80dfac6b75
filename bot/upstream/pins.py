"""What a pin says of the release that it means: a version, a commit, or neither."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from packaging.version import InvalidVersion, Version

from bot.engine.images import pin

PinKind = Literal["release", "commit", "unknown"]

MAX_VERSION = 100
"""Characters of a version; a longer name is none."""

_COMMIT = re.compile(r"(?:[a-z0-9]+-)?(?:nightly-)?([0-9a-f]{7,64})(?:[-_].*)?")
_BUILT = re.compile(r"(?:vllm==)?v?\d+(?:\.\d+)+[\w.]*\.?dev\d+\+(?:[\w.]*\.)?g([0-9a-f]{7,40})(?:\.[\w.]+)?")
"""A build between releases: `0.27.1rc2.dev87+g01d4d1ad3` is that commit."""

_REQUIRED = re.compile(r"vllm\s*={2,3}\s*(v?\d[\w.+!-]{0,99})")
_PLAIN = re.compile(r"v?\d+(?:\.\d+)+[\w.+!-]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PinnedAt:
    """A pin: its release in normal form (`0.27.1`) or its commit; else `why` not."""

    kind: PinKind
    value: str
    why: str = ""


@lru_cache(maxsize=4096)
def pinned_at(text: str) -> PinnedAt:
    """What a tag (`v0.27.1`, `v0.27.1-cu129`, `nightly-<commit>`) or an image reference pins."""
    stripped = text.strip()
    if len(stripped) <= MAX_VERSION and (built := _BUILT.fullmatch(stripped)):
        return PinnedAt("commit", built[1])
    if required := _REQUIRED.fullmatch(stripped):
        stripped = required[1]
    if (version := version_of(stripped)) is not None:
        return PinnedAt("release", str(version))
    image = stripped if "/" in stripped or "@" in stripped or "$" in stripped else f"vllm/vllm-openai:{stripped}"
    found = pin(image)
    if found.release is not None:
        return PinnedAt("release", found.release)
    tag = image.partition("@")[0].rpartition(":")[2] if found.stock else ""
    if commit := _COMMIT.fullmatch(tag):
        return PinnedAt("commit", commit[1])
    return PinnedAt("unknown", stripped, found.why or "the pin names no release")


@lru_cache(maxsize=4096)
def version_of(name: str) -> Version | None:
    """The version that a tag or a release is; None for another name. A local part (`+cu129`) changes no source."""
    if len(name) > MAX_VERSION or not _PLAIN.fullmatch(name):
        return None
    try:
        version = Version(name)
    except InvalidVersion:
        return None
    return Version(version.public)


def is_final(version: Version) -> bool:
    """Whether a version is a release, or a post-release: no candidate, no development build."""
    return not version.is_prerelease
