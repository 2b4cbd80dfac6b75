"""One way through a script that holds symbols: what was decided about each of them, and what follows from that.

The interpreter runs once per way. A run is given the decisions that lead to it and, where a new question comes up,
takes "yes" and leaves the other answer to a later run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bot.shell.state import Refusal
from bot.shell.values import Origin, Symbol, Value, join_origins

_Predicate = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer to one question about a subject: is it one of `literals`, or (when these are None) does `text` hold?"""

    subject: str
    answer: bool
    literals: frozenset[str] | None
    text: str = ""


@dataclass(slots=True)
class _Domain:
    allowed: frozenset[str] | None = None
    excluded: set[str] = field(default_factory=set)
    predicates: dict[str, tuple[_Predicate, bool]] = field(default_factory=dict)
    numeric: list[tuple[_Predicate, bool]] = field(default_factory=list)
    thresholds: set[int] = field(default_factory=set)

    def admits(self, value: str) -> bool:
        if self.allowed is not None and value not in self.allowed:
            return False
        return value not in self.excluded and all(test(value) == wanted for test, wanted in self.predicates.values())

    def compares(self, number: str) -> bool:
        """Whether a number agrees with all comparisons with numbers."""
        return all(test(number) == wanted for test, wanted in self.numeric)


class Way:
    """The decisions of one run, at `most` so many. `answers` are those to repeat; `taken` all that were made."""

    def __init__(self, answers: tuple[bool, ...], fixed: Mapping[str, str], most: int) -> None:
        self.most = most
        self.answers = answers
        self.fixed = fixed
        self.taken: list[Decision] = []
        self._domains: dict[str, _Domain] = {}
        self._bound: dict[str, str] = dict(fixed)

    # --- values -----------------------------------------------------------------------------------------------

    def symbol(self, name: str, origin: tuple[Origin, ...] = ()) -> Value:
        """The value of a symbol: a text when it is fixed or decided."""
        bound = self._bound.get(name)
        return Value(bound, origin) if bound is not None else Value(None, origin, (Symbol(name),))

    def filled(self, name: str, origin: tuple[Origin, ...] = ()) -> Value:
        """The value of a symbol that is not empty, whatever it is."""
        self._domains.setdefault(name, _Domain()).excluded |= {""}
        return self.symbol(name, origin)

    def failed(self, name: str) -> Symbol:
        """A status that is not 0, whatever it is."""
        self._domains.setdefault(name, _Domain()).excluded |= {"0"}
        return Symbol(name)

    def is_number(self, value: Value) -> bool:
        """Whether a value that is not known has turned out to be a number: a comparison with one has held."""
        subject = (
            value.parts[0].name if len(value.parts) == 1 and isinstance(value.parts[0], Symbol) else value.template()
        )
        domain = self._domains.get(subject)
        return domain is not None and any(answer for _, answer in domain.numeric)

    def known(self, symbol: Symbol) -> str | None:
        """The text of a symbol, None while it is open."""
        bound = self._bound.get(symbol.name)
        if bound is None and symbol.base is not None and symbol.derive is not None:
            base = self.resolve(symbol.base)
            if base.text is not None:
                return symbol.derive(base.text)
        return bound

    def resolve(self, value: Value) -> Value:
        """The value, with every symbol replaced that is known by now."""
        if value.text is not None or not (self._bound or any(one.base for one in value.symbols())):
            return value
        pieces: list[str | Symbol] = []
        for part in value.parts:
            known = part if isinstance(part, str) else self.known(part)
            pieces.append(part if known is None else known)
        if all(isinstance(piece, str) for piece in pieces):
            return Value("".join(piece for piece in pieces if isinstance(piece, str)), value.origin)
        merged: list[str | Symbol] = []
        for piece in pieces:
            if isinstance(piece, str) and merged and isinstance(merged[-1], str):
                merged[-1] = merged[-1] + piece
            elif piece != "":
                merged.append(piece)
        return Value(None, value.origin, tuple(merged))

    # --- questions --------------------------------------------------------------------------------------------

    def is_one_of(self, value: Value, literals: Iterable[str]) -> bool:
        """Whether the value is one of these strings."""
        wanted = frozenset(literals)
        value = self.resolve(value)
        if value.text is not None:
            return value.text in wanted
        subject, possible = _subject(value, wanted)
        if not possible:
            return False
        domain = self._domains.setdefault(subject, _Domain())
        remaining = frozenset(one for one in possible if domain.admits(one))
        if not remaining:
            return False
        if domain.allowed is not None and all(not domain.admits(one) for one in domain.allowed - remaining):
            self._narrow(subject, domain, remaining)
            return True
        answer = self._answer(Decision(subject, True, remaining))
        if answer:
            self._narrow(subject, domain, remaining)
        else:
            domain.excluded |= remaining
            if domain.allowed is not None:
                left = frozenset(one for one in domain.allowed if domain.admits(one))
                self._narrow(subject, domain, left)
        return answer

    def holds(self, value: Value, text: str, test: _Predicate, thresholds: Iterable[int] = ()) -> bool:
        """Whether a property holds of the value.

        `thresholds` are given of a comparison with numbers only: where its answer changes.
        """
        value = self.resolve(value)
        if value.text is not None:
            return test(value.text)
        only = value.parts[0] if len(value.parts) == 1 else None
        subject = only.name if isinstance(only, Symbol) else value.template()
        domain = self._domains.setdefault(subject, _Domain())
        if text in domain.predicates:
            return domain.predicates[text][1]
        limits = frozenset(thresholds)
        forced = self._forced(domain, test, limits)
        if forced is not None:
            return forced
        answer = self._answer(Decision(subject, True, None, text))
        domain.predicates[text] = (test, answer)
        if limits:
            domain.numeric.append((test, answer))
            domain.thresholds |= limits
        if domain.allowed is not None:
            self._narrow(subject, domain, frozenset(one for one in domain.allowed if domain.admits(one)))
        return answer

    def _forced(self, domain: _Domain, test: _Predicate, thresholds: frozenset[int]) -> bool | None:
        """The answer that the earlier ones leave, None when both are still possible."""
        if domain.allowed is not None:
            answers = {test(one) for one in domain.allowed if domain.admits(one)}
            return answers.pop() if len(answers) == 1 else None
        if not domain.thresholds or not thresholds:
            return None
        # Comparisons with numbers change at their thresholds only: what is next to these stands for all numbers,
        # and the empty text for what is none (`[ ]` fails then, whichever way it compares).
        candidates = {str(number + step) for number in thresholds | domain.thresholds for step in (-1, 0, 1)} | {""}
        answers = {test(one) for one in candidates if domain.compares(one)}
        return answers.pop() if len(answers) == 1 else None

    def _narrow(self, subject: str, domain: _Domain, allowed: frozenset[str]) -> None:
        domain.allowed = allowed
        if len(allowed) == 1:
            (self._bound[subject],) = allowed

    def _answer(self, decision: Decision) -> bool:
        index = len(self.taken)
        if index >= self.most:
            raise Refusal("more open questions on one way than are followed")
        answer = self.answers[index] if index < len(self.answers) else True
        self.taken.append(Decision(decision.subject, answer, decision.literals, decision.text))
        return answer


def _subject(value: Value, literals: frozenset[str]) -> tuple[str, frozenset[str]]:
    """What a comparison of `value` with these strings is about: a symbol, and the strings that it is compared with."""
    symbols = value.symbols()
    if len(symbols) != 1:
        return value.template(), literals
    at = value.parts.index(symbols[0])
    head = "".join(part for part in value.parts[:at] if isinstance(part, str))
    tail = "".join(part for part in value.parts[at + 1 :] if isinstance(part, str))
    fitting = (
        one for one in literals if len(one) >= len(head) + len(tail) and one.startswith(head) and one.endswith(tail)
    )
    return symbols[0].name, frozenset(one[len(head) : len(one) - len(tail)] for one in fitting)


def assumed(decisions: Iterable[Decision]) -> dict[str, str]:
    """In words, what these decisions take each symbol to be: "1", or "not 1"."""
    allowed: dict[str, frozenset[str]] = {}
    others: dict[str, list[str]] = {}
    for decision in decisions:
        if decision.literals is not None and decision.answer:
            allowed[decision.subject] = decision.literals
        else:
            literals = sorted(decision.literals) if decision.literals is not None else [decision.text]
            for one in literals:
                word = one if one else "empty"
                others.setdefault(decision.subject, []).append(word if decision.answer else f"not {word}")
    told = {subject: ", ".join(words) for subject, words in others.items()}
    told.update({subject: "|".join(sorted(values)) for subject, values in allowed.items()})
    return told


def derived(name: str, base: Value, derive: Callable[[str], str]) -> Value:
    """A value that is computed from one that is not known yet."""
    return Value(None, join_origins([base]), (Symbol(name, False, base, derive),))
