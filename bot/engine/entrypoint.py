"""How an image starts the server when a compose sets no entrypoint."""

from __future__ import annotations

import posixpath

from bot.engine import facts
from bot.engine.images import MIRRORED, UPSTREAM, parse_reference, pin


def image_entrypoint(image: str) -> tuple[str, ...] | None:
    """The ENTRYPOINT of an image of the vLLM project, or of a copy under its name; None for any other.

    Of a release without facts it is what all releases with facts have, or None where they differ.
    """
    name = parse_reference(image).name
    name = MIRRORED.get(name, name)
    if name not in UPSTREAM and posixpath.basename(name) not in {posixpath.basename(known) for known in UPSTREAM}:
        return None
    release = pin(image).release
    known = facts.releases()
    asked = (release,) if release in known else known
    answers = {facts.load(version).entrypoint for version in asked}
    return answers.pop() if len(answers) == 1 else None
