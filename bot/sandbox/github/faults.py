"""What goes wrong on demand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.sandbox.github.call import DOCUMENTATION, Answer, matches

Kind = Literal["answer", "timeout", "reset", "drop-after-write", "slow", "malformed", "graphql-errors"]


@dataclass(slots=True)
class Fault:
    """Something that happens to the requests that match.

    `kind`: "answer" sends `status` without doing anything; "timeout" never answers; "reset" cuts the connection before
    anything is done, "drop-after-write" afterwards; "slow" answers after `seconds`; "malformed" does what is asked and
    sends half of the JSON; "graphql-errors" is GraphQL's 200 that holds errors and no data.
    """

    match: str
    kind: Kind = "answer"
    status: int = 500
    message: str = "Server Error"
    headers: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[object, ...] | None = None
    seconds: float = 0.0
    skip: int = 0
    times: int | None = 1
    seen: int = 0

    def answer(self) -> Answer:
        """What is sent in place of the right answer."""
        if self.kind == "graphql-errors":
            errors = self.errors or (
                {"type": "INTERNAL", "message": "Something went wrong while executing your query."},
            )
            return Answer({"data": None, "errors": list(errors)})
        body = {"message": self.message, "documentation_url": DOCUMENTATION, "status": str(self.status)}
        if self.errors is not None:
            return Answer({**body, "errors": list(self.errors)}, self.status, self.headers)
        if self.status in (500, 502, 503, 504):  # a proxy's page, not the API's JSON
            page = f"<html><body><h1>{self.status}</h1>{self.message}</body></html>".encode()
            return Answer(page, self.status, self.headers, "text/html; charset=utf-8")
        return Answer(body, self.status, self.headers)


class Faults:
    """The faults that are set. The first that matches a request is used."""

    def __init__(self) -> None:
        self.active: list[Fault] = []
        self.used: list[tuple[str, Fault]] = []

    def add(
        self,
        match: str,
        status: int | Literal["timeout", "reset", "drop-after-write", "malformed", "graphql-errors", "slow"] = 500,
        *,
        times: int | None = 1,
        after: int = 0,
        headers: Mapping[str, str] | None = None,
        message: str = "Server Error",
        errors: tuple[object, ...] | None = None,
        seconds: float = 0.0,
    ) -> Fault:
        """Let requests that match ("POST /repos/*/pulls/*/reviews", "* *") fail: the next `times` of them (None: all)
        after `after` have passed.
        """
        kind: Kind = "answer" if isinstance(status, int) else status
        code = status if isinstance(status, int) else 0
        fault = Fault(match, kind, code, message, headers or {}, errors, seconds, after, times)
        self.active.append(fault)
        return fault

    def secondary_limit(
        self, match: str = "POST *", *, retry_after: int | None = 60, status: int = 403, times: int | None = 1
    ) -> Fault:
        """The secondary rate limit: 403 or 429 with a message, mostly with Retry-After (facts, section 6)."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        return self.add(match, status, headers=headers, message=message, times=times)

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        self.active.clear()

    def strike(self, method: str, path: str) -> Fault | None:
        """The fault for this request, counted as used."""
        for fault in self.active:
            if not matches(fault.match, method, path):
                continue
            fault.seen += 1
            if fault.seen > fault.skip:
                if fault.times is not None and fault.seen >= fault.skip + fault.times:
                    self.active.remove(fault)
                self.used.append((f"{method} {path}", fault))
                return fault
        return None


def half(content: bytes) -> bytes:
    """The first half of a JSON text, which is no JSON."""
    text = content[: max(1, len(content) // 2)]
    try:
        json.loads(text)
    except ValueError:
        return text
    return b'{"'
