"""How an image starts the server when a compose sets no entrypoint."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from bot.engine import facts
from bot.engine.images import MIRRORED, UPSTREAM, parse_reference, pin


def image_entrypoint(image: str) -> tuple[str, ...] | None:
    """The ENTRYPOINT of an image of the vLLM project, or of a copy under its name; None for any other.

    Of a release whose facts do not say it (those that were learnt from a wheel, which has no Dockerfile), or that has
    none, it is that of the nearest earlier one that does. Of an image whose release is not known it is the newest's,
    which all have since 0.11.1.
    """
    name = parse_reference(image).name
    name = MIRRORED.get(name, name)
    if name not in UPSTREAM and posixpath.basename(name) not in {posixpath.basename(known) for known in UPSTREAM}:
        return None
    return next(filter(None, (facts.load(release).entrypoint for release in _nearest(pin(image).release))), None)


def _nearest(release: str | None) -> Iterator[str]:
    """The releases with facts that are asked about another, in this order."""
    known = facts.releases()
    if release is not None and facts.is_known(release):
        yield release
    try:
        earlier = [name for name in known if Version(name) < Version(release)] if release is not None else known
    except InvalidVersion:
        earlier = known
    yield from reversed(earlier or known[:1])
