"""Reading a release's source: modules, and what a name in one of them means.

Nothing here imports or runs the release. A name is followed through assignments and imports to the place that
defines it, as the interpreter would find it at run time (the branch for type checkers is only a fallback).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

MAX_IMPORT_STEPS = 32
"""A name is followed through at most this many imports: re-exports are two or three deep, a cycle has no end."""


class SourceError(Exception):
    """The source tree is not one that can be learnt: a file is missing or is not Python. The message names the file."""


class UnreadableError(SourceError):
    """What was fetched is no source that can be learnt: fetching it again changes nothing."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What a name stands for: the node that defines it, in the module where that node is.

    `node` is a class, a function, or the expression of an assignment; None for a name of another package, which
    `name` then spells in full (`torch.dtype`).
    """

    name: str
    module: Module | None
    node: ast.AST | None
    annotation: ast.expr | None = None

    @property
    def line(self) -> int:
        """Where the definition starts; 0 for one of another package."""
        return getattr(self.node, "lineno", 0)

    @property
    def path(self) -> str:
        """The file of the definition; empty for one of another package."""
        return self.module.path if self.module else ""


@dataclass(eq=False, slots=True)
class Module:
    """One file: `path` is relative to the source tree, `name` is dotted."""

    path: str
    name: str
    tree: ast.Module
    names: dict[str, ast.AST] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    typing_only: dict[str, tuple[str, str | None]] = field(default_factory=dict)


class SourceTree:
    """The files of a release.

    `read` gives the text of a path relative to the tree (`vllm/envs.py`), or None; `paths` are all its modules, and
    may be empty where a tree cannot be listed.
    """

    def __init__(self, read: Callable[[str], str | None], paths: Iterable[str] = ()) -> None:
        self.read = read
        self.paths = tuple(paths)
        self._modules: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """The module of a dotted name, or None when the tree has no such file. Raises `SourceError`."""
        if name not in self._modules:
            self._modules[name] = self._load(name)
        return self._modules[name]

    def at(self, path: str) -> Module:
        """The module in a file. Raises `SourceError` when there is no such file."""
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        module = self.module(name)
        if module is None or module.path != path:
            raise SourceError(f"{path}: no such file in the source tree")
        return module

    def _load(self, name: str) -> Module | None:
        base = name.replace(".", "/")
        for path in (f"{base}.py", f"{base}/__init__.py"):
            text = self.read(path)
            if text is not None:
                return _index(path, name, _parse(path, text))
        return None

    def resolve(self, module: Module, name: str) -> Definition | None:
        """What `name` means in `module`, followed through imports; None when nothing defines it."""
        for _ in range(MAX_IMPORT_STEPS):
            node = module.names.get(name)
            if node is not None:
                annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
                value = node.value if isinstance(node, ast.AnnAssign | ast.Assign) else node
                return Definition(name, module, value, annotation)
            target = module.imports.get(name) or self._star(module, name) or module.typing_only.get(name)
            if target is None:
                return None
            source, original = target
            if original is None:
                return Definition(source, self.module(source), None)
            origin = self.module(source)
            if origin is None:
                return Definition(f"{source}.{original}", None, None)
            if original not in origin.names and original not in origin.imports:
                submodule = self.module(f"{source}.{original}")
                if submodule is not None:
                    return Definition(submodule.name, submodule, None)
            module, name = origin, original
        return None

    def _star(self, module: Module, name: str) -> tuple[str, str] | None:
        for source in module.stars:
            origin = self.module(source)
            if origin is not None and (name in origin.names or name in origin.imports):
                return source, name
        return None

    def dotted(self, module: Module, node: ast.expr) -> Definition | None:
        """What a name or an attribute of a module (`envs.VLLM_PORT`, `torch.dtype`) means."""
        if isinstance(node, ast.Name):
            return self.resolve(module, node.id)
        if not isinstance(node, ast.Attribute):
            return None
        owner = self.dotted(module, node.value)
        if owner is None:
            return None
        if owner.module is None:
            return Definition(f"{owner.name}.{node.attr}", None, None)
        if owner.node is None:
            return self.resolve(owner.module, node.attr)
        return None


def _parse(path: str, text: str) -> ast.Module:
    try:
        return ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"{path}: not readable as Python ({error})") from error


def _index(path: str, name: str, tree: ast.Module) -> Module:
    module = Module(path, name, tree)
    package = name if path.endswith("/__init__.py") else name.rpartition(".")[0]
    for statement, typing_only in statements(tree.body):
        match statement:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                module.names[statement.name] = statement
            case ast.Assign(targets=[ast.Name(id=target)]) | ast.AnnAssign(target=ast.Name(id=target)) if (
                not typing_only and statement.value is not None
            ):
                module.names[target] = statement
            case ast.Import() | ast.ImportFrom():
                table = module.typing_only if typing_only else module.imports
                for bound, origin in imported(statement, package):
                    if bound == "*":
                        module.stars.append(origin[0])
                    else:
                        table[bound] = origin
    return module


def imported(statement: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """The names that an import binds, each with its module and the name there (None: the module itself)."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            bound = alias.asname or alias.name.partition(".")[0]
            yield bound, (alias.name if alias.asname else bound, None)
        return
    source = statement.module or ""
    if statement.level:
        parts = package.split(".")
        parent = ".".join(parts[: len(parts) - statement.level + 1])
        source = f"{parent}.{source}" if source else parent
    for alias in statement.names:
        yield alias.asname or alias.name, (source, alias.name)


def statements(body: list[ast.stmt], typing_only: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """The statements of a module, those of `if` and `try` included; True marks those only a type checker sees."""
    for statement in body:
        match statement:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from statements(statement.body, True)
                yield from statements(statement.orelse, typing_only)
            case ast.If():
                yield from statements(statement.body, typing_only)
                yield from statements(statement.orelse, typing_only)
            case ast.Try():
                yield from statements(statement.body, typing_only)
                for handler in statement.handlers:
                    yield from statements(handler.body, typing_only)
            case _:
                yield statement, typing_only


def members(node: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign | ast.Assign]]:
    """The assignments of a class body, with the name that each sets."""
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name, statement
