"""What can go wrong between Seamguard and GitHub: each kind is one that a caller treats differently."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime


class GitHubError(Exception):
    """GitHub did not do what was asked. The message holds no token, and may quote GitHub."""


class NotFound(GitHubError):
    """There is no such thing, or this installation may not know of it (404, 410)."""


class Conflict(GitHubError):
    """The thing is in no state for this (409): an empty repository has no tree."""


class Forbidden(GitHubError):
    """The installation may not do this (403). `needs` names the permissions that GitHub asks for, where it says so."""

    def __init__(self, message: str, needs: str = "") -> None:
        super().__init__(f"{message} (needs {needs})" if needs else message)
        self.needs = needs


class Suspended(Forbidden):
    """The installation is suspended, or gone: nothing will work until its owner changes that."""


class Unauthorised(GitHubError):
    """The credentials are wrong (401), also after they were renewed."""


class Unprocessable(GitHubError):
    """GitHub understood the request and refuses it (422)."""

    def __init__(self, message: str, errors: Sequence[str] = ()) -> None:
        super().__init__(f"{message}: {'; '.join(errors)}" if errors else message)
        self.errors = tuple(errors)


class UnplaceableComment(Unprocessable):
    """A comment's line is not in the diff. GitHub refuses the whole review with it."""


class RateLimited(GitHubError):
    """No more requests until `until` (aware, UTC)."""

    def __init__(self, message: str, until: datetime) -> None:
        super().__init__(f"{message}; asked to wait until {until.isoformat(timespec='seconds')}")
        self.until = until


class Unavailable(GitHubError):
    """GitHub gave no usable answer: 5xx, a timeout, a broken connection. `perhaps_done` says that a write may have
    happened all the same.
    """

    def __init__(self, message: str, *, perhaps_done: bool = False) -> None:
        super().__init__(message)
        self.perhaps_done = perhaps_done


class ForeignHost(GitHubError):
    """An address outside of the hosts that are allowed: nothing was sent to it."""


class TooLarge(GitHubError):
    """An answer over the limit that was set for it."""
