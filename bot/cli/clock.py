"""The clocks of fixes that accepted risks wait for, as the command line asks them."""

from __future__ import annotations

from bot.audit import Contains, shipped
from bot.cli.learning import sources_of
from bot.hazards import Rules
from bot.resolution import Repository


def clock_of(repository: Repository, rules: Rules, offline: bool) -> Contains:
    """What is shipped, then the source of a release where nobody has looked: that is fetched unless `offline`."""
    if not any(accepted.until for accepted in repository.catalog.configuration.accepted):
        return shipped(rules)
    from bot.upstream.known import known_from
    from bot.upstream.striking import Striking

    return Striking(known_from(rules.upstream.known, sources_of(offline)))
