"""The seams of a service: which variables change what runs, and which only seem to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bot.compose import Service, VariableRead
from bot.provenance import Position, Word
from bot.shell import Read, Run
from bot.worlds.comments import comments
from bot.worlds.deployment import Deployment
from bot.worlds.model import Deviation, DeviationSource, Realisation, Seam

SET_BY_THE_CONTAINER = frozenset(
    {
        "BASH", "BASH_SOURCE", "BASH_VERSION", "CUDA_HOME", "CUDA_VERSION", "CUDA_VISIBLE_DEVICES", "EUID", "FUNCNAME",
        "HOME", "HOSTNAME", "IFS", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "LD_PRELOAD", "LINENO", "LOGNAME",
        "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_VISIBLE_DEVICES", "OLDPWD", "OPTARG", "OPTIND", "PATH", "PPID", "PWD",
        "PYTHONPATH", "RANDOM", "REPLY", "SECONDS", "SHELL", "SHLVL", "TERM", "TMPDIR", "TZ", "UID", "USER",
        "UV_PYTHON", "VIRTUAL_ENV", "_",
    }
)  # fmt: skip
"""Variables that the shell, the runtime or the usual image sets: reading one that Compose does not forward is no dead
seam."""

MAX_DEVIATIONS = 64
"""Candidates that one service may have. A compose with more has a seam for everything, and no list of worlds helps."""

_OFFER = re.compile(r"(?<![\w$/.-])([A-Za-z_][A-Za-z0-9_]*)=([^\s`'\"|;,()\[\]{}<>#]+|\"[^\"]*\"|'[^']*')")
_SETS = re.compile(r"\b(?:sets?|exports?|defines?)\b", re.I)
_OPPOSITES = {
    "on": "off", "off": "on", "true": "false", "false": "true", "yes": "no", "no": "yes", "True": "False",
    "False": "True", "enabled": "disabled", "disabled": "enabled", "ON": "OFF", "OFF": "ON",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class EarlyInterpolation:
    """A script's own variable written with a single `$`, so that Compose replaces it on the host.

    `read` is the place in the compose; `setter` says who would have set it. `changes_arguments` is True when the
    engine's arguments would depend on it if it were written `$$`.
    """

    read: VariableRead
    setter: str
    changes_arguments: bool


@dataclass(frozen=True, slots=True)
class Survey:
    """All that the text of one service says about its seams, seen from the default world.

    `needs` are host variables that its command asks for, without a default and not set: nobody means to start it so.
    """

    seams: tuple[Seam, ...]
    deviations: tuple[Deviation, ...]
    dead: tuple[Read, ...]
    early: tuple[EarlyInterpolation, ...]
    offers: tuple[Offer, ...]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """A comment that offers a variable as a toggle: `SPEC=off disables it`."""

    name: str
    value: str
    position: Position
    text: str


def toggles(deployment: Deployment, default: Realisation) -> frozenset[str]:
    """Variables read behind a sourced script that the repository lacks, and meant for the user all the same.

    Such a script may set anything. A variable is taken for the user's when a comment offers it (`NAME=1`) or another of
    its family (`CACHE_SIZE` beside an offered `CACHE_DIR`), or when the entrypoint only asks whether it is set
    (`${NAME:+--flag}`) and its name is not a private one (`_NAME`, `name`).
    """
    run = default.run
    if run is None or not _sources_foreign_scripts(deployment, default):
        return frozenset()
    offered = {offer.name for offer in _offers(_documented(deployment))}
    families = {_family(name) for name in offered} - {""}
    behind = (read for read in run.reads if read.after_source and read.inherited and read.name not in run.writes)
    return frozenset(
        read.name
        for read in behind
        if read.name in offered
        or _family(read.name) in families
        or (read.operator in (":+", "+") and not _is_private(read.name))
    )


def _family(name: str) -> str:
    """The first part of a public name of several (`CACHE` of `CACHE_DIR`); empty for any other."""
    first, underscore, _ = name.partition("_")
    return first if underscore and first.isupper() else ""


def _is_private(name: str) -> bool:
    return name.startswith("_") or name.islower()


def survey(deployment: Deployment, default: Realisation) -> Survey:
    """The seams of a service whose default world is `default`."""
    service = default.service
    if service is None:
        return Survey((), (), (), (), ())
    run = default.run or Run((), ())
    inside = _reads_inside_script(service)
    unfolded = _unfolded(deployment, default, inside)
    host = {read.name: read for read in reversed(_of_the_engine(service.reads))}
    carriers = _carriers(service)
    offers = tuple(_offers(_documented(deployment)))
    dead = _dead(deployment, default, run, offers)
    early = tuple(_early(service, inside, run, unfolded, _documented(deployment)))
    finder = _Candidates(host, carriers, offers)
    finder.from_script(run, carriers)
    if unfolded is not None:
        misread = {item.read.name for item in early}
        finder.from_script(unfolded, {read.name: read.name for read in inside if read.name not in misread})
    finder.from_command(read for read in host.values() if read.name not in {r.name for r in inside})
    finder.from_comments()
    finder.from_launchers(deployment.launched)
    deviations = tuple(finder.found.values())[:MAX_DEVIATIONS]
    seams = _seams(host, carriers, run, dead, deviations)
    return Survey(seams, deviations, dead, early, offers, _needs(service, default.environment, early))


def _of_the_engine(reads: Iterable[VariableRead]) -> tuple[VariableRead, ...]:
    fields = ("image", "command", "entrypoint", "environment", "volumes", "env_file", "extends")
    return tuple(read for read in reads if read.field.split(".")[0] in fields)


def _reads_inside_script(service: Service) -> tuple[VariableRead, ...]:
    """Host variables interpolated into the text of a shell script (behind `-c`)."""
    scripts = {
        f"{field}.{index}"
        for field, words in (("entrypoint", service.entrypoint or ()), ("command", service.command or ()))
        for index, word in enumerate(words)
        if index and _is_command_option(words[index - 1].text)
    }
    return tuple(read for read in service.reads if read.field in scripts)


def _is_command_option(text: str) -> bool:
    return text.startswith("-") and not text.startswith("--") and text.endswith("c")


def _unfolded(deployment: Deployment, default: Realisation, inside: tuple[VariableRead, ...]) -> Run | None:
    """The script as bash would read it had Compose left its variables alone: as it is written, with `$$` undone.

    So the shell stage sees which variables it tests, and against what.
    """
    process = default.start.process if default.start else None
    if process is None or not inside:
        return None
    argv = tuple(_as_written(deployment, word) if _is_script(word) else word for word in process.argv)
    if argv != process.argv:
        return deployment.interpret(default, argv)
    # Written on one line: interpolating `X` with the text `${X}` gives back most of it, without the operators.
    return deployment.realise({read.name: f"${{{read.name}}}" for read in inside}).run


def _is_script(word: Word) -> bool:
    return len(word.lines) > 1


def _as_written(deployment: Deployment, word: Word) -> Word:
    """The text of a block scalar before interpolation."""
    rows = deployment.text(word.because[0].path).splitlines()
    lines = [number for number in word.lines if number <= len(rows)]
    block = [rows[number - 1] for number in lines]
    if lines != list(range(lines[0], lines[0] + len(lines))) or not any(row.strip() for row in block):
        return word
    indent = min(len(row) - len(row.lstrip(" ")) for row in block if row.strip())
    ending = word.text[len(word.text.rstrip("\n")) :]
    text = "\n".join(row[indent:] for row in block).rstrip("\n") + ending
    return replace(word, text=text.replace("$$", "$"))


def _carriers(service: Service) -> dict[str, str]:
    """For each variable of the container that a host variable reaches: that host variable.

    A bare `- NAME` passes NAME on. `NAME=${HOST:-d}` passes HOST on; in nested defaults the outermost wins.
    """
    carriers = {name: name for name, value in service.environment.items() if value is None}
    for read in reversed(service.reads):
        field, _, name = read.field.partition(".")
        if field == "environment" and name:
            carriers[name] = read.name
    return carriers


def _dead(deployment: Deployment, default: Realisation, run: Run, offers: tuple[Offer, ...]) -> tuple[Read, ...]:
    """Container seams that no host value reaches: read before anything in the script could have set them.

    A variable that the script also sets is its own affair, unless a comment offers it.
    """
    service = default.service
    if service is None or any(not deployment.has(path) for path in service.env_files):
        return ()
    known = {*service.environment, *SET_BY_THE_CONTAINER}
    own = run.writes - {offer.name for offer in offers}
    foreign = _sources_foreign_scripts(deployment, default)
    first: dict[str, Read] = {}
    for read in run.reads:
        ours = not (foreign and read.after_source) or read.name in deployment.unset
        if read.inherited and ours and read.name not in known and read.name not in own:
            first.setdefault(read.name, read)
    return tuple(first.values())


def _sources_foreign_scripts(deployment: Deployment, realisation: Realisation) -> bool:
    """Whether the script sources one that the repository does not have, and which may set anything."""
    run = realisation.run
    return run is not None and any(not deployment.knows(realisation, path) for path in run.sourced)


def _early(
    service: Service, inside: tuple[VariableRead, ...], run: Run, unfolded: Run | None, comments: Mapping[Position, str]
) -> Iterable[EarlyInterpolation]:
    if unfolded is None:
        return
    seen: set[str] = set()
    for read in inside:
        if read.name in seen:
            continue
        setter = _setter(read, service, unfolded, comments)
        if setter:
            seen.add(read.name)
            yield EarlyInterpolation(read, setter, _changes_arguments(read.name, run, unfolded))


def _setter(read: VariableRead, service: Service, unfolded: Run, comments: Mapping[Position, str]) -> str:
    """Who sets the variable before the script reads it; empty when the host is meant to."""
    here = [r for r in unfolded.reads if r.name == read.name and r.position.line == read.position.line]
    if any(not r.inherited for r in here):
        return "the script sets it before this line"
    if read.name in service.environment:
        given = service.environment[read.name]
        literal = given is not None and not any(r.field == f"environment.{read.name}" for r in service.reads)
        return "`environment:` sets it for the container alone" if literal else ""
    if not any(r.after_source for r in here):
        return ""
    named = any(_says_who_sets(text, read.name) for text in comments.values())
    script = unfolded.sourced[0] if unfolded.sourced else "a sourced script"
    return f"{script} sets it" if _is_private(read.name) or named else ""


def _says_who_sets(comment: str, name: str) -> bool:
    """Whether a comment says that a script sets the variable, rather than offering it to the user (`NAME=1`)."""
    return _SETS.search(comment) is not None and re.search(rf"\b{re.escape(name)}\b(?!=)", comment) is not None


def _changes_arguments(name: str, run: Run, unfolded: Run) -> bool:
    def arguments(of: Run) -> set[tuple[str, ...]]:
        return {tuple(word.text for word in outcome.argv or ()) for outcome in of.outcomes}

    forks = {outcome.assumed.get(name) for outcome in unfolded.outcomes}
    return arguments(unfolded) != arguments(run) or (len(forks) > 1 and len(arguments(unfolded)) > 1)


def _documented(deployment: Deployment) -> dict[Position, str]:
    found: dict[Position, str] = {}
    for path in deployment.files:
        for line, text in comments(deployment.text(path)):
            found[Position(path, line)] = text
    return found


def _offers(comments: Mapping[Position, str]) -> Iterable[Offer]:
    for position, text in comments.items():
        for match in _OFFER.finditer(text):
            value = match[2].strip("\"'").rstrip(".…:*")
            if value and not value.startswith("$"):
                yield Offer(match[1], value, position, text)


class _Candidates:
    """Collects deviations, the first source of a value wins."""

    def __init__(self, host: Mapping[str, VariableRead], carriers: Mapping[str, str], offers: tuple[Offer, ...]):
        self.found: dict[tuple[str, str], Deviation] = {}
        self._host = host
        self._settable = {*host, *carriers.values()}
        self._offers = offers

    def _add(self, name: str, value: str, source: DeviationSource, position: Position) -> None:
        read = self._host.get(name)
        if read is not None and value == read.argument and read.operator in (":-", "-"):
            return
        self.found.setdefault((name, value), Deviation(name, value, source, position))

    def from_script(self, run: Run, carriers: Mapping[str, str]) -> None:
        for comparison in run.comparisons:
            if (name := carriers.get(comparison.name)) and comparison.value:
                self._add(name, comparison.value, "comparison", comparison.position)
        for read in run.reads:
            if read.inherited and (name := carriers.get(read.name)):
                self._from_default(name, read.operator, read.argument, read.position)
        for comparison in run.comparisons:
            if (name := carriers.get(comparison.name)) and not self._has(name):
                self._add(name, "1", "presence", comparison.position)

    def from_command(self, reads: Iterable[VariableRead]) -> None:
        for read in reads:
            if read.field.split(".")[0] in ("command", "entrypoint"):
                if read.operator in (":+", "+"):
                    self._add(read.name, "1", "presence", read.position)
                elif read.argument.startswith("--"):
                    self._twin(read.name, read.argument, read.position)

    def from_comments(self) -> None:
        for offer in self._offers:
            if offer.name in self._settable:
                self._add(offer.name, offer.value, "documented", offer.position)

    def from_launchers(self, launched: Mapping[str, tuple[str, ...]]) -> None:
        for name in self._settable.intersection(launched):
            position = self._host[name].position if name in self._host else Position("", 1)
            for value in launched[name]:
                self._add(name, value, "launcher", position)

    def _has(self, name: str) -> bool:
        return any(key[0] == name for key in self.found)

    def _from_default(self, name: str, operator: str, argument: str, position: Position) -> None:
        if operator in (":+", "+"):
            self._add(name, "1", "presence", position)
        elif argument.startswith("--"):
            self._twin(name, argument, position)
        elif argument.isdigit():
            self._add(name, "1" if int(argument) == 0 else "0", "number", position)
        elif argument in _OPPOSITES:
            self._add(name, _OPPOSITES[argument], "switch", position)

    def _twin(self, name: str, flag: str, position: Position) -> None:
        if " " not in flag and "=" not in flag:
            twin = f"--{flag[5:]}" if flag.startswith("--no-") else f"--no-{flag[2:]}"
            self._add(name, twin, "twin", position)


def _seams(
    host: Mapping[str, VariableRead],
    carriers: Mapping[str, str],
    run: Run,
    dead: tuple[Read, ...],
    deviations: tuple[Deviation, ...],
) -> tuple[Seam, ...]:
    values: dict[str, list[str]] = {}
    for deviation in deviations:
        values.setdefault(deviation.name, []).append(deviation.value)
    found: dict[str, Seam] = {}
    dead_names = {read.name for read in dead}
    tested = {comparison.name for comparison in run.comparisons}
    for read in run.reads:
        if read.name in dead_names or (read.inherited and read.name in carriers):
            forwarded = read.name not in dead_names
            candidates = tuple(values.get(carriers.get(read.name, read.name), ())) if forwarded else ()
            free = read.operator in ("", "-", ":-") and not read.argument and read.name not in tested
            seam = Seam(
                read.name, "container", forwarded, _default(read), candidates, read.position, free and not candidates
            )
            found.setdefault(read.name, seam)
    for name, asked in host.items():
        if name not in found:
            candidates = tuple(values.get(name, ()))
            free = asked.field.split(".")[0] in ("command", "entrypoint") and not asked.argument and not candidates
            found[name] = Seam(name, "host", True, _default(asked), candidates, asked.position, free)
    return tuple(sorted(found.values(), key=lambda seam: (seam.position.path, seam.position.line, seam.name)))


def _needs(service: Service, environment: Mapping[str, str], early: tuple[EarlyInterpolation, ...]) -> tuple[str, ...]:
    misread = {item.read.name for item in early}
    asked = (read for read in service.reads if read.operator == "" and read.name not in misread)
    used = (read.name for read in asked if read.field.split(".")[0] in ("command", "entrypoint", "environment"))
    return tuple(dict.fromkeys(name for name in used if name not in environment))


def _default(read: Read | VariableRead) -> str | None:
    return read.argument if read.operator in ("-", ":-") else None
