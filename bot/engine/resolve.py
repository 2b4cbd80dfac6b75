"""From a launch to the engine's properties."""

from __future__ import annotations

from collections.abc import Sequence

from bot.engine import facts as facts_of
from bot.engine.agreement import agree
from bot.engine.derivations.context import Common
from bot.engine.facts import SOURCE_URL
from bot.engine.model import Engine, Launch, Property
from bot.engine.release import DERIVATIONS, in_release
from bot.engine.together import Together
from bot.provenance import Reason

__all__ = ["DERIVATIONS", "in_release", "resolve", "source_link", "source_links"]


def resolve(launch: Launch, *, all_files: bool = False, common: Common | None = None) -> Engine:
    """The engine that a launch means.

    A pin without a release that has facts is asked of every release that has (see `agreement`). `all_files` says
    that `launch.files` are all the files there are, so that a missing configuration file is an error. `common` takes
    what is found of the launch whatever the card, and gives it when the same launch is asked for on another one.
    """
    release = launch.pin.release
    if release is not None and facts_of.is_known(release):
        return in_release(launch, facts_of.load(release), all_files=all_files, common=common)
    together = Together(launch, [facts_of.load(name) for name in facts_of.releases()], all_files=all_files)
    return agree(launch.pin, together.engines(), together.own)


def source_link(release: str, path: str, line: int | None) -> str:
    """The address of a line of a release's source, whether the release has facts or not."""
    link = SOURCE_URL.format(version=release, path=path, line=line)
    return link if line else link.partition("#")[0]


def source_links(releases: Sequence[str], found: Property) -> dict[Reason, str]:
    """The addresses of the reasons for a value that stand in a release's source; `releases` are those that were asked.

    Where several were asked, the reasons for a value are those of the newest; those for an unknown one may be any
    release's, so they get no address.
    """
    if not releases or (len(releases) > 1 and not found.known):
        return {}
    return {
        reason: source_link(releases[-1], reason.path, reason.line)
        for reason in found.because
        if reason.kind == "engine-default" and reason.line is not None
    }
