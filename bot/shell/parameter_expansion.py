"""Expansion of `$X` and `${…}`: lookup, lists, and what the operators do."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.provenance import Reason
from bot.shell import specials
from bot.shell.fields import Fields
from bot.shell.parameter_lookup import ParameterLookup
from bot.shell.parts import LocaleDependent
from bot.shell.patterns import UnsupportedPattern, counts_characters
from bot.shell.state import Discard
from bot.shell.syntax import (
    Parameter,
    Part,
    Text,
    Word,
)
from bot.shell.transforms import changed_case, cut_slice, removed, replaced, search_cost, transformed
from bot.shell.values import Guard, Origin, Symbol, Value, assumptions, concatenate, join_origins
from bot.shell.way import derived

_CHANGES = re.compile(r"=|\+\+|--|\$[({]|`|/")
"""What may change a variable, or fail, when an expression is worked out."""

_DEFAULTS = frozenset({":-", "-", ":=", "=", ":?", "?", ":+", "+"})


class ParameterExpander(ParameterLookup):
    """Expands the parameters of one interpreter. What the words behind operators need is given by the class above."""

    def pattern(self, word: Word) -> tuple[str | None, Value]:
        """A word as a pattern."""
        raise NotImplementedError

    def chunks(self, word: Word) -> Fields:
        """The pieces of a word that is not split."""
        raise NotImplementedError

    def _walk(self, parts: tuple[Part, ...], fields: Fields, *, quoted: bool, line: int) -> None:
        raise NotImplementedError

    def _add(self, value: Value, fields: Fields, quoted: bool) -> None:
        raise NotImplementedError

    def _parameter(self, part: Parameter, fields: Fields, quoted: bool) -> None:
        on = self.on
        on.line = part.line
        if not part.operator and not part.length and not part.indirect and not part.names and part.index is None:
            name = part.name
            if name not in "@*":
                value = self.variable(name)
                if value is None:
                    value = self._unset(name)
                self._add(value, fields, quoted)
                return
        if part.length:
            self._add(self._length(part), fields, quoted)
            return
        if part.names:
            self._names(part, fields, quoted)
            return
        values, many, name = self._lookup(part)
        if many:
            self._many(part, values, many, name, fields, quoted)
        else:
            self._one(part, values[0] if values else None, fields, quoted)

    def _length(self, part: Parameter) -> Value:
        here = self.on.here(part.line)
        if part.name in ("@", "*") or part.index in ("@", "*"):
            values, _, _ = self._lookup(Parameter(part.name, part.line, index=part.index))
            if not values and part.name not in "@*":
                variable = self._dereferenced(part.name)
                if variable is None or variable.items is None or variable.bare:
                    self._unset(part.name)
            return Value(str(len(values)), here)
        values, _, _ = self._lookup(Parameter(part.name, part.line, index=part.index))
        if not values:
            if part.index is None or "u" in self.on.shell.options:
                self._unset(part.name)
            return Value("0", here)
        return self.computed(values[0], f"#{part.name}", lambda text: str(len(self.on.countable(text))), part.line)

    def _names(self, part: Parameter, fields: Fields, quoted: bool) -> None:
        here = self.on.here(part.line)
        if part.index is not None:
            variable = self._dereferenced(part.name) or self.on.special_array(part.name)
            names = variable.keys() if variable is not None else []
        else:
            names = sorted(name for name in self.on.variable_names() if name.startswith(part.name))
        self._list([Value(name, here) for name in names], part.names, fields, quoted)

    def _list(self, values: list[Value], kind: str, fields: Fields, quoted: bool) -> None:
        """Puts a list in the place of `$@` or `$*`."""
        if quoted and fields.split:
            if fields.lists not in ("", kind):
                raise self.on.refusal("a word that joins $@ and $* is not followed")
            fields.lists = kind
        if kind == "*" and (quoted or not fields.split):
            fields.text(self._with_separator(values, self._first_separator()), quoted)
        elif not fields.split:
            fields.text(self._with_separator(values, " "), quoted)
        else:
            fields.several(values, quoted)

    def _first_separator(self) -> str:
        return self.on.separators()[:1]

    def _with_separator(self, values: list[Value], separator: str) -> Value:
        pieces: list[Value] = []
        for index, value in enumerate(values):
            if index:
                pieces.append(Value(separator, value.origin))
            pieces.append(value)
        return concatenate(pieces) if pieces else Value("", ())

    def _one(self, part: Parameter, value: Value | None, fields: Fields, quoted: bool) -> None:
        operator = part.operator
        if not operator:
            if value is None:
                value = self._unset(part.name)
            self._add(value, fields, quoted)
            return
        if operator in _DEFAULTS:
            if self._is_toggle(part.name) if operator in (":+", "+") else self._has_own_default(part.name, value):
                value = None
            self._default(part, value, fields, quoted)
            return
        if value is None:
            value = self._unset(part.name)
            if operator[0] in "/:" or (operator == "@" and part.letter not in "aA"):
                self._add(value, fields, quoted)
                return
        self._add(self._operate(part, value), fields, quoted)

    def _many(self, part: Parameter, values: list[Value], kind: str, name: str, fields: Fields, quoted: bool) -> None:
        operator = part.operator
        if operator in _DEFAULTS:
            whole = self._with_separator(values, self._first_separator() if kind == "*" else " ") if values else None
            if not self._wants_default(operator, whole):
                if operator in (":+", "+"):
                    self._operand(part, fields, quoted)
                else:
                    self._list(values, kind, fields, quoted)
            elif operator not in (":+", "+") or kind == "*":
                self._default(part, whole, fields, quoted)
            return
        if operator == ":":
            values = self._slice(part, values, name)
        elif operator == "@" and part.letter in "AaKk":
            raise self.on.refusal(f"{part.text} is not supported", part.line)
        elif operator:
            values = [self._operate(part, value) for value in values]
        self._list(values, kind, fields, quoted)

    def _slice(self, part: Parameter, values: list[Value], name: str) -> list[Value]:
        """The elements that `${@:offset:length}` and `${NAME[@]:offset:length}` take. Of a scalar it is characters."""
        if name in ("@", "*"):
            return self._slice_list(part, dict(enumerate([self.on.shell.name, *values])), len(values) + 1)
        variable = self._dereferenced(name) or self.on.special_array(name)
        if variable is None or variable.items is None:
            cut = self._substring(part, values[0]) if values else None
            return [] if cut is None else [cut]
        if not values:
            return []
        if variable.mapping:
            # A map counts from one, and zero is one as well.
            elements = dict(enumerate(values, 1))
            return self._slice_list(part, elements, len(values), from_behind=len(values) + 1)
        elements = dict(zip(sorted(key for key in variable.items if isinstance(key, int)), values, strict=True))
        last = max(elements)
        return self._slice_list(part, elements, last, from_behind=last + 1)

    def _slice_list(
        self, part: Parameter, elements: dict[int, Value], last: int, *, from_behind: int | None = None
    ) -> list[Value]:
        """The elements from an offset on, which counts from `from_behind` where it is negative.

        Beyond `last` bash does not look at the length any more; up to there a negative one is an error.
        """
        offset = self._number(part.argument, part.line)
        if offset < 0:
            offset += last if from_behind is None else from_behind
        if not 0 <= offset <= last:
            return []
        taken = [value for key, value in elements.items() if key >= offset]
        if part.second is None:
            return taken
        length = self._number(part.second, part.line)
        if length < 0:
            raise Discard(lenient=True)
        return taken[:length]

    def _substring(self, part: Parameter, value: Value) -> Value | None:
        """`${NAME:offset:length}`; None where the offset lies outside, and bash does not look at the length."""
        on, line = self.on, part.line
        offset = self._number(part.argument, line)
        value = on.way.resolve(value)
        if value.text is None and part.second is not None and _CHANGES.search(part.second.text):
            raise on.refusal(f"{part.text}: whether its length is worked out is not known", line)
        if value.text is not None:
            size = len(value.text)
            if not 0 <= (offset if offset >= 0 else offset + size) <= size:
                return None
        length = None if part.second is None else self._number(part.second, line)
        return self.computed(value, part.text[2:-1], lambda text: cut_slice(on.countable(text), offset, length), line)

    def _number(self, word: Word | None, line: int) -> int:
        return 0 if word is None else self.on.calculate_word(word, line)

    def _wants_default(self, operator: str, value: Value | None) -> bool:
        """Whether the parameter counts as unset (or, with a colon, as empty)."""
        if value is None:
            return True
        if not operator.startswith(":"):
            return False
        if value.text is not None:
            return not value.text
        if any(isinstance(piece, str) and piece for piece in value.parts):
            return False
        return self.on.way.is_one_of(value, ("",))

    def _default(self, part: Parameter, value: Value | None, fields: Fields, quoted: bool) -> None:
        operator = part.operator
        if operator in (":-", "-", ":=", "=") and value is not None and self._stands_for_itself(value):
            # A symbol of its own name covers the unset case too: its value is what the script sees after the default.
            self._add(value, fields, quoted)
            return
        default = self._wants_default(operator, value)
        assumed = assumptions(value.origin) if value is not None and self.on.machine.opaque else ()
        if operator in (":+", "+"):
            # Where a word is put in it rests on the variable by its reasons; where it is left out nothing has reasons.
            if default and assumed:
                default = self.on.truth(self.on.doubted(0, assumed))
            if not default:
                self._operand(part, fields, quoted, assumed)
            elif quoted:
                fields.text(Value("", ()), True)
            return
        if not default and value is not None:
            self._add(value, fields, quoted)
            return
        if operator in (":-", "-"):
            self._operand(part, fields, quoted, assumed)
        elif operator in (":?", "?"):
            raise self.on.fatal(f"{part.name} is not set, and `${{{part.name}{operator}…}}` demands it")
        else:
            assigned = self.single(part.argument) if part.argument and part.argument.parts else Value("", ())
            if assumed:
                assigned = assigned.with_origin((*assigned.origin, *assumed))
            if not (re.match(r"[A-Za-z_]", part.name)) or part.indirect:
                raise Discard
            self.on.assign_parameter(part, assigned)
            self._add(assigned, fields, quoted)

    def _is_toggle(self, name: str) -> bool:
        """Whether `${NAME:+…}` asks for a switch that people set, behind the source of a script that is not known.

        What such a script sets for its caller is read plainly or with a default; `:+` with a public name is how an
        entrypoint offers an option, so the name is taken as unset there, and the assumption is noted.
        """
        on = self.on
        machine = on.machine
        if not machine.opaque or machine.doubting or machine.open or not name[:1].isupper():
            return False
        if name in on.shell.variables or name in on.way.fixed:
            return False
        if name in specials.ALWAYS_SET or specials.is_own(name):
            return False
        machine.rest(on, specials.not_set(name, ", ".join(machine.sourced)), on.line)
        return True

    def _has_own_default(self, name: str, value: Value | None) -> bool:
        """Whether a default speaks for a variable that only an environment file which is not there could set.

        Whoever writes a default means the script to run without the variable, so it is taken as unset there, and the
        assumption is noted.
        """
        on = self.on
        if not on.machine.open or on.machine.doubting or name in on.shell.variables:
            return False
        if value is None or not self._stands_for_itself(value):
            return False
        if specials.is_own(name) or name in specials.ALWAYS_SET or name in on.way.fixed:
            return False
        on.machine.rest(on, specials.not_set(name, specials.UNSEEN), on.line)
        return True

    def _stands_for_itself(self, value: Value) -> bool:
        return len(value.parts) == 1 and value.text is None

    def _operand(self, part: Parameter, fields: Fields, quoted: bool, assumed: tuple[Reason, ...] = ()) -> None:
        """The word behind an operator, which is taken because of a variable whose value is `assumed`."""
        guards = self.on.guards
        if assumed:
            self.on.guards = (*guards, Guard(self.on.source, part.line, (), assumed))
        try:
            self._operand_words(part, fields, quoted)
        finally:
            self.on.guards = guards

    def _operand_words(self, part: Parameter, fields: Fields, quoted: bool) -> None:
        word = part.argument
        if word is None or not word.parts:
            if quoted:
                fields.text(Value("", ()), True)
            return
        parts = word.parts
        if not quoted and isinstance(parts[0], Text):
            parts = self._tilde(parts, word.line)
        for one in parts:
            if isinstance(one, Text) and not one.quoted and not quoted:
                # The word's own blanks split it, as the result of any expansion.
                fields.expansion(Value(one.text, self.on.here(part.line)))
            else:
                self._walk((one,), fields, quoted=quoted, line=part.line)

    def _operate(self, part: Parameter, value: Value) -> Value:
        operator, line = part.operator, part.line
        argument = part.argument
        extended = "extglob" in self.on.shell.switches
        if operator == ":":
            return self._substring(part, value) or Value("", value.origin)
        if operator == "@":
            return self._transform(part, value)
        pattern, _ = self.pattern(argument) if argument is not None and argument.parts else ("", None)
        if pattern is None:
            raise self.on.refusal(f"{part.text}: the pattern is not known", line)
        wanted, machine = pattern, self.on.machine

        def measured(text: str) -> str:
            machine.spend(search_cost(wanted, text, extended=extended))
            return self.on.countable(text) if counts_characters(wanted) else text

        if operator[0] == "/":
            replacement = self._replacement(part)
            if replacement.text is None:
                raise self.on.refusal(f"{part.text}: the replacement is not known", line)
            with_text, whole = replacement.text, operator
            ignore_case = "nocasematch" in self.on.shell.switches
            return self.computed(
                value,
                part.text[2:-1],
                lambda text: replaced(
                    measured(text), whole, wanted, with_text, extended=extended, ignore_case=ignore_case
                ),
                line,
                replacement.origin,
            )
        if operator[0] in "#%":
            return self.computed(
                value, part.text[2:-1], lambda text: removed(measured(text), operator, wanted, extended=extended), line
            )
        return self.computed(
            value,
            part.text[2:-1],
            lambda text: changed_case(self.on.ascii_only(text), operator, pattern, extended=extended),
            line,
        )

    def _replacement(self, part: Parameter) -> Value:
        if part.second is None or not part.second.parts:
            return Value("", ())
        fields = self.chunks(part.second)
        pieces: list[str | Symbol] = []
        for piece, quoted in fields.chunks:
            if isinstance(piece, str) and quoted:
                piece = piece.replace("\\", "\\\\").replace("&", "\\&")
            pieces.append(piece)
        origin = join_origins(fields.origins)
        if all(isinstance(piece, str) for piece in pieces):
            return Value("".join(piece for piece in pieces if isinstance(piece, str)), origin)
        return Value(None, origin, tuple(pieces))

    def _transform(self, part: Parameter, value: Value) -> Value:
        if part.letter == "a":
            return Value(self.on.attributes(part.name), self.on.here(part.line))
        if part.letter in "APKk":
            raise self.on.refusal(f"{part.text} is not supported", part.line)
        check = self.on.ascii_only if part.letter in "UuL" else str
        return self.computed(value, part.text[2:-1], lambda text: transformed(check(text), part.letter), part.line)

    def computed(
        self, value: Value, name: str, compute: Callable[[str], str], line: int, origin: tuple[Origin, ...] = ()
    ) -> Value:
        """A value made from another one; a symbol when that one is not known."""
        value = self.on.way.resolve(value)
        if value.text is None:
            bare = len(value.parts) == 1 and isinstance(value.parts[0], Symbol)
            return derived(name if bare else f"{name} of {value.template()}", value, compute)
        try:
            text = compute(value.text)
        except UnsupportedPattern as error:
            raise self.on.refusal("a pattern that is not supported", line) from error
        except LocaleDependent as error:
            raise self.on.refusal(str(error), line) from error
        except ValueError as error:
            raise Discard(lenient=True) from error
        return Value(text, value.origin if not origin else (*value.origin, *origin))
