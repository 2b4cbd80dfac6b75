"""How an image starts the server when a compose sets no entrypoint."""

from __future__ import annotations

import posixpath

from packaging.version import InvalidVersion, Version

from bot.engine import facts
from bot.engine.images import MIRRORED, UPSTREAM, parse_reference, pin


def image_entrypoint(image: str) -> tuple[str, ...] | None:
    """The ENTRYPOINT of an image of the vLLM project, or of a copy under its name; None for any other.

    Of a release without facts it is that of the nearest earlier one that has some. Of an image whose release is not
    known it is the newest's, which all have since 0.11.1.
    """
    name = parse_reference(image).name
    name = MIRRORED.get(name, name)
    if name not in UPSTREAM and posixpath.basename(name) not in {posixpath.basename(known) for known in UPSTREAM}:
        return None
    return facts.load(_nearest(pin(image).release)).entrypoint


def _nearest(release: str | None) -> str:
    """The release with facts that is asked in place of another."""
    known = facts.releases()
    if release is None:
        return known[-1]
    if facts.is_known(release):
        return release
    try:
        earlier = [name for name in known if Version(name) < Version(release)]
    except InvalidVersion:
        return known[-1]
    return earlier[-1] if earlier else known[0]
