"""Every pin of a repository: the images that its composes run by default, and those of its engine profiles."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.catalog import Catalog
from bot.engine.images import pin
from bot.provenance import Position
from bot.upstream.pins import pinned_at, version_of

_EXACT = re.compile(r"vllm==\s*([\w.+!-]{1,64})")


@dataclass(frozen=True, slots=True)
class Use:
    """That a service (or an engine profile) runs an image."""

    image: str
    name: str
    position: Position


@dataclass(frozen=True, slots=True)
class RepositoryPin:
    """An image, what it means, and who uses it.

    `release` is in normal form (`0.25.1`), `commit` that of a nightly; with neither, `why` says why not. `contains`
    are the references that the repository declares the image to have.
    """

    image: str
    release: str | None
    commit: str | None
    why: str
    contains: tuple[str, ...]
    uses: tuple[Use, ...]

    @property
    def asked(self) -> str:
        """What facts about this pin are looked for under: its release as a tag, its commit, or the image."""
        if self.release is not None:
            return f"v{self.release}"
        return self.commit or self.image

    @property
    def source(self) -> str | None:
        """The release or the commit whose source it is; None where that is not known."""
        return self.release or self.commit


def pins_of(catalog: Catalog, services: Iterable[Use]) -> tuple[RepositoryPin, ...]:
    """The pins of vLLM: those of `services`, which are known to run it, and those of the engine profiles."""
    uses: dict[str, list[Use]] = {}
    for use in (*services, *_profiles(catalog)):
        uses.setdefault(use.image, []).append(use)
    return tuple(pin_of(catalog, image, tuple(found)) for image, found in sorted(uses.items()))


def _profiles(catalog: Catalog) -> Iterable[Use]:
    for profile in catalog.engines.values():
        if profile.image and runs_vllm(catalog, profile.image):
            yield Use(profile.image, profile.id, profile.position)


def runs_vllm(catalog: Catalog, image: str) -> bool:
    """Whether an image is one of vLLM, as far as its name or the configuration tells."""
    return "vllm" in image.lower() or image in catalog.configuration.images


def pin_of(catalog: Catalog, image: str, uses: tuple[Use, ...] = ()) -> RepositoryPin:
    """What an image means in a repository."""
    if not image.strip():
        return RepositoryPin(image, None, None, "built here, from what nobody knows the release of", (), uses)
    if image.startswith("vllm") and (exact := _EXACT.fullmatch(image.strip())):
        version = version_of(exact[1])
        if version is not None:
            return RepositoryPin(image, str(version), None, "", (), uses)
    if re.match(r"vllm\s*[<>=!~]", image):
        return RepositoryPin(image, None, None, "a range of releases, not one", (), uses)
    found = pin(image, catalog.configuration.images)
    at = pinned_at(image) if found.release is None else None
    commit = at.value if at is not None and at.kind == "commit" else None
    return RepositoryPin(image, found.release, commit, found.why, found.contains, uses)
