"""Deployments as text files: a compose, what lies beside it, and the host environments to try."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CASES = HERE / "cases"
RECORDED = HERE / "recorded.jsonl"

_HEADER = re.compile(r"# (service|main|envs|known|known seams): (.*)\n")


@dataclass(frozen=True)
class Deployment:
    """One repository with a service that serves a model.

    `known` says for environments (by their place in `environments`) why the present answer is known to be wrong, and
    `known_seams` why the seams are; empty when they are not.
    """

    name: str
    files: Mapping[str, str]
    main: str
    service: str
    environments: tuple[dict[str, str], ...]
    known: Mapping[int, str]
    known_seams: str = ""

    def write(self, root: Path) -> None:
        """Lays the files out; scripts are executable, as they are in their repositories."""
        for path, text in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
            target.chmod(0o755 if path.endswith(".sh") or text.startswith("#!") else 0o644)


def words(text: str) -> list[str]:
    """The names of a list."""
    return text.split()


def deployments() -> list[Deployment]:
    """All of them, in the order of the files' names."""
    return [one for path in sorted(CASES.glob("*.txt")) for one in _read(path.stem, path.read_text())]


def _read(group: str, text: str) -> Iterator[Deployment]:
    """`=== name`, header lines (`# envs: [{…}]`), then `--- path [crlf|bom]` and the text of that file."""
    for block in re.split(r"^=== ", text, flags=re.M)[1:]:
        name, _, rest = block.partition("\n")
        header: dict[str, Any] = {}
        while found := _HEADER.match(rest):
            header[found[1]] = found[2]
            rest = rest[found.end() :]
        files = dict(_files(rest))
        main = header.get("main", next(iter(files)))
        environments = tuple(json.loads(header.get("envs", "[{}]")))
        known = dict(_known(header["known"], len(environments))) if "known" in header else {}
        service, seams = header.get("service", "vllm"), header.get("known seams", "")
        yield Deployment(f"{group}/{name}", files, main, service, environments, known, seams)


def _known(text: str, count: int) -> Iterator[tuple[int, str]]:
    """`0 2: why` for some environments, `why` for all."""
    places, colon, reason = text.partition(": ")
    if colon and places.replace(" ", "").isdigit():
        yield from ((int(place), reason) for place in places.split())
    else:
        yield from ((place, text) for place in range(count))


def _files(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^--- ", text, flags=re.M)[1:]:
        head, _, content = part.partition("\n")
        path, *forms = head.split()
        if "crlf" in forms:
            content = content.replace("\n", "\r\n")
        if "bom" in forms:
            content = "\ufeff" + content
        yield path, content


def arguments(argv: list[str]) -> list[str] | None:
    """What follows the server's name; None when this is no server."""
    if argv[0] == "vllm":
        return argv[1:]
    if argv[0] in ("python", "python3"):
        for at, word in enumerate(argv[1:-1], 1):
            if word == "-m" and argv[at + 1].startswith("vllm."):
                return argv[at + 2 :]
            if not word.startswith("-"):
                break
    return None
