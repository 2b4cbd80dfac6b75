"""What keeps properties from being certain."""

from __future__ import annotations

import copy

from bot.engine import facts as facts_of
from bot.engine.facts import Facts
from bot.engine.images import pin
from bot.engine.model import Engine, Launch, Model
from bot.engine.resolve import in_release
from bot.provenance import Reason, Word

DENSE = Model("none", False, "Qwen3ForCausalLM", hybrid=False)
OWN = (Reason("compose", "compose.yml", 3, "command"),)


def launched(image: str) -> Launch:
    argv = tuple(Word(word, OWN) for word in ("serve", "Qwen/Qwen3-8B", "--tensor-parallel-size", "2"))
    return Launch(argv, {}, pin(image), DENSE)


def certainties(engine: Engine) -> tuple[str, str]:
    """Of a value that the deployment sets, and of a derived one."""
    return engine.properties["tensor_parallel_size"].certainty, engine.properties["chunked_prefill"].certainty


def test_a_parser_that_nobody_compared_makes_everything_an_assumption() -> None:
    raw = copy.deepcopy(dict(facts_of.load("0.28.0").raw))
    raw["rules"]["hashes"]["parse_args"] = "0" * 16
    engine = in_release(launched("vllm/vllm-openai:v0.28.0"), Facts("0.28.0", raw))
    assert certainties(engine) == ("assumed", "assumed")
    assert "parse_args of 0.28.0" in engine.properties["tensor_parallel_size"].because[-1].text
