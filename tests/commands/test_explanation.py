"""The answers to `/explain`."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from bot.catalog import read_catalog
from bot.commands import Explain, explain, explain_hazard, find, hazard_ids
from bot.compose import Documents
from bot.resolution import Repository
from bot.review import Links
from bot.tree import MemoryTree

COMPOSE = """\
# Slug: otter/solo
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    command:
      - --model=/models/hare-9b
      - ${CACHE:---enable-prefix-caching}
      - --max-model-len=${LEN:-4096}
  web:
    image: nginx
"""
SCRIPT = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    environment: ["EAGER=${EAGER:-0}"]
    entrypoint:
      - bash
      - -c
      - 'if [ "$$EAGER" = 1 ]; then set -- "$$@" --enforce-eager; fi; [ "$$DEAD" = 1 ]; exec vllm "$$@"'
      - --
    command: [serve, --model=/models/hare-9b]
"""
RULE_LINKS = Links("https://github.com/acme/serving", "a" * 40, "https://bot.example.org/hazards")
LINKS = Links("https://github.com/acme/serving", "a" * 40)


def _repository(**files: str) -> Repository:
    tree = MemoryTree({name.replace("_", "/", 1) + ".yml": text for name, text in files.items()})
    return Repository(tree, read_catalog(tree), Documents(tree))


REGISTRY = "otter/pair: {compose: deploy/two.yml}\n"


def test_a_property_is_explained_by_its_chain_with_links() -> None:
    answer = explain(Explain("deploy/one.yml", None, "prefix_caching"), _repository(deploy_one=COMPOSE), LINKS)
    assert "`prefix_caching` is **on**" in answer
    assert f"[line 7](https://github.com/acme/serving/blob/{'a' * 40}/deploy/one.yml#L7)" in answer


def test_an_engines_default_points_at_the_source_of_the_release() -> None:
    answer = explain(Explain("deploy/one.yml", "engine", "enforce_eager"), _repository(deploy_one=COMPOSE), LINKS)
    assert "https://github.com/vllm-project/vllm/blob/v0.25.1/vllm/" in answer


def test_without_a_property_the_seams_and_what_they_change() -> None:
    answer = explain(Explain("deploy/two.yml"), _repository(deploy_two=SCRIPT), LINKS)
    assert "| `EAGER=1` | " in answer
    assert "`enforce_eager`: off → on" in answer
    assert "`DEAD` does nothing" in answer


@pytest.mark.parametrize("subject", ["otter/pair", "deploy/two.yml"])
def test_a_compose_goes_by_its_path_and_by_its_slug(subject: str) -> None:
    repository = _repository(deploy_two=SCRIPT, registry=REGISTRY)
    assert "deploy/two.yml" in explain(Explain(subject, None, "enforce_eager"), repository)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (Explain("deploy/onne.yml"), "Did you mean `deploy/one.yml` or"),
        (Explain("@evil <b>"), "There is no compose or hazard `@evil <b>` here. The usage is"),
        (Explain("deploy/one.yml", None, "prefix_cachin"), "Did you mean `prefix_caching`"),
        (
            Explain("deploy/one.yml", "engin", "prefix_caching"),
            "There is no service `engin` here. Did you mean `engine`",
        ),
        (Explain("deploy/one.yml", "web", "prefix_caching"), "No vLLM engine is known to run here"),
        (Explain("deploy/bad.yml", None, "prefix_caching"), "Docker Compose refuses this file"),
    ],
)
def test_what_cannot_be_explained_says_why(asked: Explain, told: str) -> None:
    repository = _repository(deploy_one=COMPOSE, deploy_bad=COMPOSE.replace("image: nginx", "imag: x"))
    assert told in explain(asked, repository, LINKS)


EVIL = "@evil <img src=x> [l](x) **b** | `c` #1"


@pytest.mark.parametrize("name", [None, "max_model_len", "served"])
def test_a_strangers_words_are_quotations(name: str | None) -> None:
    text = (
        COMPOSE.replace("4096", EVIL)
        .replace("- --model", f'- "--x={EVIL}"\n      - --model')
        .replace("engine:", f'"{EVIL}":')
    )
    answer = explain(Explain("deploy/one.yml", None, name), _repository(deploy_one=text), LINKS)
    assert find(answer) == ()
    for block in MarkdownIt("commonmark").enable("table").parse(answer):
        for token in block.children or []:
            assert token.type not in ("image", "html_inline"), token.content
            if token.type == "text":
                assert not {"@", "<", "|"} & set(token.content), token.content


def test_an_answer_has_a_limit() -> None:
    values = "\n".join(f"    # X{number}=1" for number in range(400))
    reads = " ".join(f'"$$X{number}"' for number in range(400))
    script = f"    entrypoint: [bash, -c, 'echo {reads}; exec vllm serve']\n"
    text = f"services:\n  engine:\n{values}\n    image: vllm/vllm-openai:v0.25.1\n{script}"
    assert len(explain(Explain("a.yml"), _repository(a=text), LINKS).encode()) < 60_000


FORKED = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    entrypoint: [bash, -c, 'if grep -q x /y; then set -- "$$@" --enforce-eager; fi; exec vllm "$$@"', --]
    command: [serve, --model=/models/hare-9b, --max-model-len=4096]
"""


@pytest.mark.parametrize(("name", "times"), [("max_model_len", 1), ("enforce_eager", 2)])
def test_ways_through_a_script_are_told_apart_where_they_matter(name: str, times: int) -> None:
    answer = explain(Explain("a.yml", None, name), _repository(a=FORKED))
    assert answer.count(f"`{name}` is **") == times
    assert ("Where `" in answer) is (times == 2)


def test_a_hazard_is_explained_by_its_id() -> None:
    tree = MemoryTree({"compose.yml": COMPOSE})
    here = Repository(tree, read_catalog(tree), Documents(tree))
    text = explain(Explain("mtp-prefix-cache-hybrid"), here, RULE_LINKS)
    assert text.startswith("#### Prefix caching with a drafter")
    assert "(https://bot.example.org/hazards/mtp-prefix-cache-hybrid)" in text
    assert "**How sure:**" in text
    assert "redirect.github.com/vllm-project/vllm/issues/43559" in text
    assert "Did you mean `mtp-prefix-cache-hybrid`?" in explain(Explain("mtp-prefix-cache-hybird"), here)
    assert explain(Explain("mtp-prefix-cache-hybrid", None, "prefix_caching"), here).startswith("There is no compose")


@pytest.mark.parametrize("identity", sorted(hazard_ids()))
def test_every_hazard_is_explained_on_a_screen(identity: str) -> None:
    text = explain_hazard(identity, RULE_LINKS)
    assert identity in text
    shown = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert len(re.sub(r"\(https:[^)]*\)", "", shown)) < 3_500


QUIET = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    volumes: ["${MODELS:-/srv}:/models"]
    command: [--model=/models/hare-9b]
"""


def test_variables_that_change_no_property_are_listed_all_the_same() -> None:
    answer = explain(Explain("deploy/one.yml"), _repository(deploy_one=QUIET), LINKS)
    assert "1 of which no other value is known" in answer
    assert "- `MODELS` (by default `/srv`), [" in answer
    assert "none is known to change a property" in answer
