"""Which values a seam is worth trying with: those that the code and its comments name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bot.compose import VariableRead
from bot.provenance import Position
from bot.shell import Run
from bot.worlds.comments import Offer
from bot.worlds.model import Deviation, DeviationSource

_OPPOSITES = {
    "on": "off", "off": "on", "true": "false", "false": "true", "yes": "no", "no": "yes", "True": "False",
    "False": "True", "enabled": "disabled", "disabled": "enabled", "ON": "OFF", "OFF": "ON",
}  # fmt: skip


_NUMBER = re.compile(r"[0-9]{1,18}")


class Candidates:
    """Collects deviations, the first source of a value wins."""

    def __init__(
        self, host: Mapping[str, VariableRead], carriers: Mapping[str, str], offers: tuple[Offer, ...]
    ) -> None:
        self.found: dict[tuple[str, str], Deviation] = {}
        self._named: set[str] = set()
        self._host = host
        self._settable = {*host, *carriers.values()}
        self._offers = offers

    def _add(self, name: str, value: str, source: DeviationSource, position: Position) -> None:
        read = self._host.get(name)
        if read is not None and value == read.argument and read.operator in (":-", "-"):
            return
        self.found.setdefault((name, value), Deviation(name, value, source, position))
        self._named.add(name)

    def from_script(self, run: Run, carriers: Mapping[str, str]) -> None:
        """What a script compares its variables with, and what their defaults suggest. `carriers` gives the host
        variable behind each variable of the script.
        """
        for comparison in run.comparisons:
            if (name := carriers.get(comparison.name)) and comparison.value:
                self._add(name, comparison.value, "comparison", comparison.position)
        for read in run.reads:
            if read.inherited and (name := carriers.get(read.name)):
                self._from_default(name, read.operator, read.argument, read.position)
        for comparison in run.comparisons:
            if (name := carriers.get(comparison.name)) and name not in self._named:
                self._add(name, "1", "presence", comparison.position)

    def from_command(self, reads: Iterable[VariableRead]) -> None:
        """The twins of flags that stand as defaults in a command, and variables that are only asked for presence."""
        for read in reads:
            if read.field.split(".")[0] in ("command", "entrypoint"):
                if read.operator in (":+", "+"):
                    self._add(read.name, "1", "presence", read.position)
                elif read.argument.startswith("--"):
                    self._twin(read.name, read.argument, read.position)

    def from_comments(self) -> None:
        """What comments offer."""
        for offer in self._offers:
            if offer.name in self._settable:
                self._add(offer.name, offer.value, "documented", offer.position)

    def from_launchers(self, launched: Mapping[str, tuple[str, ...]]) -> None:
        """What a launcher of the repository is declared to set."""
        for name in self._settable.intersection(launched):
            position = self._host[name].position if name in self._host else Position("", 1)
            for value in launched[name]:
                self._add(name, value, "launcher", position)

    def _from_default(self, name: str, operator: str, argument: str, position: Position) -> None:
        if operator in (":+", "+"):
            self._add(name, "1", "presence", position)
        elif argument.startswith("--"):
            self._twin(name, argument, position)
        elif _NUMBER.fullmatch(argument):
            self._add(name, "1" if int(argument) == 0 else "0", "number", position)
        elif argument in _OPPOSITES:
            self._add(name, _OPPOSITES[argument], "switch", position)

    def _twin(self, name: str, flag: str, position: Position) -> None:
        if " " not in flag and "=" not in flag:
            twin = f"--{flag[5:]}" if flag.startswith("--no-") else f"--no-{flag[2:]}"
            self._add(name, twin, "twin", position)
