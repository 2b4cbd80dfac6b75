"""Comparing releases, and what is known of the upstream fixes that each contains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

Truth = bool | None
"""Three-valued: None is "unknown"."""

Numbers = tuple[int, ...]

_RELEASE = re.compile(r"v?(\d{1,6}(?:\.\d{1,6}){0,4})(?:\.post\d+)?((?:\.?(?:rc|a|b|dev)\d*)+)?(?:\+[\w.-]*)?")
_CONDITION = re.compile(r"\s*(==|>=|<=|>|<)\s*v?(\d{1,6}(?:\.\d{1,6}){0,4})\s*")


@lru_cache(maxsize=1024)
def release_numbers(release: str) -> Numbers | None:
    """`0.25.1rc1` → (0, 25, 1): a release candidate counts as its release. None for what is no version."""
    match = _RELEASE.fullmatch(release)
    return _trimmed(match[1]) if match else None


@lru_cache(maxsize=1024)
def is_prerelease(release: str) -> bool:
    """Whether a version stands before its release: a candidate or a development build."""
    match = _RELEASE.fullmatch(release)
    return bool(match and match[2])


def _trimmed(dotted: str) -> Numbers:
    numbers = [int(part) for part in dotted.split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def lies_within(release: str, first: str, last: str) -> bool:
    """Whether a release lies between two others, or is one of them."""
    numbers, low, high = (release_numbers(one) for one in (release, first, last))
    return numbers is not None and low is not None and high is not None and low <= numbers <= high


class ReleaseRange:
    """`>=0.26.0,<0.28.0`: conditions that must all hold."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._conditions: list[tuple[str, Numbers]] = []
        self._known: dict[str, Truth] = {}
        for part in text.split(","):
            match = _CONDITION.fullmatch(part)
            if match is None:
                raise ValueError(f"not a range of releases: {text!r} (write it like '>=0.26.0,<0.28.0')")
            self._conditions.append((match[1], _trimmed(match[2])))

    def __contains__(self, numbers: Numbers) -> bool:
        return all(_compare(numbers, operator, bound) for operator, bound in self._conditions)

    def holds(self, release: str) -> Truth:
        """Whether the release lies in the range; None when it is no version."""
        if release not in self._known:
            numbers = release_numbers(release)
            self._known[release] = None if numbers is None else numbers in self
        return self._known[release]


def _compare(numbers: Numbers, operator: str, bound: Numbers) -> bool:
    if operator == "==":
        return numbers == bound
    if operator == ">=":
        return numbers >= bound
    if operator == "<=":
        return numbers <= bound
    return numbers > bound if operator == ">" else numbers < bound


def agreed(answers: list[Truth]) -> Truth:
    """The one answer that all give; None when they differ, or there is none."""
    return answers[0] if answers and all(answer is answers[0] for answer in answers) else None


@dataclass(frozen=True, slots=True)
class Verified:
    """That the releases of a range have a fix, lack it, or (`holds` None) can't be told; and how that was seen."""

    releases: ReleaseRange
    holds: Truth
    how: str


@dataclass(frozen=True, slots=True)
class Fix:
    """An upstream reference that rules name, and the releases for which it was looked up in the released source.

    `fits` says on which releases a backport of it does what it should: a patch may apply cleanly and be wrong.
    """

    reference: str
    title: str
    verified: tuple[Verified, ...]
    fits: tuple[Verified, ...] = ()

    def in_release(self, release: str) -> Truth:
        """Whether the release has the fix; None for a release that nobody has looked into.

        A candidate of the first release with the fix may have been cut before it: that is unknown.
        """
        for entry in self.verified:
            if entry.releases.holds(release):
                return None if entry.holds and is_prerelease(release) else entry.holds
        return None


@dataclass(frozen=True, slots=True)
class Upstream:
    """`rules/upstream.yml`."""

    fixes: Mapping[str, Fix] = field(default_factory=dict)

    def known(self, reference: str, release: str) -> tuple[Truth, str] | None:
        """Whether a release has a fix, and how that was seen in its source; None when nobody has looked."""
        fix = self.fixes.get(reference)
        entries = fix.verified if fix else ()
        entry = next((entry for entry in entries if entry.releases.holds(release)), None)
        return (fix.in_release(release), entry.how) if fix and entry else None

    def unfit(self, reference: str, releases: tuple[str, ...]) -> Verified | None:
        """Why a backport of the reference does harm on all of these releases; None when that is not known."""
        fix = self.fixes.get(reference)
        found = [
            next((entry for entry in fix.fits if entry.releases.holds(release)), None) if fix else None
            for release in releases
        ]
        return found[0] if found and all(entry is not None and entry.holds is False for entry in found) else None

    def contains(self, reference: str, releases: tuple[str, ...]) -> Truth:
        """Whether the fix is in every one of the releases; False when in none of them; else None."""
        fix = self.fixes.get(reference)
        return agreed([fix.in_release(release) for release in releases]) if fix else None
