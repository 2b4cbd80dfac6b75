"""The container that a service describes: its files, as far as mounts decide them, and its first process."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bot.compose import Mount, Service
from bot.provenance import Reason, Word
from bot.shell import Process, SourceFile
from bot.tree import OutsideTree, Tree, UnreadableFile, join

ImageEntrypoint = Callable[[str], tuple[str, ...] | None]
"""The ENTRYPOINT of an image by its reference, or None where it is not known."""

_SHELLS_AND_INTERPRETERS = frozenset(
    {"bash", "sh", "dash", "ash", "python", "python3", "vllm", "env", "exec", "numactl"}
)


_PACKAGES = ("/site-packages/", "/dist-packages/")


@dataclass(frozen=True)
class MountedFiles:
    """The container's files that come from the repository, by the longest mount that covers a path.

    `contents` are the texts that stand in a compose themselves. `absent` collects the folders that were looked into and
    that the repository does not have.
    """

    tree: Tree
    mounts: tuple[Mount, ...]
    contents: Mapping[str, Word] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    _by_target: dict[str, Mount] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, tree: Tree, service: Service) -> MountedFiles:
        """Those of a service."""
        return cls(tree, service.mounts, service.contents)

    def read(self, path: str) -> SourceFile | None:
        """The repository's file behind a container path; None when the image, a volume or the host has it."""
        written = self.contents.get(path)
        if written is not None:
            place = written.because[0] if written.because else None
            return SourceFile(place.path if place else "", written.text, written.lines) if written.known else None
        source = self._source(path)
        if source is None:
            return None
        try:
            text = self.tree.read(source)
        except UnreadableFile:
            return None
        return None if text is None else SourceFile(source, text)

    def exists(self, path: str) -> bool | None:
        """True for a file or directory of the repository.

        False below a folder that is laid over the image's Python packages and that the repository does not have: Docker
        makes an empty one. Other folders may be filled on the host, and everything else is the image's affair: None.
        """
        if path in self.contents:
            return True
        mount = self._mount(path)
        source = self._source(path)
        if mount is None or source is None:
            return None
        if self.read(path) is not None or self.tree.is_directory(source):
            return True
        package = any(folder in mount.target for folder in _PACKAGES)
        if package and path != mount.target and not self.tree.is_directory(mount.source):
            self.absent.add(mount.source)
            return False
        return None

    def targets(self) -> Iterable[str]:
        """The container path of every mount."""
        return (*(mount.target for mount in self.mounts), *self.contents)

    def listing(self, folder: str) -> Mapping[str, bool] | None:
        """The names in a folder that the repository shows, each with whether it is a folder too; None for any other."""
        source = self._source(folder)
        if source is None or folder in self.contents or not self.tree.is_directory(source):
            return None
        inside = "" if source in ("", ".") else source.rstrip("/") + "/"
        found: dict[str, bool] = {}
        for path in self.tree.paths():
            if path.startswith(inside):
                name, slash, _ = path[len(inside) :].partition("/")
                found[name] = bool(slash) or found.get(name, False)
        below = folder.rstrip("/") + "/"
        for target in self.targets():
            if target.startswith(below) and (rest := target[len(below) :].strip("/")):
                name, slash, _ = rest.partition("/")
                # What is mounted there need not be in the repository: whether it is a folder is only known for a part.
                found[name] = bool(slash) or found.get(name, False) or self.exists(target) is not True
        return found

    def _mount(self, path: str) -> Mount | None:
        """The mount that shows a path, if it shows the repository."""
        if not self._by_target:
            self._by_target.update((mount.target.rstrip("/"), mount) for mount in reversed(self.mounts))
        place, best = path.rstrip("/"), None
        while best is None and (place in self._by_target or place):
            best = self._by_target.get(place)
            place = place.rpartition("/")[0]
        return best if best is not None and best.in_repository else None

    def _source(self, path: str) -> str | None:
        best = self._mount(path)
        if best is None:
            return None
        rest = path[len(best.target.rstrip("/")) :].lstrip("/")
        try:
            return join(best.source, rest) if rest else best.source
        except OutsideTree:
            return None


@dataclass(frozen=True, slots=True)
class Start:
    """What the container runtime starts. `process` is None when only the image knows; `reason` then says why.

    `assumption` is set where the answer rests on what is usual for such an image.
    """

    process: Process | None
    reason: str = ""
    assumption: Reason | None = None


def start(service: Service, image_entrypoint: ImageEntrypoint) -> Start:
    """ENTRYPOINT and command of a service, the image's own where Compose sets none.

    Setting `entrypoint` in a compose also clears the image's command; setting neither leaves both to the image.
    """
    if service.entrypoint:
        return Start(_process(service, (*service.entrypoint, *(service.command or ()))))
    image = service.image.text if service.image else ""
    command = service.command or ()
    cleared = service.entrypoint is not None
    known = None if cleared else image_entrypoint(image)
    if known is not None:
        because = (_assume(f"the image {image} starts `{' '.join(known)}` unless the compose sets an entrypoint"),)
        words = tuple(Word(text, because) for text in known)
        return Start(_process(service, (*words, *command)), assumption=because[0])
    if cleared and command:
        return Start(_process(service, command))
    if command and posixpath.basename(command[0].text) in _SHELLS_AND_INTERPRETERS:
        assumption = _assume(f"the ENTRYPOINT of {image or 'the image'} is assumed to run its command unchanged")
        return Start(_process(service, command), assumption=assumption)
    return Start(None, f"what runs is decided by the ENTRYPOINT of {image or 'an image built from source'}")


def _process(service: Service, argv: tuple[Word, ...]) -> Process:
    environment = {name: value for name, value in service.environment.items() if value is not None}
    directory = str(service.config.get("working_dir") or "")
    return Process(argv, environment, directory, open=bool(service.absent_env_files))


def _assume(text: str) -> Reason:
    return Reason("assumption", "", None, text)
