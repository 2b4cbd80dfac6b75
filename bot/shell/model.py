"""What the entrypoint would start: the question to the shell stage and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.provenance import Position, Word


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that the container sees, with its place in the repository.

    `lines` are the lines of that file at which those of the text stand, where it is a part of it.
    """

    path: str
    text: str
    lines: tuple[int, ...] = ()


class ContainerFiles(Protocol):
    """What is known of the container's file system."""

    def read(self, path: str) -> SourceFile | None:
        """The repository's file that is mounted at this absolute container path, or None when it is not known."""

    def exists(self, path: str) -> bool | None:
        """True and False where the mounts decide it, None where only the image or the host knows."""


@dataclass(frozen=True, slots=True)
class Process:
    """What the container runtime starts: ENTRYPOINT + command, and the environment.

    `closed` says that the programs and files named here are all there are: a program that is neither a common tool
    nor given is then "command not found". In a real image a program of any name may exist.
    `directory` is where it starts: empty for the image's WORKDIR, which nobody here knows.
    `unset` are names that no sourced script is assumed to set, also where its text is not known.
    `open` says that the environment may hold more than is named here: what nothing else sets is then not known.
    `doubting` drops the assumptions of `Outcome.rests_on`: whatever rests on one may be otherwise.
    """

    argv: tuple[Word, ...]
    environment: Mapping[str, Word]
    directory: str = "/"
    closed: bool = False
    unset: frozenset[str] = frozenset()
    doubting: bool = False
    open: bool = False


CONTRARY_TO = "contrary to: "
"""Begins the name of a symbol that says, with "0", that a condition turns out as it cannot under an assumption."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command that ran a file of a mount, or an installer, before or beside the engine.

    `stops` answers what happens when it fails, or works the answer out when it is asked: few are. `standard_input` is
    the container path of the file that `<` gives it, None when there is none or it is not known.
    """

    run: tuple[Word, ...]
    before_engine: bool
    stops: bool | Callable[[], bool | None] = field(compare=False)
    position: Position
    standard_input: str | None = None

    @property
    def failure_stops_boot(self) -> bool | None:
        """Whether the engine does not start when this command fails; None where that could not be followed."""
        return self.stops() if callable(self.stops) else self.stops


@dataclass(frozen=True, slots=True)
class Read:
    """One place where the script asked for a variable. `operator` and `argument` as in `${NAME<operator>argument}`.

    `inherited` says that the value asked for came from the container's environment (or would have: the
    script itself had not set the variable when it was read): only such a variable can be a seam.
    `after_source` says that another script was sourced before, which may have set it.
    """

    name: str
    operator: str
    argument: str
    inherited: bool
    position: Position
    after_source: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """A value that the script compares a variable with (`case` patterns, `=`, `-eq`, `-z`…): candidates for worlds.

    `value` is literal; a glob pattern is given by one string that it matches.
    """

    name: str
    value: str
    position: Position


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Something that the interpreter refuses to guess."""

    reason: str
    position: Position | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way through the script.

    `program` and `argv` are what replaces (or is started by) the script as the engine: `vllm` and what follows.
    Both are None when the script ends without reaching an engine; `exit` is then its status.
    `environment` is the complete environment of that process; `exported` what the script added or changed.
    `assumed` maps a symbol to the value it was taken to have on this way ("1", or "not 1").
    `status` is the script's last status, engines taken to end with 0; None where it is not known. `ended` is why the
    script ends before its end, and where, when it does. `rests_on` are assumptions about what files that
    nobody here has seen do to variables: without them the script may go another way, to be had by `Process.doubting`.
    `unseen` are sourced files that nobody here has seen, and which may have set more variables of `environment`.
    """

    program: Word | None
    argv: tuple[Word, ...] | None
    exit: int | None
    environment: Mapping[str, Word]
    exported: Mapping[str, Word]
    steps: tuple[Step, ...] = ()
    assumed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Unresolved, ...] = ()
    status: int | None = None
    ended: Unresolved | None = None
    rests_on: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """All ways through the script, and what its text says about its seams.

    `outcomes` has one entry when nothing is unknown. `unresolved` is not empty when some way could not be followed.
    `always_set` are the variables that were set whenever a way came to read them.
    """

    outcomes: tuple[Outcome, ...]
    unresolved: tuple[Unresolved, ...]
    reads: Sequence[Read] = ()
    comparisons: Sequence[Comparison] = ()
    writes: frozenset[str] = frozenset()
    sourced: tuple[str, ...] = ()
    always_set: frozenset[str] = frozenset()
