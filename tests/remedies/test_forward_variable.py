"""A dead seam is named below `environment:`, in the form that the file has."""

from __future__ import annotations

import pytest

from bot.remedies import Offer, Refusal
from tests.remedies.repositories import PATH, SEAM, answers, edited, findings, offer, refusal

ENVIRONMENT = """\
    environment:
      - "NVIDIA_VISIBLE_DEVICES=all"
      # HOST=0.0.0.0 listens everywhere
      - OMP_NUM_THREADS=1  # one is enough
"""

FORMS = {
    "a list": (ENVIRONMENT, f"{ENVIRONMENT}      - VLLM_EAGER\n"),
    "a list at the level of its key": (
        "    environment:\n    - A=1\n    -   B=2\n",
        "    environment:\n    - A=1\n    -   B=2\n    -   VLLM_EAGER\n",
    ),
    "a mapping": (
        "    environment:\n      A: '1' # one\n      B: \"2\"   \n",
        "    environment:\n      A: '1' # one\n      B: \"2\"   \n      VLLM_EAGER:\n",
    ),
    "a list on one line": (
        "    environment: [ 'A=1', B=2 ]  # both\n",
        "    environment: [ 'A=1', B=2, VLLM_EAGER ]  # both\n",
    ),
    "a list on one line that ends in a comma": (
        "    environment: ['A=1', B=2,]\n",
        "    environment: ['A=1', B=2, VLLM_EAGER,]\n",
    ),
    "a list without items": ("    environment: []\n", "    environment: [VLLM_EAGER]\n"),
    "a mapping on one line": (
        "    environment: {A: '1', B: 2}\n",
        "    environment: {A: '1', B: 2, VLLM_EAGER: null}\n",
    ),
    "blanks behind the last item": (
        "    environment:\n      - A=1  \n",
        "    environment:\n      - A=1  \n      - VLLM_EAGER\n",
    ),
    "an item with an anchor of its own": (
        "    environment:\n      - A=1\n      - &b B=2\n",
        "    environment:\n      - A=1\n      - &b B=2\n      - VLLM_EAGER\n",
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_form_is_kept(form: str, end: str) -> None:
    before, after = (SEAM.replace(ENVIRONMENT, text).replace("\n", end) for text in FORMS[form])
    found = edited({PATH: before}, "dead-seam")
    assert found[PATH] == after
    assert findings(found, "dead-seam") == ()


def test_environment_comes_in_where_there_is_none() -> None:
    found = edited({PATH: SEAM.replace(ENVIRONMENT, "")}, "dead-seam")[PATH]
    assert "    environment:\n      - VLLM_EAGER\n" in found
    assert found.replace("    environment:\n      - VLLM_EAGER\n", "") == SEAM.replace(ENVIRONMENT, "")


def test_a_byte_order_mark_stays() -> None:
    assert edited({PATH: f"\ufeff{SEAM}"}, "dead-seam")[PATH].startswith("\ufeffservices:")


def test_a_last_line_without_an_end() -> None:
    head, _, tail = SEAM.partition(ENVIRONMENT)
    text = f"{head}{tail}{ENVIRONMENT.rstrip()}"
    assert edited({PATH: text}, "dead-seam")[PATH] == f"{text}\n      - VLLM_EAGER"


def test_it_says_what_was_proved() -> None:
    found = offer({PATH: SEAM}, "dead-seam")
    assert found.does == "Names VLLM_EAGER below `environment:` of engine, which passes it on when it is set"
    assert found.proved == (
        "Proved by resolving the compose with the edit: the finding is gone, no other appears, "
        "and no property of an engine changes."
    )


def test_a_list_that_another_service_shares_is_left_alone() -> None:
    text = SEAM.replace("    environment:\n", "    environment: &both\n")
    text += "  web:\n    image: nginx\n    environment: *both\n"
    assert "shared with others by an anchor" in refusal({PATH: text}, "dead-seam")


def test_a_list_that_comes_by_a_merge_key_is_left_alone() -> None:
    head = "x-common: &common\n  environment:\n    - A=1\n"
    text = head + SEAM.replace(ENVIRONMENT, "    <<: *common\n")
    assert "`environment` of engine" in refusal({PATH: text}, "dead-seam")


def test_a_service_that_others_extend_is_left_alone() -> None:
    other = "services:\n  two:\n    extends: {file: engine.yml, service: engine}\n    restart: always\n"
    first, second = answers({PATH: SEAM, "compose/two.yml": other}, "dead-seam")
    assert isinstance(first, Refusal)
    assert "`environment` of two in compose/two.yml would change too" in first.why
    assert isinstance(second, Offer)
    assert [file.path for file in second.files] == ["compose/two.yml"]


DEFAULTS = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    environment:
      - A=${A:-1}
    entrypoint: [bash, -c]
    command:
      - |
        # KV_DTYPE=fp8 for long contexts
        exec vllm serve /models/llama --kv-cache-dtype "$${KV_DTYPE-auto}"
"""


def test_where_an_empty_value_would_be_a_trap_the_default_goes_with_the_variable() -> None:
    """In the style of the others; where they have none, it is said what the edit would bring."""
    after = DEFAULTS.replace("      - A=${A:-1}\n", "      - A=${A:-1}\n      - KV_DTYPE=${KV_DTYPE:-auto}\n")
    assert edited({PATH: DEFAULTS}, "dead-seam") == {PATH: after}
    assert findings({PATH: after}) == ()
    why = refusal({PATH: DEFAULTS.replace("A=${A:-1}", "A=1")}, "dead-seam")
    assert why.startswith(
        "the one that names KV_DTYPE below `environment:` of engine, which passes it on when it is set"
    )
    assert "it would bring seam-value-trap to engine" in why
