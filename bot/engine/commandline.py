"""Reading a server's command line exactly as a release's parser does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bot.engine.facts import Facts
from bot.engine.model import EngineError, Ineffective
from bot.provenance import Reason, Word


class _Unknown:
    """The type of `UNKNOWN`. It has no truth value, so that it is never mistaken for one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("UNKNOWN is neither true nor false")


UNKNOWN: Final = _Unknown()
"""The value of a setting whose word holds a symbol, or that an unknown word may have overridden."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An explicit value. `argument` is the argument as it was written."""

    value: object
    because: tuple[Reason, ...]
    argument: str


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What a command line says.

    `settings` holds explicit settings only, by `EngineArgs` name (`kv_cache_dtype`, `compilation_config` → dict).
    `nested` has each key of a JSON setting, dotted (`speculative_config.method`). `open` is True when an unquoted
    unknown may hold any further argument: then a setting that is not there may still be set.
    """

    settings: Mapping[str, Setting]
    errors: tuple[EngineError, ...] = ()
    ineffective: tuple[Ineffective, ...] = ()
    open: bool = False
    nested: Mapping[str, Setting] = field(default_factory=dict)


def parse(
    argv: Sequence[Word], facts: Facts, files: Mapping[str, str] | None = None, *, all_files: bool = False
) -> CommandLine:
    """Read what follows `vllm` (`serve …`) or the server module (no `serve`).

    `files` are configuration files by path. A `--config` that is not among them may set anything, unless
    `all_files` says that there are no others: then it is an error. Settings are empty when there are errors that
    stop the parser.
    """
    raise NotImplementedError


def unread(environment: Mapping[str, Word], facts: Facts) -> tuple[Ineffective, ...]:
    """The `VLLM_*` variables that the release does not read."""
    known = facts.environment
    return tuple(
        Ineffective(
            kind="unread-variable",
            argument=f"{name}={word.text}",
            setting=name,
            message=f"vLLM {facts.version} does not read {name}",
            because=word.because,
        )
        for name, word in environment.items()
        if name.startswith("VLLM_") and name not in known
    )
