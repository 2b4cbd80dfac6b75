"""From image references to pins."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from bot.engine.images import parse_reference, pin
from bot.provenance import Position

DIGEST = "sha256:" + "a" * 64


@dataclass(frozen=True)
class Declared:
    """What a repository declares an image to be."""

    release: str | None
    contains: tuple[str, ...]
    adds: tuple[str, ...]
    position: Position


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("vllm/vllm-openai:v0.25.1", "0.25.1"),
        ("vllm/vllm-openai:0.25.1", "0.25.1"),
        ("docker.io/vllm/vllm-openai:v0.25.1", "0.25.1"),
        ("index.docker.io/vllm/vllm-openai:v0.25.1", "0.25.1"),
        ("vllm/vllm-openai:v0.25.1-cu129", "0.25.1"),
        ("vllm/vllm-openai:v0.27.1-ubuntu2404", "0.27.1"),
        ("vllm/vllm-openai:v0.25.1-x86_64", "0.25.1"),
        ("vllm/vllm-openai:v0.25.1-aarch64", "0.25.1"),
        ("vllm/vllm-openai:v0.25.1-x86_64-cu129", "0.25.1"),
        ("vllm/vllm-openai:v0.33.0-cu129-ubuntu2404", "0.33.0"),
        ("vllm/vllm-openai-xpu:v0.33.0-x86_64", "0.33.0"),
        ("vllm/vllm-openai-cpu:v0.33.0-arm64", "0.33.0"),
        ("public.ecr.aws/q9t5s3a7/vllm-arm64-cpu-release-repo:v0.33.0", "0.33.0"),
        ("vllm/vllm-openai:v0.10.1.1", "0.10.1.1"),
        ("vllm/vllm-openai:v0.28.0rc1", "0.28.0rc1"),
        ("vllm/vllm-openai-rocm:v0.25.1", "0.25.1"),
        (f"vllm/vllm-openai:v0.25.1@{DIGEST}", "0.25.1"),
        ("public.ecr.aws/q9t5s3a7/vllm-release-repo:v0.25.1", "0.25.1"),
    ],
)
def test_upstream_tags_name_their_release(image: str, release: str) -> None:
    found = pin(image)
    assert (found.image, found.release, found.stock, found.why) == (image, release, True, "")
    assert found.because


@pytest.mark.parametrize(
    ("image", "why", "stock"),
    [
        ("vllm/vllm-openai:latest", "a floating tag", True),
        ("vllm/vllm-openai", "no tag", True),
        ("vllm/vllm-openai:nightly", "a nightly build", True),
        ("vllm/vllm-openai:latest-x86_64-cu129", "a floating tag", True),
        ("vllm/vllm-openai:x86_64", "a floating tag", True),
        ("vllm/vllm-openai:nightly-aarch64", "a nightly build: nightly-aarch64", True),
        ("vllm/vllm-openai:cu130-nightly", "a nightly build: cu130-nightly", True),
        ("vllm/vllm-openai:cu130-nightly-x86_64", "a nightly build: cu130-nightly-x86_64", True),
        (
            "vllm/vllm-openai:cu129-nightly-bb80f69bc98cbf062bf030cb11185f7ba526e28a",
            "a nightly build of commit bb80f69bc98c",
            True,
        ),
        (
            "vllm/vllm-openai:nightly-bb80f69bc98cbf062bf030cb11185f7ba526e28a",
            "a nightly build of commit bb80f69bc98c",
            True,
        ),
        (
            "public.ecr.aws/q9t5s3a7/vllm-release-repo:bb80f69bc98cbf062bf030cb11185f7ba526e28a-x86_64-cu129",
            "a build of commit bb80f69bc98c",
            True,
        ),
        ("vllm/vllm-openai-rocm:v0.33.0-base", "without vLLM", None),
        ("vllm/vllm-openai-rocm:latest-base", "without vLLM", None),
        ("vllm/vllm-openai:v0.33.0-base", "a variant of 0.33.0", None),
        (
            "public.ecr.aws/q9t5s3a7/vllm-ci-postmerge-repo:bb80f69bc98cbf062bf030cb11185f7ba526e28a",
            "a build of commit",
            True,
        ),
        (f"vllm/vllm-openai@{DIGEST}", "a digest", True),
        ("vllm/vllm-openai:deepgemm", "names no release", None),
        ("vllm/vllm-openai:v0.25.1-patched", "a variant of 0.25.1", None),
        ("rocm/vllm:latest", "not an image of the vLLM project", None),
        ("rocm/vllm:rocm7.0_vllm_0.25.1", "not an image of the vLLM project", None),
        ("ghcr.io/x/vllm:v0.25.1", "not an image of the vLLM project", None),
        ("localhost:5000/vllm/vllm-openai:v0.25.1", "not an image of the vLLM project", None),
        ("nvcr.io/nvidia/vllm:25.10-py3", "not an image of the vLLM project", None),
        ("vllm-openai:deepgemm", "not an image of the vLLM project", None),
        ("vllm/vllm-openai:${TAG}", "a variable", None),
        ("", "not an image reference", None),
        ("x" * 2000, "not an image reference", None),
    ],
)
def test_other_references_have_no_release(image: str, why: str, stock: bool | None) -> None:
    found = pin(image)
    assert found.release is None
    assert why in found.why
    assert found.stock is stock


def declaration(release: str | None, contains: tuple[str, ...] = (), adds: tuple[str, ...] = ()) -> Declared:
    return Declared(release, contains, adds, Position(".github/seamguard.yml", 4))


def test_a_declaration_says_what_an_image_is() -> None:
    image = f"ghcr.io/x/y@{DIGEST}"
    found = pin(image, {image: declaration("0.25.1", ("vllm-project/vllm#46324",), ("nvfp4-kv-route",))})
    assert (found.release, found.stock) == ("0.25.1", False)
    assert found.contains == ("vllm-project/vllm#46324",)
    assert found.adds == ("nvfp4-kv-route",)
    assert (found.because[0].kind, found.because[0].path, found.because[0].line) == (
        "catalog",
        ".github/seamguard.yml",
        4,
    )


def test_a_declaration_without_the_digest_holds_for_the_reference_with_it() -> None:
    declared = {"ghcr.io/x/y:1": declaration("0.28.0")}
    assert pin(f"ghcr.io/x/y:1@{DIGEST}", declared).release == "0.28.0"
    assert pin("ghcr.io/x/y:2", declared).release is None


def test_a_declaration_comes_before_the_tag_and_keeps_it_when_silent() -> None:
    image = "vllm/vllm-openai:v0.25.1"
    assert pin(image, {image: declaration("0.27.1")}).release == "0.27.1"
    silent = pin(image, {image: declaration(None, adds=("route",))})
    assert (silent.release, silent.stock) == ("0.25.1", False)


@pytest.mark.parametrize(
    ("image", "parts"),
    [
        ("a/b:c", ("a/b", "c", "")),
        ("host:5000/a/b", ("host:5000/a/b", "", "")),
        ("host:5000/a/b:c@sha256:0", ("host:5000/a/b", "c", "sha256:0")),
        ("library/redis:7", ("redis", "7", "")),
        ("docker.io/library/redis", ("redis", "", "")),
    ],
)
def test_references_in_parts(image: str, parts: tuple[str, str, str]) -> None:
    found = parse_reference(image)
    assert (found.name, found.tag, found.digest) == parts
