"""Walks a script for the variables that it reads, compares and sets, on all branches and in the order of the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bot.shell.patterns import BadPattern, UnsupportedPattern, example
from bot.shell.syntax import (
    AndOr,
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    BinaryTest,
    Case,
    Conditional,
    Double,
    Element,
    For,
    Function,
    Group,
    HereDocument,
    If,
    Node,
    NotTest,
    Parameter,
    Part,
    Pipeline,
    ProcessSubstitution,
    Redirect,
    Sequence,
    Simple,
    Subshell,
    Substitution,
    Test,
    Text,
    UnaryTest,
    While,
    Word,
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class ReadFact:
    """As `model.Read`, with the line in the text."""

    name: str
    operator: str
    argument: str
    inherited: bool
    line: int
    after_source: bool


@dataclass(frozen=True, slots=True)
class ComparisonFact:
    """As `model.Comparison`, with the line in the text."""

    name: str
    value: str
    line: int


class Walker:
    """Walks the tree in the order of the text and keeps the names that are certainly set at each place."""

    def __init__(self) -> None:
        self.reads: list[ReadFact] = []
        self.comparisons: list[ComparisonFact] = []
        self.writes: set[str] = set()
        self.set: set[str] = set()
        self.copies: dict[str, set[str]] = {}
        self.functions: dict[str, Function] = {}
        self.walked: set[str] = set()
        self.sourced = False

    # --- commands ---------------------------------------------------------------------------------------------

    def node(self, node: Node | None) -> None:
        """Walks a command."""
        if node is None:
            return
        walk = _WALKS.get(type(node))
        if walk is not None:
            walk(self, node)

    def _sequence(self, node: Sequence) -> None:
        for command in node.commands:
            self.node(command)

    def _pipeline(self, node: Pipeline) -> None:
        if len(node.stages) == 1:
            self.node(node.stages[0])
            return
        for stage in node.stages:
            self._apart(stage)

    def _apart(self, node: Node | None) -> None:
        """Walks what may not run, or runs in a shell of its own: what it sets is not certainly set."""
        before = set(self.set)
        self.node(node)
        self.set = before

    def _and_or(self, node: AndOr) -> None:
        self.node(node.first)
        for _, command in node.rest:
            self._apart(command)

    def _if(self, node: If) -> None:
        ends: list[set[str]] = []
        for condition, body in node.clauses:
            self.node(condition)
            before = set(self.set)
            self.node(body)
            ends.append(self.set)
            self.set = before
        self.node(node.otherwise)
        ends.append(self.set)
        self.set = set.intersection(*ends)

    def _for(self, node: For) -> None:
        for word in node.words or ():
            self.word(word)
        self._write(node.name)
        self._apart(node.body)

    def _arithmetic_for(self, node: ArithmeticFor) -> None:
        for word in (node.start, node.test, node.update):
            if word is not None:
                self._expression(word, node.line)
        self._apart(node.body)

    def _while(self, node: While) -> None:
        self.node(node.condition)
        self._apart(node.body)

    def _case(self, node: Case) -> None:
        self.word(node.subject)
        names = self._origins(node.subject)
        ends: list[set[str]] = []
        before = set(self.set)
        for item in node.items:
            self.set = set(before)
            for pattern in item.patterns:
                self.word(pattern)
                self._compare(names, self._pattern_example(pattern), item.line)
            self.node(item.body)
            ends.append(self.set)
        catch_all = any(pattern.text in ("*", '"*"') for item in node.items for pattern in item.patterns)
        self.set = set.intersection(*ends) if ends and catch_all else before

    def _group(self, node: Group) -> None:
        self._redirects(node.redirects)
        self.node(node.body)

    def _subshell(self, node: Subshell) -> None:
        self._apart(node.body)

    def _function(self, node: Function) -> None:
        self.functions[node.name] = node

    def body_of(self, function: Function) -> None:
        """Walks the body of a function where it is first called."""
        if function.name not in self.walked:
            self.walked.add(function.name)
            self.node(function.body)

    def _arithmetic_command(self, node: ArithmeticCommand) -> None:
        self._expression(node.expression, node.line)

    def _conditional(self, node: Conditional) -> None:
        self._test(node.test, node.line)

    def _simple(self, node: Simple) -> None:
        for assignment in node.assignments:
            self._assignment(assignment, lasting=not node.words)
        words = [one for one in node.words if isinstance(one, Word)]
        for one in node.words:
            if isinstance(one, Assignment):
                self._assignment(one, lasting=True)
            else:
                self.word(one)
        self._redirects(node.redirects)
        if not words:
            return
        name = words[0].constant
        if name in self.functions:
            self.body_of(self.functions[name])
        elif name in ("[", "test"):
            self._bracket(words[1:], node.line)
        elif name in ("source", ".") or (name == "eval" and any(word.constant is None for word in words[1:])):
            self.sourced = True  # whatever is run here may set any variable
        elif name == "read":
            for word in words[1:]:
                if word.constant and _NAME.fullmatch(word.constant):
                    self._write(word.constant)
        elif name == "printf" and len(words) > 2 and words[1].constant == "-v" and words[2].constant:
            self._write(words[2].constant)
        elif name in ("mapfile", "readarray", "getopts") and words[-1].constant:
            self._write(
                words[-1].constant if name != "getopts" else (words[2].constant or "") if len(words) > 2 else ""
            )
        elif name == "let":
            for word in words[1:]:
                self._expression(word, node.line)
        elif name == "unset":
            for word in words[1:]:
                self.set.discard(word.constant or "")

    def _redirects(self, redirects: tuple[Redirect, ...]) -> None:
        for redirect in redirects:
            if redirect.variable:
                self._write(redirect.variable)
            target = redirect.target
            word = target.body if isinstance(target, HereDocument) else target
            if word is not None:
                self.word(word)

    def _assignment(self, node: Assignment, *, lasting: bool) -> None:
        origins: set[str] = set()
        if node.index is not None:
            self.word(node.index)
        if node.value is not None:
            self.word(node.value)
            origins = self._origins(node.value)
        for element in node.elements or ():
            self._element(element)
        if lasting:
            origins.discard(node.name)
            inherited = {node.name} if node.name not in self.set and self._reads_itself(node) else set()
            known = {*origins, *inherited, *(self.copies.get(node.name, set()) if node.append else set())}
            self._write(node.name)
            self.copies[node.name] = known

    def _reads_itself(self, node: Assignment) -> bool:
        return node.value is not None and node.name in _names_in(node.value.parts)

    def _element(self, element: Element) -> None:
        if element.index is not None:
            self.word(element.index)
        self.word(element.value)

    def _write(self, name: str) -> None:
        if name:
            self.writes.add(name)
            self.set.add(name)

    # --- tests ------------------------------------------------------------------------------------------------

    def _test(self, test: Test, line: int) -> None:
        if isinstance(test, NotTest):
            self._test(test.test, line)
        elif isinstance(test, UnaryTest):
            self.word(test.operand)
            if test.operator in ("-n", "-z"):
                self._compare(self._origins(test.operand), "", line)
            elif test.operator in ("-v",) and test.operand.constant:
                self._read(test.operand.constant, "+", "", line)
        elif isinstance(test, BinaryTest):
            self.word(test.left)
            self.word(test.right)
            value = test.right.constant
            if test.operator in ("==", "!="):
                value = self._pattern_example(test.right)
            if test.operator != "=~":
                self._compare(self._origins(test.left), value, line)
                self._compare(self._origins(test.right), test.left.constant, line)
        else:
            self._test(test.left, line)
            self._test(test.right, line)

    def _bracket(self, words: list[Word], line: int) -> None:
        operators = ("=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "<", ">")
        asked = [word for word in words if word.constant not in ("!", "]")]
        if len(asked) == 1:
            self._compare(self._origins(asked[0]), "", line)  # `[ "$X" ]` asks whether it is empty
        for at, word in enumerate(words):
            if word.constant in operators and 0 < at < len(words) - 1:
                self._compare(self._origins(words[at - 1]), words[at + 1].constant, line)
                self._compare(self._origins(words[at + 1]), words[at - 1].constant, line)
            elif word.constant in ("-n", "-z") and at < len(words) - 1:
                self._compare(self._origins(words[at + 1]), "", line)

    def _compare(self, names: set[str], value: str | None, line: int) -> None:
        if value is None:
            return
        for name in sorted(names):
            self.comparisons.append(ComparisonFact(name, value, line))

    def _pattern_example(self, word: Word) -> str | None:
        if word.constant is not None:
            return word.constant
        pieces: list[str] = []
        for part in word.parts:
            if isinstance(part, Text):
                pieces.append("".join("\\" + one for one in part.text) if part.quoted else part.text)
            elif isinstance(part, Double) and all(isinstance(one, Text) for one in part.parts):
                pieces.extend("\\" + one for inner in part.parts if isinstance(inner, Text) for one in inner.text)
            else:
                return None
        pattern = "".join(pieces)
        if pattern in ("*", "?*"):
            return None
        try:
            return example(pattern)
        except (UnsupportedPattern, BadPattern):
            return None

    def _origins(self, word: Word) -> set[str]:
        """The variables whose value a word is a simple copy of."""
        parts = word.parts
        if len(parts) == 1 and isinstance(parts[0], Double):
            parts = parts[0].parts
        significant = [part for part in parts if not isinstance(part, Text)]
        if len(significant) != 1:
            return set()
        part: Part = significant[0]
        if isinstance(part, Double) and len(part.parts) == 1:
            part = part.parts[0]
        if isinstance(part, Substitution):
            # `$(echo "$X" | tr A-Z a-z)` is the old way to write `${X,,}`.
            found: set[str] = set()
            for name in _names_in_node(part):
                found |= self._origin_of(name)
            return found
        if not isinstance(part, Parameter) or part.length or part.names or not _NAME.fullmatch(part.name):
            return set()
        if part.operator in (":+", "+"):
            return set()
        return self._origin_of(part.name)

    def _origin_of(self, name: str) -> set[str]:
        if name in self.copies:
            known = set(self.copies[name])
            return known if name in self.set else {*known, name}
        return set() if name in self.set else {name}

    # --- words ------------------------------------------------------------------------------------------------

    def word(self, word: Word) -> None:
        """Walks the expansions of a word."""
        for part in word.parts:
            self._part(part)

    def _part(self, part: Part) -> None:
        if isinstance(part, Double):
            for one in part.parts:
                self._part(one)
        elif isinstance(part, Parameter):
            self._parameter(part)
        elif isinstance(part, (Substitution, ProcessSubstitution)):
            self._apart(part.body)
        elif isinstance(part, Arithmetic):
            self._expression(part.expression, part.line)

    def _parameter(self, part: Parameter) -> None:
        if isinstance(part.index, Word):
            self._expression(part.index, part.line)
        if _NAME.fullmatch(part.name) and not part.names:
            argument = part.argument.text if part.argument is not None else ""
            self._read(part.name, "#" if part.length else part.operator, argument, part.line)
        for word in (part.argument, part.second):
            if word is not None:
                self.word(word)
        if part.operator in (":=", "="):
            self._write(part.name)

    def _read(self, name: str, operator: str, argument: str, line: int) -> None:
        self.reads.append(ReadFact(name, operator, argument, name not in self.set, line, self.sourced))

    def _expression(self, word: Word, line: int) -> None:
        self.word(word)
        for part in _texts(word.parts):
            for found in _NAME.finditer(part.text):
                before = part.text[found.start() - 1 : found.start()]
                if before.isalnum() or before == "#":
                    continue
                behind = part.text[found.end() :].lstrip()
                name = found.group()
                if re.match(r"=(?!=)", behind):
                    self._write(name)
                    continue
                self._read(name, "", "", line)
                number = re.match(r"(?:==|!=|<=|>=|<|>)\s*([0-9]+)", behind)
                if number:
                    self._compare(self._origin_of(name), number[1], line)
                if re.match(r"(?:[-+*/%&|^]|<<|>>)=|\+\+|--", behind):
                    self._write(name)


_WALKS: dict[type, Callable[[Walker, Any], None]] = {
    Sequence: Walker._sequence,
    Pipeline: Walker._pipeline,
    AndOr: Walker._and_or,
    If: Walker._if,
    For: Walker._for,
    ArithmeticFor: Walker._arithmetic_for,
    While: Walker._while,
    Case: Walker._case,
    Group: Walker._group,
    Subshell: Walker._subshell,
    Function: Walker._function,
    ArithmeticCommand: Walker._arithmetic_command,
    Conditional: Walker._conditional,
    Simple: Walker._simple,
}


def _texts(parts: tuple[Part, ...]) -> Iterator[Text]:
    """The literal pieces of a word, those in double quotes included."""
    for part in parts:
        if isinstance(part, Text):
            yield part
        elif isinstance(part, Double):
            yield from _texts(part.parts)


def _names_in(parts: tuple[Part, ...]) -> set[str]:
    names: set[str] = set()
    for part in parts:
        if isinstance(part, Double):
            names |= _names_in(part.parts)
        elif isinstance(part, Parameter):
            names.add(part.name)
        elif isinstance(part, Substitution):
            names |= _names_in_node(part)
    return names


def _names_in_node(part: Substitution) -> set[str]:
    return set(re.findall(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)", part.text))
