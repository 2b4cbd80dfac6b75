"""The releases that pins name and that nobody has facts of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.version import Version

from bot.engine.facts import is_known, releases
from bot.engine.model import Pin

_RELEASE = re.compile(r"\d{1,3}(\.\d{1,4}){2,3}(\.post\d{1,2})?")


def missing(pins: Iterable[Pin]) -> tuple[str, ...]:
    """The releases without facts, newest first.

    Pre-releases and builds of a commit are none, and those before the first that the rules know are not meant: no
    derivation was ever read in them, so their facts would say next to nothing.
    """
    names = {pin.release for pin in pins if pin.release is not None and _RELEASE.fullmatch(pin.release)}
    oldest = Version(releases()[0])
    lacking = (name for name in names if not is_known(name) and Version(name) >= oldest)
    return tuple(sorted(lacking, key=Version, reverse=True))
