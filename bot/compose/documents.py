"""The parsed files of one tree, shared by every question that is asked about it."""

from __future__ import annotations

import posixpath
from typing import Any

from bot.compose.faults import Fault
from bot.compose.lines import SourceText
from bot.compose.nodes import Document, Mapping, Node, Scalar, Sequence
from bot.compose.paths import absolute
from bot.compose.yaml import read_documents
from bot.memory import Memory
from bot.tree import OutsideTree, Tree, UnreadableFile, join

_WEIGHT = 60
"""Bytes that a character of YAML takes when it is parsed."""


class Documents:
    """A cache of what was read from one tree. The tree must not change while it lives.

    `root` is the absolute path at which the repository is taken to lie, in paths and in messages. Without one,
    paths begin at `/`: `./models` beside a compose in `deploy/` is `/deploy/models`. With `relative`, messages name
    files relative to the repository, as findings do. `memory` has what is known of other states of the repository.
    """

    def __init__(self, tree: Tree, root: str = "", *, relative: bool = False, memory: Memory | None = None) -> None:
        self.tree = tree
        self.root = root
        self.memory = Memory() if memory is None else memory
        self._relative_names = relative
        self._texts: dict[str, SourceText | Fault | None] = {}
        self._documents: dict[str, list[Document] | Fault] = {}
        self.structures: dict[Any, Any] = {}

    @property
    def view(self) -> tuple[str, bool]:
        """What decides the answers beside the tree."""
        return self.root, self._relative_names

    def over(self, tree: Tree) -> Documents:
        """Nothing read so far, seen in the same way, of another tree."""
        return Documents(tree, self.root, relative=self._relative_names, memory=self.memory)

    def shown(self, path: str) -> str:
        """A path of the tree as a message names it: as Compose would show it, or relative to the repository."""
        if self._relative_names:
            return path or "."
        return str(absolute(self.root, path or ".", None))

    def text(self, path: str) -> SourceText | None:
        """A file's text, or None when there is no such file. Raises `Fault` when it cannot be read."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        found = self._texts[path]
        if isinstance(found, Fault):
            raise found.again()
        return found

    def _read(self, path: str) -> SourceText | Fault | None:
        try:
            text = self.tree.read(path)
        except UnreadableFile as error:
            kind: Any = "too-large" if "large" in error.message else "not-yaml"
            return Fault(kind, f"{self.shown(path)}: {error.message}", path=path, line=1)
        if text is None:
            return None
        return SourceText(path, text)

    def is_file(self, path: str) -> bool:
        """Whether there is such a file, readable or not."""
        try:
            return self.text(path) is not None
        except Fault:
            return True

    def compose(self, path: str) -> list[Document]:
        """The documents of a compose file. Raises `Fault`."""
        if path not in self._documents:
            question = ("documents", path, self.view)
            self._documents[path] = self.memory.answer(
                question, self.tree, lambda tree: self.over(tree)._parsed(path), _WEIGHT
            )
        found = self._documents[path]
        if isinstance(found, Fault):
            raise found.again()
        return found

    def _parsed(self, path: str) -> list[Document] | Fault:
        try:
            return self._parse(path)
        except Fault as fault:
            return fault.again()

    def _parse(self, path: str) -> list[Document]:
        source = self.text(path)
        if source is None:
            if self.tree.is_directory(path):
                raise Fault("not-found", f"read {self.shown(path)}: is a directory")
            raise Fault("not-found", f"open {self.shown(path)}: no such file or directory")
        return read_documents(source, self.shown(path))

    def locate(self, directory: str, path: str) -> str:
        """The tree's path of `path`, as written in a file that is used in `directory`. Raises `Fault`."""
        try:
            return join(directory, self._relative(path))
        except OutsideTree:
            raise Fault("outside-repository", f"the path leaves the repository: {path}") from None

    def _relative(self, path: str) -> str:
        """An absolute path below the root is one of the repository after all."""
        if self.root and path.startswith(f"{self.root}/"):
            return path[len(self.root) + 1 :]
        return path


def looks_like_compose(documents: Documents, path: str) -> tuple[bool, str]:
    """Whether a YAML file is a compose with services, and why not. Cheap enough for every YAML file of a repository."""
    try:
        source = documents.text(path)
        if source is None:
            return False, "no such file"
        if "services" not in source.text and "include" not in source.text:
            return False, "no services"
        for document in documents.compose(path):
            root = document.root
            if not isinstance(root, Mapping):
                continue
            if _includes_a_compose(documents, path, root.entries.get("include")):
                return True, ""
            services = root.entries.get("services")
            if isinstance(services, Mapping) and services.entries:
                return _judge(services)
            if isinstance(services, Sequence):
                return False, "`services` is a list"
    except Fault as fault:
        return False, fault.message
    return False, "no services"


def _includes_a_compose(documents: Documents, path: str, include: Node | None) -> bool:
    """Whether `include:` names a file of the repository that has services: such a file is a compose without any."""
    for entry in include.items if isinstance(include, Sequence) else ():
        named = entry.entries.get("path") if isinstance(entry, Mapping) else entry
        for item in named.items if isinstance(named, Sequence) else (named,):
            if not isinstance(item, Scalar) or not isinstance(item.value, str) or item.template is not None:
                continue
            try:
                target = documents.locate(posixpath.dirname(path), item.value)
                source = documents.text(target)
                roots = [one.root for one in documents.compose(target)] if source and "services" in source.text else []
            except Fault:
                continue
            if any(isinstance(root, Mapping) and "services" in root.entries for root in roots):
                return True
    return False


_TELLING = frozenset(
    {"image", "build", "command", "entrypoint", "environment", "extends", "volumes", "ports", "deploy"}
)


def _judge(services: Mapping) -> tuple[bool, str]:
    """Other formats have `services:` too; a compose's services have fields of a compose."""
    for service in services.entries.values():
        if isinstance(service, Mapping) and _TELLING & service.entries.keys():
            return True, ""
    return False, "its services have no field of a compose"
