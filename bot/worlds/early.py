"""Early interpolation: what the shell in the container should read, and Compose replaces before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bot.compose import Service, VariableRead
from bot.provenance import Position, Word
from bot.shell import Run
from bot.worlds.comments import says_who_sets
from bot.worlds.deployment import Deployment
from bot.worlds.model import Realisation


@dataclass(frozen=True, slots=True)
class EarlyInterpolation:
    """A script's own variable written with a single `$`, so that Compose replaces it on the host.

    `read` is the place in the compose; `setter` says who would have set it. `changes_arguments` is True when the
    engine's arguments would depend on it if it were written `$$`.
    """

    read: VariableRead
    setter: str
    changes_arguments: bool


def reads_inside_script(service: Service) -> tuple[VariableRead, ...]:
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


def unfolding(deployment: Deployment, default: Realisation, inside: tuple[VariableRead, ...]) -> Run | None:
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
    if not lines or lines != list(range(lines[0], lines[0] + len(lines))) or not any(row.strip() for row in block):
        return word
    indent = min(len(row) - len(row.lstrip(" ")) for row in block if row.strip())
    ending = word.text[len(word.text.rstrip("\n")) :]
    text = "\n".join(row[indent:] for row in block).rstrip("\n") + ending
    return replace(word, text=text.replace("$$", "$"))


def early_interpolations(
    service: Service, inside: tuple[VariableRead, ...], run: Run, unfolded: Run | None, comments: Mapping[Position, str]
) -> Iterable[EarlyInterpolation]:
    """The host variables interpolated into a script that the container was to set; one for each name.

    `inside` are the reads in question, `run` the script as Compose leaves it and `unfolded` as it is written;
    `comments` may say who sets a variable.
    """
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
    named = any(says_who_sets(text, read.name) for text in comments.values())
    script = unfolded.sourced[0] if unfolded.sourced else "a sourced script"
    return f"{script} sets it" if is_private(read.name) or named else ""


def _changes_arguments(name: str, run: Run, unfolded: Run) -> bool:
    def arguments(of: Run) -> set[tuple[str, ...]]:
        return {tuple(word.text for word in outcome.argv or ()) for outcome in of.outcomes}

    forks = {outcome.assumed.get(name) for outcome in unfolded.outcomes}
    return arguments(unfolded) != arguments(run) or (len(forks) > 1 and len(arguments(unfolded)) > 1)


def is_private(name: str) -> bool:
    """Whether a name is one that scripts keep to themselves (`_NAME`, `name`): users set public ones."""
    return name.startswith("_") or name.islower()
