"""What is learnt from a release's source."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from bot.engine.facts import from_text
from bot.learn import SourceError, learn
from bot.learn.anchors import fingerprint
from bot.learn.files import dump, open_source
from tests.learn.source_tree import FILES, tree

ANCHORS = ["vllm/config/vllm.py:VllmConfig.__post_init__", "vllm/config/vllm.py:NAMES", "vllm/nope.py:gone"]


@pytest.fixture(scope="module")
def learnt() -> dict[str, Any]:
    return learn(tree(), "1.2.3", ANCHORS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("--kv-cache-dtype", {"names": ["--kv-cache-dtype", "-k"], "choices": ["auto", "fp8"], "default": "auto"}),
        ("--share", {"type": "float", "default": 0.9, "field": "CacheConfig"}),
        ("--block-size", {"type": "int"}),
        ("--big", {"type": "human_int", "default": 4096}),
        ("--prefix", {"action": "boolean"}),
        ("--names", {"type": "str", "nargs": "+", "choices": ["a", "b,c"], "default": []}),
        ("--extra", {"type": ["optional", "json"]}),
        ("--cache-config", {"type": "config:CacheConfig", "computed": "CacheConfig()"}),
        ("--level", {"type": "str", "default": "O1"}),
        ("--quiet", {"action": "store_true", "default": False}),
        ("--odd", {"type": "opaque"}),
        ("--late", {"type": "int", "default": 3, "dest": "other"}),
        ("--host", {"type": ["optional", "str"]}),
        ("--port", {"type": "str", "default": 8000}),
        ("--log-all", {"action": "boolean", "default": False}),
        ("model_tag", {"type": "str", "nargs": "?"}),
    ],
)  # fmt: skip
def test_a_flag(learnt: dict[str, Any], name: str, expected: dict[str, Any]) -> None:
    entry = learnt["flags"][name]
    assert {key: entry.get(key) for key in expected} == expected


def test_nothing_is_passed_over(learnt: dict[str, Any]) -> None:
    assert learnt["gaps"] == []


def test_flags_know_their_lines(learnt: dict[str, Any]) -> None:
    facts = from_text(dump(learnt))
    flag = facts.flag("--share")
    assert flag is not None
    lines = FILES["vllm/engine/arg_utils.py"].splitlines()
    assert '"--share"' in lines[flag.line - 1]
    assert (flag.default.path, flag.default.line) == ("vllm/config/cache.py", 12)
    prefix = facts.flag("--prefix")
    assert prefix is not None
    assert (prefix.default.path, prefix.default.line) == ("vllm/engine/arg_utils.py", 22)
    fields = facts.config("CacheConfig")
    assert fields is not None
    assert FILES["vllm/config/cache.py"].splitlines()[fields.fields["big"].default.line - 1].startswith("    big:")
    assert (facts.config("VllmConfig") or fields).path == "vllm/config/vllm.py"


def test_a_line_that_moves_changes_no_fact(learnt: dict[str, Any]) -> None:
    """So that a diff of two releases shows what they say."""
    moved = {name: f"# moved\n{text}" for name, text in FILES.items() if name.endswith(".py")}
    other = learn(tree(**moved), "1.2.3", ANCHORS)
    assert other.pop("places") != learnt["places"]
    assert other == {name: value for name, value in learnt.items() if name != "places"}


def test_a_configuration_class(learnt: dict[str, Any]) -> None:
    config = learnt["configs"]["CacheConfig"]
    assert config["extra"] == "forbid"
    assert set(config["fields"]) == {"cache_dtype", "share", "block_size", "names", "big", "prefix"}
    assert config["fields"]["share"] == {"type": ["float"], "gt": 0, "le": 1, "default": 0.9}
    assert config["fields"]["block_size"]["validators"] == ["nullable"]
    assert learnt["configs"]["VllmConfig"]["fields"]["extra"]["type"] == [["dict", ["str"], ["str"]], "none"]


def test_what_a_class_refuses_of_its_own_values() -> None:
    """Checks over fields are kept, in order, until one may have been changed or the way out is not known."""
    source = tree(
        **{
            "vllm/config/cache.py": FILES["vllm/config/cache.py"]
            + """
    def __post_init__(self):
        if self.cache_dtype == "fp8" and not self.prefix:
            raise ValueError("fp8 needs prefix")
        assert self.big <= 4096, "too big"
        self.share = 1
        if self.share > 2:
            raise ValueError("changed before")
        if self.names:
            return
        if self.big == 1:
            raise ValueError("guarded")
        if ask(self):
            return
        if self.big == 2:
            raise ValueError("behind an unknown way out")
"""
        }
    )
    checks = learn(source, "1.0")["configs"]["CacheConfig"]["checks"]
    assert [check["text"] for check in checks] == ["fp8 needs prefix", "too big", "guarded"]
    assert checks[0]["when"] == [
        "and",
        ["==", ["field", "cache_dtype"], ["value", "fp8"]],
        ["not", ["field", "prefix"]],
    ]
    assert checks[2]["when"][1] == ["not", ["field", "names"]]


def test_what_a_class_counts_and_names_on_the_way() -> None:
    """A local name stands for what was assigned to it, until something else may have been."""
    source = tree(
        **{
            "vllm/config/cache.py": FILES["vllm/config/cache.py"]
            + """
    def __post_init__(self):
        ones, twos = 1, 2
        count = self.names.count("a")
        other = self.names.count("b")
        assert count + other <= 1, "one of both"
        prefix = self.prefix
        if not prefix:
            raise ValueError("a name")
        for prefix in self.names:
            count = 2
        assert prefix, "assigned again"
        assert count, "assigned in a loop"
        assert ones, "assigned together"
        self.names.append("c")
        assert self.names.count("a"), "changed"
"""
        }
    )
    checks = learn(source, "1.0")["configs"]["CacheConfig"]["checks"]
    assert [check["text"] for check in checks] == ["one of both", "a name"]
    counts = [["count", ["field", "names"], ["value", name]] for name in ("a", "b")]
    assert checks[0]["when"] == ["not", ["<=", ["+", *counts], ["value", 1]]]


def test_members_that_are_made_of_members() -> None:
    source = tree(
        **{"vllm/config/vllm.py": FILES["vllm/config/vllm.py"].replace("O1 = 1", "O1 = 1\n    BOTH = (O0, O1)")}
    )
    assert learn(source, "1.0")["enums"]["Level"]["BOTH"] == [0, 1]


def test_levels_lists_and_enums(learnt: dict[str, Any]) -> None:
    assert learnt["levels"]["0"] == {"a.mode": "O0", "a.fuse": False, "a.norm": {"computed": "enable"}}
    assert learnt["literals"]["CacheDType"] == ["auto", "fp8"]
    assert learnt["enums"]["Level"] == {"O0": 0, "O1": 1}


def test_the_environment(learnt: dict[str, Any]) -> None:
    assert learnt["environment"] == {"VLLM_CACHE": [], "VLLM_PORT": [None]}
    assert learnt["places"]["environment"] == ["vllm/envs.py:9", 8]


def test_variables_that_are_read_past_the_table_count() -> None:
    source = tree(**{"vllm/x.py": "import os\n\nos.environ.get('VLLM_SIDE', '1'), os.getenv(\n  'VLLM_DOOR')\n"})
    facts = from_text(dump(learn(source, "1.0")))
    for name in ("VLLM_SIDE", "VLLM_DOOR"):
        fact = facts.environment[name]
        assert (fact.known, fact.path, fact.line) == (False, "vllm/x.py", 3)


def test_rules_entrypoint_and_conflicts(learnt: dict[str, Any]) -> None:
    rules = learnt["rules"]
    assert (rules["level"], rules["model_option"], rules["config_mapping"]) == ("--optimization-level", "moved", "json")
    assert learnt["entrypoint"] == ["vllm", "serve"]
    assert [(rule["kind"], rule["if"], rule["other"]) for rule in learnt["conflicts"]] == [
        ("exclusive", "share", "cache_config.share"),
        ("needs", "log_all", "host"),
    ]


def test_anchors_and_constants(learnt: dict[str, Any]) -> None:
    anchors = from_text(dump(learnt)).anchors
    assert anchors["vllm/nope.py:gone"] is None
    found = anchors["vllm/config/vllm.py:VllmConfig.__post_init__"]
    assert found is not None
    assert found[1] == 17
    assert sorted(learnt["constants"]["vllm/config/vllm.py:NAMES"]) == ["A", "B"]


def test_the_file_is_one_fact_a_line_and_reads_back(learnt: dict[str, Any]) -> None:
    text = dump(learnt)
    assert json.loads(text) == learnt
    assert next(line for line in text.splitlines() if '"--share"' in line).endswith("},")


CODE = "def f(x):\n    return x + 1\n"


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ('def f(x):\n    """Doc."""\n    # comment\n    return (x\n            + 1)\n', True),
        ("import os\n\n\ndef f(x: int) -> int:\n    return x + 1\n", True),
        ("def f(x):\n    return x + 2\n", False),
        ("def f(x, y=None):\n    return x + 1\n", False),
        ("@cached\ndef f(x):\n    return x + 1\n", False),
        ("def f(x):\n    return x - 1\n", False),
    ],
)
def test_a_fingerprint_sees_code_only(changed: str, same: bool) -> None:
    before = fingerprint(tree(**{"vllm/m.py": CODE}), "vllm/m.py:f")[0]
    assert (fingerprint(tree(**{"vllm/m.py": changed}), "vllm/m.py:f")[0] == before) is same


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("vllm/envs.py", "x = 1\n", "environment_variables"),
        ("vllm/envs.py", "def (", "not readable as Python"),
        ("vllm/entrypoints/cli/serve.py", "x = 1\n", "make_arg_parser"),
        ("vllm/utils/argparse_utils.py", "class FlexibleArgumentParser: pass\n", "no method"),
        ("vllm/engine/arg_utils.py", "class EngineArgs: pass\n", "_compute_kwargs"),
    ],
)
def test_a_tree_of_another_form_is_refused(path: str, text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        learn(tree(**{path: text}), "1.0")


@pytest.mark.parametrize(
    "text",
    [
        "from vllm.entrypoints.cli.serve import make_arg_parser\n",
        "def make_arg_parser(parser):\n    make_arg_parser(parser)\n",
        "x = " + "(" * 300 + ")" * 300,
    ],
)
def test_hostile_source_ends(text: str) -> None:
    changed = tree(**{"vllm/entrypoints/cli/serve.py": text})
    with pytest.raises(SourceError, match=r"vllm/"):
        learn(changed, "1.0")


def test_what_cannot_be_followed_is_said() -> None:
    text = "def make_arg_parser(parser):\n    for x in y:\n        pass\n    while True:\n        pass\n"
    gaps = learn(tree(**{"vllm/entrypoints/cli/serve.py": text}), "1.0")["gaps"]
    assert [gap.partition(": ")[2] for gap in gaps] == ["For", "While"]


def test_a_folder_and_an_archive_say_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    archive = tmp_path / "vllm-1.2.3.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in FILES.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            member = tarfile.TarInfo(f"vllm-1.2.3/{name}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    assert learn(open_source(folder), "1.2.3") == learn(open_source(archive), "1.2.3") == learn(tree(), "1.2.3")


def test_what_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(b"no archive")
    for path in (tmp_path / "gone", tmp_path / "x.tar.gz"):
        with pytest.raises(SourceError):
            open_source(path)
