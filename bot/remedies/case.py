"""A finding with what is known of its service, as the edits look at it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.catalog import Catalog
from bot.hazards import Finding
from bot.provenance import Word
from bot.remedies.flow import Entry, items_on
from bot.remedies.layout import Layout
from bot.remedies.model import NoEdit, TextEdit
from bot.resolution import ResolvedService
from bot.tree import Tree, UnreadableFile

FIELDS = ("entrypoint", "command")
"""The fields of a service that say what it runs."""

_DEFAULT = re.compile(r"\$\{\w+:?-$")
"""What stands before the default of a variable: its dash is no part of the value."""


@dataclass(frozen=True)
class Case:
    """What an edit is made from. `service` is None where the finding is about none that was resolved. `layouts` are
    those of the tree, or why there are none: cases of one tree share them.
    """

    finding: Finding
    service: ResolvedService | None
    tree: Tree
    catalog: Catalog
    layouts: dict[str, Layout | NoEdit] = field(default_factory=dict)

    def layout(self, path: str) -> Layout:
        """The nodes of a YAML file. Raises `NoEdit`."""
        if path not in self.layouts:
            self.layouts[path] = _read(path, self.text(path))
        found = self.layouts[path]
        if isinstance(found, NoEdit):
            raise NoEdit(str(found))
        return found

    def text(self, path: str) -> str:
        """A file. Raises `NoEdit`."""
        try:
            text = self.tree.read(path)
        except UnreadableFile as error:
            raise NoEdit(f"{path} cannot be read: {error.message}") from error
        if text is None:
            raise NoEdit(f"{path} is not there")
        return text

    @property
    def compose(self) -> Layout:
        """The file of the finding."""
        return self.layout(self.finding.path)

    def field(self, *keys: str) -> tuple[str, ...]:
        """The path of a field of the service in its compose."""
        return ("services", self.finding.service, *keys)

    def argv(self) -> tuple[Word, ...]:
        """The engine's command line by default; of several, where a value is unknown, the first."""
        for world in self.service.defaults if self.service else ():
            if world.engine is not None and world.outcome is not None and world.outcome.argv is not None:
                return world.outcome.argv
        return ()

    def environment(self) -> dict[str, str]:
        """The variables that the compose gives the service by default."""
        described = self.service.worlds[0].realisation.service if self.service else None
        given = described.environment if described is not None else {}
        return {name: word.text for name, word in given.items() if word is not None}

    def lines_of(self, word: Word) -> Iterator[tuple[str, int]]:
        """Where a word comes from: lines of the service's own text, or of a script, the nearest to the engine last in
        the chain and first here.
        """
        for reason in dict.fromkeys(reversed(word.because)):
            if reason.kind in ("compose", "shell") and reason.path and reason.line:
                yield reason.path, reason.line

    def token(self, path: str, line: int, old: str, new: str) -> TextEdit:
        """A word of a line put in the place of another one. Raises `NoEdit` unless it stands there exactly once; in a
        list in brackets, as exactly one of its items, or in one that is longer.
        """
        start, text = self.line(path, line)
        entry = self.entry(path, line, old)
        if entry is not None:
            begin = entry.first.start_mark.index
            start, text = begin, self.text(path)[begin : entry.first.end_mark.index]
        found = [match for match in re.finditer(re.escape(old), text) if _is_whole(text, match)]
        if len(found) != 1:
            raise NoEdit(f"{path}:{line} does not have {old} exactly once")
        return TextEdit(path, start + found[0].start(), start + found[0].end(), new)

    def entry(self, path: str, line: int, text: str) -> Entry | None:
        """The one item of a list in brackets on a line of the service that is a text, or a flag with a value behind
        `=`. Raises `NoEdit` where the line is not this service's alone.
        """
        self.line(path, line)
        if path != self.finding.path:
            return None
        found = [
            entry
            for entry in items_on(self.compose.at(*self.field()), line)
            if entry.first.value == text or entry.first.value.startswith(f"{text}=")
        ]
        return found[0] if len(found) == 1 else None

    def line(self, path: str, line: int) -> tuple[int, str]:
        """A line that is this service's alone, and the offset of its first character. Raises `NoEdit`."""
        if path == self.finding.path:
            layout = self.compose
            service = layout.at(*self.field())
            fields = [
                layout.at(*self.field(key.value)) for key, _ in service.value if layout.has(*self.field(key.value))
            ]
            holder = next((node for node in fields if layout.holds(node, line)), None)
            if holder is None:
                raise NoEdit(f"{path}:{line} is not part of the service {self.finding.service}")
            if layout.shared_below(holder):
                raise NoEdit(f"{path}:{line} stands in a value that is shared with others by an anchor")
            return layout.start_of(line), layout.line(line)
        text = self.text(path)
        if path.endswith((".yml", ".yaml")):
            raise NoEdit(f"{path}:{line} may be part of other services too")
        lines = text.split("\n")
        if not 0 < line <= len(lines):
            raise NoEdit(f"{path} has no line {line}")
        return sum(len(one) + 1 for one in lines[: line - 1]), lines[line - 1].rstrip("\r")


def _read(path: str, text: str) -> Layout | NoEdit:
    try:
        return Layout(path, text)
    except NoEdit as error:
        return error


def _is_whole(text: str, match: re.Match[str]) -> bool:
    """Whether a match is no part of a longer word."""
    before, after = text[: match.start()][-1:], text[match.end() :][:1]
    if _DEFAULT.search(text, 0, match.start()):
        before = ""
    return not (before.isalnum() or before in ("-", "_", "/", ".")) and not (
        after.isalnum() or after in ("-", "_", "$", ".")
    )
