"""What GitHub's errors mean for a job: later, never, or another attempt."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from bot.github.errors import (
    Forbidden,
    GitHubError,
    NotFound,
    RateLimited,
    Suspended,
    TooLarge,
    Unauthorised,
    Unavailable,
)
from bot.jobs.resolver import ResolverFailed
from bot.store import Handler, Job, Later

log = logging.getLogger("seamguard.jobs")


class Guarded:
    """A handler whose GitHub errors are turned into what the store understands."""

    def __init__(self, inner: Handler) -> None:
        self._inner = inner

    async def do(self, job: Job) -> str:
        """Does the job. Raises `Later`."""
        try:
            return await self._inner.do(job)
        except RateLimited as error:
            raise Later(str(error), error.until.timestamp()) from error
        except Suspended as error:
            return f"the installation gives no access: {error}"
        except NotFound as error:
            return f"gone: {error}"
        except Forbidden as error:
            log.error("a permission is missing: %s", error, extra={"needs": error.needs})
            return await self.give_up(job, f"a permission is missing: {error.needs or 'see the log'}")
        except (Unavailable, Unauthorised) as error:
            raise Later(str(error)) from error
        except (ResolverFailed, TooLarge) as error:
            return await self.give_up(job, str(error))
        except GitHubError as error:
            log.error("GitHub refuses: %s", error)
            return await self.give_up(job, f"GitHub: {error}")

    async def give_up(self, job: Job, reason: str) -> str:
        """Tells whoever waits. Raises `Later`. An installation that gives no access has nobody who could be told."""
        try:
            return await self._inner.give_up(job, reason)
        except RateLimited as error:
            raise Later(str(error), error.until.timestamp()) from error
        except (Unavailable, Unauthorised) as error:
            raise Later(str(error)) from error
        except GitHubError as error:
            log.error("could not tell why a job ended: %s", error)
            return f"given up: {reason}"


def guarded(handlers: Mapping[str, Handler]) -> dict[str, Handler]:
    """All of them guarded."""
    return {kind: Guarded(handler) for kind, handler in handlers.items()}
