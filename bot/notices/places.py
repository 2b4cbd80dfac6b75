"""Links of a notice: into the repository at one commit, and to upstream without leaving a trace there."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from bot.markdown import code, link
from bot.provenance import Position
from bot.references import REDIRECT, address

MAX_ADDRESS = 1000
"""Characters of a path that is linked."""


@dataclass(frozen=True, slots=True)
class Places:
    """`repository` is the address of the repository (`https://github.com/acme/serving`), `sha` the commit that was
    looked at. Without them a place is its path alone: two texts are then equal when they say the same.
    """

    repository: str = ""
    sha: str = ""

    def line(self, position: Position) -> str:
        """The line of a file, as a permalink."""
        if not self.sha:
            return "line"
        return self._blob(f"line {position.line}" if position.line else "file", position)

    def file(self, path: str) -> str:
        """A file, as a permalink."""
        return self._blob(quoted(path), Position(path, 0))

    def _blob(self, shown: str, position: Position) -> str:
        target = quote(position.path)
        if not self.sha or len(target) > MAX_ADDRESS:
            return shown
        anchor = f"#L{position.line}" if position.line else ""
        return link(shown, f"{self.repository}/blob/{self.sha}/{target}{anchor}")


def reference(name: str) -> str:
    """An upstream reference, as a link that leaves no mention there."""
    return link(code(name), address(name))


def commit(repository: str, sha: str) -> str:
    """A commit of another repository."""
    return link(code(sha[:10]), f"{REDIRECT}/{repository}/commit/{quote(sha)}")


def release(repository: str, tag: str) -> str:
    """A release of another repository."""
    return link(code(tag), f"{REDIRECT}/{repository}/releases/tag/{quote(tag)}")


def compare(repository: str, pin: str, sha: str) -> str:
    """GitHub's comparison of a commit with a release of another repository."""
    return link("compare", f"{REDIRECT}/{repository}/compare/{quote(pin)}...{quote(sha)}")


def quoted(text: str) -> str:
    """What a stranger wrote, as code that holds none of our marks."""
    return code(text.replace("<!--", "< !--"))
