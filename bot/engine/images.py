"""From an image reference to the engine release that it means.

Only names under which vLLM's own project publishes tell a release by their tag. Anything else is what the
repository declares it to be, or has no known release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from packaging.version import InvalidVersion, Version

from bot.engine.model import Pin
from bot.provenance import Position, Reason

UPSTREAM: Final = frozenset(
    {"vllm/vllm-openai", "vllm/vllm-openai-rocm", "vllm/vllm-openai-cpu", "vllm/vllm-openai-xpu"}
)
"""Repositories of Docker Hub in which the vLLM project publishes its server."""

MIRRORED: Final = {
    "public.ecr.aws/q9t5s3a7/vllm-release-repo": "vllm/vllm-openai",
    "public.ecr.aws/q9t5s3a7/vllm-cpu-release-repo": "vllm/vllm-openai-cpu",
    "public.ecr.aws/q9t5s3a7/vllm-arm64-cpu-release-repo": "vllm/vllm-openai-cpu",
    "public.ecr.aws/q9t5s3a7/vllm-ci-postmerge-repo": "",
    "public.ecr.aws/q9t5s3a7/vllm-ci-test-repo": "",
}
"""The project's own places outside of Docker Hub, and the repository that each stands for ("": builds of commits)."""

HUB: Final = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"})
MAX_REFERENCE = 1024
"""Characters of a reference that is read; a registry takes far fewer."""

_RELEASE = re.compile(
    r"v?(\d+\.\d+\.\d+(?:\.(?:post)?\d+|\.?post\d+)?(?:\.?(?:a|b|rc|dev)\d+)?)(?P<flavour>(?:-[a-z0-9_.]+)*)"
)
_FLAVOUR = re.compile(r"cu\d{2,3}|x86_64|aarch64|arm64|amd64|ubuntu\d{4}|rocm[\d.]*|xpu|openai|cuda-?[\d.]*")
_FLOATING = re.compile(r"latest(?:[-_].*)?|(?:[a-z]+\d*-)?nightly(?:[-_].*)?|main|stable|edge|dev|x86_64|aarch64")
_NIGHTLY_COMMIT = re.compile(r"(?:[a-z]+\d*-)?nightly-([0-9a-f]{7,64})(?:[-_].*)?")
_COMMIT = re.compile(r"([0-9a-f]{7,64})(?:[-_].*)?")
_UNFINISHED = ("-", "_", ".")
"""How a tag ends that should have been finished by a variable: nobody publishes under it."""


class Declaration(Protocol):
    """What a repository declares an image to be."""

    @property
    def release(self) -> str | None:
        """The vLLM release, None when the declaration names none."""

    @property
    def contains(self) -> tuple[str, ...]:
        """Upstream references that the image has."""

    @property
    def adds(self) -> tuple[str, ...]:
        """Other additions."""

    @property
    def position(self) -> Position:
        """Where it is declared."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An image reference in parts; `name` has the registry where it is not Docker Hub. Empty parts are absent."""

    name: str
    tag: str
    digest: str


def pin(image: str, declared: Mapping[str, Declaration] | None = None) -> Pin:
    """The pin that an image reference is. A declaration of it, with or without its digest, comes first."""
    found = _declaration(image, declared or {})
    return _pin(image) if found is None else _as_declared(image, found)


def parse_reference(image: str) -> Reference:
    """The parts of a reference. A registry's port is no tag; Docker Hub is left out of the name."""
    body, _, digest = image.strip().partition("@")
    head, slash, last = body.rpartition("/")
    last, _, tag = last.partition(":")
    name = f"{head}{slash}{last}".lower()
    registry, slash, rest = name.partition("/")
    if slash and registry in HUB:
        name = rest
    return Reference(name.removeprefix("library/"), tag, digest)


def is_upstream(image: str) -> bool:
    """Whether the vLLM project itself publishes under this name."""
    name = parse_reference(image).name
    return name in UPSTREAM or name in MIRRORED


def same_image(one: str, other: str) -> bool:
    """Whether two references are the same image: by the digest where both have one, else by name and tag."""
    left, right = parse_reference(one), parse_reference(other)
    if left.digest and right.digest:
        return (left.name, left.digest) == (right.name, right.digest)
    if (left.digest or right.digest) and not (left.tag and right.tag):
        return False
    return (left.name, left.tag or "latest") == (right.name, right.tag or "latest")


def _declaration(image: str, declared: Mapping[str, Declaration]) -> Declaration | None:
    for reference in (image, image.partition("@")[0]):
        if reference in declared:
            return declared[reference]
    return None


def _as_declared(image: str, found: Declaration) -> Pin:
    """The release and the additions of a declaration; without a release the tag still tells one."""
    read = _pin(image)
    release = found.release or read.release
    where = found.position
    changed = bool(found.contains or found.adds)
    return Pin(
        image=image,
        release=release,
        why="" if release else "the declaration of the image names no release",
        stock=False if changed else read.stock,
        contains=tuple(found.contains),
        adds=tuple(found.adds),
        because=(Reason("catalog", where.path, where.line, f"the repository declares what {image} is"),),
    )


@lru_cache(maxsize=4096)
def _pin(image: str) -> Pin:
    if len(image) > MAX_REFERENCE or not image.strip():
        return Pin(image, None, "not an image reference")
    if "$" in image:
        return Pin(image, None, "the reference holds a variable that is not known")
    reference = parse_reference(image)
    if not is_upstream(image):
        return Pin(image, None, f"not an image of the vLLM project: {reference.name}")
    return _upstream(image, reference)


def _upstream(image: str, reference: Reference) -> Pin:
    tag = reference.tag
    if not tag:
        why = "a digest" if reference.digest else "no tag, which means latest"
        return Pin(image, None, why, stock=True, floating=not reference.digest)
    if reference.name == "vllm/vllm-openai-rocm" and tag.endswith("-base"):
        return Pin(image, None, f"{tag} is the image that vLLM is built on, without vLLM", stock=None)
    release, flavour_known = _release(tag)
    if release is not None and flavour_known:
        text = f"the tag {tag} of {reference.name} names release {release}"
        notes = [Reason("assumption", "", None, text)]
        if reference.digest:
            notes.append(Reason("assumption", "", None, "the digest, which wins over the tag, is that of the tag"))
        return Pin(image, release, stock=True, because=tuple(notes))
    if release is not None:
        return Pin(image, None, f"the tag {tag} is a variant of {release} that is not known", stock=None)
    nightly = _NIGHTLY_COMMIT.fullmatch(tag)
    if nightly:
        return Pin(image, None, f"a nightly build of commit {nightly.group(1)[:12]}", stock=True)
    if _FLOATING.fullmatch(tag):
        kind = "a nightly build" if "nightly" in tag else "a floating tag"
        return Pin(
            image, None, f"{kind}: {tag}", stock=True, floating=not (reference.digest or tag.endswith(_UNFINISHED))
        )
    commit = _COMMIT.fullmatch(tag)
    if commit:
        return Pin(image, None, f"a build of commit {commit.group(1)[:12]}", stock=True)
    return Pin(image, None, f"the tag {tag} names no release", stock=None)


def _release(tag: str) -> tuple[str | None, bool]:
    """The release in a tag, in normal form, and whether all that follows it is known not to change the engine."""
    found = _RELEASE.fullmatch(tag)
    if found is None:
        return None, False
    try:
        version = str(Version(found.group(1)))
    except InvalidVersion:
        return None, False
    words = [word for word in found.group("flavour").split("-") if word]
    return version, all(_FLAVOUR.fullmatch(word) for word in words)
