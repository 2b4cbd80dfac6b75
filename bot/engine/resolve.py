"""From a launch to the engine's properties."""

from __future__ import annotations

from bot.engine import facts as facts_of
from bot.engine.agreement import agree
from bot.engine.facts import SOURCE_URL
from bot.engine.model import Engine, Launch
from bot.engine.release import DERIVATIONS, in_release
from bot.engine.together import Together

__all__ = ["DERIVATIONS", "in_release", "resolve", "source_link"]


def resolve(launch: Launch, *, all_files: bool = False) -> Engine:
    """The engine that a launch means.

    A pin without a release that has facts is asked of every release that has (see `agreement`). `all_files` says
    that `launch.files` are all the files there are, so that a missing configuration file is an error.
    """
    release = launch.pin.release
    if release is not None and facts_of.is_known(release):
        return in_release(launch, facts_of.load(release), all_files=all_files)
    together = Together(launch, [facts_of.load(name) for name in facts_of.releases()], all_files=all_files)
    return agree(launch.pin, together.engines(), together.own)


def source_link(release: str, path: str, line: int | None) -> str:
    """The address of a line of a release's source, whether the release has facts or not."""
    link = SOURCE_URL.format(version=release, path=path, line=line)
    return link if line else link.partition("#")[0]
