"""The check run of a commit: one for each thing that is said, whatever happens on the way.

GitHub appends annotations, fifty at a time, and a check that is written twice stands there twice. So a check carries in
its external id what it says and how many of its batches it has, and a run that comes back goes on from there. Where
no list of the checks is read, what is about to be written is noted first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.github.client import GitHub
from bot.github.model import Annotation, CheckRun, PostedCheck, RepositoryName
from bot.github.writing import batches
from bot.review import CheckOutput
from bot.store import Facts

NAME = "Seamguard"
WRITTEN = "check"


@dataclass(frozen=True, slots=True)
class Written:
    """A check that is there: its id, and how many of its batches."""

    id: int
    sent: int


def run_of(output: CheckOutput, details_url: str | None) -> CheckRun:
    """The check run that says what a review has to say."""
    return CheckRun(
        NAME,
        output.title,
        output.summary,
        output.conclusion,
        tuple(
            Annotation(note.path, note.start_line, note.end_line, note.level, note.message, note.title)
            for note in output.annotations
        ),
        output.text or None,
        details_url,
    )


async def write(
    github: GitHub, repository: RepositoryName, head_sha: str, check: CheckRun, posted: Sequence[PostedCheck]
) -> bool:
    """Makes a commit's check say this; False when it says so already. Raises a `GitHubError`."""
    said = fingerprint(check, head_sha)
    parts = list(batches(check.annotations))
    there = _there(posted, said)
    if there is not None and there.sent >= len(parts):
        return False
    identity, sent = (None, 0) if there is None else (there.id, there.sent)
    for number in range(sent, len(parts)):
        part = replace(check, annotations=tuple(parts[number]), external_id=f"{said}:{number + 1}")
        if identity is None:
            identity = await github.create_check(repository, head_sha, part)
        else:
            await github.update_check(repository, identity, part)
    return True


async def write_alone(github: GitHub, facts: Facts, repository: RepositoryName, head_sha: str, check: CheckRun) -> bool:
    """The same for a check without annotations, where nothing else is read: one request when all goes well."""
    key = f"{repository}@{head_sha}"
    said = fingerprint(check, head_sha)
    noted = await facts.recall_soon(WRITTEN, key)
    if noted is not None and noted.get("said") == said:
        if noted.get("done"):
            return False
        # An earlier attempt was cut off: nobody knows whether GitHub got it.
        posted = await github.checks(repository, head_sha, NAME)
        if _there(posted, said) is not None:
            await facts.remember_soon(WRITTEN, key, {"said": said, "done": True})
            return False
    await facts.remember_soon(WRITTEN, key, {"said": said, "done": False})
    await github.create_check(repository, head_sha, replace(check, external_id=f"{said}:1"))
    await facts.remember_soon(WRITTEN, key, {"said": said, "done": True})
    return True


def fingerprint(check: CheckRun, head_sha: str) -> str:
    """What tells two checks apart; a check's own `external_id` is a reason to write it once more."""
    said = repr((head_sha, replace(check, details_url=None)))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:24]


def _there(posted: Iterable[PostedCheck], said: str) -> Written | None:
    """The newest check of ours, when it says the same. An older one was overruled since."""
    newest = max((check for check in posted if check.name == NAME), key=lambda check: check.id, default=None)
    name, _, sent = (newest.external_id or "").partition(":") if newest is not None else ("", "", "")
    if newest is None or name != said or not sent.isdecimal():
        return None
    return Written(newest.id, int(sent))
