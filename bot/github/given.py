"""Seamguard without an App: everything is done with one token that somebody has given."""

from __future__ import annotations

from bot.github.app import App
from bot.github.auth import GivenCredential
from bot.github.blobcache import BlobCache
from bot.github.client import GitHub
from bot.github.hosts import Hosts
from bot.github.limits import Timing
from bot.github.model import Identity, Installation, RepositoryName
from bot.github.requests import Requests
from bot.github.trees import TreeCache

ACTIONS_APP = 15368
"""The App that writes what a run of GitHub Actions writes with its own token, at github.com."""


class GivenToken(App):
    """What an App is to everybody else. `app_id` is that of the App whose token it is, 0 for a person's: who has
    written something is told by it, so that with a person's token nothing should be written.
    """

    def __init__(
        self,
        token: str,
        app_id: int = 0,
        hosts: Hosts | None = None,
        cache: BlobCache | None = None,
        timing: Timing | None = None,
    ) -> None:
        super().__init__("", "", hosts, cache, timing, token)
        self._given = Requests(self.transport, GivenCredential(token))
        self._blobs = BlobCache() if cache is None else cache
        self._known_trees = TreeCache()
        self._app_id = app_id

    async def app(self) -> Identity:
        """Whose token it is."""
        return Identity(self._app_id, "github-actions" if self._app_id == ACTIONS_APP else "", "", {}, ())

    async def installation(self, installation: int) -> GitHub:  # noqa: ARG002 - there is one token for all
        """A client with the token."""
        return GitHub(self._given, self._blobs, self._app_id, self._known_trees)

    async def installations(self) -> tuple[Installation, ...]:
        """A token is installed nowhere."""
        return ()

    async def installation_repositories(self, installation: int) -> tuple[RepositoryName, ...]:  # noqa: ARG002
        """Nor for any repository."""
        return ()
