"""The seams of a service: which variables change what runs, and which only seem to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from bot.compose import Service, VariableRead
from bot.provenance import Position
from bot.shell import Read, Run
from bot.worlds.candidates import Candidates
from bot.worlds.comments import Offer, comments, offers
from bot.worlds.deployment import Deployment
from bot.worlds.early import (
    EarlyInterpolation,
    early_interpolations,
    is_private,
    reads_inside_script,
    unfolding,
)
from bot.worlds.model import Deviation, Realisation, Seam

SET_BY_THE_CONTAINER = frozenset(
    {
        "BASH", "BASHOPTS", "BASHPID", "BASH_ARGC", "BASH_ARGV", "BASH_COMMAND", "BASH_LINENO", "BASH_REMATCH",
        "BASH_SOURCE", "BASH_SUBSHELL", "BASH_VERSINFO", "BASH_VERSION", "COLUMNS", "COPROC", "CUDA_HOME",
        "CUDA_VERSION", "CUDA_VISIBLE_DEVICES", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME",
        "GROUPS", "HOME", "HOSTNAME", "HOSTTYPE", "IFS", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "LD_PRELOAD", "LINENO",
        "LINES", "LOGNAME", "MACHTYPE", "MAPFILE", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_VISIBLE_DEVICES", "OLDPWD",
        "OPTARG", "OPTERR", "OPTIND", "OSTYPE", "PATH", "PIPESTATUS", "PPID", "PS4", "PWD", "PYTHONPATH", "RANDOM",
        "REPLY", "SECONDS", "SHELL", "SHELLOPTS", "SHLVL", "SRANDOM", "TERM", "TMPDIR", "TZ", "UID", "USER",
        "UV_PYTHON", "VIRTUAL_ENV", "_",
    }
)  # fmt: skip
"""Variables that the shell, the runtime or the usual image sets: reading one that Compose does not forward is no dead
seam."""

MAX_DEVIATIONS = 64
"""Candidates that one service may have. A compose with more has a seam for everything, and no list of worlds helps."""


@dataclass(frozen=True, slots=True)
class Survey:
    """All that the text of one service says about its seams, seen from the default world.

    `needs` are host variables that its command asks for, without a default and not set: nobody means to start it so.
    `untried` are deviations beyond those that are looked at, `MAX_DEVIATIONS`: their seams are open.
    """

    seams: tuple[Seam, ...]
    deviations: tuple[Deviation, ...]
    dead: tuple[Read, ...]
    early: tuple[EarlyInterpolation, ...]
    offers: tuple[Offer, ...]
    needs: tuple[str, ...] = ()
    untried: tuple[Deviation, ...] = ()

    def without(self, untried: tuple[Deviation, ...]) -> Survey:
        """The survey when more deviations were not tried: no list of values is complete for their seams."""
        names = {deviation.name for deviation in untried}
        seams = tuple(replace(seam, open=True) if seam.host in names else seam for seam in self.seams)
        return replace(self, seams=seams, untried=(*self.untried, *untried))


def toggles(deployment: Deployment, default: Realisation) -> frozenset[str]:
    """Variables read behind a sourced script that the repository lacks, and meant for the user all the same.

    Such a script may set anything. A variable is taken for the user's when a comment offers it (`NAME=1`) or another of
    its family (`CACHE_SIZE` beside an offered `CACHE_DIR`), or when the entrypoint only asks whether it is set
    (`${NAME:+--flag}`) and its name is not a private one (`_NAME`, `name`).
    """
    run = default.run
    if run is None or not _sources_foreign_scripts(deployment, default):
        return frozenset()
    offered = {offer.name for offer in _offers(deployment)}
    families = {_family(name) for name in offered} - {""}
    behind = (read for read in run.reads if read.after_source and read.inherited and read.name not in run.writes)
    return frozenset(
        read.name
        for read in behind
        if read.name in offered
        or _family(read.name) in families
        or (read.operator in (":+", "+") and not is_private(read.name))
    )


def _family(name: str) -> str:
    """The first part of a public name of several (`CACHE` of `CACHE_DIR`); empty for any other."""
    first, underscore, _ = name.partition("_")
    return first if underscore and first.isupper() else ""


def survey(deployment: Deployment, default: Realisation) -> Survey:
    """The seams of a service whose default world is `default`."""
    service = default.service
    if service is None:
        return Survey((), (), (), (), ())
    run = default.run or Run((), ())
    inside = reads_inside_script(service)
    unfolded = unfolding(deployment, default, inside)
    host = {read.name: read for read in reversed(_of_the_engine(service.reads))}
    carriers = _carriers(service)
    offered = _offers(deployment)
    dead = _dead(deployment, default, run, offered)
    early = tuple(early_interpolations(service, inside, run, unfolded, _documented(deployment)))
    finder = Candidates(host, carriers, offered)
    finder.from_script(run, carriers)
    if unfolded is not None:
        misread = {item.read.name for item in early}
        finder.from_script(unfolded, {read.name: read.name for read in inside if read.name not in misread})
    finder.from_command(read for read in host.values() if read.name not in {r.name for r in inside})
    finder.from_comments()
    finder.from_launchers(deployment.launched)
    found = tuple(finder.found.values())
    deviations, beyond = found[:MAX_DEVIATIONS], found[MAX_DEVIATIONS:]
    seams = (*_seams(host, carriers, run, dead, deviations), *_in_env_files(service, carriers, run))
    seen = Survey(seams, deviations, dead, early, offered, _needs(service, default.environment, early))
    return seen.without(beyond) if beyond else seen


def _of_the_engine(reads: Iterable[VariableRead]) -> tuple[VariableRead, ...]:
    fields = ("image", "command", "entrypoint", "environment", "volumes", "env_file", "extends", "configs")
    return tuple(read for read in reads if read.field.split(".")[0] in fields)


def _carriers(service: Service) -> dict[str, str]:
    """For each variable of the container that a host variable reaches: that host variable.

    A bare `- NAME` passes NAME on. `NAME=${HOST:-d}` passes HOST on, in an environment file too; in nested defaults the
    outermost wins.
    """
    carriers = {name: name for name, value in service.environment.items() if value is None}
    for read in reversed(service.reads):
        field, _, name = read.field.partition(".")
        if (field == "environment" and name) or _is_in_env_file(service, read):
            carriers[name] = read.name
    return carriers


def _is_in_env_file(service: Service, read: VariableRead) -> bool:
    """Whether a variable is read by a value of an environment file, not by the path of one."""
    return read.position.path in service.env_files


def _dead(deployment: Deployment, default: Realisation, run: Run, offered: tuple[Offer, ...]) -> tuple[Read, ...]:
    """Container seams that no host value reaches: read before anything in the script could have set them.

    A variable that the script also sets is its own affair, unless a comment offers it.
    """
    service = default.service
    if service is None or any(not deployment.has(path) for path in service.env_files):
        return ()
    known = {*service.environment, *_carriers(service), *SET_BY_THE_CONTAINER}
    own = (run.writes | run.always_set) - {offer.name for offer in offered}
    foreign = _sources_foreign_scripts(deployment, default)
    first: dict[str, Read] = {}
    for read in run.reads:
        ours = not (foreign and read.after_source) or read.name in deployment.unset
        if read.inherited and ours and read.name not in known and read.name not in own:
            first.setdefault(read.name, read)
    return tuple(first.values())


def _sources_foreign_scripts(deployment: Deployment, realisation: Realisation) -> bool:
    """Whether the script sources one that the repository does not have, and which may set anything.

    A script that is not followed to its end may do so where nobody has looked.
    """
    run = realisation.run
    if run is None:
        return False
    return bool(run.unresolved) or any(not deployment.knows(realisation, path) for path in run.sourced)


def _documented(deployment: Deployment) -> dict[Position, str]:
    return {
        position: text for path in deployment.files for position, text in comments(path, deployment.text(path)).items()
    }


def _offers(deployment: Deployment) -> tuple[Offer, ...]:
    return tuple(offer for path in deployment.files for offer in offers(path, deployment.text(path)))


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
            setter = carriers.get(read.name, read.name)
            still_open = free and not candidates
            # Where the compose itself asks the host for it, that is the place to look at, and its default comes first.
            asked = host.get(setter) if forwarded else None
            place = asked.position if asked is not None else read.position
            default = _default(read) if asked is None or (first := _default(asked)) is None else first
            found.setdefault(
                read.name,
                Seam(read.name, "container", forwarded, default, candidates, place, still_open, setter),
            )
    for name, asked in host.items():
        if name not in found:
            candidates = tuple(values.get(name, ()))
            free = asked.field.split(".")[0] in ("command", "entrypoint") and not asked.argument and not candidates
            found[name] = Seam(name, "host", True, _default(asked), candidates, asked.position, free, name)
    return tuple(sorted(found.values(), key=lambda seam: (seam.position.path, seam.position.line, seam.name)))


def _in_env_files(service: Service, carriers: Mapping[str, str], run: Run) -> Iterator[Seam]:
    """Variables that an environment file states and the script reads: whoever edits that file changes what runs.

    Nothing on the host reaches them, so no world of theirs is tried.
    """
    stated: dict[str, Position] = {}
    for name, value in service.environment.items():
        place = value.because[0] if value is not None and value.because else None
        if place is not None and place.path in service.env_files and name not in carriers:
            stated[name] = Position(place.path, place.line or 1)
    read = {one.name for one in run.reads if one.inherited}
    finder = Candidates({}, {name: name for name in stated}, ())
    if stated:
        finder.from_script(run, {name: name for name in stated})
    for name in (name for name in stated if name in read):
        value = service.environment[name]
        default = value.text if value is not None else None
        values = tuple(found for setter, found in finder.found if setter == name and found != default)
        yield Seam(name, "container", True, default, values, stated[name], not values, name)


def _needs(service: Service, environment: Mapping[str, str], early: tuple[EarlyInterpolation, ...]) -> tuple[str, ...]:
    misread = {item.read.name for item in early}
    asked = (read for read in service.reads if read.operator == "" and read.name not in misread)
    used = (read.name for read in asked if read.field.split(".")[0] in ("command", "entrypoint", "environment"))
    return tuple(dict.fromkeys(name for name in used if name not in environment))


def _default(read: Read | VariableRead) -> str | None:
    return read.argument if read.operator in ("-", ":-") else None
