"""Reads commands: the grammar of bash (and, with `posix`, of dash) above the words of `reader`."""

from __future__ import annotations

import re
from functools import lru_cache

from bot.shell.conditional_commands import TestReader
from bot.shell.reader import UNFOLLOWED, SyntaxProblem, TooDeep
from bot.shell.syntax import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Case,
    CaseItem,
    For,
    Function,
    Group,
    If,
    Node,
    Pipeline,
    Redirect,
    Script,
    Sequence,
    Simple,
    Subshell,
    SyntaxFailure,
    Unsupported,
    While,
    Word,
)

RESERVED = frozenset(
    {
        "if", "then", "elif", "else", "fi", "for", "in", "do", "done", "while", "until", "case", "esac",
        "select", "function", "{", "}", "!", "time", "coproc", "[[",
    }
)  # fmt: skip
"""The words that begin or divide compound commands in bash."""
_POSIX_RESERVED = RESERVED - {"select", "function", "time", "coproc", "[["}
_FUNCTION = re.compile(r"([^\s;&|<>()'\"\\$`=]+)[ \t]*\([ \t]*\)")


class Reader(TestReader):
    """Reads the commands of one text."""

    def __init__(self, text: str, first_line: int = 1, *, posix: bool = False, depth: int = 0) -> None:
        super().__init__(text, first_line, posix=posix, depth=depth)
        self._reserved = _POSIX_RESERVED if posix else RESERVED

    # --- entrances --------------------------------------------------------------------------------------------

    def script(self) -> Script:
        """The whole text, up to the first syntax error."""
        units: list[Sequence] = []
        lines = tuple(self.text.split("\n"))
        failure: SyntaxFailure | None = None
        extended: set[int] = set()
        try:
            while True:
                self._newlines_and_blanks()
                if self.at >= len(self.text):
                    break
                unit = self._sequence(frozenset(), one_line=True)
                if self.at < len(self.text) and self.text[self.at] != "\n" and self.text[self.at - 1] != "\n":
                    raise self.fail(f"syntax error near unexpected keyword `{self.text[self.at]}'")
                if self.extended:
                    extended.add(len(units))
                    self.extended.clear()
                units.append(unit)
        except SyntaxProblem as problem:
            failure = SyntaxFailure(problem.message, problem.line)
        except (TooDeep, RecursionError):
            failure = SyntaxFailure(f"{UNFOLLOWED}: nested too deeply to be read", self.line())
        return Script(tuple(units), failure, lines, frozenset(extended))

    def words(self) -> list[Word]:
        """The words at the start of the text, up to an operator or the end of the line."""
        found: list[Word] = []
        self._blanks()
        while (word := self.word()) is not None:
            found.append(word)
            self._blanks()
        return found

    def commands(self) -> Node:
        """Commands up to a closing parenthesis, which is not consumed."""
        return self._sequence(frozenset({")"}))

    def nested(self, text: str, line: int) -> Node:
        """The commands of a text that was taken out of backquotes."""
        inner = Reader(text, line, posix=self.posix, depth=self.depth)
        body = inner._sequence(frozenset())
        self.extended += inner.extended
        if inner.at < len(text):
            raise inner.fail("syntax error in a command substitution")
        return body

    # --- between commands -------------------------------------------------------------------------------------

    def _reserved_word(self) -> str:
        keyword = self._peek()
        return keyword if keyword in self._reserved else ""

    def _expect(self, word: str) -> None:
        self._newlines_and_blanks()
        if self._peek() != word:
            found = self.text[self.at : self.at + 1]
            if not found:
                raise self.fail("syntax error: unexpected end of file")
            raise self.fail(f"syntax error near unexpected keyword `{self._peek() or found}', wanted `{word}'")
        self.at += len(word)

    # --- lists ------------------------------------------------------------------------------------------------

    def _ends(self, stops: frozenset[str]) -> bool:
        text = self.text
        if self.at >= len(text):
            return True
        character = text[self.at]
        if character == ")":
            if ")" in stops:
                return True
            raise self.fail("syntax error near unexpected keyword `)'")
        if character == ";" and ";;" in stops and text.startswith((";;", ";&"), self.at):
            return True
        return character not in "'\"\\$`" and self._peek() in stops

    def _sequence(self, stops: frozenset[str], *, one_line: bool = False) -> Sequence:
        """Commands up to one of the stops, which is not consumed; in `one_line` also up to the end of the line."""
        self._deeper()
        line = self.line()
        done: list[Node] = []
        background: set[int] = set()
        text = self.text
        while True:
            if one_line:
                self._blanks()
            else:
                self._newlines_and_blanks()
            if self._ends(stops) or (one_line and text.startswith("\n", self.at)):
                break
            done.append(self._and_or())
            self._blanks()
            if text.startswith("\n", self.at):
                if one_line:
                    # The here-documents of this line belong to it.
                    if self._waiting:
                        self.at += 1
                        self._here_documents()
                    break
                continue
            if text.startswith("&", self.at) and not text.startswith("&&", self.at):
                background.add(len(done) - 1)
                self.at += 1
            elif text.startswith(";", self.at) and not text.startswith((";;", ";&"), self.at):
                self.at += 1
            elif self._ends(stops):
                break
            else:
                raise self.fail(f"syntax error near unexpected keyword `{text[self.at : self.at + 1]}'")
        self.depth -= 1
        return Sequence(tuple(done), frozenset(background), line)

    def _body(self, *stops: str) -> Sequence:
        sequence = self._sequence(frozenset(stops))
        if not sequence.commands:
            raise self.fail(f"syntax error near unexpected keyword `{self._peek() or 'end of file'}'")
        return sequence

    def _and_or(self) -> Node:
        line = self.line()
        first = self._pipeline()
        rest: list[tuple[str, Node]] = []
        while True:
            self._blanks()
            operator = self.text[self.at : self.at + 2]
            if operator not in ("&&", "||"):
                break
            self.at += 2
            self._newlines_and_blanks()
            rest.append((operator, self._pipeline()))
        return AndOr(first, tuple(rest), line) if rest else first

    def _pipeline(self) -> Node:
        line = self.line()
        negated = False
        while True:
            keyword = self._reserved_word()
            if keyword == "!":
                negated = not negated
                self.at += 1
                self._blanks()
            elif keyword == "time":
                self.at += 4
                self._blanks()
                if self._peek() == "-p":
                    self.at += 2
                    self._blanks()
            else:
                break
        if self.at >= len(self.text) or self.text[self.at] in "\n;&|)":
            if not negated:
                raise self.fail(
                    f"syntax error near unexpected keyword `{self.text[self.at : self.at + 1] or 'newline'}'"
                )
            return Pipeline((Sequence(()),), True, line)
        start = self.at
        stages = [self._command()]
        errors = [False]
        while True:
            self._blanks()
            if not self.text.startswith("|", self.at) or self.text.startswith("||", self.at):
                break
            both = self.text.startswith("|&", self.at)
            errors[-1] = both
            self.at += 2 if both else 1
            self._newlines_and_blanks()
            stages.append(self._command())
            errors.append(False)
        if len(stages) == 1 and not negated:
            return stages[0]
        return Pipeline(tuple(stages), negated, line, tuple(errors), self.text[start : self.at].strip())

    # --- commands ---------------------------------------------------------------------------------------------

    def _command(self) -> Node:
        line = self.line()
        compound = self._compound()
        if compound is None:
            return self._simple()
        if isinstance(compound, Function):
            return compound
        redirects: list[Redirect] = []
        while True:
            self._blanks()
            redirect = self._redirect()
            if redirect is None:
                break
            redirects.append(redirect)
        return Group(compound, tuple(redirects), line) if redirects else compound

    def _compound(self) -> Node | None:
        text, line = self.text, self.line()
        if text.startswith("((", self.at) and not self.posix:
            start = self.at
            self.at += 2
            expression = self.arithmetic_until_close()
            if expression is not None:
                return ArithmeticCommand(expression, line)
            self.at = start
        if text.startswith("(", self.at):
            self.at += 1
            body = self._sequence(frozenset({")"}))
            if not text.startswith(")", self.at):
                raise self.fail("syntax error: unexpected end of file, wanted `)'")
            if not body.commands:
                raise self.fail("syntax error near unexpected keyword `)'")
            self.at += 1
            return Subshell(body, line)
        keyword = self._reserved_word()
        if keyword:
            return self._reserved_compound(keyword, line)
        found = _FUNCTION.match(text, self.at)
        if found:
            self.at = found.end()
            return self._function(found[1], found.start(), line)
        return None

    def _reserved_compound(self, keyword: str, line: int) -> Node:
        self.at += len(keyword)
        if keyword == "{":
            body = self._body("}")
            self._expect("}")
            return Group(body, (), line)
        if keyword == "if":
            return self._if(line)
        if keyword in ("while", "until"):
            condition = self._body("do")
            return While(condition, self._do(), keyword == "until", line)
        if keyword == "for":
            return self._for(line)
        if keyword == "select":
            return self._for_words(line, select=True)
        if keyword == "case":
            return self._case(line)
        if keyword == "[[":
            return self._conditional(line)
        if keyword == "function":
            self._blanks()
            start = self.at
            name = self._peek()
            if not name:
                raise self.fail("syntax error near `function'")
            self.at += len(name)
            self._blanks()
            parentheses = re.compile(r"\([ \t]*\)").match(self.text, self.at)
            if parentheses:
                self.at = parentheses.end()
            return self._function(name, start, line)
        if keyword == "coproc":
            self._blanks()
            if self._command_ahead():
                self.at += len(self._peek())
                self._blanks()
            self._command()
            return Unsupported("coproc", line)
        raise self.fail(f"syntax error near unexpected keyword `{keyword}'")

    def _command_ahead(self) -> bool:
        """Whether a name stands before a compound command (`coproc NAME { …; }`)."""
        return bool(re.compile(r"[A-Za-z_][A-Za-z0-9_]*[ \t]+[{(]").match(self.text, self.at))

    def _function(self, name: str, start: int, line: int) -> Function:
        self._newlines_and_blanks()
        body = self._command()
        if isinstance(body, Simple):
            raise self.fail("syntax error: a function body must be a compound command")
        return Function(name, body, line, self.text[start : self.at])

    def _do(self) -> Sequence:
        self._expect("do")
        body = self._body("done")
        self._expect("done")
        return body

    def _if(self, line: int) -> If:
        clauses: list[tuple[Sequence, Sequence]] = []
        lines = [line]
        otherwise: Sequence | None = None
        reads: list[tuple[str, ...]] = []
        while True:
            first_name = len(self.names)
            condition = self._body("then")
            reads.append(tuple(dict.fromkeys(self.names[first_name:])))
            self._expect("then")
            clauses.append((condition, self._body("elif", "else", "fi")))
            keyword = self._peek()
            if keyword == "elif":
                lines.append(self.line())
                self.at += 4
                continue
            if keyword == "else":
                lines.append(self.line())
                self.at += 4
                otherwise = self._body("fi")
            self._expect("fi")
            return If(tuple(clauses), otherwise, line, tuple(lines), tuple(reads))

    def _for(self, line: int) -> Node:
        self._blanks()
        if self.text.startswith("((", self.at) and not self.posix:
            self.at += 2
            sections = [self._arithmetic_section(";"), self._arithmetic_section(";"), self._arithmetic_section(")")]
            if not self.text.startswith(")", self.at):
                raise self.fail("syntax error in the expression of `for (('")
            self.at += 1
            self._blanks()
            if self.text.startswith(";", self.at):
                self.at += 1
            self._newlines_and_blanks()
            body = self._loop_body()
            return ArithmeticFor(sections[0], sections[1], sections[2], body, line)
        return self._for_words(line, select=False)

    def _arithmetic_section(self, closing: str) -> Word | None:
        self._blanks()
        word = self.quoted_until(closing, opening="(" if closing == ")" else "")
        return word if word.text.strip() else None

    def _loop_body(self) -> Sequence:
        self._newlines_and_blanks()
        if self._peek() == "{" and not self.posix:
            self.at += 1
            body = self._body("}")
            self._expect("}")
            return body
        return self._do()

    def _for_words(self, line: int, *, select: bool) -> For:
        self._blanks()
        name = self._peek()
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise self.fail(f"`{name}': not a valid identifier")
        self.at += len(name)
        self._newlines_and_blanks()
        words: list[Word] | None = None
        if self._peek() == "in":
            self.at += 2
            words = []
            while True:
                self._blanks()
                word = self.word(braces=True)
                if word is None:
                    break
                words.append(word)
            if self.text[self.at : self.at + 1] not in (";", "\n"):
                raise self.fail(f"syntax error near unexpected keyword `{self.text[self.at : self.at + 1]}'")
        if self.text.startswith(";", self.at):
            self.at += 1
        return For(name, None if words is None else tuple(words), self._loop_body(), line, select)

    def _case(self, line: int) -> Case:
        self._blanks()
        first_name = len(self.names)
        subject = self.word()
        if subject is None:
            raise self.fail("syntax error near `case'")
        reads = tuple(dict.fromkeys(self.names[first_name:]))
        self._expect("in")
        items: list[CaseItem] = []
        while True:
            self._newlines_and_blanks()
            if self._peek() == "esac":
                self.at += 4
                return Case(subject, tuple(items), line, reads)
            items.append(self._case_item())

    def _case_item(self) -> CaseItem:
        line = self.line()
        if self.text.startswith("(", self.at):
            self.at += 1
        patterns: list[Word] = []
        while True:
            self._blanks()
            pattern = self.word()
            if pattern is None:
                raise self.fail(
                    f"syntax error near unexpected keyword `{self.text[self.at : self.at + 1] or 'newline'}'"
                )
            patterns.append(pattern)
            self._blanks()
            if self.text.startswith("|", self.at):
                self.at += 1
                continue
            break
        if not self.text.startswith(")", self.at):
            raise self.fail(f"syntax error near unexpected keyword `{self.text[self.at : self.at + 1]}'")
        self.at += 1
        body = self._sequence(frozenset({";;", "esac"}))
        terminator = ";;"
        for one in (";;&", ";&", ";;"):
            if self.text.startswith(one, self.at):
                terminator = one
                self.at += len(one)
                break
        else:
            if self._peek() != "esac":
                raise self.fail("syntax error: unexpected end of file")
        return CaseItem(tuple(patterns), body if body.commands else None, terminator, line)


MAX_SCRIPT = 300_000
"""Characters of a script that is read. Reading takes up to 40 µs for each; entrypoints have a few thousand."""


def parse(text: str, *, posix: bool = False) -> Script:
    """The syntax tree of a script, kept: one entrypoint is interpreted in many worlds."""
    return _parsed(text, posix)


@lru_cache(maxsize=1024)
def _parsed(text: str, posix: bool) -> Script:
    if len(text) > MAX_SCRIPT:
        return Script((Sequence((Unsupported(f"a script of more than {MAX_SCRIPT:,} characters", 1),), line=1),))
    return Reader(text, posix=posix).script()
