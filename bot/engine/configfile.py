"""The YAML file of `--config`, as the words that it stands for."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator

import yaml

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_ALIASES = 100
"""Aliases in a configuration file: none are needed, and a few can expand to more than memory holds."""


class ConfigFileError(Exception):
    """The server would end while it reads the file."""


def read_config_file(text: str, negatable: Container[str], mappings_as_json: bool) -> list[tuple[str, int, str]]:
    """The words of a configuration file, each with its line and the entry as a person reads it.

    `key: true` is a bare flag; `key: false` is nothing, unless `--no-key` is in `negatable`. An empty list is nothing.
    Anything else becomes text as Python writes it, so null is the word "None". Raises `ConfigFileError`.
    """
    try:
        if sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_Loader)) > MAX_ALIASES:
            raise ConfigFileError("too many aliases")
        node = yaml.compose(text, Loader=_Loader)
        config = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigFileError(f"not readable as YAML ({str(error).splitlines()[0]})") from None
    if not isinstance(config, dict):
        raise ConfigFileError("not a mapping of options to values")
    lines = {key.value: key.start_mark.line + 1 for key, _ in node.value} if isinstance(node, yaml.MappingNode) else {}
    words: list[tuple[str, int, str]] = []
    for key, value in config.items():
        if not isinstance(key, str):
            raise ConfigFileError(f"the key {key!r} is not text")
        shown = f"{key}: {_shown(value)}"
        words.extend((word, lines.get(key, 1), shown) for word in _words(key, value, negatable, mappings_as_json))
    return words


def _words(key: str, value: object, negatable: Container[str], mappings_as_json: bool) -> Iterator[str]:
    match value:
        case bool():
            if value:
                yield f"--{key}"
            elif f"--no-{key}" in negatable:
                yield f"--no-{key}"
        case list():
            if value:
                yield f"--{key}"
                yield from map(str, value)
        case dict() if mappings_as_json:
            yield f"--{key}"
            try:
                yield json.dumps(value)
            except (TypeError, ValueError, RecursionError):
                raise ConfigFileError(f"the value of {key} cannot be written as JSON") from None
        case _:
            yield f"--{key}"
            yield str(value)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)[:80]
