"""The command line as its users call it, without a process of its own."""

from __future__ import annotations

import gc
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The answers of a batch."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Answer]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Calls the program with arguments, and requests on standard input if there are any."""

    def call(*arguments: str | Path, requests: Iterable[Mapping[str, Any] | str] = ()) -> Answer:
        lines = [request if isinstance(request, str) else json.dumps(request) for request in requests]
        stdin = io.TextIOWrapper(io.BytesIO("\n".join(lines).encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(gc, "set_threshold", lambda *_: None)
        monkeypatch.setattr(sys, "argv", ["seamguard", *map(str, arguments)])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(bool(end.code))
        printed = capsys.readouterr()
        return Answer(status, printed.out, printed.err)

    return call


ENGINE = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    environment: [EAGER]
    entrypoint: [bash, -c, 'exec vllm serve m $${EAGER:+--enforce-eager} "$$@"', --]
    command: [--tensor-parallel-size, "${TP:-2}"]
  other:
    image: llama-server
    entrypoint: [llama-server, -m, x.gguf]
"""

CORRUPT = """\
services:
  engine:
    image: vllm/vllm-openai:v0.25.1
    command:
      - --model
      - /models/hare-9b
      - --speculative-config
      - '{"method":"mtp","num_speculative_tokens":2}'
      - --enable-prefix-caching
"""

PROFILE = """\
id: hare-9b
num_hidden_layers: 32
num_gdn_layers: 24
num_attn_layers: 8
weights: {fp8: {path: hare-9b}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder (no git repository) with files."""

    def make(files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return make
