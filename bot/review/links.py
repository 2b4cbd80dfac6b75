"""Where a reader can look a reason up: permalinks of the repository, and the source of the engine's release."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote

from bot.markdown import code, link, outside_code
from bot.provenance import Reason
from bot.references import address

_REFERENCE = re.compile(r"(?<![\w/#&.-])([A-Za-z0-9][\w.-]{0,38}/[A-Za-z0-9][\w.-]{0,99})#([1-9][0-9]{0,8})(?!\w)")

MAX_PATH = 1000
"""Characters of a path that is linked: a comment has to fit what GitHub takes."""


@dataclass(frozen=True, slots=True)
class Links:
    """The addresses behind a text. `repository` is the address of the repository (`https://github.com/acme/serving`),
    `sha` the commit that was analysed, `rules` the address under which the pages of the rules are. An empty one gives
    text without links.
    """

    repository: str = ""
    sha: str = ""
    rules: str = ""

    def of(self, sha: str) -> Links:
        """The same for another commit."""
        return replace(self, sha=sha) if self.repository else self

    def place(self, path: str, line: int | None, shown: str = "") -> str:
        """A place in the repository as Markdown: `shown`, which is Markdown, or the path with its line."""
        text = shown or code(f"{path}:{line}" if line else path)
        address = quote(path)
        if not (self.repository and self.sha) or len(address) > MAX_PATH:
            return text
        return link(text, f"{self.repository}/blob/{self.sha}/{address}" + (f"#L{line}" if line else ""))

    def commit(self, sha: str) -> str:
        """A commit by its short id."""
        text = code(sha[:7])
        return link(text, f"{self.repository}/commit/{quote(sha)}") if self.repository else text

    def rule(self, rule: str) -> str:
        """A rule by its id."""
        return link(code(rule), f"{self.rules}/{quote(rule)}") if self.rules else code(rule)

    def reason(self, reason: Reason, source: Mapping[Reason, str], shown: str = "") -> str:
        """The place of a reason; empty for one that has none. `source` has the addresses of reasons that stand in an
        engine's source.
        """
        if not reason.path:
            return ""
        if reason.kind != "engine-default":
            return self.place(reason.path, reason.line, shown)
        text = code(f"{reason.path}:{reason.line}" if reason.line else reason.path)
        return link(text, source[reason]) if self.repository and reason in source else text

    def references(self, text: str) -> str:
        """Markdown of ours with its references to upstream issues (`vllm-project/vllm#46324`) made links."""
        if not self.repository or "#" not in text:
            return text
        return outside_code(text, lambda part: _REFERENCE.sub(_issue, part))


def _issue(match: re.Match[str]) -> str:
    return link(match[0], address(match[0]))


OFFLINE = Links()
"""No addresses: for a repository on disk."""
