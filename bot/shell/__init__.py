"""What an entrypoint would start: shell scripts interpreted over values that know where they came from.

Nothing is ever executed.
"""

from bot.shell.catalogue import is_inference_server
from bot.shell.machine import Limits, ListedFiles
from bot.shell.model import (
    CONTRARY_TO,
    Comparison,
    ContainerFiles,
    Outcome,
    Process,
    Read,
    Run,
    SourceFile,
    Step,
    Unresolved,
)
from bot.shell.question import run

__all__ = [
    "CONTRARY_TO",
    "Comparison",
    "ContainerFiles",
    "Limits",
    "ListedFiles",
    "Outcome",
    "Process",
    "Read",
    "Run",
    "SourceFile",
    "Step",
    "Unresolved",
    "is_inference_server",
    "run",
]
