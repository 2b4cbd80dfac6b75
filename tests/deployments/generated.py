"""Random entrypoints that ask their machine: queries, waiting loops, kept statuses, files that may be there."""

from __future__ import annotations

import json
import random

from tests.deployments.deployment import Deployment

_QUERIES = (
    "nvidia-smi >/dev/null 2>&1",
    "nvidia-smi -L | grep -q 3090",
    "curl -fs http://x/health",
    "curl -fs http://x/health >/dev/null",
    "wget -q http://x/y",
    "command -v rocm-smi >/dev/null",
    "grep -q fp8 /models/m/config.json",
    "[ -f /models/m/config.json ]",
    "[ -d /data ]",
    "[ -x /usr/local/bin/hf ]",
    "python3 -c 'import torch'",
    "jq -e .a /models/m/config.json",
    "git rev-parse HEAD",
    "test -s run.sh",
    "[ $(nproc) -gt 4 ]",
    '[ "$(nvidia-smi -L | wc -l)" -ge 2 ]',
    '[ "$(curl -s http://x/v1/models)" = ok ]',
    '[[ "$(curl -s http://x/v1/models)" == *list* ]]',
)
_OUTPUTS = (
    "$(nproc)",
    "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)",
    "$(nvidia-smi -L | wc -l)",
    "$(curl -fs http://x/y || echo none)",
    "$(python3 -c 'print(1)' 2>/dev/null || echo 0)",
    "$(git rev-parse HEAD 2>/dev/null)",
    "$(cat /models/m/name 2>/dev/null || echo m)",
    "$(hostname >/dev/null; echo h)",
    "$PWD",
    "$(pwd)",
    '$(basename "$PWD")',
)
_SETTINGS = ("", "set -e", "set -u", "set -eu", "set -euo pipefail", "set -o pipefail", "set -Ee; trap 'exit 42' ERR")
_TRIES = ("1 2", "1 2 3", "$(seq 1 5)")


class Entrypoints:
    """A source of deployments whose entrypoints end."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        self.number = number
        self.made = 0

    def one(self) -> Deployment:
        """A deployment with one script; what it found out is in the arguments of the server."""
        self.made += 1
        lines = [self.random.choice(_SETTINGS), 'A=(); N=0; R=; V=""']
        lines += [self._statement(2) for _ in range(self.random.randint(1, 4))]
        lines.append('exec vllm serve m "${A[@]}" --n "$N" --r "$R" --v "$V"')
        script = "\n".join(lines)
        directory = self.random.choice([{}, {}, {"working_dir": "/app"}])
        service = {
            "image": "vllm/vllm-openai:v0.25.1",
            "volumes": ["./app:/app:ro"],
            "entrypoint": ["bash", "-c", script.replace("$", "$$")],
            **directory,
        }
        files = {
            "docker-compose.yml": json.dumps({"services": {"vllm": service}}),
            "app/run.sh": "#!/bin/bash\necho run\n",
        }
        return Deployment(f"generated/{self.number}-{self.made}", files, "docker-compose.yml", "vllm", ({},), {})

    def _statement(self, depth: int) -> str:
        choose = self.random.choice
        query, flag = choose(_QUERIES), f"A+=(--{choose('abcdefg')})"
        if depth <= 0 or self.random.random() < 0.5:
            return choose(
                [
                    f"{query} && {flag}",
                    f"{query} || {flag}",
                    f"{query}; R=$?",
                    f"{query}",
                    f"if ! {query}; then {flag}; fi",
                    f'V="{choose(_OUTPUTS)}"',
                    f"X={choose(_OUTPUTS)} || {flag}",
                    f'X={choose(_OUTPUTS)}; [ "$X" = 2 ] && {flag}',
                    f'[ "{choose(_OUTPUTS)}" = "{choose(_OUTPUTS)}" ] && {flag}',
                    f"sleep 1; {flag}",
                    "N=$((N+1))",
                    "pip install -q x",
                    "cd /tmp",
                    "cd app 2>/dev/null || true",
                    f"( {query} ) || {flag}",
                    f"wait_for() {{ {query}; }}; wait_for && {flag}; wait_for || N=9",
                ]
            )
        first, second = self._statement(depth - 1), self._statement(depth - 1)
        return choose(
            [
                f"if {query}; then {first}; else {second}; fi",
                f"for i in {choose(_TRIES)}; do if {query}; then {flag}; break; fi; N=$i; sleep 1; done",
                f"for i in {choose(_TRIES)}; do {query} && break; {first}; done",
                f"n=0; until {query}; do n=$((n+1)); [ $n -lt 4 ] || {choose(['break', 'exit 3'])}; done; N=$n",
                f"while ! {query}; do {first}; N=$((N+1)); [ $N -lt 4 ] || break; done",
                f"f() {{ {query} || return 3; {flag}; }}; f; R=$?",
                f"f() {{ {query} || return 3; {flag}; }}; if f; then {first}; fi",
                f"{first}; {second}",
            ]
        )
