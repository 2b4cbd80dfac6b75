"""A launch in many releases at once: what those that answer alike come to is found once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from bot.engine import answers
from bot.engine.commandline import CommandLine, unread
from bot.engine.derivations import sharing
from bot.engine.derivations.basis import Basis
from bot.engine.derivations.conflicts import conflicts
from bot.engine.derivations.sharing import Asking, Kept, SharingContext
from bot.engine.facts import Facts
from bot.engine.likeness import Panel, Question, newest
from bot.engine.model import PROPERTIES, Engine, EngineError, Ineffective, Launch, Model, Property
from bot.engine.models import traits
from bot.engine.release import DERIVATIONS, basis_of, context_of, derived, parsed, read_line, tell_model


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """A set of releases that read the command line alike, and what has been found for some of them."""

    releases: int
    line: CommandLine
    settings: Mapping[str, object]
    kept: Kept


class Together:
    """A launch in all of some releases, oldest first.

    Each release's engine is what `in_release` says, but for the reasons of its properties: those are of some release
    that finds the same. `own` has a release's own reasons; so have the properties of the newest release among those
    that take the arguments.
    """

    def __init__(self, launch: Launch, releases: Sequence[Facts], *, all_files: bool) -> None:
        self._launch = launch
        self._panel = _panel(releases)
        self._all_files = all_files
        self._groups: list[_Group] = []
        self._exact: dict[str, Callable[[str], Property]] = {}
        rest = self._panel.everyone
        while rest:
            group = self._group(newest(rest), rest)
            self._groups.append(group)
            rest &= ~group.releases

    def engines(self) -> list[Engine]:
        """The engine in each release, as far as agreement looks at it.

        One that refuses the arguments has no properties, unless all refuse them. Errors and ineffective arguments
        are there where the newest that is asked has some: others' alone do not count.
        """
        asked = [group for group in self._groups if not group.line.errors] or self._groups
        properties: list[dict[str, Property]] = [{} for _ in self._panel.members]
        for group in asked:
            self._derive(group, properties)
        lost = bool(asked) and bool(self._ineffective(asked[0], newest(asked[0].releases)))
        refusals = self._refusals()
        return [
            Engine(
                pin=self._launch.pin,
                releases=(basis.facts.version,),
                parsed=group.settings,
                properties=properties[index],
                errors=refusals[index],
                ineffective=self._ineffective(group, index) if lost else (),
                refused=bool(group.line.errors),
            )
            for index, (basis, group) in enumerate(zip(self._panel.members, self._by_release(), strict=True))
        ]

    def own(self, engine: Engine, name: str) -> Property:
        """A property of one of the engines, with the release's own reasons."""
        (version,) = engine.releases
        if version not in self._exact:
            basis = next(basis for basis in self._panel.members if basis.facts.version == version)
            line = read_line(self._launch, basis.facts, all_files=self._all_files)
            self._exact[version] = derived(context_of(self._launch, line, basis), basis.facts)
        return self._exact[version](name)

    def _group(self, index: int, rest: int) -> _Group:
        """Those of the `rest` that read the command line, and find the model in it, as the release at `index`."""
        facts = self._panel.members[index].facts
        questions: list[Question] = [("read",)]
        line = read_line(self._launch, facts, all_files=self._all_files, note=questions.append)
        context = self._context(index, _Group(0, line, {}, {}))
        tell_model(context)
        return _Group(self._panel.alike(index, (*questions, *context.notes), rest), line, parsed(line), {})

    def _context(self, index: int, group: _Group) -> SharingContext:
        context = SharingContext(
            self._launch,
            group.line,
            self._panel.members[index],
            Model(),
            traits(None),
            DERIVATIONS,
            self._panel,
            index,
            group.kept,
            group.releases,
        )
        context.basis = Asking(self._panel.members[index], context.note)
        return context

    def _derive(self, group: _Group, properties: list[dict[str, Property]]) -> None:
        """Find all properties for the newest of a group first, so that its reasons are its own."""
        left = dict.fromkeys(PROPERTIES, group.releases)
        rest = group.releases
        while rest:
            index = newest(rest)
            rest &= ~(1 << index)
            wanted = [name for name, some in left.items() if some >> index & 1]
            if not wanted:
                continue
            context = self._context(index, group)
            tell_model(context)
            find = derived(context, self._panel.members[index].facts)
            for name in wanted:
                found = find(name)
                same = context.holds(name) & left[name]
                left[name] &= ~same
                while same:
                    other = newest(same)
                    properties[other][name] = found
                    same &= ~(1 << other)

    def _by_release(self) -> list[_Group]:
        found: dict[int, _Group] = {}
        for group in self._groups:
            rest = group.releases
            while rest:
                found[newest(rest)] = group
                rest &= ~(1 << newest(rest))
        return [found[index] for index in range(len(found))]

    def _ineffective(self, group: _Group, index: int) -> tuple[Ineffective, ...]:
        return group.line.ineffective + unread(self._launch.environment, self._panel.members[index].facts)

    def _refusals(self) -> list[tuple[EngineError, ...]]:
        """The errors of each release, as far as all have one: no error of the newest counts beside one without."""
        none: list[tuple[EngineError, ...]] = [()] * len(self._panel.members)
        found = none.copy()
        for index, group in reversed(list(enumerate(self._by_release()))):
            basis = self._panel.members[index]
            found[index] = group.line.errors or conflicts(context_of(self._launch, group.line, basis))
            if not found[index]:
                return none
        return found


_kept: Panel[Basis] | None = None


def _panel(releases: Sequence[Facts]) -> Panel[Basis]:
    """The releases side by side, with their answers so far, kept as long as their facts are the same objects."""
    global _kept  # noqa: PLW0603 - answers are the same for all launches
    bases = tuple(basis_of(facts) for facts in releases)
    if _kept is None or len(_kept.members) != len(bases) or any(a is not b for a, b in zip(_kept.members, bases, strict=True)):
        of_facts = {kind: _of_facts(answer) for kind, answer in answers.ANSWERS.items()}
        _kept = Panel(bases, {**of_facts, **sharing.ANSWERS})
    return _kept


def _of_facts(answer: Callable[..., Hashable]) -> Callable[..., Hashable]:
    return lambda basis, *about: answer(basis.facts, *about)
