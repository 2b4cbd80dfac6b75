"""The hidden first line by which Seamguard knows its own comments again.

A mark counts only on the first line of a comment that the App itself wrote: further down it may be a quotation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from bot.hazards import Finding

State = Literal["open", "fixed", "moved"]
"""What a finding's comment says: the finding stands; it is gone; it stands and is said elsewhere."""

Spot = Literal["line", "file"]

_MARK = re.compile(
    r"<!-- seamguard:(finding|summary|review) v1(?: ([0-9a-f]{16}))?"
    r"((?: [a-z]{1,12}=[A-Za-z0-9.-]{1,64}){0,12}) -->(?:\r?\n|$)"
)
_STATES: Mapping[str, State] = {"open": "open", "fixed": "fixed", "moved": "moved"}


def fingerprint(*parts: object) -> str:
    """Sixteen hexadecimal digits that stand for the parts."""
    return sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:16]


def key(finding: Finding) -> str:
    """What stands for a finding's identity in a mark."""
    return fingerprint(*finding.identity)


def file_key(path: str) -> str:
    """What stands for the file of a finding in a mark."""
    return fingerprint(path)


@dataclass(frozen=True, slots=True)
class FindingMark:
    """The mark of a comment on a finding: its identity, the commit for which it was last written, the file of the
    finding, and the fingerprint of what it says (`gist`), places left out.
    """

    key: str
    sha: str
    file: str
    gist: str
    state: State = "open"
    spot: Spot = "line"

    def __str__(self) -> str:
        told = {"sha": self.sha, "state": self.state, "on": self.spot, "file": self.file, "gist": self.gist}
        return _mark(f"finding v1 {self.key}", told)


@dataclass(frozen=True, slots=True)
class SummaryMark:
    """The mark of the summary. `gist` is the fingerprint of its text for no commit in particular."""

    sha: str
    gist: str

    def __str__(self) -> str:
        return _mark("summary v1", {"sha": self.sha, "gist": self.gist})


@dataclass(frozen=True, slots=True)
class ReviewMark:
    """The mark of a review's own text."""

    sha: str

    def __str__(self) -> str:
        return _mark("review v1", {"sha": self.sha})


Mark = FindingMark | SummaryMark | ReviewMark


def read_mark(body: str) -> Mark | None:
    """The mark on the first line of a comment; None when there is none that this version understands."""
    match = _MARK.match(body)
    if match is None:
        return None
    fields = dict(part.split("=", 1) for part in match[3].split())
    sha, gist = fields.get("sha", ""), fields.get("gist", "")
    if match[1] == "summary":
        return SummaryMark(sha, gist)
    if match[1] == "review":
        return ReviewMark(sha)
    state = _STATES.get(fields.get("state", ""))
    if state is None or not match[2]:
        return None
    return FindingMark(
        match[2], sha, fields.get("file", ""), gist, state, "file" if fields.get("on") == "file" else "line"
    )


def without_mark(body: str) -> str:
    """A comment's visible text."""
    match = _MARK.match(body)
    return body[match.end() :] if match else body


def _mark(head: str, fields: Mapping[str, str]) -> str:
    told = "".join(f" {name}={value}" for name, value in fields.items() if value)
    return f"<!-- seamguard:{head}{told} -->"
