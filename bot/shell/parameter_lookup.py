"""The values of parameters: variables, elements of arrays, references to other variables, and `${!NAME}`."""

from __future__ import annotations

import re

from bot.shell.state import Discard, Variable
from bot.shell.syntax import Parameter, Word
from bot.shell.tilde import TildeExpander
from bot.shell.values import Value

_REFERENCE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(?:\[(.*)\])?\Z", re.DOTALL)


class ParameterLookup(TildeExpander):
    """Looks up the parameters of one interpreter."""

    def single(self, word: Word | None, *, assignment: bool = False) -> Value:
        """One value, never split."""
        raise NotImplementedError

    def _unset(self, name: str) -> Value:
        if "u" in self.on.shell.options and name not in "@*":
            raise self.on.fatal(f"{name} is not set, under `set -u`")
        return Value("", ())

    def variable(self, name: str) -> Value | None:
        """The value of `$name`, None when it is unset."""
        on = self.on
        variable = on.shell.variables.get(name)
        on.machine.looked_up(name, variable)
        if variable is not None:
            if variable.reference:
                return self.referenced(variable)
            value = variable.scalar()
            if value is None:
                return None
            if on.machine.opaque:
                on.machine.touch((value,))
            return value if value.text is not None else on.way.resolve(value)
        return on.special(name)

    def referenced(self, variable: Variable) -> Value | None:
        """The value of the variable that a name reference names."""
        target = variable.value.text if variable.value is not None else None
        found = _REFERENCE.match(target or "")
        if not found:
            return None
        if found[2] is not None:
            return self.element(found[1], found[2])
        return self.variable(found[1])

    def element(self, name: str, index: str) -> Value | None:
        """`${name[index]}` with the index as text."""
        variable = self.on.shell.variables.get(name)
        if variable is not None and variable.reference and variable.value is not None:
            return self.element(variable.value.text or "", index)
        self.on.machine.looked_up(name, variable)
        if variable is None:
            special = self.on.special_array(name)
            if special is None:
                return None
            variable = special
        if self.on.machine.opaque:
            self.on.machine.touch(variable.elements())
        if variable.items is not None and variable.mapping:
            return variable.items.get(index)
        number = self.index_number(index, variable)
        if number < 0 and "e" in self.on.shell.options:
            raise self.on.refusal(f"a subscript before the first element of {name}, under `set -e`")
        if variable.items is None:
            return variable.value if number == 0 else None
        return variable.items.get(number)

    def index_number(self, index: str, variable: Variable | None) -> int:
        """The number that a subscript of an array means; negative ones count from the end."""
        number = self.on.calculate(index)
        if number < 0 and variable is not None and variable.items:
            number += max(key for key in variable.items if isinstance(key, int)) + 1
        return number

    def _lookup(self, part: Parameter) -> tuple[list[Value], str, str]:
        """The value (or none), or the elements together with "@" or "*"; and the name behind `${!NAME}`."""
        name: str = part.name
        index = part.index
        if part.indirect:
            reference = self.on.shell.variables.get(name)
            if index is None and reference is not None and reference.reference:
                # Of a name reference this is the name that it refers to, and with an operator perhaps not.
                if part.operator or reference.value is None:
                    raise self.on.refusal(f"{part.text} of a name reference is not followed", part.line)
                return ([reference.value] if reference.value is not None else []), "", name
            if isinstance(index, Word):
                target = self.element(name, self.single(index).text or "")
            else:
                target = self.variable(name)
            if target is None:
                if name in self.on.shell.variables or not name.isidentifier():
                    # An array without that element, or a positional parameter that is not there.
                    return [], "", name
                raise Discard
            if target.text is None:
                raise self.on.refusal(f"{part.text}: the name of the variable is not known", part.line)
            found = _REFERENCE.match(target.text)
            if not found:
                raise Discard
            if found[1] == "*" and part.operator:
                raise self.on.refusal(f"{part.text} is `$*` with an operator, which bash 5.2 garbles", part.line)
            name = found[1]
            if found[2] in ("@", "*"):
                index = "@" if found[2] == "@" else "*"
            elif found[2] is not None:
                value = self.element(name, found[2])
                return ([value] if value is not None else []), "", name
            else:
                index = None
        if name in ("@", "*"):
            if self.on.machine.opaque:
                self.on.machine.touch(self.on.shell.positional)
            return list(self.on.shell.positional), name, name
        variable = self._dereferenced(name)
        if index == "@" or index == "*":
            self.on.machine.looked_up(name, variable)
            variable = variable or self.on.special_array(name)
            if variable is None:
                value = self.on.special(name)
                return ([value] if value is not None else []), str(index), name
            if self.on.machine.opaque:
                self.on.machine.touch(variable.elements())
            return [self.on.way.resolve(value) for value in variable.elements()], str(index), name
        if isinstance(index, Word):
            text = self._subscript(name, index)
            value = self.element(name, text)
            return ([self.on.way.resolve(value)] if value is not None else []), "", name
        value = self.variable(name)
        return ([value] if value is not None else []), "", name

    def _dereferenced(self, name: str) -> Variable | None:
        variable = self.on.shell.variables.get(name)
        for _ in range(8):
            if variable is None or not variable.reference or variable.value is None:
                return variable
            variable = self.on.shell.variables.get(variable.value.text or "")
        return variable

    def _subscript(self, name: str, index: Word) -> str:
        value = self.single(index)
        if value.text is None:
            raise self.on.refusal(f"the subscript of {name} is not known", index.line)
        return value.text
