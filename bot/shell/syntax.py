"""The syntax tree of a script: plain data, made once per text and shared by every run of it.

Lines are lines of the script's own text, from 1; a `Source` (see `values`) maps them to lines of a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

DECLARATIONS = frozenset({"declare", "typeset", "local", "export", "readonly"})
"""Builtins whose arguments may be assignments."""

# --- words -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Literal characters. `quoted` ones are never split, globbed or read as a pattern."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True, eq=False)
class Double:
    """`"…"`: what it holds is expanded and never split."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """`$NAME` and every form of `${…}`.

    `operator` is "" for a plain read, else one of `:- - := = :? ? :+ + # ## % %% / // /# /% ^ ^^ , ,, @ :`, where
    "@" has its letter in `letter` and ":" is a slice. `argument` is the word behind it, `second` the replacement of
    `/` or the length of a slice. `index` is the subscript; `[@]` and `[*]` are the strings "@" and "*".
    """

    name: str
    line: int
    operator: str = ""
    argument: Word | None = None
    second: Word | None = None
    index: Word | OneOf["@", "*"] | None = None
    length: bool = False
    indirect: bool = False
    names: OneOf["@", "*", ""] = ""
    letter: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Substitution:
    """`$(…)` and its older spelling with backquotes."""

    body: Node
    line: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Arithmetic:
    """`$((…))`: the expression is a word that is expanded first and then read as an expression."""

    expression: Word
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class ProcessSubstitution:
    """`<(…)` and `>(…)`."""

    body: Node
    line: int
    text: str
    output: bool


@dataclass(frozen=True, slots=True, eq=False)
class BadSubstitution:
    """`${…}` that the shell refuses when it comes to expand it."""

    text: str
    line: int


Part = Text | Double | Parameter | Substitution | Arithmetic | ProcessSubstitution | BadSubstitution


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """One word. `constant` is its value when nothing in it is expanded, globbed or tilde-expanded.

    Where brace expansion `expands` it, `braces` are the words that it becomes: perhaps none. `too_many` says that there
    would be more than the reader keeps, or that it cannot tell them.
    """

    parts: tuple[Part, ...]
    line: int
    text: str
    constant: str | None = None
    expands: bool = False
    braces: tuple[Word, ...] = ()
    too_many: bool = False
    assignment_like: int = 0


# --- commands --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class HereDocument:
    """The text of a here-document: the only node that is filled in later, when the reader comes to the next line."""

    delimiter: str
    quoted: bool
    dedented: bool
    body: Word | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Redirect:
    """One redirection. `variable` is the NAME of `{NAME}>file`."""

    operator: str
    descriptor: int | None
    target: Word | HereDocument
    line: int
    variable: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """An element of `NAME=(…)`, with its subscript when it has one.

    `plainly` is the element as a word without a subscript, where braces in it expand: that is how an array by number
    takes it, while a map does not expand them.
    """

    value: Word
    index: Word | None = None
    append: bool = False
    plainly: Word | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """`NAME=value`, `NAME+=value`, `NAME[index]=value`, `NAME=(…)`."""

    name: str
    line: int
    value: Word | None = None
    elements: tuple[Element, ...] | None = None
    index: Word | None = None
    append: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Simple:
    """A command with its assignments and redirections. Words of declaration builtins may be assignments."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word | Assignment, ...]
    redirects: tuple[Redirect, ...]
    line: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """`[!] a | b`. `errors[i]` says that stage i also pipes its standard error (`|&`)."""

    stages: tuple[Node, ...]
    negated: bool
    line: int
    errors: tuple[bool, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class AndOr:
    """`first && second || third`, from left to right: each of `rest` behind its operator."""

    first: Node
    rest: tuple[tuple[str, Node], ...]
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """Commands one after the other; those in `background` were followed by `&`."""

    commands: tuple[Node, ...]
    background: frozenset[int] = frozenset()
    line: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class If:
    """`lines` are those of `if`, each `elif` and `else`; `reads` the variables that each condition names."""

    clauses: tuple[tuple[Sequence, Sequence], ...]
    otherwise: Sequence | None
    line: int
    lines: tuple[int, ...] = ()
    reads: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class For:
    """`for NAME in words` (`words` None: the positional parameters), or `select`."""

    name: str
    words: tuple[Word, ...] | None
    body: Node
    line: int
    select: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ArithmeticFor:
    """`for ((start; test; update))`."""

    start: Word | None
    test: Word | None
    update: Word | None
    body: Node
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class While:
    """`while` and `until`."""

    condition: Node
    body: Node
    until: bool
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class CaseItem:
    """One branch of a `case`, up to its `;;`, `;&` or `;;&`."""

    patterns: tuple[Word, ...]
    body: Sequence | None
    terminator: str
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """`case`. `reads` are the variables that the subject names."""

    subject: Word
    items: tuple[CaseItem, ...]
    line: int
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """`{ …; }`, or any compound command with redirections."""

    body: Node
    redirects: tuple[Redirect, ...]
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Subshell:
    """`( … )`."""

    body: Node
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A definition."""

    name: str
    body: Node
    line: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class ArithmeticCommand:
    """`(( … ))`."""

    expression: Word
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Conditional:
    """`[[ … ]]`."""

    test: Test
    line: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Unsupported:
    """Syntax that the reader knows and the interpreter does not follow (`coproc`)."""

    what: str
    line: int


Node = (
    Simple
    | Pipeline
    | AndOr
    | Sequence
    | If
    | For
    | ArithmeticFor
    | While
    | Case
    | Group
    | Subshell
    | Function
    | ArithmeticCommand
    | Conditional
    | Unsupported
)

# --- the inside of [[ ]] ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class UnaryTest:
    """`-n word` and its kin; a word alone is `-n`."""

    operator: str
    operand: Word


@dataclass(frozen=True, slots=True, eq=False)
class BinaryTest:
    """`left operator right`."""

    operator: str
    left: Word
    right: Word


@dataclass(frozen=True, slots=True, eq=False)
class NotTest:
    """`! test`."""

    test: Test


@dataclass(frozen=True, slots=True, eq=False)
class JoinedTest:
    """Two tests with `&&` or `||`."""

    operator: OneOf["&&", "||"]
    left: Test
    right: Test


Test = UnaryTest | BinaryTest | NotTest | JoinedTest


@dataclass(frozen=True, slots=True, eq=False)
class Script:
    """A parsed text, in the units in which a shell reads and runs it: the commands that start on one line.

    `failure` is set when the shell would stop with a syntax error; the units above it still run. `extended` are the
    places of units with a pattern (`@(a|b)`) that is an error unless `shopt -s extglob` ran before.
    """

    units: tuple[Sequence, ...]
    failure: SyntaxFailure | None = None
    lines: tuple[str, ...] = field(default=())
    extended: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class SyntaxFailure:
    """Where and why the shell refuses a text."""

    message: str
    line: int
