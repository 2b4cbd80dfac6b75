"""One request, as the resources see it; their answers; and how they say no."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlencode

from bot.sandbox.github.model import App, Installation, Json, Repository, Token, User

if TYPE_CHECKING:
    from bot.sandbox.github.hub import Hub

_T = TypeVar("_T")

MAX_PER_PAGE = 100
DEFAULT_PER_PAGE = 30

DOCUMENTATION = "https://docs.github.com/rest"


class Refused(Exception):
    """GitHub's refusal of a request."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: Sequence[object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = dict(headers or {})

    def answer(self) -> Answer:
        """The refusal as it is sent."""
        body: Json = {"message": self.message, "documentation_url": DOCUMENTATION, "status": str(self.status)}
        if self.errors is not None:
            body["errors"] = list(self.errors)
        return Answer(body, self.status, self.headers)


def not_found() -> Refused:
    """For what does not exist, and for what the caller may not know of."""
    return Refused(404, "Not Found")


def invalid(resource: str, name: str, code: str, message: str | None = None) -> Refused:
    """A property with a value that GitHub does not take."""
    error: Json = {"resource": resource, "field": name, "code": code}
    if message is not None:
        error["message"] = message
    return Refused(422, "Validation Failed", [error])


def malformed(why: str) -> Refused:
    """A body that is not of the documented shape: wrong types, missing or misspelt properties."""
    return Refused(422, f"Invalid request.\n\n{why}")


@dataclass(slots=True)
class Answer:
    """What is sent back. `body` is made JSON unless it is bytes; None for an answer without one."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json; charset=utf-8"


@dataclass(slots=True)
class Call:
    """A request that has passed authentication."""

    hub: Hub
    method: str
    path: str
    parts: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    app: App | None = None
    token: Token | None = None
    resource: str = "core"
    sent: dict[str, str] = field(default_factory=dict)
    """Headers to send back."""

    @property
    def installation(self) -> Installation:
        """Whose token this is. For routes that demand one."""
        if self.token is None:
            raise Refused(401, "Requires authentication")
        return self.token.installation

    @property
    def author(self) -> User:
        """The account by which the App writes."""
        return self.installation.app.bot

    @property
    def repository(self) -> Repository:
        """The repository of the path."""
        found = self.hub.find_repository(self.parts["owner"], self.parts["repo"])
        if found is None:
            raise not_found()
        return found

    def number(self, name: str) -> int:
        """A numeric part of the path."""
        text = self.parts[name]
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise not_found()
        return int(text)

    def page(self, items: Sequence[_T], most: int | None = None) -> Sequence[_T]:
        """The asked page, with the Link header. At most 100 a page: the description does not say so (facts, 1.4)."""
        size = self._positive("per_page", DEFAULT_PER_PAGE)
        if size > MAX_PER_PAGE:
            raise Refused(422, f"per_page must be at most {MAX_PER_PAGE}")
        page = self._positive("page", 1)
        items = items if most is None else items[:most]
        last = max(1, -(-len(items) // size))
        links = []
        if page > 1:
            links += [("prev", page - 1), ("first", 1)]
        if page < last:
            links += [("next", page + 1), ("last", last)]
        if links:
            self.sent["Link"] = ", ".join(f'<{self._page_url(number)}>; rel="{name}"' for name, number in links)
        return items[(page - 1) * size : page * size]

    def _positive(self, name: str, default: int) -> int:
        text = self.query.get(name, str(default))
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise Refused(422, f"{name} must be a positive number")
        return int(text)

    def _page_url(self, page: int) -> str:
        # Links name the repository by its number, so clients must follow them and not build their own (facts, 5).
        path = self.path
        found = re.match(r"/repos/([^/]+)/([^/]+)(.*)", path)
        repository = self.hub.find_repository(found[1], found[2]) if found else None
        if found and repository is not None:
            path = f"/repositories/{repository.id}{found[3]}"
        return f"{self.hub.url}{path}?{urlencode({**self.query, 'page': page})}"


Handler = Callable[[Call], Answer]
Who = Literal["app", "token", "anyone"]


@dataclass(frozen=True, slots=True)
class Route:
    """A method and path template, who may call it, and the permissions of which one is needed."""

    method: str
    template: str
    handler: Handler
    who: Who
    needs: tuple[str, ...]


class Routes:
    """The routes of one resource. `{name:*}` takes a path with slashes."""

    def __init__(self) -> None:
        self.all: list[Route] = []

    def add(
        self, method: str, template: str, *needs: str, who: Who = "token"
    ) -> Callable[[Callable[[Call], Answer]], Callable[[Call], Answer]]:
        """Declare a route. `needs` are alternatives like "checks:write"."""

        def declared(handler: Callable[[Call], Answer]) -> Callable[[Call], Answer]:
            self.all.append(Route(method, template, handler, who, needs))
            return handler

        return declared


class Body:
    """A JSON object of a request. Refuses what the description lets pass: misspelt and unknown properties, values of
    the wrong type (facts, 1.4).
    """

    def __init__(self, value: object, allowed: str, where: str = "") -> None:
        if not isinstance(value, dict):
            raise malformed("For 'body', nil is not an object." if value is None else "The body is not an object.")
        self._value: Json = value
        self._where = where
        for name in value:
            if name not in allowed.split():
                raise malformed(f'{where}"{name}" is not a permitted key.')

    def __contains__(self, name: str) -> bool:
        return self._value.get(name) is not None

    def text(self, name: str, default: str | None = None, most: int | None = None) -> str:
        """A string. Required when there is no default."""
        value = self._value.get(name)
        if value is None:
            if default is None:
                raise malformed(f'{self._where}"{name}" wasn\'t supplied.')
            return default
        if not isinstance(value, str):
            raise malformed(f"{self._where}For '{name}', {value!r} is not a string.")
        if most is not None and len(value) > most:
            raise malformed(f"{self._where}For '{name}', the text is longer than {most} characters.")
        return value

    def optional(self, name: str, most: int | None = None) -> str | None:
        """A string or None."""
        return self.text(name, most=most) if name in self else None

    def number(self, name: str) -> int | None:
        """A whole number, or None when it is not given."""
        value = self._value.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise malformed(f"{self._where}For '{name}', {value!r} is not an integer.")
        return value

    def one_of(self, name: str, choices: str, default: str | None = None) -> str | None:
        """One of the words in `choices`."""
        value = self.optional(name) or default
        if value is not None and value not in choices.split():
            raise malformed(f"{self._where}For '{name}', {value!r} is not a member of {choices.split()}.")
        return value

    def list(self, name: str, most: int | None = None) -> list[Any]:
        """An array; empty when it is not given."""
        value = self._value.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise malformed(f"{self._where}For '{name}', {value!r} is not an array.")
        if most is not None and len(value) > most:
            raise malformed(f"{self._where}For '{name}', no more than {most} items are allowed; {len(value)} were.")
        return value

    def object(self, name: str, allowed: str) -> Body | None:
        """An object, or None."""
        return Body(self._value[name], allowed, f"{self._where}{name}: ") if name in self else None


def matches(pattern: str, method: str, path: str) -> bool:
    """Whether a request is meant by a pattern like "POST /repos/*/pulls/*/reviews" (a star stops at no slash)."""
    wanted, _, path_pattern = pattern.partition(" ")
    return wanted in ("*", method) and fnmatch.fnmatchcase(path, path_pattern)
