"""A patch that is run and not mounted is mounted beside what is."""

from __future__ import annotations

import pytest

from bot.remedies import Refusal
from tests.remedies.repositories import PATH, answers, edited, findings, offer

PATCHES = """\
patches:
  - id: fix
    files: [compose/p/pr48375/install.sh, compose/p/pr48375/a.diff]
    load_bearing_when: [{composes: [compose/engine.yml]}]
    delivery_mechanism: install_script
    delivery_spec: {script: compose/p/pr48375/install.sh, mounted_at: /etc/fix, invoke: bash /etc/fix/install.sh}
    upstream: {ref: 'vllm#48375'}
"""
COMPOSE = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    volumes:
      - ./cache:/root/.cache
      - "./p/other/x.txt:/etc/x.txt:ro"  # why
      # the end
    entrypoint: [bash, -c]
    command:
      - |
        bash /etc/fix/install.sh || exit 1
        exec vllm serve --model /models/llama
"""
FILES = {
    PATH: COMPOSE,
    "lib/patches.yml": PATCHES,
    "compose/p/pr48375/install.sh": "true\n",
    "compose/p/pr48375/a.diff": "",
    "compose/p/other/x.txt": "x",
}
SIBLING = '      - "./p/other/x.txt:/etc/x.txt:ro"  # why\n'
NEW = '      - "./p/pr48375:/etc/fix:ro"\n'


def test_the_line_stands_below_the_nearest_sibling_and_in_its_style() -> None:
    found = edited(FILES, "overlay-not-wired")
    assert found == {**FILES, PATH: COMPOSE.replace(SIBLING, SIBLING + NEW)}
    assert findings(found, "overlay-not-wired") == ()


def test_where_the_boot_would_go_on_the_edit_ends_it_too() -> None:
    bare = COMPOSE.replace(" || exit 1", "")
    found = offer({**FILES, PATH: bare}, "overlay-not-wired")
    assert found.files[0].after == COMPOSE.replace(SIBLING, SIBLING + NEW)
    assert found.does.startswith("Mounts `compose/p/pr48375` at `/etc/fix` ")
    assert "and ends the boot when" in found.does


OVERLAY = """\
patches:
  - id: fix
    files: [compose/p/vllm/a.py, compose/p/vllm/core/b.py]
    load_bearing_when: [{composes: [compose/engine.yml]}]
    delivery_mechanism: site_package_overlay
    upstream: {ref: 'vllm#48375'}
"""
PACKAGE = "/usr/local/lib/python3.12/dist-packages/vllm"
HALF = f"""\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    volumes:
      - ./p/vllm/a.py:{PACKAGE}/a.py:ro
    command: --model /models/llama
"""


def test_the_other_file_of_a_patch_goes_where_its_folder_is() -> None:
    files = {PATH: HALF, "lib/patches.yml": OVERLAY, "compose/p/vllm/a.py": "", "compose/p/vllm/core/b.py": ""}
    line = f"      - ./p/vllm/a.py:{PACKAGE}/a.py:ro\n"
    new = f"      - ./p/vllm/core/b.py:{PACKAGE}/core/b.py:ro\n"
    assert edited(files, "overlay-not-wired")[PATH] == HALF.replace(line, line + new)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda files: {**files, PATH: COMPOSE.replace(SIBLING, "").replace("./cache", "cache")}, "no other file"),
        (lambda files: {k: v for k, v in files.items() if "pr48375" not in k}, "is not there"),
        (lambda files: {**files, "lib/patches.yml": PATCHES.replace("mounted_at: /etc/fix, ", "")}, "still be there"),
    ],
)
def test_what_is_not_sure_is_not_mounted(change, why: str) -> None:  # type: ignore[no-untyped-def]
    (found,) = answers(change(FILES), "overlay-not-wired")
    assert isinstance(found, Refusal)
    assert why in found.why
