"""Values of a seam that its script lets through, and that do something else than they say.

Nothing is guessed: each value is put on the host, and what then starts is compared with what the script's own word for
the same starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bot.claims import DRAFTER
from bot.hazards import Observation
from bot.hazards.finding import assignment
from bot.provenance import Position, Reason
from bot.resolution import EngineWorld, ResolvedService
from bot.tree import Tree, text_of
from bot.worlds.model import Deviation, Seam

OFF = ("off", "0", "false", "no", "none")
"""Words by which people switch something off."""

ON = ("on", "1", "true", "yes")
"""Words by which they switch it on."""

MAX_TRIALS = 40
"""Values tried for one service: it takes about five toggles with all words to come there."""

_NUMBER = re.compile(r"[1-9][0-9]{0,5}")
_ZERO = "0"

Worlds = tuple[EngineWorld, ...]
_Signature = frozenset[tuple[str | None, tuple[str, ...], tuple[tuple[str, str], ...]]]


def of_values(tree: Tree, files: tuple[str, ...], service: ResolvedService) -> Iterator[Observation]:
    """The traps in the values of a service's seams, one observation for each seam."""
    if any(world.engine is None for world in service.defaults) or not service.survey.deviations:
        return
    trials = _Trials(service)
    hosts = {seam.host: seam for seam in service.survey.seams if seam.forwarded}
    for name, found in _by_name(service.survey.deviations).items():
        seam = hosts.get(name)
        if seam is None or trials.left <= 0:
            continue
        toggle = _Toggle(name, seam, tuple(found), _documented(service, name), _accepted(service, name))
        traps = list(_of_toggle(service, toggle, trials))
        yield from traps
        if not traps and any(_asks_whether_set(text_of(tree, file), name) for file in files):
            yield from _empty(service, toggle, trials)


def _by_name(deviations: Iterable[Deviation]) -> Mapping[str, list[Deviation]]:
    found: dict[str, list[Deviation]] = {}
    for deviation in deviations:
        found.setdefault(deviation.name, []).append(deviation)
    return found


def _documented(service: ResolvedService, name: str) -> frozenset[str]:
    """The values that comments offer for a variable."""
    return frozenset(offer.value for offer in service.survey.offers if offer.name == name and not offer.denied)


def _accepted(service: ResolvedService, name: str) -> frozenset[str]:
    """The words that scripts of the service compare its other variables with."""
    return frozenset(one.value for one in service.survey.deviations if one.name != name and one.source == "comparison")


@dataclass(frozen=True, slots=True)
class _Toggle:
    """A variable of the host, with the values that the script and the comments name for it."""

    name: str
    seam: Seam
    deviations: tuple[Deviation, ...]
    documented: frozenset[str]
    elsewhere: frozenset[str]

    @property
    def compared(self) -> tuple[str, ...]:
        """The words that the script compares it with."""
        return tuple(one.value for one in self.deviations if one.source == "comparison")

    @property
    def words(self) -> tuple[str, ...]:
        """Those, and the word that stands in for an unset variable."""
        default = (self.seam.default,) if self.seam.default else ()
        return tuple(dict.fromkeys((*self.compared, *default)))

    @property
    def position(self) -> Position:
        """Where the script asks for it."""
        asked = (one.position for one in self.deviations if one.source in ("comparison", "presence"))
        return next(asked, self.seam.position)


class _Trials:
    """What starts with a value, each tried once and not more than `MAX_TRIALS` in all."""

    def __init__(self, service: ResolvedService) -> None:
        self.left = MAX_TRIALS
        self.default = service.defaults
        self._try = service.on_host
        self._known: dict[tuple[str, str], Worlds] = {}
        for world in service.worlds:
            if len(world.realisation.deviations) == 1:
                key = next(iter(world.realisation.deviations.items()))
                self._known[key] = (*self._known.get(key, ()), world)

    def worlds(self, name: str, value: str) -> Worlds:
        """The ways through the world with this value; none when no more may be tried."""
        key = (name, value)
        if key not in self._known:
            if self.left <= 0:
                return ()
            self.left -= 1
            self._known[key] = self._try({name: value})
        return self._known[key]


def _of_toggle(service: ResolvedService, toggle: _Toggle, trials: _Trials) -> Iterator[Observation]:
    if _is_switch(toggle):
        yield from _misread(service, toggle, trials)
    elif padded := _padded(toggle):
        yield from _unparsable(service, toggle, padded, trials)
    elif {one.source for one in toggle.deviations} <= {"presence", "documented"}:
        yield from _mere_presence(service, toggle, trials)


def _asks_whether_set(text: str, name: str) -> bool:
    """Whether something in a compose tells an empty variable from one that is not set: `${NAME-…}`, `${NAME+…}`."""
    return f"{{{name}-" in text or f"{{{name}+" in text


def _empty(service: ResolvedService, toggle: _Toggle, trials: _Trials) -> Iterator[Observation]:
    """A variable that is set to nothing, as a line `NAME=` in `.env` does, where that is not as if it were not set: it
    stops the engine, or does what a value for on does.
    """
    worlds = trials.worlds(toggle.name, "")
    if not _starts(trials.default) or not worlds or not _signature(worlds).isdisjoint(_signature(trials.default)):
        return
    on = (value for value in sorted(toggle.documented | set(toggle.compared) | {"1"}) if value.lower() in ON)
    refused = all(_is_refused(world) for world in worlds)
    if refused or any(_signature(trials.worlds(toggle.name, value)) == _signature(worlds) for value in on):
        yield _trap(service, toggle, "empty", [""], understood="", worlds=worlds, trials=trials)


def _is_switch(toggle: _Toggle) -> bool:
    """Whether the script asks for nothing but on and off."""
    return bool(toggle.compared) and all(word.lower() in (*OFF, *ON) for word in toggle.words)


def _misread(service: ResolvedService, toggle: _Toggle, trials: _Trials) -> Iterator[Observation]:
    """Words for off, and those for on that are accepted elsewhere, that do not do what the script's own word does."""
    wrong: list[str] = []
    model = ""
    there: Worlds = ()
    for family, tried in ((OFF, OFF), (ON, tuple(sorted(toggle.documented | toggle.elsewhere)))):
        own = [word for word in toggle.words if word.lower() in family]
        understood = next((word for word in own if _starts(trials.worlds(toggle.name, word))), None)
        if understood is None or wrong:
            continue
        wanted = _signature(trials.worlds(toggle.name, understood))
        variants = (understood.upper(),) if understood.upper() not in toggle.words else ()
        for word in (word for word in (*tried, *variants) if word.lower() in family and word not in own):
            worlds = trials.worlds(toggle.name, word)
            if _misses(worlds, wanted):
                wrong.append(word)
                model, there = understood, worlds
        if wrong and _misses(trials.worlds(toggle.name, f"{understood} "), wanted):
            wrong.append(f"{understood} ")
    if wrong:
        yield _trap(service, toggle, "word", wrong, understood=model, worlds=there, trials=trials)


def _misses(worlds: Worlds, wanted: _Signature) -> bool:
    """Whether something starts, and it is not what is wanted."""
    return _starts(worlds) and _signature(worlds).isdisjoint(wanted)


def _padded(toggle: _Toggle) -> tuple[str, str] | None:
    """A number for the seam, and the same with a leading zero, where the script reads the number itself."""
    if toggle.seam.scope != "container":
        return None
    stated = (toggle.seam.default or "", *sorted(toggle.documented), *toggle.compared)
    number = next((text for text in stated if _NUMBER.fullmatch(text)), None)
    checked = any(one.source in ("comparison", "number") for one in toggle.deviations)
    return (number, f"0{number}") if number and checked else None


def _unparsable(
    service: ResolvedService, toggle: _Toggle, padded: tuple[str, str], trials: _Trials
) -> Iterator[Observation]:
    zero = trials.worlds(toggle.name, _ZERO)
    if zero and all(_is_refused(world) for world in zero):
        return  # the script looks at no number: that the engine refuses some is told by itself
    plain = trials.default if padded[0] == toggle.seam.default else trials.worlds(toggle.name, padded[0])
    if not _starts(plain):
        return
    tried = {value: trials.worlds(toggle.name, value) for value in (padded[1], f"{padded[0]} ")}
    wrong = [value for value, worlds in tried.items() if worlds and all(_is_refused(world) for world in worlds)]
    if wrong:
        yield _trap(service, toggle, "number", wrong, understood=padded[0], worlds=tried[wrong[0]], trials=trials)


def _mere_presence(service: ResolvedService, toggle: _Toggle, trials: _Trials) -> Iterator[Observation]:
    """A word for off that switches something on, because the script only asks whether there is any; where a comment
    offers a value, so that somebody may think of its opposite.
    """
    on = next((value for value in sorted(toggle.documented) if value.lower() in ON), None)
    if on is None or toggle.seam.default:
        return
    set_to = trials.worlds(toggle.name, on)
    if not _starts(set_to) or not _signature(set_to).isdisjoint(_signature(trials.default)):
        return
    if _signature(trials.worlds(toggle.name, _ZERO)) == _signature(set_to):
        yield _trap(service, toggle, "presence", [_ZERO], understood=on, worlds=set_to, trials=trials)


def _starts(worlds: Worlds) -> bool:
    """Whether an engine starts, and nothing in its arguments stops it."""
    return bool(worlds) and all(world.engine is not None and not world.engine.errors for world in worlds)


def _is_refused(world: EngineWorld) -> bool:
    return world.engine is not None and bool(world.engine.errors)


def _signature(worlds: Worlds) -> _Signature:
    """What starts: the engine's arguments, and what the script adds to its environment."""
    return frozenset(
        (
            world.kind,
            tuple(word.text for word in world.outcome.argv or ()),
            tuple((name, word.text) for name, word in sorted(world.outcome.exported.items())),
        )
        for world in worlds
        if world.outcome is not None
    )


def _trap(
    service: ResolvedService,
    toggle: _Toggle,
    kind: str,
    wrong: list[str],
    *,
    understood: str,
    worlds: Worlds,
    trials: _Trials,
) -> Observation:
    stays = kind == "word" and understood.lower() in OFF and drafts(worlds)
    place = toggle.position if toggle.position.path == service.path else service.position
    text = f"the script asks for {toggle.name}"
    because = [Reason("shell", toggle.position.path, toggle.position.line, text)]
    error = next((one for world in worlds if world.engine for one in world.engine.errors), None)
    if error is not None:
        because += error.because[:1]
    fields: dict[str, object] = {
        "kind": kind,
        "name": toggle.name,
        "settings": ", ".join(assignment({toggle.name: word}) if word else f"{toggle.name}=" for word in wrong),
        "understood": understood,
        "compared": ", ".join(dict.fromkeys(toggle.compared)),
        "error": error.message if error is not None else "",
        "drafter": stays and not drafts(trials.worlds(toggle.name, understood)),
    }
    return Observation("seam-trap", toggle.name, place, tuple(because), fields)


def drafts(worlds: Worlds) -> bool:
    """Whether a drafter is on, for certain."""
    found = [world.engine.properties.get(DRAFTER) if world.engine else None for world in worlds]
    return all(one is not None and one.known and one.value is not None for one in found)
