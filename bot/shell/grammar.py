"""Reads commands: the grammar of bash (and, with `posix`, of dash) above the words of `reader`."""

from __future__ import annotations

import re
from functools import lru_cache

from bot.shell.reader import SyntaxProblem, TooDeep, WordReader, make_word
from bot.shell.syntax import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    BinaryTest,
    Case,
    CaseItem,
    Conditional,
    Element,
    For,
    Function,
    Group,
    HereDocument,
    If,
    JoinedTest,
    Node,
    NotTest,
    Part,
    Pipeline,
    Redirect,
    Script,
    Sequence,
    Simple,
    Subshell,
    SyntaxFailure,
    Test,
    Text,
    UnaryTest,
    Unsupported,
    While,
    Word,
)

UNFOLLOWED = "a syntax error that is not followed"
"""How the message of an error starts behind which a shell does not simply stop."""

DECLARATIONS = frozenset({"declare", "typeset", "local", "export", "readonly"})
"""Builtins whose arguments may be assignments."""

_RESERVED = frozenset(
    ["if", "then", "elif", "else", "fi", "for", "in", "do", "done", "while", "until", "case", "esac", "select", "function", "{", "}", "!", "time", "coproc", "[["]
)
_POSIX_RESERVED = _RESERVED - {"select", "function", "time", "coproc", "[["}
_TOKEN = re.compile(r"[^\s;&|<>()'\"\\$`]+")
_SKIP = re.compile(r"(?:[ \t]|\\\n)+")
_REDIRECT = re.compile(r"(?:([0-9]+)|\{([A-Za-z_][A-Za-z0-9_]*)\})?(<<<|<<-|<<|<&|<>|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_FUNCTION = re.compile(r"([^\s;&|<>()'\"\\$`=]+)[ \t]*\([ \t]*\)")
_UNARY = frozenset("abcdefghknoprstuvwxzGLNORS")
_BINARY_WORDS = frozenset(["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"])
_DIGITS = re.compile(r"[0-9]+\Z")


class Reader(WordReader):
    """Reads the commands of one text."""

    def __init__(self, text: str, first_line: int = 1, *, posix: bool = False, depth: int = 0) -> None:
        super().__init__(text, first_line, posix=posix, depth=depth)
        self._reserved = _POSIX_RESERVED if posix else _RESERVED
        self._waiting: list[HereDocument] = []

    # --- entrances --------------------------------------------------------------------------------------------

    def script(self) -> Script:
        """The whole text, up to the first syntax error."""
        units: list[Sequence] = []
        lines = tuple(self.text.split("\n"))
        failure: SyntaxFailure | None = None
        try:
            while True:
                self._newlines_and_blanks()
                if self.at >= len(self.text):
                    break
                unit = self._sequence(frozenset(), one_line=True)
                if self.at < len(self.text) and self.text[self.at] != "\n" and self.text[self.at - 1] != "\n":
                    raise self.fail(f"syntax error near unexpected token `{self.text[self.at]}'")
                units.append(unit)
        except SyntaxProblem as problem:
            failure = SyntaxFailure(problem.message, problem.line)
        except (TooDeep, RecursionError):
            failure = SyntaxFailure(f"{UNFOLLOWED}: nested too deeply to be read", self.line())
        return Script(tuple(units), failure, lines)

    def commands(self) -> Node:
        """Commands up to a closing parenthesis, which is not consumed."""
        return self._sequence(frozenset({")"}))

    def nested(self, text: str, line: int) -> Node:
        """The commands of a text that was taken out of backquotes."""
        inner = Reader(text, line, posix=self.posix, depth=self.depth)
        body = inner._sequence(frozenset())
        if inner.at < len(text):
            raise inner.fail("syntax error in a command substitution")
        return body

    # --- between commands -------------------------------------------------------------------------------------

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
                reader = Reader(body, line, posix=self.posix, depth=self.depth)
                document.body = reader.here_text(line)

    def _peek(self) -> str:
        """The unquoted token at the current position, "" when it is quoted or glued to an expansion."""
        found = _TOKEN.match(self.text, self.at)
        if not found:
            return ""
        following = self.text[found.end() : found.end() + 1]
        return "" if following and following in "'\"\\$`" else found.group()

    def _reserved_word(self) -> str:
        token = self._peek()
        return token if token in self._reserved else ""

    def _expect(self, word: str) -> None:
        self._newlines_and_blanks()
        if self._peek() != word:
            found = self.text[self.at : self.at + 1]
            if not found:
                raise self.fail("syntax error: unexpected end of file")
            raise self.fail(f"syntax error near unexpected token `{self._peek() or found}', wanted `{word}'")
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
            raise self.fail("syntax error near unexpected token `)'")
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
                raise self.fail(f"syntax error near unexpected token `{text[self.at : self.at + 1]}'")
        self.depth -= 1
        return Sequence(tuple(done), frozenset(background), line)

    def _body(self, *stops: str) -> Sequence:
        sequence = self._sequence(frozenset(stops))
        if not sequence.commands:
            raise self.fail(f"syntax error near unexpected token `{self._peek() or 'end of file'}'")
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
        return AndOr(first, tuple(rest), line) if rest else first  # type: ignore[arg-type]

    def _pipeline(self) -> Node:
        line = self.line()
        negated = False
        while True:
            token = self._reserved_word()
            if token == "!":
                negated = not negated
                self.at += 1
                self._blanks()
            elif token == "time":
                self.at += 4
                self._blanks()
                if self._peek() == "-p":
                    self.at += 2
                    self._blanks()
            else:
                break
        if self.at >= len(self.text) or self.text[self.at] in "\n;&|)":
            if not negated:
                raise self.fail(f"syntax error near unexpected token `{self.text[self.at : self.at + 1] or 'newline'}'")
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
                raise self.fail("syntax error near unexpected token `)'")
            self.at += 1
            return Subshell(body, line)
        token = self._reserved_word()
        if token:
            return self._reserved_compound(token, line)
        found = _FUNCTION.match(text, self.at)
        if found:
            self.at = found.end()
            return self._function(found[1], found.start(), line)
        return None

    def _reserved_compound(self, token: str, line: int) -> Node:
        self.at += len(token)
        if token == "{":
            body = self._body("}")
            self._expect("}")
            return Group(body, (), line)
        if token == "if":
            return self._if(line)
        if token in ("while", "until"):
            condition = self._body("do")
            return While(condition, self._do(), token == "until", line)
        if token == "for":
            return self._for(line)
        if token == "select":
            return self._for_words(line, select=True)
        if token == "case":
            return self._case(line)
        if token == "[[":
            return self._conditional(line)
        if token == "function":
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
        if token == "coproc":
            self._blanks()
            if self._command_ahead():
                self.at += len(self._peek())
                self._blanks()
            self._command()
            return Unsupported("coproc", line)
        raise self.fail(f"syntax error near unexpected token `{token}'")

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
        clauses: list[tuple[Node, Node]] = []
        lines = [line]
        otherwise: Node | None = None
        reads: list[tuple[str, ...]] = []
        while True:
            first_name = len(self.names)
            condition = self._body("then")
            reads.append(tuple(dict.fromkeys(self.names[first_name:])))
            self._expect("then")
            clauses.append((condition, self._body("elif", "else", "fi")))
            token = self._peek()
            if token == "elif":
                lines.append(self.line())
                self.at += 4
                continue
            if token == "else":
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
                raise self.fail(f"syntax error near unexpected token `{self.text[self.at : self.at + 1]}'")
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
                raise self.fail(f"syntax error near unexpected token `{self.text[self.at : self.at + 1] or 'newline'}'")
            patterns.append(pattern)
            self._blanks()
            if self.text.startswith("|", self.at):
                self.at += 1
                continue
            break
        if not self.text.startswith(")", self.at):
            raise self.fail(f"syntax error near unexpected token `{self.text[self.at : self.at + 1]}'")
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
        return CaseItem(tuple(patterns), body if body.commands else None, terminator, line)  # type: ignore[arg-type]

    # --- simple commands --------------------------------------------------------------------------------------

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
                    (words if words else assignments).append(assignment)
                    end = self.at
                    continue
            word = self.word(braces=True)
            if word is None:
                break
            if not declaration and word.constant in DECLARATIONS and not self.posix:
                declaration = all(isinstance(one, Word) and one.constant in ("command", "builtin") for one in words)
            words.append(word)
            end = self.at
        if end == start:
            raise self.fail(f"syntax error near unexpected token `{text[start : start + 1] or 'newline'}'")
        if text.startswith("(", self.at):
            raise self.fail("syntax error near unexpected token `('")
        return Simple(tuple(assignments), tuple(words), tuple(redirects), line, text[start:end])

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
        target = self.word()
        if target is None:
            raise self.fail(f"syntax error near unexpected token `{self.text[self.at : self.at + 1] or 'newline'}'")
        return Redirect(found[3], descriptor, target, line, found[2] or "")

    def _here_start(self, dedented: bool) -> HereDocument:
        start = self.at
        word = self.word(extglob=False)
        if word is None:
            raise self.fail("syntax error near unexpected token `newline'")
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
                raise self.fail(f"{UNFOLLOWED} in an array: unexpected token `{self.text[self.at : self.at + 1]}'")
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
        return Element(value, index, found.group() == "+=")

    # --- [[ ]] ------------------------------------------------------------------------------------------------

    def _conditional(self, line: int) -> Conditional:
        start = self.at - 2
        test = self._test_or()
        self._newlines_and_blanks()
        if not self.text.startswith("]]", self.at):
            raise self.fail("syntax error in conditional expression")
        self.at += 2
        return Conditional(test, line, self.text[start : self.at])

    def _test_or(self) -> Test:
        left = self._test_and()
        self._newlines_and_blanks()
        if self.text.startswith("||", self.at):
            self.at += 2
            return JoinedTest("||", left, self._test_or())
        return left

    def _test_and(self) -> Test:
        left = self._test_not()
        self._newlines_and_blanks()
        if self.text.startswith("&&", self.at):
            self.at += 2
            return JoinedTest("&&", left, self._test_and())
        return left

    def _test_not(self) -> Test:
        self._deeper()
        try:
            self._newlines_and_blanks()
            if self._peek() == "!":
                self.at += 1
                inner = self._test_not()
                return inner.test if isinstance(inner, NotTest) else NotTest(inner)
            if self.text.startswith("(", self.at):
                self.at += 1
                test = self._test_or()
                self._newlines_and_blanks()
                if not self.text.startswith(")", self.at):
                    raise self.fail("syntax error in conditional expression")
                self.at += 1
                return test
            return self._test_primary()
        finally:
            self.depth -= 1

    def _test_word(self) -> Word:
        self._blanks()
        word = self.word()
        if word is None:
            raise self.fail("syntax error in conditional expression")
        return word

    def _test_primary(self) -> Test:
        start = self.at
        left = self._test_word()
        operator_like = left.text == left.constant and len(left.text) == 2 and left.text[0] == "-"
        self._blanks()
        ends = self.text.startswith(("]]", "&&", "||", ")"), self.at)
        if operator_like and left.text[1] in _UNARY and not ends and not self._binary_ahead():
            return UnaryTest(left.text, self._test_word())
        if ends or self.text.startswith("\n", self.at):
            return UnaryTest("-n", left)
        for operator in ("==", "=~", "!=", "=", "<", ">"):
            if self.text.startswith(operator, self.at):
                self.at += len(operator)
                self._blanks()
                right = self._regular_expression() if operator == "=~" else self._test_word()
                return BinaryTest("==" if operator == "=" else operator, left, right)
        operator = self._peek()
        if operator in _BINARY_WORDS:
            self.at += len(operator)
            return BinaryTest(operator, left, self._test_word())
        self.at = start
        raise self.fail("syntax error in conditional expression")

    def _binary_ahead(self) -> bool:
        """Whether what follows is a binary operator, so that `-f == x` compares strings."""
        token = self._peek()
        return token in _BINARY_WORDS or token in ("==", "!=", "=~", "=")

    def _regular_expression(self) -> Word:
        text, start, level = self.text, self.at, 0
        parts: list[Part] = []
        while self.at < len(text):
            character = text[self.at]
            if character in " \t\n" and not level:
                break
            if character == "(":
                level += 1
            elif character == ")":
                if not level:
                    break
                level -= 1
            if character in "'\"\\$`":
                self._piece(parts, in_double=False)
            else:
                parts.append(Text(character, False))
                self.at += 1
        if self.at == start:
            raise self.fail("syntax error in conditional expression")
        return make_word(parts, self.line(start), text[start : self.at])


def _odd_backslashes(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


@lru_cache(maxsize=1024)
def parse(text: str, *, posix: bool = False, first_line: int = 1) -> Script:
    """The syntax tree of a script, kept: one entrypoint is interpreted in many worlds."""
    return Reader(text, first_line, posix=posix).script()
