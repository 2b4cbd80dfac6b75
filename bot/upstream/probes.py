"""Content probes: whether the source of a release has what a fix gives it. History says what was merged; this, what is.

A probe is data (`rules/probes.yml`): the *forms* in which the code is known, each with what it means. The old form
says no, the new one yes. A release with neither, or with both, is unknown: nobody has seen such code yet.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from bot.learn.source import SourceError, SourceTree

MAX_NODES = 400_000
"""Nodes of a file that are looked at; the largest module of a release has a fifth."""

_QUIET = (ast.Assert, ast.Delete)
"""Statements in which reading a parameter changes nothing."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must hold of a place in the source.

    `within` are places (`path.py` or `path.py:Class.method`), the first that exists counts; without one the check
    does not hold. `parameter` asks of a function whether it reads one of these parameters (`read`) or ignores them.
    `calls_of` narrows the place to the conditions around each call of a function, `under` to the branches of an `if`
    with that test. There, every snippet of `has` must stand and none of `lacks` may: a name, an expression or a
    statement, compared as syntax. `says` and `says_not` compare text, as a last resort. `absent` holds where the file
    exists and does not define the name.
    """

    within: tuple[str, ...]
    parameter: tuple[str, ...] = ()
    read: bool = True
    calls_of: str | None = None
    under: str | None = None
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    says_not: tuple[str, ...] = ()
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A form in which the code is known: when all checks hold, `holds` is the answer (None: this form can't tell)."""

    holds: bool | None
    because: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class ContentProbe:
    """The question of one fix; `beside` are observations about it that decide nothing."""

    reference: str
    title: str
    forms: tuple[Form, ...]
    beside: tuple[ContentProbe, ...] = ()


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """What a probe found: `holds` is three-valued, `text` a sentence, `places` are `path:line` in the source."""

    holds: bool | None
    text: str
    places: tuple[str, ...] = ()


Found = tuple[ast.AST, str]
"""A place in the source: the tree there, and its path."""


def paths_of(question: ContentProbe) -> frozenset[str]:
    """The modules that a probe may look at."""
    return frozenset(
        where.partition(":")[0] for form in question.forms for check in form.checks for where in check.within
    )


def probe(question: ContentProbe, source: SourceTree) -> ProbeAnswer:
    """The answer of a probe for the source of one release."""
    try:
        found = [(form, places) for form in question.forms if (places := _fits(form, source)) is not None]
    except (SourceError, RecursionError) as error:
        return ProbeAnswer(None, f"the source cannot be read: {error}")
    answers = {form.holds for form, _ in found}
    if len(answers) == 1:
        (form, places), *_ = found
        return ProbeAnswer(form.holds, form.because, places)
    if answers:
        texts = "; ".join(form.because for form, _ in found)
        return ProbeAnswer(None, f"old and new form stand side by side: {texts}")
    return ProbeAnswer(None, _neither(question, source))


def _neither(question: ContentProbe, source: SourceTree) -> str:
    places = [check.within for form in question.forms for check in form.checks if not check.absent]
    try:
        missing = bool(places) and all(_place(within, source) is None for within in places)
    except SourceError:
        missing = False
    if missing:
        return f"what it is about is not in this source: {places[0][0]}"
    return "neither the old nor the new form of the code is found"


def _fits(form: Form, source: SourceTree) -> tuple[str, ...] | None:
    """Where a form was found; None when it was not."""
    places: list[str] = []
    for check in form.checks:
        found = _holds(check, source)
        if found is None:
            return None
        places += found
    return tuple(dict.fromkeys(places))


def _holds(check: Check, source: SourceTree) -> list[str] | None:
    if check.absent:
        path, _, name = check.within[0].partition(":")
        if source.read(path) is None or _place((f"{path}:{name}",), source) is not None:
            return None
        return [path]
    place = _place(check.within, source)
    if place is None:
        return None
    node, path = place
    if check.parameter:
        return [f"{path}:{_line(node)}"] if _parameter(check, node) else None
    if check.says or check.says_not:
        return [path] if _text(check, path, source) else None
    regions = _regions(check, node)
    if not regions:
        return None
    lines = [_region(check, region) for region in regions]
    return None if None in lines else [f"{path}:{line}" if line else path for line in lines]


def _place(within: tuple[str, ...], source: SourceTree) -> Found | None:
    """The first of several places that the source has."""
    for where in within:
        path, _, name = where.partition(":")
        if source.read(path) is None:
            continue
        node: ast.AST | None = source.at(path).tree
        for part in name.split(".") if name else ():
            node = _defined(node, part)
        if node is not None:
            return node, path
    return None


def _defined(node: ast.AST | None, name: str) -> ast.AST | None:
    """A class, function or assignment of that name in a body, branches of `if` and `try` included; the last counts."""
    found: ast.AST | None = None
    for statement in _statements(node):
        match statement:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if statement.name == name:
                found = statement
            case ast.Assign(targets=[ast.Name(id=target)]) | ast.AnnAssign(target=ast.Name(id=target)) if (
                target == name
            ):
                found = statement
    return found


def _statements(node: ast.AST | None) -> Iterator[ast.stmt]:
    for block in ("body", "orelse", "handlers", "finalbody"):
        for statement in getattr(node, block, ()):
            yield statement
            if isinstance(statement, ast.If | ast.Try | ast.ExceptHandler | ast.With):
                yield from _statements(statement)


def _parameter(check: Check, node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    named = [argument.arg for argument in arguments if argument.arg in check.parameter]
    if not named:
        return False
    loud, quiet = _reads(node.body, set(named))
    return loud if check.read else not loud and not quiet


def _reads(body: list[ast.stmt], names: set[str]) -> tuple[bool, bool]:
    """Whether names are read where it matters, and where it does not (`assert`, `del`, `_ = name`)."""
    loud = quiet = False
    for statement in body:
        for node, calm in _walk_reads(statement, False):
            if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load | ast.Del):
                loud, quiet = loud or not calm, quiet or calm
    return loud, quiet


def _walk_reads(top: ast.AST, calm: bool) -> Iterator[tuple[ast.AST, bool]]:
    stack = [(top, calm)]
    while stack:
        node, calm = stack.pop()
        yield node, calm
        inside = calm or isinstance(node, _QUIET) or _is_thrown_away(node)
        stack.extend((child, inside) for child in ast.iter_child_nodes(node))


def _is_thrown_away(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id="_")]):
            return True
        case ast.Expr(value=ast.Name()):
            return True
    return False


Region = tuple[ast.AST, ...]


def _regions(check: Check, node: ast.AST) -> list[Region]:
    """The pieces of a place that a check is about: each must fit."""
    if check.calls_of is not None:
        return list(_guards(node, check.calls_of))
    if check.under is not None:
        test = _key(_parsed(check.under))
        return [tuple(one.body) for one in _nodes(node) if isinstance(one, ast.If) and _key(one.test) == test]
    return [(node,)]


def _guards(node: ast.AST, name: str) -> Iterator[Region]:
    """For each call of a function: the call, and the tests of the `if`s in whose bodies it stands."""
    stack: list[tuple[ast.AST, Region]] = [(node, ())]
    while stack:
        here, tests = stack.pop()
        if isinstance(here, ast.Call) and _called(here) == name:
            yield tests or (ast.copy_location(ast.Constant(True), here),)
        if isinstance(here, ast.If):
            stack.extend((child, (*tests, here.test)) for child in here.body)
            stack.extend((child, tests) for child in (here.test, *here.orelse))
        else:
            stack.extend((child, tests) for child in ast.iter_child_nodes(here))


def _called(call: ast.Call) -> str | None:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


def _region(check: Check, region: Region) -> int | None:
    """The line where a check holds in a region, 0 for a whole file; None where it does not hold."""
    if any(_standing(snippet, region) is not None for snippet in check.lacks):
        return None
    line = 0 if isinstance(region[0], ast.Module) else _line(region[0])
    for snippet in reversed(check.has):
        found = _standing(snippet, region)
        if found is None:
            return None
        line = _line(found)
    return line


def _standing(snippet: str, region: Region) -> ast.AST | None:
    """The first place in a region where a name, an expression or a statement stands."""
    nodes = (node for top in region for node in _nodes(top))
    if snippet.isidentifier():
        return next((node for node in nodes if snippet in _names(node)), None)
    wanted = _parsed(snippet)
    key, kind = _key(wanted), type(wanted)
    return next((node for node in nodes if type(node) is kind and _key(node) == key), None)


def _names(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            return (name,)
        case ast.keyword(arg=str(name)) | ast.alias(name=name):
            return (name,)
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return (name,)
    return ()


def _nodes(top: ast.AST) -> Iterator[ast.AST]:
    for count, node in enumerate(ast.walk(top)):
        if count > MAX_NODES:
            raise SourceError("a file has more in it than any module of a release")
        yield node


@cache
def _parsed(snippet: str) -> ast.AST:
    """A snippet as syntax: an expression where it is one, else a statement. Raises `SyntaxError`."""
    statement = ast.parse(snippet).body[0]
    return statement.value if isinstance(statement, ast.Expr) else statement


def _key(node: ast.AST) -> str:
    """A tree as text, without positions, and the same whether it is read or written to."""
    return ast.dump(node, annotate_fields=False).replace("Store()", "Load()")


def _text(check: Check, path: str, source: SourceTree) -> bool:
    text = " ".join((source.read(path) or "").split())
    return all(" ".join(say.split()) in text for say in check.says) and not any(
        " ".join(say.split()) in text for say in check.says_not
    )


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 1)
