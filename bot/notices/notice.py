"""What there is to be said of one fix in one repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from bot.notices.caveats import Caveat, caveats
from bot.notices.marks import key_of
from bot.notices.standing import OPENS, Standing, standing, weighs
from bot.upstream.watch import Watched


@dataclass(frozen=True)
class Notice:
    """A fix, how it stands, and the caveats that wait for it. `rules` are the ids of hazard rules that do, too."""

    watched: Watched
    standing: Standing
    caveats: tuple[Caveat, ...]
    rules: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """The reference of the fix, in normal form."""
        return self.watched.reference

    @cached_property
    def key(self) -> str:
        """What stands for the fix in marks."""
        return key_of(self.reference)

    @property
    def clear(self) -> tuple[Caveat, ...]:
        """The caveats that may go."""
        return tuple(caveat for caveat in self.caveats if caveat.verdict == "clear")

    @property
    def worth_opening(self) -> bool:
        """Whether an issue is opened for it, where there is none. What the repository wrote down itself is no news."""
        sites = self.watched.sites
        if self.standing.stage not in OPENS or not any(weighs(site) for site in sites):
            return False
        return self.standing.stage != "superseded" or not any(site.role == "superseded" for site in sites)


def notice_of(watched: Watched, every: Mapping[str, Watched], rules: tuple[str, ...] = ()) -> Notice:
    """The notice for a fix. `every` has all references of the repository that are watched."""
    found = caveats(watched, every)
    reached = not found or any(caveat.verdict in ("clear", "held") for caveat in found)
    return Notice(watched, standing(watched, reached=reached), found, rules)
