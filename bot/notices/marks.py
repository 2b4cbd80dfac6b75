"""The hidden marks by which a notice is known again, and what people wrote around and into it.

An issue's text belongs to people but for one block between two marks. Within the block only the ticks are theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

END = "<!-- seamguard:upstream end -->"
_FIELD = r" [a-z]{1,12}=[A-Za-z0-9.#/_-]{1,200}"
_BEGIN = re.compile(rf"^<!-- seamguard:upstream v1 ([0-9a-f]{{16}})((?:{_FIELD}){{0,12}}) -->[ \t]*\r?$", re.MULTILINE)
_SAID = re.compile(r"^<!-- seamguard:said v1 ([0-9a-f]{16}) n=([0-9]{1,6}) -->")
_TASK = re.compile(r"^[ \t]*[-*+] \[([ xX])\] (.*)<!-- ([0-9a-f]{12}) -->[ \t]*\r?$", re.MULTILINE)

MAX_BODY = 262_144
"""Characters of an issue that are looked at: no more fit into one."""


def fingerprint(*parts: object) -> str:
    """Sixteen hexadecimal digits that stand for the parts."""
    return sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:16]


def key_of(reference: str) -> str:
    """What stands for a fix in marks."""
    return fingerprint(reference)


@dataclass(frozen=True, slots=True)
class Mark:
    """The first line of a block: which fix it is about (`key`), what was told of it (`stage`, `by`), how often
    (`count`), and the fingerprints of the text (`gist`) and of the title that were written with it.
    """

    key: str
    stage: str
    by: str
    count: int
    gist: str
    title: str

    def __str__(self) -> str:
        fields = {"stage": self.stage, "by": self.by, "n": str(self.count), "gist": self.gist, "title": self.title}
        return f"<!-- seamguard:upstream v1 {self.key}{_fields(fields)} -->"


@dataclass(frozen=True, slots=True)
class Parts:
    """An issue's text: the block with its mark (None: there is none), and what people wrote before and after it."""

    before: str
    mark: Mark | None
    block: str
    after: str


def split(body: str, key: str) -> Parts:
    """The parts of an issue's text. A block without its end is nobody's: it is left to people, without its mark."""
    body = body[:MAX_BODY]
    for match in _BEGIN.finditer(body):
        if match[1] != key:
            continue
        mark = _read(match)
        end = body.find(END, match.end())
        if end < 0:
            return Parts(body[: match.start()] + body[match.end() :].lstrip("\r\n"), mark, "", "")
        return Parts(body[: match.start()], mark, body[match.end() : end], body[end + len(END) :])
    return Parts(body, None, "", "")


def read_mark(body: str, key: str) -> Mark | None:
    """The mark of a fix in an issue's text."""
    return split(body, key).mark


def joined(parts: Parts, mark: Mark, content: str) -> str:
    """The text with another block in the place of the old one, or after what people wrote."""
    before = parts.before
    if before and not before.endswith("\n"):
        before += "\n\n"
    return f"{before}{mark}\n{content.strip()}\n{END}{parts.after}"


def ticks(block: str) -> Mapping[str, str]:
    """The tasks that people have ticked: their identities, with their lines."""
    return {match[3]: match[2].strip() for match in _TASK.finditer(block) if match[1] in "xX"}


def task(identity: str, text: str, *, done: bool) -> str:
    """A task that people tick."""
    return f"- [{'x' if done else ' '}] {text} <!-- {identity} -->"


def said(key: str, count: int) -> str:
    """The first line of a comment: the `count`-th thing that was told of a fix after its issue was opened."""
    return f"<!-- seamguard:said v1 {key} n={count} -->"


def has_said(body: str, key: str, count: int) -> bool:
    """Whether a comment is that one."""
    match = _SAID.match(body)
    return match is not None and match[1] == key and int(match[2]) == count


def _read(match: re.Match[str]) -> Mark:
    fields = dict(part.split("=", 1) for part in match[2].split())
    count = fields.get("n", "")
    return Mark(
        key=match[1],
        stage=fields.get("stage", ""),
        by=fields.get("by", ""),
        count=int(count) if count.isdecimal() and count.isascii() and len(count) < 7 else 0,
        gist=fields.get("gist", ""),
        title=fields.get("title", ""),
    )


def _fields(fields: Mapping[str, str]) -> str:
    return "".join(f" {name}={value}" for name, value in fields.items() if value)
