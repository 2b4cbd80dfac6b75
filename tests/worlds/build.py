"""Small composes whose entrypoint is a script, and what is seen of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import dedent, indent

from bot.compose import Documents
from bot.engine import image_entrypoint
from bot.tree import MemoryTree
from bot.worlds.container import ImageEntrypoint
from bot.worlds.deployment import Deployment
from bot.worlds.seams import Survey, survey, toggles

FILE = "deploy/compose.yml"
IMAGE = "vllm/vllm-openai:v0.25.1"


def compose(
    script: str, environment: Sequence[str] = (), volumes: Sequence[str] = (), header: str = "", image: str = IMAGE
) -> str:
    """A service that starts `script` with bash. `$$` in it is the shell's own `$`, as in a real compose."""
    lines = [f"# {line}\n" for line in header.splitlines()]
    lines += ["services:\n", "  engine:\n", f"    image: {image}\n"]
    for key, entries in (("environment", environment), ("volumes", volumes)):
        if entries:
            lines += [f"    {key}:\n", *(f"      - {entry}\n" for entry in entries)]
    lines += ["    entrypoint:\n", "      - bash\n", "      - -c\n", "      - |\n"]
    return "".join(lines) + indent(dedent(script).strip("\n"), " " * 8) + "\n"


def deployment(
    text: str,
    files: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    entrypoint_of: ImageEntrypoint = image_entrypoint,
) -> Deployment:
    """The service `engine` of a compose, in a repository that also has `files`."""
    tree = MemoryTree({FILE: text, **(files or {})})
    return Deployment(tree, Documents(tree), (FILE,), "engine", entrypoint_of, environment or {})


def surveyed(text: str, files: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None) -> Survey:
    """The seams of the service `engine`."""
    found = deployment(text, files, environment)
    default = found.realise()
    if ours := toggles(found, default):
        found = replace(found, unset=ours)
        default = found.realise()
    return survey(found, default)
