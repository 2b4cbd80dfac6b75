"""The simulated GitHub itself: its accounts, Apps and repositories, and the server that shows them."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from aiohttp import web
from aiohttp.typedefs import Middleware
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.sandbox.github import (
    apps,
    checks,
    comments,
    commits,
    contents,
    graphql,
    hooks,
    issues,
    pulls,
    references,
    repositories,
    review_comments,
    reviews,
    server,
    timeline,
)
from bot.sandbox.github.call import Route
from bot.sandbox.github.clock import Clock
from bot.sandbox.github.contents import MAX_TREE_ENTRIES
from bot.sandbox.github.events import Events
from bot.sandbox.github.faults import Faults
from bot.sandbox.github.hooks import Hooks
from bot.sandbox.github.limits import Limits
from bot.sandbox.github.log import Logged
from bot.sandbox.github.model import App, Installation, Repository, Token, User
from bot.sandbox.github.repository import RepositoryHandle
from bot.sandbox.github.store import GitStore

FIRST_ID = 3_200_000_000
"""Ids are larger than 32 bits hold, as many of GitHub's are by now."""

PERMISSIONS = {
    "metadata": "read",
    "contents": "read",
    "pull_requests": "write",
    "issues": "write",
    "checks": "write",
    "merge_queues": "read",
}
EVENTS = ("pull_request", "issue_comment", "check_run", "check_suite", "push", "merge_group")

_RESOURCES = (
    apps, checks, comments, commits, contents, graphql, hooks, issues, pulls, references, repositories,
    review_comments, reviews, timeline,
)  # fmt: skip


@cache
def _key_pair() -> tuple[str, str]:
    """One RSA key for all Apps of a process, since making one takes a moment."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    private = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode("ascii"), public.decode("ascii")


class Hub:
    """A GitHub of one's own. Made by `simulated_github`; everything runs in the event loop that made it."""

    def __init__(self, folder: Path, web_url: str = "https://github.example") -> None:
        self.url = ""
        self.archive_url = ""
        self.web_url = web_url
        self.clock = Clock()
        self.limits = Limits(self.clock)
        self.faults = Faults()
        self.events = Events(self)
        self.hooks = Hooks(self)
        self.requests: list[Logged] = []
        self.leaks: list[str] = []
        """Tokens that were sent to the archive's host, where none belongs."""
        self.closing = asyncio.Event()
        self.max_tree_entries = MAX_TREE_ENTRIES
        self.list_lag = 0.0
        """Seconds until a new issue is in the lists of issues: sometimes they lag (facts, section 6)."""
        self.users: dict[str, User] = {}
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.tokens: dict[str, Token] = {}
        self.repositories: dict[int, Repository] = {}
        self.manifest_codes: dict[str, App] = {}
        self.directory = server.Directory(sorted_routes())
        self._folder = folder
        self._ids = count(FIRST_ID)
        self._names: dict[str, int] = {}
        self._former: dict[str, int] = {}
        self._tickets: set[str] = set()
        self._stores: list[GitStore] = []

    def next_id(self) -> int:
        """A number that nothing else has."""
        return next(self._ids)

    def user(self, login: str, kind: str = "User") -> User:
        """The account of that name, made when it is missing."""
        known = self.users.get(login.lower())
        if known is None:
            known = self.users[login.lower()] = User(self.next_id(), login, kind)  # type: ignore[arg-type]
        return known

    def register_app(
        self,
        slug: str = "seamguard",
        *,
        hook_url: str | None = None,
        webhook_secret: str = "not-a-secret",  # noqa: S107
        permissions: Mapping[str, str] | None = None,
        events: Iterable[str] = EVENTS,
        owner: str = "app-owner",
    ) -> App:
        """Register an App. Installations take over its permissions."""
        number = self.next_id()
        private, public = _key_pair()
        app = App(
            id=number,
            client_id=f"Iv23li{secrets.token_hex(7)}",
            slug=slug,
            name=slug.capitalize(),
            owner=self.user(owner),
            bot=self.user(f"{slug}[bot]", "Bot"),
            private_key=private,
            public_key=public,
            webhook_secret=webhook_secret,
            hook_url=hook_url,
            permissions=dict(PERMISSIONS if permissions is None else permissions),
            events=list(events),
            created_at=self.clock.now(),
        )
        self.apps[number] = app
        return app

    def manifest_code(self, app: App) -> str:
        """The code that the manifest flow hands back to the App's maker."""
        code = secrets.token_hex(20)
        self.manifest_codes[code] = app
        return code

    def install(self, app: App, account: str, repositories: Iterable[str] | None = None) -> Installation:
        """Install an App for an account: for all of its repositories, or for those of these names."""
        chosen = None
        if repositories is not None:
            chosen = {self._names[f"{account}/{name}".lower()] for name in repositories}
        owner = self.user(account)
        new = Installation(self.next_id(), app, owner, dict(app.permissions), self.clock.now(), chosen)
        self.installations[new.id] = new
        self.events.installation(new, "created", owner)
        return new

    def suspend(self, installation: Installation, *, suspended: bool = True) -> None:
        """Suspend an installation, or let it work again."""
        installation.suspended_at = self.clock.now() if suspended else None
        installation.suspended_by = installation.account if suspended else None
        self.events.installation(installation, "suspend" if suspended else "unsuspend", installation.account)

    def revoke(self, installation: Installation) -> None:
        """Uninstall: tokens end at once."""
        installation.deleted = True
        self.events.installation(installation, "deleted", installation.account)

    def set_permissions(self, installation: Installation, permissions: Mapping[str, str]) -> None:
        """What the account has approved; tokens that were not narrowed follow at once."""
        installation.permissions = dict(permissions)

    def repository(
        self,
        full_name: str,
        files: Mapping[str, str | bytes] | Path | None = None,
        *,
        installed: bool | App = False,
        private: bool = False,
        default_branch: str = "main",
        maintainer: str = "maintainer",
    ) -> RepositoryHandle:
        """A new repository: of these files, of the history of a git repository, or empty. `installed` installs the App
        (True: the only one there is) for it. The maintainer may write.
        """
        owner, _, name = full_name.partition("/")
        store = self.new_store()
        who = self.user(owner, "Organization")
        new = Repository(self.next_id(), who, name, store, self.clock.now(), default_branch, private)
        new.roles[self.user(maintainer).login] = "write"
        self.add(new)
        handle = RepositoryHandle(self, new)
        if isinstance(files, Path):
            new.branches, new.tags, new.annotated = store.load(files)
            if default_branch not in new.branches:
                new.default_branch = next(iter(new.branches))
        elif files is not None:
            handle.commit(files, "Begin", author=maintainer, quiet=True)
        if installed:
            app = next(iter(self.apps.values())) if installed is True else installed
            self._install_for(app, new)
        return handle

    def _install_for(self, app: App, repository: Repository) -> None:
        for known in self.installations.values():
            if known.app is app and known.account is repository.owner and not known.deleted:
                if known.repositories is not None and repository.id not in known.repositories:
                    known.repositories.add(repository.id)
                    self.events.installation_repositories(known, [repository], [], repository.owner)
                return
        self.install(app, repository.owner.login)

    def new_store(self) -> GitStore:
        """An empty bare repository."""
        store = GitStore(self._folder / f"{self.next_id()}.git")
        self._stores.append(store)
        return store

    def add(self, repository: Repository) -> None:
        """Make a repository known by its name."""
        self.repositories[repository.id] = repository
        self._names[repository.full_name.lower()] = repository.id

    def rename(self, repository: Repository, name: str) -> None:
        """Give a repository another name; the old one redirects."""
        old = repository.full_name.lower()
        self._former[old] = repository.id
        del self._names[old]
        repository.name = name
        self.add(repository)

    def transfer(self, repository: Repository, owner: str) -> None:
        """Give a repository to another account; the old name redirects. The old account's installations lose it."""
        old = repository.full_name.lower()
        self._former[old] = repository.id
        del self._names[old]
        repository.owner = self.user(owner, "Organization")
        self.add(repository)

    def delete(self, repository: Repository) -> None:
        """Remove a repository. Pull requests from it stay, without their head's repository."""
        del self._names[repository.full_name.lower()], self.repositories[repository.id]
        for other in self.repositories.values():
            for pull in other.pulls.values():
                if pull.head_repository is repository:
                    pull.head_repository = None

    def find_repository(self, owner: str, name: str) -> Repository | None:
        """By name, in any case."""
        number = self._names.get(f"{owner}/{name}".lower())
        return None if number is None else self.repositories.get(number)

    def formerly(self, owner: str, name: str) -> Repository | None:
        """The repository that had this name before."""
        number = self._former.get(f"{owner}/{name}".lower())
        return None if number is None else self.repositories.get(number)

    def installed_for(self, repository: Repository) -> list[Installation]:
        """The working installations that cover a repository."""
        return [
            each
            for each in self.installations.values()
            if each.account is repository.owner
            and not each.deleted
            and each.suspended_at is None
            and (each.repositories is None or repository.id in each.repositories)
        ]

    def moved(self, path: str) -> str | None:
        """Where a renamed repository's address leads now: to its number."""
        found = re.match(r"/repos/([^/]+/[^/]+)(.*)", path)
        number = self._former.get(found[1].lower()) if found and found[1].lower() not in self._names else None
        return None if found is None or number is None else f"{self.url}/repositories/{number}{found[2]}"

    def by_name(self, path: str) -> str:
        """An address by a repository's number as one by its name."""
        found = re.match(r"/repositories/(\d+)(.*)", path)
        repository = self.repositories.get(int(found[1])) if found else None
        return path if found is None or repository is None else f"/repos/{repository.full_name}{found[2]}"

    def redeliver(self, guid: str) -> None:
        """Send the newest attempt of a delivery again, as a press of the button in the App's settings does."""
        newest = next(each for each in reversed(self.hooks.deliveries) if each.guid == guid)
        self.hooks.redeliver(newest)

    def archive_ticket(self) -> str:
        """What opens a private archive, once."""
        ticket = secrets.token_urlsafe(16)
        self._tickets.add(ticket)
        return ticket

    async def settled(self) -> None:
        """Wait until every webhook that was sent has been answered."""
        await self.hooks.settled()

    async def archive(self, request: web.Request) -> web.Response:
        """The archive's host. It knows no tokens, and notes those that are sent to it."""
        if "Authorization" in request.headers:
            self.leaks.append(request.path)
            return web.Response(status=400)
        repository = self.find_repository(request.match_info["owner"], request.match_info["name"])
        if repository is None or (repository.private and request.query.get("token") not in self._tickets):
            return web.Response(status=404)
        self._tickets.discard(request.query.get("token", ""))
        sha = request.match_info["sha"]
        name = f"{repository.owner.login}-{repository.name}-{sha[:7]}"
        headers = {"Content-Type": "application/x-gzip", "Content-Disposition": f"attachment; filename={name}.tar.gz"}
        return web.Response(body=repository.store.archive(sha, name), headers=headers)

    async def stop(self) -> None:
        """Begin nothing more: no deliveries, no answers that wait."""
        self.closing.set()
        await self.hooks.close()

    def close(self) -> None:
        """End what the stores run. A request that came later would start it again."""
        for store in self._stores:
            store.close()


def sorted_routes() -> list[Route]:
    """Every route; fixed words before parts that match anything."""
    routes = [route for module in _RESOURCES for route in module.ROUTES.all]
    return sorted(routes, key=lambda route: [(part.startswith("{"), part) for part in route.template.split("/")])


@asynccontextmanager
async def simulated_github(
    *middlewares: Middleware, host: str = "127.0.0.1", port: int = 0, web_url: str = "https://github.example"
) -> AsyncIterator[Hub]:
    """A simulated GitHub that listens on a local port (0: any) until the context ends. `hub.url` is its API's base;
    the middlewares see every request and answer.
    """
    with TemporaryDirectory(prefix="seamguard-hub-") as folder:
        hub = Hub(Path(folder), web_url)
        api = web.AppRunner(server.application(hub, middlewares), shutdown_timeout=0.1, access_log=None)
        files = web.Application()
        files.router.add_get("/{owner}/{name}/legacy.tar.gz/{sha}", hub.archive)
        archive = web.AppRunner(files, shutdown_timeout=0.1, access_log=None)
        try:
            hub.url = f"http://{host}:{await _listen(api, host, port)}"
            hub.archive_url = f"http://{host}:{await _listen(archive, host, 0)}"
            yield hub
        finally:
            await hub.stop()
            await api.cleanup()
            await archive.cleanup()
            hub.close()


async def _listen(runner: web.AppRunner, host: str, port: int) -> int:
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    address = runner.addresses[0]
    return int(address[1])
