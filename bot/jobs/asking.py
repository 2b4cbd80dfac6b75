"""What a comment asks for, as its job keeps it.

A log is read at once, and only what it says is kept: nothing of its text is stored, or given to anything that logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.bootlog import BootLog, Said, read
from bot.commands import COMMANDS, Command, Explain, Found, Help, Mistake, Recheck, Request, Verify, find

_REQUESTS: Mapping[str, type[Request]] = {"recheck": Recheck, "explain": Explain, "verify": Verify, "help": Help}


@dataclass(frozen=True, slots=True)
class Asked:
    """A command, what it asks for, and what the log behind it says, for one that takes a log: empty where that has no
    line of an engine.
    """

    command: Command
    request: Request
    logs: tuple[BootLog, ...] = ()


def asked_in(body: str) -> tuple[Asked | Mistake, ...]:
    """What a comment asks for. Several commands may be about one log, which is read once."""
    found = find(body)
    blocks = {item.block for item in found if isinstance(item, Found) and item.block is not None}
    logs = {block: read(block) for block in blocks}
    return tuple(
        item if isinstance(item, Mistake) else Asked(item.command, item.request, logs.get(item.block or "", ()))
        for item in found
    )


def as_json(asked: Iterable[Asked | Mistake]) -> list[dict[str, Any]]:
    """As it is stored."""
    return [
        {"command": item.command.name, "mistake": item.message}
        if isinstance(item, Mistake)
        else {
            "command": item.command.name,
            "request": asdict(item.request),
            "logs": [asdict(log) for log in item.logs],
        }
        for item in asked
    ]


def from_json(stored: Sequence[Mapping[str, Any]]) -> tuple[Asked | Mistake, ...]:
    """Back from where it was stored."""
    return tuple(_item(item) for item in stored)


def _item(stored: Mapping[str, Any]) -> Asked | Mistake:
    command = COMMANDS[stored["command"]]
    if "mistake" in stored:
        return Mistake(str(stored["mistake"]), command)
    request = _REQUESTS[command.name](**stored["request"])
    return Asked(command, request, tuple(_log(log) for log in stored["logs"]))


def _log(stored: Mapping[str, Any]) -> BootLog:
    said = {name: Said(**found) for name, found in stored["said"].items()}
    return BootLog(**{**stored, "said": said, "served": tuple(stored["served"])})
