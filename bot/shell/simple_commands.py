"""Reads simple commands: words, assignments, redirections and here-documents."""

from __future__ import annotations

import re

from bot.shell.braces import TooMany
from bot.shell.parameters import ParameterReader
from bot.shell.parts import make_word
from bot.shell.reader import UNFOLLOWED, SyntaxProblem
from bot.shell.syntax import (
    DECLARATIONS,
    Assignment,
    Element,
    HereDocument,
    Redirect,
    Simple,
    Text,
    Word,
)

_POSIX_DECLARATIONS = frozenset({"export", "readonly", "local"})

_TOKEN = re.compile(r"[^\s;&|<>()'\"\\$`]+")

_SKIP = re.compile(r"(?:[ \t]|\\\n)+")

_REDIRECT = re.compile(r"(?:([0-9]+)|\{([A-Za-z_][A-Za-z0-9_]*)\})?(<<<|<<-|<<|<&|<>|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)")

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")


class SimpleReader(ParameterReader):
    """Reads one command that is no compound command."""

    def __init__(self, text: str, first_line: int = 1, *, posix: bool = False, depth: int = 0) -> None:
        super().__init__(text, first_line, posix=posix, depth=depth)
        self._waiting: list[HereDocument] = []

    def _blanks(self) -> None:
        found = _SKIP.match(self.text, self.at)
        if found:
            self.at = found.end()
        if self.text.startswith("#", self.at) and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|()<>"):
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def _newlines_and_blanks(self) -> None:
        while True:
            self._blanks()
            if not self.text.startswith("\n", self.at):
                return
            self.at += 1
            if self._waiting:
                self._here_documents()

    def _here_documents(self) -> None:
        waiting, self._waiting = self._waiting, []
        for document in waiting:
            line, collected = self.line(), []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                one = self.text[self.at : end]
                # A backslash at the end of a line joins lines before the delimiter is looked for.
                while not document.quoted and _odd_backslashes(one) and end < len(self.text):
                    following = self.text.find("\n", end + 1)
                    following = len(self.text) if following < 0 else following
                    one = one + "\n" + self.text[end + 1 : following]
                    end = following
                self.at = min(end + 1, len(self.text))
                if document.dedented:
                    one = re.sub(r"^\t+", "", one, flags=re.M)
                if one == document.delimiter:
                    break
                collected.append(one + "\n")
            body = "".join(collected)
            if document.quoted:
                document.body = make_word([Text(body, True)], line, body)
            else:
                reader = type(self)(body, line, posix=self.posix, depth=self.depth)
                document.body = reader.here_text(line)

    def _peek(self) -> str:
        """The unquoted keyword at the current position, "" when it is quoted or glued to an expansion."""
        found = _TOKEN.match(self.text, self.at)
        if not found:
            return ""
        following = self.text[found.end() : found.end() + 1]
        return "" if following and following in "'\"\\$`" else found.group()

    def _simple(self) -> Simple:
        text, start, line = self.text, self.at, self.line()
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        redirects: list[Redirect] = []
        declaration = False
        end = start
        while True:
            self._blanks()
            if self.at >= len(text) or text[self.at] in "\n;|)":
                break
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                end = self.at
                continue
            if text[self.at] in "&(":
                break
            if not words or declaration:
                assignment = self._assignment()
                if assignment is not None:
                    if words:
                        words += self._declared(assignment, text[end : self.at].lstrip())
                    else:
                        assignments.append(assignment)
                    end = self.at
                    continue
            word = self.word(braces=True)
            if word is None:
                break
            if not declaration and word.constant in (_POSIX_DECLARATIONS if self.posix else DECLARATIONS):
                declaration = all(isinstance(one, Word) and one.constant in ("command", "builtin") for one in words)
            words.append(word)
            end = self.at
        if end == start:
            raise self.fail(f"syntax error near unexpected keyword `{text[start : start + 1] or 'newline'}'")
        if text.startswith("(", self.at):
            raise self.fail("syntax error near unexpected keyword `('")
        return Simple(tuple(assignments), tuple(words), tuple(redirects), line, text[start:end])

    def _declared(self, assignment: Assignment, text: str) -> list[Assignment]:
        """The assignments that brace expansion makes of one which is an argument (`export X={a,b}`: the last holds)."""
        try:
            texts = self._expanded(text, assignment.line) if assignment.elements is None else None
        except TooMany as error:
            raise self.fail(f"{UNFOLLOWED}: braces in a declaration") from error
        if texts is None:
            return [assignment]
        found = [self._beside(one, assignment.line)._assignment() for one in texts]
        return [one for one in found if one is not None]

    def _redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self.text, self.at)
        if not found:
            return None
        if self.posix and (found[2] or found[3] in ("<<<", "&>", "&>>")):
            if found[3] == "<<<":
                raise self.fail("syntax error: redirection unexpected")
            return None
        line = self.line()
        self.at = found.end()
        self._blanks()
        descriptor = int(found[1]) if found[1] is not None and len(found[1]) < 6 else None
        if found[3] in ("<<", "<<-"):
            return Redirect("<<", descriptor, self._here_start(found[3] == "<<-"), line, found[2] or "")
        target = self.word(braces=True)
        if target is None:
            raise self.fail(f"syntax error near unexpected keyword `{self.text[self.at : self.at + 1] or 'newline'}'")
        return Redirect(found[3], descriptor, target, line, found[2] or "")

    def _here_start(self, dedented: bool) -> HereDocument:
        start = self.at
        word = self.word(extglob=False)
        if word is None:
            raise self.fail("syntax error near unexpected keyword `newline'")
        raw = self.text[start : self.at]
        quoted = any(character in raw for character in "'\"\\")
        delimiter = word.constant if word.constant is not None else re.sub(r"['\"\\]", "", raw)
        document = HereDocument(delimiter, quoted, dedented)
        self._waiting.append(document)
        return document

    def _assignment(self) -> Assignment | None:
        found = _ASSIGNMENT.match(self.text, self.at)
        if not found or (self.posix and found[2] != "="):
            return None
        start, line, depth = self.at, self.line(), self.depth
        name, mark = found[1], found[2]
        self.at = found.end()
        index: Word | None = None
        if mark == "[":
            try:
                index = self.quoted_until("]", opening="[")
            except SyntaxProblem:
                self.at, self.depth = start, depth
                return None
            equals = re.compile(r"\+?=").match(self.text, self.at)
            if not equals:
                self.at = start
                return None
            mark = equals.group()
            self.at = equals.end()
        append = mark == "+="
        if self.text.startswith("(", self.at) and not self.posix:
            if index is not None:
                raise self.fail(f"{name}: cannot assign list to array member")
            self.at += 1
            return Assignment(name, line, None, self._elements(), None, append)
        value = self.word()
        return Assignment(name, line, value, None, index, append)

    def _elements(self) -> tuple[Element, ...]:
        elements: list[Element] = []
        while True:
            self._newlines_and_blanks()
            if self.text.startswith(")", self.at):
                self.at += 1
                return tuple(elements)
            if self.at >= len(self.text):
                raise self.fail("unexpected EOF while looking for matching `)'")
            if self.text.startswith("[", self.at):
                element = self._keyed_element()
                if element is not None:
                    elements.append(element)
                    continue
            word = self.word(braces=True)
            if word is None:
                # Here bash goes on with the next line, in a state that is not worth following.
                raise self.fail(f"{UNFOLLOWED} in an array: unexpected keyword `{self.text[self.at : self.at + 1]}'")
            elements.append(Element(word))

    def _keyed_element(self) -> Element | None:
        start, depth = self.at, self.depth
        self.at += 1
        try:
            index = self.quoted_until("]", opening="[")
        except SyntaxProblem:
            self.at, self.depth = start, depth
            return None
        found = re.compile(r"\+?=").match(self.text, self.at)
        if not found:
            self.at = start
            return None
        self.at = found.end()
        value = self.word() or make_word([Text("", True)], self.line(), "")
        whole = self._with_braces(make_word([], self.line(start), self.text[start : self.at]))
        return Element(value, index, found.group() == "+=", whole if whole.expands or whole.too_many else None)


def _odd_backslashes(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1
