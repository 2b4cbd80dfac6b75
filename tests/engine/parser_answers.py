"""Our reading of a command line against the answer of a release's own parser (see `tests/differential`)."""

from __future__ import annotations

from typing import Any

from bot.engine.commandline import CommandLine, parse
from bot.engine.conversion import holds_unknown
from bot.engine.facts import Facts, load
from bot.provenance import Word

ENGINE_STAGE = ("speculative_config", "diffusion_config", "spec_method", "spec_model", "spec_tokens")
"""Settings that the parser takes as they are; the engine refuses them later, which the recorded answers leave out."""


def read(row: dict[str, Any]) -> CommandLine:
    return parse([Word(text) for text in row["argv"]], load(row["release"]), row["files"], all_files=True)


def refusals(line: CommandLine) -> list[str]:
    """The errors of the parser and of fields, without those of later stages."""
    return [
        error.message
        for error in line.errors
        if not error.message.startswith(ENGINE_STAGE)
        and "mutually exclusive" not in error.message
        and "requires" not in error.message
    ]


def converter(facts: Facts, dest: str) -> str:
    flag = facts.setting(dest)
    return flag.converter if flag is not None else ""


def usual(facts: Facts, dest: str, key: str, mine: Any) -> Any:
    """What an answer leaves out: the default of a key, where it is not computed."""
    config = facts.config(converter(facts, dest).removeprefix("config:"))
    if config is None or key not in config.fields:
        return None
    default = config.fields[key].default
    return default.value if default.known else mine


def same(mine: Any, real: Any, facts: Facts, dest: str) -> bool:
    """Whether two values mean the same: members of enums by name, JSON by the keys that were given."""
    if holds_unknown(mine):
        return True
    if isinstance(mine, dict) and isinstance(real, dict) and converter(facts, dest).startswith("config:"):
        return all(
            same(value, real.get(key, usual(facts, dest, key, value)), facts, dest) for key, value in mine.items()
        )
    if isinstance(real, str) and (real.startswith("PosixPath(") or (mine is None and real.lower() == "auto")):
        return True
    return bool(mine == real) or str(mine).lower().lstrip("o") == str(real).lower().lstrip("o")


def difference(row: dict[str, Any], answer: dict[str, Any]) -> str | None:
    """What differs between our reading of a question and the release's answer, None when nothing does."""
    line, facts = read(row), load(row["release"])
    mine = refusals(line)
    refused = {dest: text for dest, text in answer.get("refused", {}).items() if dest not in ENGINE_STAGE}
    if refused and all(holds_unknown(line.settings[dest].value) for dest in refused if dest in line.settings):
        return None
    if "error" in answer or refused:
        return None if mine else f"refused there: {answer.get('error') or refused}"
    if mine:
        return f"taken there, here: {mine}"
    given = dict(answer["set"])
    tag = given.pop("model_tag", None)
    if tag is not None and row["argv"][:1] == ["serve"]:
        given["model"] = tag
    given.pop("config", None)
    for dest, real in given.items():
        setting = line.settings.get(dest)
        if setting is None:
            return f"{dest} is not read, there it is {real!r}"
        if dest not in ENGINE_STAGE and not same(setting.value, real, facts, dest):
            return f"{dest} is {setting.value!r}, there {real!r}"
    return _more(line, given, facts)


def _more(line: CommandLine, given: dict[str, Any], facts: Facts) -> str | None:
    """A setting that we read and the release does not have: what differs from the default."""
    for dest, setting in line.settings.items():
        flag = facts.setting(dest)
        assert flag is not None, dest
        ours = setting.value
        if dest in given or dest in ("model", "config", *ENGINE_STAGE) or not flag.default.known or holds_unknown(ours):
            continue
        if flag.converter.startswith("config:"):
            continue
        if not same(ours, flag.default.value, facts, dest):
            return f"{dest} is {ours!r}, there the default {flag.default.value!r}"
    return None
