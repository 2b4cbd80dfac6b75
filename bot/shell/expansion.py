"""Expansion of words, in bash's order: tilde, parameters, commands and arithmetic, splitting, file names."""

from __future__ import annotations

from bot.shell import substitution
from bot.shell.fields import Fields, is_glob, joined, pattern_of
from bot.shell.machine import FEW, STEPS_OF_A_WORD
from bot.shell.parameter_expansion import ParameterExpander
from bot.shell.state import Discard
from bot.shell.syntax import (
    Arithmetic,
    BadSubstitution,
    Double,
    Parameter,
    Part,
    ProcessSubstitution,
    Substitution,
    Text,
    Word,
)
from bot.shell.values import Symbol, Value, join_origins


class Expander(ParameterExpander):
    """Expands the words of one interpreter."""

    # --- entrances --------------------------------------------------------------------------------------------

    def words(self, words: tuple[Word, ...]) -> list[Value]:
        """The fields of several words."""
        out: list[Value] = []
        for word in words:
            self.word(word, out)
        return out

    def word(self, word: Word, out: list[Value]) -> None:
        """Adds the fields of one word."""
        on = self.on
        if word.constant is not None:
            out.append(Value(word.constant, on.here(word.line)))
            return
        if word.too_many and self.expands_braces():
            raise on.refusal("a brace expansion makes too many words", word.line)
        if word.expands and self.expands_braces():
            for one in word.braces:
                self.word(one, out)
            return
        parts = word.parts
        if len(parts) == 1 and isinstance(parts[0], Double) and self._whole(parts[0], out):
            return
        fields = Fields(on.separators(), split=True)
        if word.assignment_like and isinstance(parts[0], Text):
            parts = self._tilde_assignment(word)
        elif isinstance(parts[0], Text) and not parts[0].quoted and parts[0].text.startswith("~"):
            parts = self._tilde(parts, word.line)
        self._walk(parts, fields, quoted=False, line=word.line)
        fields.finish()
        if len(fields.done) > FEW:
            on.machine.spend(STEPS_OF_A_WORD * len(fields.done))
        extended = "extglob" in on.shell.switches
        for chunks, values, splits in fields.done:
            origin = join_origins(values)
            if is_glob(chunks, extended) and "f" not in on.shell.options:
                pattern = pattern_of(chunks)
                whole = joined(chunks, origin, splits)
                out.extend(on.file_names(pattern, whole, word.line))
            elif len(values) == 1 and len(chunks) == 1 and values[0].text == chunks[0][0] and not values[0].splits:
                out.append(values[0])
            else:
                out.append(joined(chunks, origin, splits))

    def expands_braces(self) -> bool:
        """Whether `set +B` was not said."""
        return "nobraceexpand" not in self.on.shell.options

    def _whole(self, part: Double, out: list[Value]) -> bool:
        """The words of `"$X"`, `"$@"` and `"${X[@]}"`, which most words of an entrypoint are."""
        inner = part.parts[0] if len(part.parts) == 1 else None
        if not isinstance(inner, Parameter) or inner.operator or inner.length or inner.indirect or inner.names:
            return False
        on = self.on
        if inner.name == "@" and inner.index is None:
            if on.machine.opaque:
                on.machine.touch(on.shell.positional)
            out.extend(map(on.way.resolve, on.shell.positional))
            return True
        variable = on.shell.variables.get(inner.name)
        if variable is None or variable.reference:
            return False
        on.machine.looked_up(inner.name, variable)
        if on.machine.opaque:
            on.machine.touch(variable.elements())
        if inner.index == "@":
            out.extend(map(on.way.resolve, variable.elements()))
            return True
        value = variable.scalar() if inner.index is None else None
        if value is None:
            return False
        out.append(on.way.resolve(value))
        return True

    def single(self, word: Word | None, *, assignment: bool = False) -> Value:
        """One value, never split: the right side of an assignment, a `case` subject, a redirection's target."""
        on = self.on
        if word is None:
            return Value("", on.here(on.line))
        if word.constant is not None:
            return Value(word.constant, on.here(word.line))
        parts = word.parts
        if len(parts) == 1 and isinstance(parts[0], Double) and len(parts[0].parts) == 1:
            parts = parts[0].parts
            quoted = True
        else:
            quoted = False
        if not quoted and isinstance(parts[0], Text):
            parts = self._tilde_assignment(word) if assignment else self._tilde(parts, word.line)
        fields = Fields("", split=False)
        self._walk(parts, fields, quoted=quoted, line=word.line)
        if len(fields.origins) == 1 and fields.origins[0].text is not None:
            return fields.origins[0]
        return joined(fields.chunks, join_origins(fields.origins))

    def pattern(self, word: Word) -> tuple[str | None, Value]:
        """A word as a pattern, its quoted characters escaped, and the word's value. The pattern is None if unknown."""
        fields = Fields("", split=False)
        parts = word.parts
        if parts and isinstance(parts[0], Text):
            parts = self._tilde(parts, word.line)
        self._walk(parts, fields, quoted=False, line=word.line)
        return pattern_of(fields.chunks), joined(fields.chunks, join_origins(fields.origins))

    def chunks(self, word: Word) -> Fields:
        """The pieces of a word that is not split, with their quoting (a regular expression)."""
        fields = Fields("", split=False)
        self._walk(word.parts, fields, quoted=False, line=word.line)
        return fields

    # --- parts ------------------------------------------------------------------------------------------------

    def _walk(self, parts: tuple[Part, ...], fields: Fields, *, quoted: bool, line: int) -> None:
        on = self.on
        for part in parts:
            if isinstance(part, Text):
                fields.text(Value(part.text, on.here(line)), quoted or part.quoted)
            elif isinstance(part, Parameter):
                self._parameter(part, fields, quoted)
            elif isinstance(part, Double):
                if not part.parts:
                    fields.text(Value("", on.here(line)), True)
                elif len(part.parts) > 1 and any(map(_is_list, part.parts)):
                    self._with_list(part, fields, line)
                else:
                    self._walk(part.parts, fields, quoted=True, line=line)
            elif isinstance(part, Substitution):
                self._add(substitution.substitute(on, part), fields, quoted)
            elif isinstance(part, Arithmetic):
                self._add(self.arithmetic(part.expression, part.line), fields, quoted)
            elif isinstance(part, ProcessSubstitution):
                fields.text(substitution.process_substitution(on, part), True)
            else:
                self._bad(part)

    def _with_list(self, part: Double, fields: Fields, line: int) -> None:
        """`"$@$X"`: where the list has no elements and all beside it is empty, there is no word at all."""
        start, done = len(fields.chunks), len(fields.done)
        nothing = False
        for one in part.parts:
            before = len(fields.chunks)
            self._walk((one,), fields, quoted=True, line=line)
            nothing = nothing or (_is_list(one) and len(fields.chunks) == before)
        if nothing and len(fields.done) == done:
            fields.drop_empty(start)

    def _add(self, value: Value, fields: Fields, quoted: bool) -> None:
        if quoted:
            fields.text(value, True)
        else:
            fields.expansion(value)

    def _bad(self, part: BadSubstitution) -> None:
        if self.on.shell.posix:
            raise self.on.refusal(f"{part.text} needs bash, and sh is another shell in many images", part.line)
        raise Discard

    # --- arithmetic -------------------------------------------------------------------------------------------

    def arithmetic(self, expression: Word, line: int) -> Value:
        """The value of `$((…))`."""
        with self.on.machine.reading() as assumed:
            text = self.single(expression)
            if text.text is None:
                return Value(None, text.origin, (Symbol(f"(({text.template()}))"),))
            try:
                number = self.on.calculate(text.text)
            except UnknownNumber as unknown:
                return Value(None, self.on.here(line), (Symbol(f"(({unknown.text}))"),))
        return Value(str(number), (*self.on.here(line), *assumed))


def _is_list(part: Part) -> bool:
    """Whether a part in quotes is `$@` or `${X[@]}`, as they are or a slice of them."""
    if not isinstance(part, Parameter) or part.operator not in ("", ":") or part.length:
        return False
    return part.name == "@" or part.index == "@"


class UnknownNumber(Exception):
    """An expression reads a variable whose value is a symbol."""

    def __init__(self, text: str, value: Value) -> None:
        super().__init__(text)
        self.text = text
        self.value = value
