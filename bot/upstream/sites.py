"""Caveat sites: every line of a repository that names an upstream reference, and what it says of it.

Nothing here needs a form: a tracker's table, a YAML key, a comment, a mount or a file name will do. What is not
understood is `mentioned`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Literal

from bot.catalog import Catalog, Configuration, Patch
from bot.catalog.configuration import PATH as CONFIGURATION
from bot.provenance import Position
from bot.tree import Tree, UnreadableFile
from bot.upstream.mentions import Mention, Reader
from bot.upstream.vendored import Vendored

Role = Literal["fix", "bug", "do-not-vendor", "superseded", "superseding", "overlay", "mentioned"]
"""What a reference is at its site. `overlay` is a mount, an invocation or a path that carries its number."""

MAX_SITES = 20_000
"""Sites of a repository that are listed; the largest tracker known gives two thousand."""

MAX_TEXT = 300
"""Characters of a site's text and of a predicate that are kept."""

MAX_MENTIONS = 200
"""References of one line that are looked at; the longest row of a tracker has sixty."""

MAX_READ = 64 * 1024 * 1024
"""Characters that are searched in one repository."""

_READ = (".yml", ".yaml", ".md", ".rst", ".txt", ".sh", ".bash", ".py", ".patch", ".diff", ".toml", ".env", ".example")
_NAMES = ("dockerfile", "containerfile", "makefile")
_ANY = re.compile(r"#[1-9][0-9]{2,}|/(?:pulls?|issues)/[1-9]|[Pp][Rr][-_ ]?[1-9][0-9]{4}")
_EMOJI: dict[str, str] = {
    "🟢": "landed",
    "🔵": "merged",
    "🟡": "open",
    "🟠": "open",
    "🔴": "open",
    "⚫": "local",
    "✅": "resolved",
    "❌": "closed",
    "🟣": "closed",
    "🗑": "closed",
}
_MARKS = re.compile("|".join(_EMOJI))
_WORDS = re.compile(r"\b(open|merged|closed|landed|released|resolved|superseded|reverted)\b", re.IGNORECASE)
_DATE = re.compile(r"\b(20\d\d-[01]\d-[0-3]\d)\b")
_CLAUSE = r"(?:[^.;|]|\.(?=\S)){0,200}"
_PREDICATE = re.compile(
    r"\b(?:drop|remove|delete|retire|revisit|unpin|revert|re-?(?:check|test|validate|evaluate|enable))"
    r"(?:s|d|ped|ping|able)?\b[^.;|)]{0,60}?\b(?:when|once|after|if|on merge)\b"
    rf"{_CLAUSE}|\b(?:until|wait(?:s|ing)?\s+(?:for|on))\s"
    rf"(?=[^.;|]{{0,120}}(?:merge|land|upstream|fix|release|pin|ship|support|\#\d)){_CLAUSE}"
    r"|\b(?:when|once|after|if)\s[^.;|]{0,80}?\b(?:merges?d?|lands?|ships?|released?)\b[^.;|]{0,80}",
    re.IGNORECASE,
)
_NOT_VENDOR = re.compile(r"\b(?:do\s+not|don['’]t|never)\s+vendor\b", re.IGNORECASE)
_SUPERSEDED_BY = re.compile(
    r"(?:superseded\s+by|replaced\s+by|subsumed\s+by|in\s+favou?r\s+of|resolved\s+upstream\s+by)[\s*\[(]*$",
    re.IGNORECASE,
)
_IS_SUPERSEDED = re.compile(r"\bsuperseded\b", re.IGNORECASE)
_BUG_BEFORE = re.compile(
    r"\b(?:bug|issue|defect|reproduces|closes|root-cause report)\s*[A-Z]?[\s:*\[(#]*$", re.IGNORECASE
)
_BUG_AFTER = re.compile(r"^[\s)\]*]*\(\s*(?:the\s+)?(?:bug|issue|corruption|defect)\b", re.IGNORECASE)
_FIX_BEFORE = re.compile(
    r"\b(?:fix(?:ed by|\s+PR)?|vendor(?:ed|s)|backport(?:\s+of)?|overlay(?:\s+of)?)[\s:*\[(#]*$", re.IGNORECASE
)
_FIX_AFTER = re.compile(r"^[\s)\]*]*\(\s*(?:the\s+|our\s+)?(?:fix|vendored|this vendors)\b", re.IGNORECASE)
_LINK_TAIL = re.compile(r"^\]\([^()\s]*\)")


@dataclass(frozen=True, slots=True)
class Site:
    """One reference on one line.

    `predicate` is what must happen before the site may go, as it is written; `state` what the line believes of the
    reference (`open`, `merged`, `landed`, `resolved`, `closed`, `local`), and `date` when that was. `patch` is the
    entry of `patches.yml` that the line belongs to, and `part` what of the patch it is: a line of that `entry`, of one
    of its own files, or the `wiring` that mounts or calls it; `accepted` is an entry of the configuration that the
    reference ends, a risk or the policy of vendoring. `struck` lines are history.
    """

    reference: str
    position: Position
    text: str
    role: Role
    predicate: str | None = None
    state: str | None = None
    date: str | None = None
    patch: str | None = None
    struck: bool = False
    part: Literal["entry", "file", "wiring", "accepted"] | None = None


def sites_in(tree: Tree, catalog: Catalog) -> tuple[Site, ...]:
    """Every site of a repository, by file and line; ignored paths of its configuration are left out."""
    found: list[Site] = []
    entries = _entries(catalog.patches)
    vendored = Vendored(catalog.patches)
    room = MAX_READ
    for path in tree.paths():
        if not _is_read(path) or any(fnmatchcase(path, glob) for glob in catalog.configuration.ignore):
            continue
        try:
            text = tree.read(path)
        except UnreadableFile:
            continue  # too large or binary: no text that people keep caveats in
        room -= len(text or "")
        if room < 0:
            break
        if text and path == CONFIGURATION:
            found.extend(_of_configuration(text, catalog.configuration))
        elif text:
            found.extend(_of_file(text, path, entries.get(path, ()), vendored))
        if len(found) >= MAX_SITES:
            break
    return tuple(found[:MAX_SITES])


def _of_configuration(text: str, configuration: Configuration) -> list[Site]:
    """The sites of the configuration: what waits in it for a reference is said with its reason."""
    found = {(site.position.line, site.reference): site for site in sites_of(text, CONFIGURATION)}
    for reference, position, told in _waiting(configuration):
        until = f"{reference} is pinned"
        shown = " ".join(told.split())[:MAX_TEXT]
        found[position.line, reference] = Site(reference, position, shown, "mentioned", until, part="accepted")
    return sorted(found.values(), key=lambda site: (site.position.line, site.position.column))


def _waiting(configuration: Configuration) -> Iterator[tuple[str, Position, str]]:
    for risk in configuration.accepted:
        for reference in risk.until:
            yield reference, risk.ends_at or risk.position, f"accepted: {risk.rule} at {risk.where}: {risk.reason}"
    policy = configuration.inherit_only
    if policy is not None:
        reason = f": {policy.reason}" if policy.reason else ""
        for reference in policy.fixes:
            yield reference, policy.position, f"vendoring: inherit-only{reason}"


def _of_file(text: str, path: str, entries: Iterable[Patch], vendored: Vendored) -> Iterable[Site]:
    """The sites of a file, those of patches among them that do not name what they are for."""
    found = list(sites_of(text, path, entries)) if _ANY.search(text) else []
    owner = vendored.owner(path)
    if owner is not None:
        return [site if site.patch else replace(site, patch=owner.id, part="file") for site in found]
    wired = () if entries else vendored.lines(text, path)
    if not wired:
        return found
    known = {(site.position.line, site.reference): index for index, site in enumerate(found)}
    lines = text.split("\n")
    for number, patch in wired:
        for reference in patch.upstream:
            index = known.get((number, reference))
            if index is not None:
                found[index] = replace(found[index], patch=patch.id, part="wiring")
            elif not patch.deprecated:
                shown = " ".join(lines[number - 1].split())[:MAX_TEXT]
                until = patch.drop_when[:MAX_TEXT] if patch.drop_when else None
                found.append(
                    Site(reference, Position(path, number), shown, "overlay", until, patch=patch.id, part="wiring")
                )
    return sorted(found, key=lambda site: (site.position.line, site.position.column))


def sites_of(text: str, path: str, patches: Iterable[Patch] = ()) -> Iterator[Site]:
    """The sites of one file; `patches` are the entries that it holds, in their order."""
    reader = Reader()
    starts = sorted(patches, key=lambda patch: patch.position.line)
    document = path.endswith((".md", ".rst"))
    index = 0
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if document:
            reader.heading(line)
        while index < len(starts) and starts[index].position.line <= number:
            index += 1
        if _ANY.search(line):
            more = _continued(line, lines[number]) if number < len(lines) else ""
            yield from _of_line(line, more, Position(path, number), reader, starts[index - 1] if index else None)


def _continued(line: str, following: str) -> str:
    """The line below, where both are comments: people break sentences."""
    below = following.lstrip()
    return below.lstrip("# ")[:MAX_TEXT] if line.lstrip().startswith("#") and below.startswith("#") else ""


def _of_line(line: str, more: str, position: Position, reader: Reader, patch: Patch | None) -> Iterator[Site]:
    best: dict[str, tuple[Mention, Role]] = {}
    row = line.lstrip().startswith("|") and line.count("|") > 2
    for mention in islice(reader.mentions(line), MAX_MENTIONS):
        role = _role(line, mention, patch, lead=row and _cell(line, mention.start) == 1)
        known = best.get(mention.reference)
        if known is None or _RANK[role] < _RANK[known[1]]:
            best[mention.reference] = (known[0] if known else mention, role)
    for reference, (mention, role) in best.items():
        predicate = _predicate(line, more, mention)
        stated = patch is not None and reference in patch.upstream
        lead = not row or _cell(line, mention.start) == 1
        state, date = _state(line, mention, row=row) if lead else (None, None)
        yield Site(
            reference=reference,
            position=Position(position.path, position.line, mention.start + 1),
            text=_around(line, mention),
            role=role,
            predicate=predicate or (patch.drop_when[:MAX_TEXT] if patch and stated and patch.drop_when else None),
            state=state,
            date=date,
            patch=patch.id if patch else None,
            part="entry" if patch else None,
            struck=_struck(line, mention),
        )


_RANK: dict[Role, int] = {
    "do-not-vendor": 0,
    "superseding": 1,
    "superseded": 2,
    "fix": 3,
    "bug": 4,
    "overlay": 5,
    "mentioned": 6,
}


def _role(line: str, mention: Mention, patch: Patch | None, *, lead: bool) -> Role:
    before = line[max(0, mention.start - 60) : mention.start]
    after = _LINK_TAIL.sub("", line[mention.end : mention.end + 500])[:80]
    if _SUPERSEDED_BY.search(before):
        return "superseding"
    if (lead or not line.lstrip().startswith("|")) and _NOT_VENDOR.search(line):
        return "do-not-vendor"
    if _FIX_AFTER.search(after) or _FIX_BEFORE.search(before):
        return "fix"
    if _BUG_AFTER.search(after) or _BUG_BEFORE.search(before):
        return "bug"
    if re.match(r"[^.;|]{0,40}\bsuperseded\b", after, re.IGNORECASE) or (lead and _IS_SUPERSEDED.search(line)):
        return "superseded"
    if mention.by_path:
        return "overlay"
    if mention.kind == "issue":
        return "bug"
    if patch is not None and mention.reference in patch.upstream and re.match(r"\s*(?:-\s+)?ref\s*:", line):
        return "fix"
    return "fix" if lead and mention.kind == "pull" else "mentioned"


def _cell(line: str, column: int) -> int:
    """The number of the table cell that a column lies in, from 1."""
    return line[:column].replace("\\|", "  ").count("|")


def _predicate(line: str, more: str, mention: Mention) -> str | None:
    """The clause that says when the site may go: the nearest one, in the same cell or comment."""
    if line.lstrip().startswith("|"):
        low, high = line.rfind("|", 0, mention.start) + 1, line.find("|", mention.end)
        texts = [line[low : high if high >= 0 else len(line)]]
        if _cell(line, mention.start) == 1:
            texts.append(line)
    else:
        texts = [f"{line} {more}".rstrip()]
    for text in texts:
        found = min(_PREDICATE.finditer(text), key=lambda match: abs(match.start() - mention.start), default=None)
        if found is not None:
            clause = " ".join(found[0].strip(" *`_\"'#").split())[:MAX_TEXT]
            return clause if "(" in clause else clause.rstrip(")")
    return None


def _state(line: str, mention: Mention, *, row: bool) -> tuple[str | None, str | None]:
    """What a line believes of a reference, by its mark or its word, and the date behind it."""
    text = line if row else line[mention.end : mention.end + 200]
    mark = _MARKS.search(text)
    if mark is not None:
        date = _DATE.search(text, mark.end(), mark.end() + 200)
        return _EMOJI[mark[0]], date[1] if date else None
    word = _WORDS.search(text) if not row else None
    if word is None or word.start() > 60:
        return None, None
    date = _DATE.search(text, word.end())
    return word[1].lower(), date[1] if date else None


def _struck(line: str, mention: Mention) -> bool:
    return line.count("~~", 0, mention.start) % 2 == 1


def _around(line: str, mention: Mention) -> str:
    """The line, or the part of a long one that the reference stands in."""
    if len(line) <= MAX_TEXT:
        return " ".join(line.split())
    low = max(0, min(mention.start - 80, len(line) - MAX_TEXT))
    part = " ".join(line[low : low + MAX_TEXT].split())
    return f"{'…' if low else ''}{part}{'…' if low + MAX_TEXT < len(line) else ''}"


def _is_read(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.endswith(_READ) or name.startswith((*_NAMES, ".env"))


def _entries(patches: Iterable[Patch]) -> dict[str, list[Patch]]:
    found: dict[str, list[Patch]] = {}
    for patch in patches:
        found.setdefault(patch.position.path, []).append(patch)
    return found
