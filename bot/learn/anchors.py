"""Fingerprints of upstream functions, so that a derivation knows when what it models has changed."""

from __future__ import annotations

import ast
import hashlib

from bot.learn.slices import slice_of
from bot.learn.source import Module, SourceError, SourceTree

HASH_LENGTH = 16
"""Hexadecimal digits that are kept of SHA-256: enough, since versions of one function are compared, never strangers."""


def fingerprint(source: SourceTree, qualified: str) -> tuple[str, int]:
    """The hash of what `path:Qualified.name` defines, and its line.

    The hash is over the syntax tree without docstrings, comments, positions and annotations, so it changes only
    when the code does. Raises `SourceError` when the release has no such definition.
    """
    node = locate(source, qualified)
    return hash_of(node), getattr(node, "lineno", 0)


def locate(source: SourceTree, qualified: str) -> ast.AST:
    """The function, class or assignment that `path:Qualified.name` names.

    `path:Qualified.name#field` is the part of a function that decides a field, see `bot.learn.slices`. Raises
    `SourceError`.
    """
    path, _, name = qualified.partition(":")
    name, _, field = name.partition("#")
    module: Module = source.at(path)
    first, *rest = name.split(".")
    owner, node = None, module.names.get(first)
    for part in rest:
        owner, node = node, _member(node, part)
    if node is None:
        raise SourceError(f"{path}: {name} is not defined here")
    return slice_of(source, module, owner, node, field) if field else node


def _member(node: ast.AST | None, name: str) -> ast.AST | None:
    for statement in getattr(node, "body", []):
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if statement.name == name:
                return statement
            case ast.AnnAssign(target=ast.Name(id=target)) | ast.Assign(targets=[ast.Name(id=target)]) if (
                target == name
            ):
                return statement
    return None


def hash_of(node: ast.AST) -> str:
    """The hash of a syntax tree, see `fingerprint`. The same for every version of Python."""
    digest = hashlib.sha256()
    _feed(node, digest)
    return digest.hexdigest()[:HASH_LENGTH]


def _feed(value: object, digest: hashlib._Hash) -> None:
    """Feed a tree to a digest: class and field names in a fixed order, empty fields left out."""
    match value:
        case ast.AST():
            digest.update(f"({type(value).__name__}".encode())
            for name in sorted(value._fields):
                inner = getattr(value, name, None)
                if name in _IGNORED or inner is None or inner == []:
                    continue
                digest.update(f" {name}=".encode())
                _feed(_without_docstrings(inner) if name == "body" else inner, digest)
            digest.update(b")")
        case list():
            digest.update(b"[")
            for item in value:
                _feed(item, digest)
            digest.update(b"]")
        case _:
            digest.update(f"<{value!r}>".encode())


_IGNORED = frozenset({"ctx", "kind", "type_comment", "returns", "annotation", "type_params"})


def _without_docstrings(body: object) -> object:
    """A body without its bare strings: docstrings, and the notes below fields."""
    if not isinstance(body, list):
        return body
    return [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
