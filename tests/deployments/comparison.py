"""Sets the answer of `resolve` against what really started."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.cli.resolve import _Opened
from bot.shell.interpreter import SUCCEEDS
from tests.deployments.deployment import arguments

Json = Mapping[str, Any]


def resolve(root: str, file: str, service: str, env: Mapping[str, str], worlds: str = "default") -> dict[str, Any]:
    """The answer of `resolve --batch`."""
    with _Opened() as states:
        return states.answer({"file": file, "repo": root, "service": service, "env": dict(env), "worlds": worlds})


def services(answer: Json, name: str) -> Json | None:
    return next((one for one in answer.get("services", ()) if one["service"] == name), None)


def differences(
    expect: Json, worlds: Sequence[Json], errors: Sequence[Json], files: Mapping[str, str] | None = None
) -> list[str]:
    """What is wrong in the answer; an answer that admits not to know is not wrong.

    `files` are those of the repository: what a script of theirs does is within the step that runs the script.
    """
    if "error" in expect:
        if not errors:
            return [f"accepted what Docker Compose refuses: {expect['error'][-200:]}"]
        return ["starts something although Docker Compose refuses"] if not all(map(is_open, worlds)) else []
    if errors:
        return [f"refused what Docker Compose accepts: {errors[0]['message'][:200]}"]
    return list(_wrong(expect, worlds, files or {}))


def is_resolved(worlds: Sequence[Json]) -> bool:
    """Whether the answer is one, and complete."""
    return len(worlds) == 1 and not worlds[0]["symbols"] and not is_open(worlds[0])


def is_open(world: Json) -> bool:
    return world["argv"] is None and world["exit"] is None


def _wrong(expect: Json, worlds: Sequence[Json], files: Mapping[str, str]) -> Iterator[str]:
    hopes = any(SUCCEEDS in note["reason"] for world in worlds for note in world["unresolved"])
    for machine in ("plain", "two-gpus", "nothing-answers"):
        if hopes and machine == "nothing-answers":
            continue
        real = expect.get(machine, expect["plain"])
        fitting = [world for world in worlds if _agrees(world, real)]
        if not fitting:
            if not any(is_open(world) for world in worlds):
                told = " | ".join(f"{world['argv'] or world['exit']}" for world in worlds)
                yield f"{machine}: starts {real['argv'] or real['exit']}, not {told}"
        elif (
            is_resolved(worlds)
            and worlds[0]["argv"] == real["argv"] is not None
            and not _fits(worlds[0]["exec_env"], real["exec_env"])
        ):
            yield f"{machine}: with {real['exec_env']}, not {worlds[0]['exec_env']}"
    if is_resolved(worlds):
        scripts = _run_by(worlds[0]["steps"], files)
        stops = [real for real in expect.get("stops", ()) if not any(" ".join(real["run"]) in one for one in scripts)]
        yield from _wrong_steps(stops, worlds[0]["steps"])


def _fits(told: Mapping[str, str], real: Mapping[str, str]) -> bool:
    """Whether an environment is the real one, but for values that are admittedly not known.

    The search path is left out, as in the record: that of the container is not the image's.
    """
    shown = {name: value for name, value in told.items() if name != "PATH"}
    return shown.keys() == real.keys() and all("${" in value or value == real[name] for name, value in shown.items())


def _agrees(world: Json, real: Json) -> bool:
    if world["argv"] is not None:
        return world["argv"] == real["argv"] or any(world["argv"] == arguments(call) for call in real["calls"])
    return world["exit"] is not None and real["argv"] is None and world["exit"] == real["exit"]


def _run_by(steps: Sequence[Json], files: Mapping[str, str]) -> list[str]:
    """The texts of the scripts that steps run with a shell."""
    named = [one["run"][1].lstrip("./") for one in steps if one["run"][0] in ("bash", "sh") and len(one["run"]) > 1]
    return [text for path, text in files.items() if any(path.endswith(name) for name in named)]


def _wrong_steps(stops: Sequence[Json], steps: Sequence[Json]) -> Iterator[str]:
    told = [([posixpath.basename(step["run"][0]), *step["run"][1:]], step["failure_stops_boot"]) for step in steps]
    for real in stops:
        while told and told[0][0] != real["run"]:
            told.pop(0)
        if not told:
            yield f"step {real['run']} is not told"
            return
        if told.pop(0)[1] != real["stops"]:
            yield f"step {real['run']}: a failure {'stops' if real['stops'] else 'does not stop'} the boot"
