"""`fix`: edits that are proved to end findings, as a diff or written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import click

from bot.audit import Report, Unit, audit
from bot.cli.failure import Failure
from bot.cli.hints import near
from bot.cli.learning import Learning, informed, offline_option
from bot.cli.opening import around, lies, no_compose, opened, readable
from bot.cli.progress import progress
from bot.hazards import Finding, Rules, load_rules
from bot.printable import printable
from bot.remedies import Answer, Changed, Offer, patch, together
from bot.resolution import Repository


@click.command("fix")
@click.argument("path", default=".", type=click.Path(path_type=Path))
@click.option(
    "--rule", "only", multiple=True, metavar="ID", help="Only findings of this rule; may be given more than once."
)
@click.option(
    "--diff",
    "shown",
    is_flag=True,
    help="Print the diff for `git apply` (the default); what was proved is told on standard error.",
)
@click.option("--write", "written", is_flag=True, help="Write the files instead of printing the diff.")
@click.option("--why", is_flag=True, help="Also say of each finding without an edit why it has none.")
@offline_option
def fix_command(path: Path, only: tuple[str, ...], shown: bool, written: bool, why: bool, offline: bool) -> None:
    """Edits that end findings at or below PATH, each one proved.

    An edit is proved by resolving the edited files: the finding is gone, no other appears, no other property of an
    engine changes, and Docker Compose still takes the files. What is not proved is not offered.

    The exit status is 0 when every finding that stands by default is ended by an edit (or there is none), 1 when some
    are left, and 2 when PATH cannot be read.
    """
    if shown and written:
        raise click.UsageError("--diff and --write exclude each other")
    rules = load_rules()
    for rule in only:
        if rule not in rules.ids:
            raise Failure(f"no rule {rule!r}: {near(rule, rules.ids, 'the rules are')}")
    root, inside = around(path)
    with opened(root, None) as repository:
        readable(repository)
        report = _audited(repository, rules, inside, offline)
        if not report.units:
            raise Failure(no_compose(path))
        wanted = [finding for finding in report.findings if _is_wanted(finding, only, inside)]
        named = {finding.identity: finding for finding in wanted}
        files, answers = together(repository, report, wanted, rules)
    if written:
        _write(root, files)
    else:
        click.echo(patch(files), nl=False)
    for answer in answers:
        _tell(named[answer.identity], answer, why, err=not written)
    offers = sum(isinstance(answer, Offer) for answer in answers)
    done = "written" if written else "proved"
    rest = len(answers) - offers
    hint = "" if why or not rest else " (--why tells why)"
    click.echo(
        f"{_count(offers, 'edit')} {done} in {_count(len(files), 'file')}, {_count(rest, 'finding')} left{hint}",
        err=not written,
    )
    if rest:
        raise SystemExit(1)


def _is_wanted(finding: Finding, only: Sequence[str], inside: str) -> bool:
    """Whether something about what runs by default is to be done about a finding."""
    if finding.status != "active" or finding.level == "folded" or (only and finding.rule not in only):
        return False
    return lies(finding.path, inside)


def _audited(repository: Repository, rules: Rules, inside: str, offline: bool) -> Report:
    def chosen(unit: Unit) -> bool:
        return any(lies(file, inside) for file in unit.files)

    def work() -> Report:
        with progress("composes") as advance:
            return audit(repository, rules, only=chosen, progress=lambda unit, total: advance(unit.path, total))

    return informed(work, lambda report: report.pins, Learning(offline))


def _tell(finding: Finding, answer: Answer, why: bool, *, err: bool) -> None:
    place = f"{finding.path}:{finding.line}: {finding.rule}"
    if isinstance(answer, Offer):
        click.echo(printable(f"{place}: {answer.does}. {answer.proved}"), err=err)
    elif why:
        click.echo(printable(f"{place}: no edit: {answer.why}"), err=err)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _write(root: Path, files: Iterable[Changed]) -> None:
    """Puts each file in its place as a whole. Raises `Failure` when a file has changed since it was read, before any is
    written.
    """
    places = [(_place(root, file), file) for file in files]
    for place, file in places:
        if place.read_bytes() != file.before.encode("utf-8"):
            raise Failure(f"{file.path} has changed since it was read; nothing was written")
    for place, file in places:
        _replace(place, file.after.encode("utf-8"))


def _place(root: Path, file: Changed) -> Path:
    """Where a file really is: a symbolic link stays one, and leads nowhere outside."""
    place = (root / file.path).resolve()
    if not place.is_relative_to(root.resolve()):
        raise Failure(f"{file.path} is not inside the repository")
    return place


def _replace(place: Path, content: bytes) -> None:
    mode = place.stat().st_mode & 0o7777
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, place)
    except OSError as error:
        with suppress(OSError):
            os.unlink(name)
        raise Failure(f"{place.name} cannot be written: {error.strerror}") from error
