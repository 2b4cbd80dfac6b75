"""Links of `bot explain` to the source that gave a reason, where releases have to be asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli.explain import explain_command
from bot.engine.facts import releases

COMPOSE = """
services:
  engine:
    image: {image}
    command: ["Qwen/Qwen3-8B"]
"""


def explained(folder: Path, image: str, name: str) -> str:
    (folder / "compose.yml").write_text(COMPOSE.format(image=image), encoding="utf-8")
    arguments = ["compose.yml:engine", name, "--repo", str(folder)]
    return CliRunner().invoke(explain_command, arguments, catch_exceptions=False).output


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("vllm/vllm-openai:v0.25.1", "0.25.1"),
        ("vllm/vllm-openai:latest", releases()[-1]),
        ("vllm/vllm-openai:v0.99.0", releases()[-1]),
    ],
)
def test_a_default_links_to_the_release_that_said_it(tmp_path: Path, image: str, release: str) -> None:
    output = explained(tmp_path, image, "tensor_parallel_size")
    assert f"/blob/v{release}/vllm/config/parallel.py#L" in output


def test_what_releases_disagree_on_has_no_link(tmp_path: Path) -> None:
    assert "/blob/" not in explained(tmp_path, "vllm/vllm-openai:latest", "async_scheduling")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("prefix_caching", "vllm/engine/arg_utils.py"),
        ("cudagraph_mode", "vllm/config/vllm.py"),
        ("cudagraph_mode_effective", "vllm/config/compilation.py"),
        ("spec_decode.method", "vllm/config/vllm.py"),
        ("async_scheduling", "vllm/config/vllm.py"),
        ("enforce_eager", "vllm/config/model.py"),
    ],
)
def test_a_default_goes_down_to_a_line_of_the_source(tmp_path: Path, name: str, file: str) -> None:
    assert f"/blob/v0.25.1/{file}#L" in explained(tmp_path, "vllm/vllm-openai:v0.25.1", name)
