"""How an image starts the server."""

from __future__ import annotations

import pytest

from bot.engine import image_entrypoint

SERVE = ("vllm", "serve")
MODULE = ("python3", "-m", "vllm.entrypoints.openai.api_server")


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("vllm/vllm-openai:v0.33.0", SERVE),
        ("vllm/vllm-openai:v0.11.1", SERVE),
        ("vllm/vllm-openai:v0.11.0", MODULE),
        ("vllm/vllm-openai:v0.9.2", MODULE),
        ("vllm/vllm-openai:v0.15.1", SERVE),
        ("vllm/vllm-openai:v99.0.0", SERVE),
        ("vllm/vllm-openai:latest", SERVE),
        ("vllm/vllm-openai:cu130-nightly", SERVE),
        ("ghcr.io/x/vllm-openai:copy", SERVE),
        ("ghcr.io/x/y:v0.33.0", None),
        ("", None),
    ],
)
def test_an_images_entrypoint(image: str, expected: tuple[str, ...] | None) -> None:
    assert image_entrypoint(image) == expected
