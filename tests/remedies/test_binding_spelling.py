"""`-O.name=value`, which is read as a level, in the spelling that sets the name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from bot.remedies.arguments import binding_spelling
from bot.remedies.case import Case
from bot.remedies.model import NoEdit
from tests.remedies.repositories import PATH, edited, findings, refusal

GRAPHS = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    command:
      - --model
      - /models/llama
      - -O.cudagraph_mode=PIECEWISE   # smaller graphs
      - --port
      - "8000"
"""
"""A compilation option in the spelling of releases up to 0.12: later ones refuse it."""

FORMS = {
    "an item of its own": (GRAPHS, GRAPHS.replace("-O.cudagraph", "-cc.cudagraph")),
    "in quotes": (
        GRAPHS.replace("-O.cudagraph_mode=PIECEWISE", '"-O.cudagraph_mode=PIECEWISE"'),
        GRAPHS.replace("-O.cudagraph_mode=PIECEWISE", '"-cc.cudagraph_mode=PIECEWISE"'),
    ),
    "the default of a variable": (
        GRAPHS.replace("-O.cudagraph_mode=PIECEWISE", "${GRAPHS:--O.cudagraph_mode=PIECEWISE}"),
        GRAPHS.replace("-O.cudagraph_mode=PIECEWISE", "${GRAPHS:--cc.cudagraph_mode=PIECEWISE}"),
    ),
    "in a string": (
        GRAPHS.partition("    command:")[0]
        + "    command: --model /models/llama -O.cudagraph_mode=PIECEWISE --port 8000\n",
        GRAPHS.partition("    command:")[0]
        + "    command: --model /models/llama -cc.cudagraph_mode=PIECEWISE --port 8000\n",
    ),
    "another mode": (
        GRAPHS.replace("=PIECEWISE", "=FULL_DECODE_ONLY"),
        GRAPHS.replace("-O.cudagraph_mode=PIECEWISE", "-cc.cudagraph_mode=FULL_DECODE_ONLY"),
    ),
    "in a script": (
        SCRIPT := GRAPHS.partition("    command:")[0]
        + '    entrypoint:\n      - bash\n      - -c\n      - exec vllm serve -O.cudagraph_mode=PIECEWISE "$$@"\n'
        + "      - --\n    command: [--model, /models/llama]\n",
        SCRIPT.replace("-O.", "-cc."),
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_it_binds_afterwards_and_nothing_else_is_another(form: str, end: str) -> None:
    before, after = (text.replace("\n", end) for text in FORMS[form])
    found = edited({PATH: before}, "flag-without-effect")
    assert found == {PATH: after}
    assert findings(found, "flag-without-effect") == ()


def test_it_is_not_offered_where_piecewise_graphs_are_a_hazard() -> None:
    """A drafter needs a fix first: the remedy without an edit is the one that is given."""
    drafting = GRAPHS.replace(
        "      - --port\n",
        '      - --speculative-config\n      - \'{"method": "mtp", "num_speculative_tokens": 3}\'\n      - --port\n',
    ).replace("/models/llama", "nvidia/Qwen3.6-27B-NVFP4")
    (found,) = findings({PATH: drafting}, "flag-without-effect")
    assert (found.edit, "Take it out" in found.remedy) == ("", True)


def test_it_is_edited_in_the_environment_file_that_sets_it() -> None:
    before = {
        PATH: GRAPHS.replace("-O.cudagraph_mode=PIECEWISE", "${GRAPHS}"),
        "compose/.env": "GRAPHS=-O.cudagraph_mode=NONE\n",
    }
    assert edited(before, "flag-without-effect") == {**before, "compose/.env": "GRAPHS=-cc.cudagraph_mode=NONE\n"}


def test_a_word_that_a_script_puts_together_is_left_alone() -> None:
    script = SCRIPT.replace("-O.cudagraph_mode=PIECEWISE", '"-O.$${KEY}=PIECEWISE"').replace(
        "- exec vllm", "- KEY=cudagraph_mode; exec vllm"
    )
    assert refusal({PATH: script}, "flag-without-effect")


@pytest.mark.parametrize("argument", ["-O3", "--compilation-config.level=3", "-cc.cudagraph_mode=NONE", ""])
def test_no_other_argument_has_such_a_spelling(argument: str) -> None:
    case = cast("Case", SimpleNamespace(finding=SimpleNamespace(observed={"argument": argument})))
    with pytest.raises(NoEdit, match="binds"):
        list(binding_spelling(case))
