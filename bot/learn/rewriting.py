"""How a release rewrites its command line before argparse sees it, and how its image starts the server."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from bot.learn.anchors import hash_of
from bot.learn.source import Definition, SourceError, SourceTree

MODELLED = ("parse_args", "_pull_args_from_config", "load_config_file")
"""The methods of `FlexibleArgumentParser` that the command-line reader models."""

KEYWORDS = "_compute_kwargs"
"""The function that makes flags of fields, which `bot.learn.keywords` models."""

DOCKERFILE = "docker/Dockerfile"
SERVER_STAGE = "vllm-openai"


def parser_class(source: SourceTree) -> Definition:
    """`FlexibleArgumentParser`, wherever the release keeps it. Raises `SourceError`."""
    for name in ("vllm.utils.argparse_utils", "vllm.utils"):
        module = source.module(name)
        found = source.resolve(module, "FlexibleArgumentParser") if module is not None else None
        if found is not None and isinstance(found.node, ast.ClassDef):
            return found
    raise SourceError("FlexibleArgumentParser is not where it was")


def rewriting_rules(source: SourceTree) -> dict[str, Any]:
    """The rules by name; each says what this release does.

    `level`: what `-O3` becomes: a flag ("--optimization-level") or a dotted key ("-O.level").
    `level_dotted`: the flag whose dotted key `-O.x=y` is ("-O", "-cc"), or "" where it is a level like `-O3`.
    `model_option`: what becomes of `serve --model X`: "moved" to the front, or "refused".
    `served_name_needs_model`: whether `--served-model-name` without a leading model is an error.
    `config_false`: what `key: false` of a configuration file is: "dropped", or "negated" when `--no-key` exists.
    `config_mapping`: how a mapping in such a file is written: "json" or "text".
    `human_integers`: whether dotted values and JSON accept `80g`: a list of "dotted", "json".
    `enable_disable`: whether `--enable-x` also has `--disable-x` as its opposite.
    `spec_hyphens`: whether hyphens in keys of the speculative configuration are underscores.
    `hashes`: fingerprints of the code that these rules and the flags stand for.
    """
    definition = parser_class(source)
    assert isinstance(definition.node, ast.ClassDef)
    methods = {m.name: m for m in definition.node.body if isinstance(m, ast.FunctionDef)}
    missing = [name for name in MODELLED if name not in methods]
    if missing:
        raise SourceError(f"{definition.path}:{definition.line}: no method {missing[0]}")
    parse, load = methods["parse_args"], methods["load_config_file"]
    level, dotted = _level(parse)
    human = ["dotted"] if "human_readable_int" in ast.unparse(parse) else []
    arguments = source.at("vllm/engine/arg_utils.py")
    if "_expand_json_human_readable_numbers" in arguments.names:
        human.append("json")
    return {
        "at": f"{definition.path}:{parse.lineno}",
        "level": level,
        "level_dotted": dotted,
        "model_option": "moved" if "model_tag" in ast.unparse(parse) else "refused",
        "served_name_needs_model": "--served[-_]model[-_]name" in ast.unparse(parse),
        "config_false": "negated" if "--no-" in ast.unparse(load) else "dropped",
        "config_mapping": "json" if "json.dumps" in ast.unparse(load) else "text",
        "human_integers": human,
        "enable_disable": "EnableDisableAction" in ast.unparse(definition.node),
        "spec_hyphens": _speculative_hyphens(arguments.names.get("EngineArgs")),
        "hashes": {**{name: hash_of(methods[name]) for name in MODELLED}, KEYWORDS: hash_of(arguments.names[KEYWORDS])},
    }


def _level(parse: ast.FunctionDef) -> tuple[str, str]:
    """What `-O3` becomes, and the flag that `-O.x` belongs to."""
    level, dotted = "", ""
    for node in ast.walk(parse):
        if not isinstance(node, ast.If):
            continue
        test = ast.unparse(node.test)
        words = [inner.value for s in node.body for inner in ast.walk(s) if isinstance(inner, ast.Constant)]
        options = [word for word in words if isinstance(word, str) and re.fullmatch(r"-[\w.=-]+", word)]
        if "startswith('-O.')" in test and options[:1] == ["-O"]:
            dotted = options[1]
        elif "startswith('-O')" in test and options and not level:
            level = options[0].removesuffix("=")
            dotted = dotted or ("-O" if "arg[2] != '.'" in test else "")
    return level, dotted


def _speculative_hyphens(engine_args: ast.AST | None) -> bool:
    if not isinstance(engine_args, ast.ClassDef):
        return False
    for member in engine_args.body:
        if isinstance(member, ast.FunctionDef) and member.name == "create_speculative_config":
            return "replace('-', '_')" in ast.unparse(member)
    return False


def entrypoint(source: SourceTree) -> list[str] | None:
    """The ENTRYPOINT of the server's image; None when the tree has no Dockerfile that says it."""
    text = source.read(DOCKERFILE)
    if text is None:
        return None
    stage, found = "", None
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["FROM"]:
            stage = words[-1]
        elif words[:1] == ["ENTRYPOINT"] and stage == SERVER_STAGE:
            try:
                found = json.loads(line.removeprefix("ENTRYPOINT").strip())
            except json.JSONDecodeError:
                return None
    return found if isinstance(found, list) else None
