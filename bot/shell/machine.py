"""What one way through a script shares: files, limits, and what is to be reported about it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from bot.provenance import Position, Reason
from bot.shell import globbing
from bot.shell.model import ContainerFiles, SourceFile, Unresolved
from bot.shell.patterns import compiled, unquote
from bot.shell.state import UNKNOWN_DIRECTORY, Refusal, Shell, Sink, Variable
from bot.shell.syntax import For, Node
from bot.shell.values import Source, Value, assumptions
from bot.shell.way import Way

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

DIRECTORIES = frozenset(
    {"/", "/tmp", "/dev", "/proc", "/sys", "/etc", "/usr", "/bin", "/var", "/root", "/opt", "/home"}  # noqa: S108 (a path in a container)
)
"""Directories that every image has."""

_MAX_SLEEPS = 40
"""A script that sleeps so often on one line waits for something that does not come on this way."""

_MAX_COUNTED_SLEEPS = 600
"""The same for a loop over a list, which gives up in the end: ten minutes of seconds are followed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the interpreter stops. `commands` counts per way, `all_commands` over all ways of one question.

    `work` is what may be done with texts over all ways, in steps of a pattern match (see `patterns.match_cost`),
    `decisions` the open questions on one way.

    The numbers keep a hostile script well under two seconds; an entrypoint runs a few hundred commands on a few ways.
    """

    commands: int = 20_000
    all_commands: int = 60_000
    outcomes: int = 64
    depth: int = 40
    text: int = 1 << 20
    work: float = 3e7
    decisions: int = 400


class ListedFiles(Protocol):
    """Container files whose names are all known, so that patterns of file names can be answered."""

    def paths(self) -> Iterable[str]:
        """The absolute path of every file."""


@dataclass(slots=True)
class Budget:
    """What is left of the work that all ways of a question may take together."""

    commands: int
    work: float


STEPS_OF_A_WORD = 500
"""What one word of many costs, in the steps of a pattern match; commands of few words are counted as commands."""

STEPS_OF_A_CHARACTER = 20
"""What a walk over a text costs for each character."""

STEPS_OF_A_COMMAND_CHARACTER = 150
"""What reading a text as commands costs for each character."""

FEW = 16
"""Words of a common command."""


class NeverEnds(Exception):
    """On this way the script waits for ever."""


@dataclass(frozen=True, slots=True)
class Call:
    """A program that took the process over, or that was started as an engine.

    `unseen` are the files of which nobody knows what they have put into its environment.
    """

    argv: tuple[Value, ...]
    environment: Mapping[str, Value]
    engine: bool
    steps: int
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was made on the way, behind so many decisions."""

    run: tuple[Value, ...]
    position: Position
    decisions: int
    standard_input: str | None = None


class MountedOver(Protocol):
    """Container files that lie over those of an image, at known places."""

    def targets(self) -> Iterable[str]:
        """The container path of every mount, whether its content is known or not."""


class LoopRun:
    """One run of a loop: the shell and the function that run it, what files held before, and what was asked in it."""

    __slots__ = ("asked", "counts", "depth", "functions", "last", "names", "node", "shell", "written")

    def __init__(self, node: Node, shell: Shell, written: Mapping[str, tuple[Sink, int]]) -> None:
        self.node = node
        self.shell = shell
        self.depth = len(shell.frames)
        self.written = written
        self.last = False
        self.names: list[str] | None = None
        self.functions = 0
        self.counts = False
        self.asked: set[Hashable] = set()


class Answers:
    """What the container's files answer, asked once for all ways of a question."""

    def __init__(self, files: ContainerFiles) -> None:
        self._files = files
        self._read: dict[str, SourceFile | None] = {}
        self._exists: dict[str, bool | None] = {}
        paths: Callable[[], Iterable[str]] | None = getattr(files, "paths", None)  # of `ListedFiles`
        targets: Callable[[], Iterable[str]] | None = getattr(files, "targets", None)  # of `MountedOver`
        self._listing: Callable[[str], Mapping[str, bool] | None] | None = getattr(files, "listing", None)
        self._listings: dict[str, Mapping[str, bool] | None] = {}
        self.listed = sorted(paths()) if paths is not None else None
        self.targets = frozenset(place.rstrip("/") for place in targets()) if targets is not None else frozenset()
        self._folders = tuple(f"{target}/" for target in self.targets)

    def read(self, path: str) -> SourceFile | None:
        """As `ContainerFiles.read`."""
        if path not in self._read:
            self._read[path] = self._files.read(path)
        return self._read[path]

    def exists(self, path: str) -> bool | None:
        """As `ContainerFiles.exists`."""
        if path not in self._exists:
            self._exists[path] = self._files.exists(path)
        return self._exists[path]

    def listing(self, folder: str) -> Mapping[str, bool] | None:
        """The names in a folder, each with whether it is a folder too; None where they are not known."""
        if self._listing is None:
            return None
        if folder not in self._listings:
            self._listings[folder] = self._listing(folder)
        return self._listings[folder]

    def is_covered(self, path: str) -> bool:
        """Whether a mount shows this path: it is not the image's own."""
        return path in self.targets or path.startswith(self._folders)


@dataclass(slots=True)
class Machine:
    """The container, as far as it is known, on one way."""

    way: Way
    files: Answers
    limits: Limits
    closed: bool
    budget: Budget
    failing: int = -1
    count: int = 0
    overlay: dict[str, Sink] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    disturbed: set[str] = field(default_factory=set)
    executable: set[str] = field(default_factory=set)
    notes: dict[tuple[str, Position | None], None] = field(default_factory=dict)
    rests_on: dict[str, None] = field(default_factory=dict)
    touched: dict[Reason, None] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    steps: list[Done] = field(default_factory=list)
    sources: dict[tuple[str, str], Source] = field(default_factory=dict)
    sourced: dict[str, None] = field(default_factory=dict)
    found_set: set[str] = field(default_factory=set)
    found_unset: set[str] = field(default_factory=set)
    unset: frozenset[str] = frozenset()
    doubting: bool = False
    opaque: bool = False
    ended: Unresolved | None = None
    open: bool = False
    sleeps: dict[tuple[int, int], int] = field(default_factory=dict)
    waited: int = 0
    asked: dict[str, dict[Hashable, int]] = field(default_factory=dict)
    loops: list[LoopRun] = field(default_factory=list)
    forgotten: list[LoopRun] = field(default_factory=list)
    pipes: int = 0
    depth: int = 0

    def step(self, on: Interpreter) -> None:
        """Counts a command. Raises `Refusal` when there were too many."""
        self.count += 1
        if self.count > self.limits.commands:
            raise on.refusal("more commands than are followed (a loop without end?)")
        self.budget.commands -= 1
        if self.budget.commands < 0:
            raise on.refusal("more commands on all ways together than are followed")

    def spend(self, steps: float) -> None:
        """Counts work on a text. Raises `Refusal` when it was too much."""
        self.budget.work -= steps
        if self.budget.work < 0:
            raise Refusal("more work on long texts than is followed")

    def note(self, on: Interpreter, reason: str, line: int | None = None) -> None:
        """Records an assumption."""
        self.notes.setdefault((reason, on.position(line)))

    def rest(self, on: Interpreter, reason: str, line: int | None = None) -> None:
        """Records an assumption about a file that is not seen, on which this way rests."""
        self.note(on, reason, line)
        self.rests_on.setdefault(reason)

    def looked_up(self, name: str, variable: Variable | None) -> None:
        """Takes down that a variable is read, and whether it is set then: a mere declaration sets nothing."""
        known = variable is not None and not variable.bare and (variable.value or variable.items) is not None
        (self.found_set if known else self.found_unset).add(name)

    def touch(self, values: Iterable[Value]) -> None:
        """Takes down the assumptions in values that are read, for whoever asks what a command has read."""
        for value in values:
            for reason in assumptions(value.origin):
                self.touched.setdefault(reason)

    @contextmanager
    def reading(self) -> Iterator[dict[Reason, None]]:
        """The assumptions in what is read from now on."""
        outer, self.touched = self.touched, {}
        own = self.touched
        try:
            yield own
        finally:
            outer.update(own)
            self.touched = outer

    def unresolved_notes(self) -> tuple[Unresolved, ...]:
        """The assumptions made on this way."""
        return tuple(Unresolved(reason, position) for reason, position in self.notes)

    def sleep(self, on: Interpreter) -> None:
        """Counts a `sleep`. Raises `NeverEnds`."""
        self.waited += 1
        key = (id(on.source), on.line)
        self.sleeps[key] = self.sleeps.get(key, 0) + 1
        counted = bool(self.loops) and all(isinstance(loop.node, For) for loop in self.loops)
        if self.sleeps[key] > (_MAX_COUNTED_SLEEPS if counted else _MAX_SLEEPS) and not self.closed:
            raise NeverEnds

    def new_pipe(self, sink: Sink) -> str:
        """A path under which the content of a sink can be read."""
        self.pipes += 1
        path = f"/dev/fd/{64 - self.pipes}"
        self.overlay[path] = sink
        return path

    @contextmanager
    def loop(self, node: Node, shell: Shell) -> Iterator[None]:
        """The time of a loop."""
        self.loops.append(LoopRun(node, shell, self._written()))
        try:
            yield
        finally:
            self.loops.pop()

    # --- files ------------------------------------------------------------------------------------------------

    def _written(self) -> dict[str, tuple[Sink, int]]:
        """What the script has written to each file so far, and how much, pipes left out."""
        return {path: (sink, sink.size) for path, sink in self.overlay.items() if not path.startswith("/dev/")}

    def forget_written(self, loop: LoopRun) -> None:
        """Forgets what a loop has written so far."""
        for path, state in self._written().items():
            if loop.written.get(path) != state:
                self.disturb(path)

    def read(self, path: str) -> Value | SourceFile | None:
        """The content of a file: what the script wrote itself, what is mounted, or None when it is not known."""
        if path in self.overlay:
            return self.overlay[path].content()
        if path in self.removed or self._is_disturbed(path):
            return None
        return self.files.read(path)

    def disturb(self, path: str) -> None:
        """Forgets a file, or all files of a folder: something was done to it that is not followed."""
        self.overlay.pop(path, None)
        self.disturbed.add(path)

    def is_changed(self, folder: str) -> bool:
        """Whether something was done in a folder that is not followed."""
        inside = folder.rstrip("/") + "/"
        return self._is_disturbed(folder) or any(one.startswith(inside) for one in self.disturbed)

    def _is_disturbed(self, path: str) -> bool:
        if any(path == one or path.startswith(one.rstrip("/") + "/") for one in self.disturbed):
            return True
        return path.startswith("/") and any(map(path.endswith, self._written_nearby()))

    def _written_nearby(self) -> Iterable[str]:
        """The ends of the paths that were written as seen from a directory that is not known."""
        for one in (*self.disturbed, *self.overlay):
            if not one.startswith(("/", "$")):
                yield "/" + one.lstrip("./")

    def exists(self, path: str) -> bool | None:
        """Whether there is a file or directory of this path; None when only the container knows."""
        if path in self.overlay or path in self.directories or path in DIRECTORIES or path == UNKNOWN_DIRECTORY:
            return True
        if path in self.removed:
            return False
        if path in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"):
            return True
        known = None if self._is_disturbed(posixpath.dirname(path)) else self.files.exists(path)
        return False if known is None and self.closed else known

    def is_directory(self, path: str) -> bool | None:
        """Whether a path is a directory; None when only the container knows."""
        if path in self.overlay:
            return False
        if path in self.directories or path in DIRECTORIES or path == UNKNOWN_DIRECTORY:
            return True
        if self.files.read(path) is not None and not self._is_disturbed(posixpath.dirname(path)):
            return False
        exists = self.exists(path)
        if exists is False:
            return False
        if self.files.listed is not None:
            return any(name.startswith(path.rstrip("/") + "/") for name in self.files.listed)
        return None

    def glob(self, on: Interpreter, pattern: str, line: int) -> list[str] | None:
        """The file names that a pattern matches, sorted; None when they are not known."""
        text = unquote(pattern)
        if self.files.listed is None:
            found = globbing.mounted(self, on, pattern)
            if found is not None:
                return found
            if _cannot_be_a_path(text):
                self.note(on, f"no file is assumed to be named like {text}", line)
                return []
            return None
        absolute = pattern.startswith("/")
        names = {*self.files.listed, *self.overlay} - self.removed
        directories: set[str] = set()
        for name in names:
            parent = posixpath.dirname(name)
            while parent not in directories and parent != "/":
                directories.add(parent)
                parent = posixpath.dirname(parent)
        prefix = "" if absolute else on.shell.directory.rstrip("/") + "/"
        if text.strip("*/.") == "" or (absolute and text.split("/")[1] in _SYSTEM):
            return None
        shown = sorted(
            {
                name if absolute else name[len(prefix) :]
                for name in {*names, *directories}
                if absolute or name.startswith(prefix)
            }
        )
        expression = compiled(
            pattern.removeprefix("./"), extended="extglob" in on.shell.switches, path=True,
            ignore_case="nocaseglob" in on.shell.switches,
        )  # fmt: skip
        lead = "./" if pattern.startswith("./") else ""
        dotted = "dotglob" in on.shell.switches
        return [lead + name for name in shown if expression.fullmatch(name) and (dotted or not _hidden(name, pattern))]


_SYSTEM = frozenset({"etc", "usr", "bin", "lib", "proc", "sys", "dev", "var", "root", "sbin", "tmp", "home", "run"})


def _hidden(name: str, pattern: str) -> bool:
    parts, patterns = name.split("/"), pattern.removeprefix("./").split("/")
    return any(
        part.startswith(".") and not wanted.startswith((".", "\\."))
        for part, wanted in zip(parts, patterns, strict=False)
    )


def _cannot_be_a_path(text: str) -> bool:
    """Whether nobody has files of such names: JSON, URLs, options with values."""
    return any(mark in text for mark in ("{", '"', "://", "=", ",")) or (text.startswith("[") and text.endswith("]"))
