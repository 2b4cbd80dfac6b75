"""Where requests may go.

An address from an answer (a page, a redirect) is only followed to a host of this list, and the credentials go to the
API's own host alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from bot.github.errors import ForeignHost

GITHUB_API = "https://api.github.com"
GITHUB_DOWNLOADS = ("https://codeload.github.com",)


@dataclass(frozen=True, slots=True)
class Hosts:
    """The API's base address, and the origins that downloads may be redirected to."""

    api: str = GITHUB_API
    downloads: tuple[str, ...] = GITHUB_DOWNLOADS

    def __post_init__(self) -> None:
        for address in (self.api, *self.downloads):
            parts = urlsplit(address)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
                raise ValueError(f"not the address of a host: {address!r}; write it like {GITHUB_API}")

    @property
    def graphql(self) -> str:
        """GraphQL's address: on GitHub Enterprise Server it is beside the API (`/api/v3`), not below it."""
        base = self.api.rstrip("/")
        return f"{base.removesuffix('/v3')}/graphql" if base.endswith("/api/v3") else f"{base}/graphql"

    def api_address(self, address: str) -> str:
        """`address`, when it is one of the API. Raises `ForeignHost`."""
        if address == self.graphql:
            return address
        parts, own = urlsplit(address), urlsplit(self.api)
        if _origin(parts) != _origin(own) or not f"{parts.path}/".startswith(own.path.rstrip("/") + "/"):
            raise ForeignHost(f"an address outside of {self.api} is not asked: {_shown(parts)}")
        return address

    def download_address(self, address: str) -> str:
        """`address`, when a download may come from there. Raises `ForeignHost`."""
        parts = urlsplit(address)
        if _origin(parts) not in {_origin(urlsplit(allowed)) for allowed in (self.api, *self.downloads)}:
            raise ForeignHost(f"downloads do not come from {_shown(parts)}")
        return address


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None, bool]:
    try:
        port = parts.port
    except ValueError:
        raise ForeignHost("an address with an impossible port") from None
    standard = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, parts.hostname, port or standard, bool(parts.username or parts.password)


def _shown(parts: SplitResult) -> str:
    """Without its query, which may hold a key."""
    return f"{parts.scheme}://{parts.hostname}{parts.path}"
