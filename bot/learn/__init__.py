"""Learning a release: what its source says about flags, defaults, choices and levels, as one compact file.

Only the text of the source is read, with `ast`; the release is never imported or run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from bot.engine.cache import SCHEMA
from bot.learn.anchors import fingerprint, locate
from bot.learn.configs import config_table, enum_table
from bot.learn.conflicts import conflict_rules
from bot.learn.environment import variables
from bot.learn.flags import Flag, register
from bot.learn.keywords import Converter
from bot.learn.places import take_places
from bot.learn.rewriting import entrypoint, rewriting_rules
from bot.learn.source import SourceError, SourceTree
from bot.learn.values import Computed, Reader

__all__ = ["SCHEMA", "SourceError", "SourceTree", "check_complete", "learn"]

LEVELS = "vllm/config/vllm.py"


def learn(source: SourceTree, version: str, anchors: Iterable[str] = ()) -> dict[str, Any]:
    """The facts of a release. `anchors` are `path:Qualified.name` strings whose fingerprints are wanted.

    Raises `SourceError` when the tree is not a vLLM source tree of a form that is known.
    """
    reader = Reader(source)
    registration = register(source, reader)
    _meet_configs(source, reader)
    facts: dict[str, Any] = {
        "schema": SCHEMA,
        "release": version,
        "entrypoint": entrypoint(source),
        "rules": rewriting_rules(source),
        "gaps": registration.gaps,
        "flags": {flag.options[0]: _flag(flag) for flag in registration.flags},
    }
    facts["levels"] = _levels(source, reader)
    facts["literals"] = _literals(source, reader)
    facts["configs"] = config_table(source, reader)
    facts["enums"] = enum_table(reader)
    facts["environment"] = variables(source, reader)
    facts["conflicts"] = conflict_rules(source)
    places = take_places(facts)
    _leave_out_known_names(facts["flags"])
    facts["anchors"], facts["constants"], places["anchors"] = _anchors(source, reader, anchors)
    return {**facts, "places": places}


def check_complete(facts: Mapping[str, Any]) -> None:
    """Raise `SourceError` where a flag may be missing or of another kind than these facts say.

    Whoever writes a release file looks at its gaps; nobody does where a release is learnt for an answer.
    """
    gaps = facts["gaps"]
    if gaps:
        more = f", and {len(gaps) - 1} more" if len(gaps) > 1 else ""
        raise SourceError(f"the code that registers flags could not be followed at {gaps[0]}{more}")


def _meet_configs(source: SourceTree, reader: Reader) -> None:
    """Let the reader meet the classes that no flag is typed with: the whole configuration, and speculation."""
    for path, name in ((LEVELS, "VllmConfig"), ("vllm/config/__init__.py", "SpeculativeConfig"), (LEVELS, "x")):
        module = source.module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        if module is None:
            continue
        found = source.resolve(module, name)
        if found is not None and isinstance(found.node, ast.ClassDef):
            reader.type(module, ast.Name(name))
    package = source.module("vllm.config")
    for name in sorted(package.imports) if package is not None else ():
        if name.endswith("Config") and package is not None:
            reader.type(package, ast.Name(name))


def _flag(flag: Flag) -> dict[str, Any]:
    arguments = flag.arguments
    longest = next((option for option in flag.options if option.startswith("--")), flag.options[0])
    entry: dict[str, Any] = {}
    dest = arguments.get("dest")
    if isinstance(dest, str) and dest != _setting(longest):
        entry["dest"] = dest
    if len(flag.options) > 1:
        entry["names"] = flag.options
    for name in ("action", "nargs", "const", "type", "choices"):
        if name not in arguments:
            continue
        value = arguments[name]
        if isinstance(value, Converter):
            value = value.written()
        entry[name] = value if _is_plain(value) else "unknown"
    if arguments.get("required") is True:
        entry["required"] = True
    if arguments.get("deprecated") is True:
        entry["deprecated"] = True
    default = arguments.get("default")
    if isinstance(default, Computed):
        entry["computed"] = default.text
    elif default is not None and _is_plain(default):
        entry["default"] = default
    elif default is None and arguments.get("action") in ("store_true", "store_false"):
        entry["default"] = arguments["action"] == "store_false"
    elif default is not None:
        entry["computed"] = "unknown"
    if flag.field is not None:
        entry["field"] = f"{flag.field.owner}.{flag.field.name}"
    entry["at"] = flag.place
    entry["default_at"] = flag.default_place
    return entry


def _setting(option: str) -> str:
    """The setting that an option writes, unless it says otherwise."""
    return option.lstrip("-").replace("-", "_")


def _is_plain(value: Any) -> bool:
    """Whether JSON can hold a value."""
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return value is None or isinstance(value, bool | int | float | str)


def _leave_out_known_names(flags: dict[str, Any]) -> None:
    """Keep the file small: most fields are called like the setting of their flag."""
    for key, entry in flags.items():
        owner, _, name = entry.get("field", "").partition(".")
        if name and name == (entry.get("dest") or _setting(key)):
            entry["field"] = owner


def _levels(source: SourceTree, reader: Reader) -> dict[str, Any]:
    """The optimisation levels' tables, flattened to dotted options; a computed value is its function's name."""
    module = source.module("vllm.config.vllm")
    if module is None:
        return {}
    found: dict[str, Any] = {}
    for name, node in sorted(module.names.items()):
        if not name.startswith("OPTIMIZATION_LEVEL_0") or not isinstance(node, ast.Assign):
            continue
        options: dict[str, Any] = {}
        _flatten(reader.value(module, node.value), "", options)
        found[str(int(name[-2:]))] = {"at": f"{module.path}:{node.lineno}", "options": options}
    return found


def _flatten(value: Any, prefix: str, into: dict[str, Any]) -> None:
    if not isinstance(value, dict):
        into[prefix] = {"computed": value.text} if isinstance(value, Computed) else value
        return
    for key, inner in value.items():
        _flatten(inner, f"{prefix}.{key}" if prefix else key, into)


def _literals(source: SourceTree, reader: Reader) -> dict[str, Any]:
    """The named `Literal` lists of the configuration modules, nested names resolved."""
    found: dict[str, Any] = {}
    package = source.module("vllm.config")
    names = {target[0] for target in package.imports.values()} if package is not None else set()
    for module_name in sorted({"vllm.config", *names}):
        module = source.module(module_name)
        if module is None or not module_name.startswith("vllm.config"):
            continue
        for name, node in module.names.items():
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(value, ast.Subscript) and "Literal" in ast.unparse(value.value):
                values = [v for kind in reader.type(module, value) if kind[0] == "literal" for v in kind[1:]]
                found[name] = {"at": f"{module.path}:{getattr(node, 'lineno', 0)}", "values": values}
    return dict(sorted(found.items()))


def _anchors(
    source: SourceTree, reader: Reader, anchors: Iterable[str]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """By file: the fingerprint of each anchor (None: not in this release), the values of those that are constants,
    and the lines in the order of the fingerprints (0: not in this release).
    """
    hashes: dict[str, dict[str, str | None]] = {}
    lines: dict[str, list[int]] = {}
    constants: dict[str, Any] = {}
    for qualified in sorted(set(anchors)):
        path, _, name = qualified.partition(":")
        known, rows = hashes.setdefault(path, {}), lines.setdefault(path, [])
        try:
            known[name], line = fingerprint(source, qualified)
            node = locate(source, qualified)
        except SourceError:
            known[name] = None
            rows.append(0)
            continue
        rows.append(line)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            value = reader.value(source.at(path), node.value)
            if not isinstance(value, Computed):
                constants[qualified] = value
    return hashes, constants, lines
