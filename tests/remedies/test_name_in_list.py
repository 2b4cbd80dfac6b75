"""A compose that has a patch is named in the list of those that need it."""

from __future__ import annotations

import pytest

from bot.remedies import Offer, Refusal
from tests.remedies.repositories import PATH, answers, edited, findings, offer, refusal

LIST = "ops/patches.yml"
COMPOSE = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    volumes:
      - ../patches/eagle/install.sh:/etc/eagle/install.sh:ro
    entrypoint:
      - bash
      - -c
      - |
        bash /etc/eagle/install.sh || exit 1
        exec vllm serve "$$@"
      - --
    command: ["--model", "/models/llama"]
"""
OTHER = COMPOSE
ENTRY = """\
# the patches of this house
patches:
  - id: eagle
    files: [patches/eagle/install.sh]   # one file
    load_bearing_when:
{rows}    delivery_mechanism: install_script
"""

FORMS = {
    "a list": (
        "      - composes:\n          - compose/other.yml   # the first\n        reason: it hangs\n",
        "      - composes:\n          - compose/other.yml   # the first\n          - {name}\n"
        "        reason: it hangs\n",
    ),
    "a list at the level of its key": (
        "      - composes:\n        - compose/other.yml\n        reason: it hangs\n",
        "      - composes:\n        - compose/other.yml\n        - {name}\n        reason: it hangs\n",
    ),
    "a list on one line": (
        "      - {{composes: [compose/other.yml], reason: it hangs}}\n",
        "      - {{composes: [compose/other.yml, {name}], reason: it hangs}}\n",
    ),
    "one list among rows without": (
        "      - composes:\n        reason: none any more\n      - composes: [ compose/other.yml ]  # here\n",
        "      - composes:\n        reason: none any more\n      - composes: [ compose/other.yml, {name} ]  # here\n",
    ),
}


def _files(rows: str, end: str = "\n", **more: str) -> dict[str, str]:
    files = {
        PATH: COMPOSE,
        "compose/other.yml": OTHER,
        "patches/eagle/install.sh": "exit 0\n",
        LIST: ENTRY.format(rows=rows).replace("\n", end),
    }
    return {**files, **more}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_form_is_kept(form: str, end: str) -> None:
    before, after = (text.format(name=PATH) for text in FORMS[form])
    found = edited(_files(before, end), "overlay-missing-attribution")
    assert found == _files(after, end)
    assert findings(found, "overlay-missing-attribution") == ()


def test_the_slug_of_the_registry_is_the_name() -> None:
    rows, named = (text.format(name="engine/dual") for text in FORMS["a list"])
    registry = {"registry.yml": f"engine/dual: {{compose_path: {PATH}}}\n"}
    found = edited(_files(rows, **registry), "overlay-missing-attribution")
    assert found[LIST] == ENTRY.format(rows=named)


def test_the_patch_says_what_it_does() -> None:
    found = offer(_files(FORMS["a list"][0]), "overlay-missing-attribution")
    assert found.does == f"Names `{PATH}` in `load_bearing_when` of eagle"
    assert [file.path for file in found.files] == [LIST]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("      - composes: [compose/other.yml]\n      - composes: [compose/third.yml]\n", "has 2 lists"),
        ("      - composes:\n        reason: none any more\n", "has 0 lists"),
        ("      []\n", "has 0 lists"),
    ],
)
def test_which_list_is_meant_must_be_certain(rows: str, why: str) -> None:
    found = answers(_files(rows), "overlay-missing-attribution")
    assert found
    assert all(isinstance(one, Refusal) and why in one.why for one in found)


def test_what_an_anchor_shares_is_left_alone() -> None:
    rows = "      - composes: &names [compose/other.yml]\n"
    shared = (
        ENTRY.format(rows=rows) + "  - id: hare\n    load_bearing_when: [{composes: *names}]\n    deprecated_on: 2026\n"
    )
    assert "shared" in refusal(_files("", **{LIST: shared}), "overlay-missing-attribution")


def test_a_name_that_would_need_quotes_is_not_written() -> None:
    rows = FORMS["a list"][0]
    files = _files(rows, **{"9b/engine.yml": COMPOSE})
    del files[PATH]
    assert "quotes" in refusal(files, "overlay-missing-attribution")


def test_two_entries_of_one_name_are_not_told_apart() -> None:
    text = ENTRY.format(rows=FORMS["a list"][0])
    twice = text + text.partition("patches:\n")[2]
    found = answers(_files("", **{LIST: twice}), "overlay-missing-attribution")
    assert not any(isinstance(one, Offer) for one in found)
