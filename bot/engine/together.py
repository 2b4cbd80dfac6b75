"""A launch in many releases at once: what those that answer alike come to is found once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from bot.engine import answers
from bot.engine.commandline import CommandLine, unread
from bot.engine.derivations.basis import Basis
from bot.engine.derivations.conflicts import conflicts
from bot.engine.derivations.context import Context
from bot.engine.derivations.sharing import ANSWERS, Asking, Sharing
from bot.engine.facts import Facts
from bot.engine.likeness import Panel, Question, members, newest
from bot.engine.model import PROPERTIES, Engine, EngineError, Ineffective, Launch, Properties, Property
from bot.engine.release import DERIVATIONS, basis_of, context_of, parsed, read_line, shaken


@dataclass(slots=True, eq=False)
class _Group:
    """Releases that read the command line alike. `start` is the launch in one of them; `read` says whether the
    functions that read it are known.
    """

    releases: int
    line: CommandLine
    start: Context
    read: bool

    def is_like(self, other: _Group) -> bool:
        """Whether others read the same, although they answer some question differently."""
        return self.read is other.read and self.line == other.line and self.start.model == other.start.model


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
        self._exact: dict[int, Context] = {}
        groups: list[_Group] = []
        rest = self._panel.everyone
        while rest:
            group = self._group(newest(rest), rest)
            rest &= ~group.releases
            like = next((other for other in groups if other.is_like(group)), group)
            like.releases |= group.releases
            if like is group:
                groups.append(group)
        self._shared = [(group, Sharing(self._panel, group.releases, group.start)) for group in groups]
        of = {index: shared for shared in self._shared for index in members(shared[0].releases)}
        self._by_release = [of[index] for index in range(len(of))]
        self._asked = [shared for shared in self._shared if not shared[0].line.errors] or self._shared
        self._found: dict[str, dict[int, Property]] = {}

    def lines(self) -> list[CommandLine]:
        """How each release reads the command line."""
        return [group.line for group, _ in self._by_release]

    def engines(self) -> list[Engine]:
        """The engine in each release, as far as agreement looks at it.

        One that refuses the arguments has properties only where all refuse them. Errors and ineffective arguments
        are there where the newest that is asked has some: others' alone do not count.
        """
        lost = any(self._ineffective(group, newest(group.releases)) for group, _ in self._asked[:1])
        refusals = self._refusals()
        settings = {id(group): parsed(group.line) for group, _ in self._asked}
        return [
            Engine(
                pin=self._launch.pin,
                releases=(basis.facts.version,),
                parsed=settings.get(id(group), {}),
                properties=Properties(PROPERTIES, partial(self._property, index)),
                errors=refusals[index],
                ineffective=self._ineffective(group, index) if lost else (),
                refused=bool(group.line.errors),
            )
            for index, (basis, (group, _)) in enumerate(zip(self._panel.members, self._by_release, strict=True))
        ]

    def own(self, engine: Engine, name: str) -> Property:
        """A property of one of the engines, with the release's own reasons."""
        (version,) = engine.releases
        index = next(i for i, basis in enumerate(self._panel.members) if basis.facts.version == version)
        line = self._by_release[index][0].line
        return shaken(name, self._alone(index)[name], line, self._panel.members[index].facts)

    def _alone(self, index: int) -> Context:
        """The launch in the release at `index`, shared with no other."""
        if index not in self._exact:
            line = self._by_release[index][0].line
            self._exact[index] = context_of(self._launch, line, self._panel.members[index])
        return self._exact[index]

    def _group(self, index: int, rest: int) -> _Group:
        """Those of the `rest` that read the command line, and find the model in it, as the release at `index`."""
        basis = self._panel.members[index]
        questions: list[Question] = [("read",)]
        line = read_line(self._launch, basis.facts, all_files=self._all_files, note=questions.append)
        start = context_of(self._launch, line, Asking(basis, questions.append))
        for question in questions:
            rest &= self._panel.alike(index, question)
        return _Group(rest, line, start, not basis.facts.unread_rules)

    def _property(self, index: int, name: str) -> Property:
        """A property of the release at `index`, found for all of them together."""
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = {}
            for group, sharing in self._asked:
                for shared in sharing.all(name, DERIVATIONS[name]):
                    facts = self._panel.members[newest(shared.releases)].facts
                    answer = shaken(name, shared.found, group.line, facts)
                    found |= dict.fromkeys(members(shared.releases), answer)
        return found[index]

    def _ineffective(self, group: _Group, index: int) -> tuple[Ineffective, ...]:
        return group.line.ineffective + unread(self._launch.environment, self._panel.members[index].facts)

    def _refusals(self) -> list[tuple[EngineError, ...]]:
        """The errors of each release, as far as all have one: no error of the newest counts beside one without.

        Mostly the newest that is asked has none, so that asking each alone is asking one.
        """
        none: list[tuple[EngineError, ...]] = [()] * len(self._panel.members)
        found = none.copy()
        for index in reversed(range(len(found))):
            found[index] = self._by_release[index][0].line.errors or conflicts(self._alone(index))
            if not found[index]:
                return none
        return found


_kept: Panel[Basis] | None = None


def _panel(releases: Sequence[Facts]) -> Panel[Basis]:
    """The releases side by side, with their answers so far, kept as long as their facts are the same objects."""
    global _kept  # noqa: PLW0603 - answers are the same for all launches
    bases = tuple(basis_of(facts) for facts in releases)
    if _kept is None or list(map(id, _kept.members)) != list(map(id, bases)):
        of_facts = {kind: _of_facts(answer) for kind, answer in answers.ANSWERS.items()}
        _kept = Panel(bases, {**of_facts, **ANSWERS})
    return _kept


def _of_facts(answer: Callable[..., Hashable]) -> Callable[..., Hashable]:
    return lambda basis, *about: answer(basis.facts, *about)
