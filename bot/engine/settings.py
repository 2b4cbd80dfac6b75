"""An explicit value of the command line, and the settings that stand for others."""

from __future__ import annotations

from dataclasses import dataclass

from bot.provenance import Reason

SPECULATION = {"spec_method": "method", "spec_model": "model", "spec_tokens": "num_speculative_tokens"}
"""Flags that are short for keys of the speculative configuration."""

READ_BY_ENGINE = {"speculative_config": "SpeculativeConfig", "diffusion_config": "DiffusionConfig"}
"""Settings that the parser takes as any JSON, and the class that the engine makes of each."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An explicit value, its reasons, and the argument as it was written. The value may be `UNKNOWN`."""

    value: object
    because: tuple[Reason, ...]
    argument: str
