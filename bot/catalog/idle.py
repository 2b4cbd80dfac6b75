"""Files of a patch that are there and do nothing: a listed name is no fix, and an empty script mends no engine."""

from __future__ import annotations

import ast
import posixpath
import re
import sys

MAX_CHARACTERS = 20_000
"""A file that does nothing is short; a longer one is not looked at."""

_SHELL = re.compile(r"(?:#.*|:|true|set\s+[-+][\w\s]*|exit(?:\s+0)?|echo\b[^;&|<>`$]*)?", re.ASCII)
"""A line of a script that changes no file."""


def is_idle(path: str, text: str) -> bool:
    """Whether a file surely changes nothing when it is run, applied or imported. What is not understood does something.

    Known are Python, shell scripts and patches; of anything else only a blank file is idle.
    """
    if not text.strip():
        return True
    if len(text) > MAX_CHARACTERS:
        return False
    match posixpath.splitext(path)[1]:
        case ".py":
            return _is_idle_python(text)
        case ".sh" | ".bash":
            return all(_SHELL.fullmatch(line.strip()) for line in text.splitlines())
        case ".patch" | ".diff":
            return not re.search(r"^(?:@@|[-+]{3} |rename |new file|deleted file|GIT binary)", text, re.M)
    return False


def _is_idle_python(text: str) -> bool:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(_does_nothing(statement) for statement in body)


def _does_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Import(names=names):
            return all(alias.name.partition(".")[0] in sys.stdlib_module_names for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module.partition(".")[0] in sys.stdlib_module_names
    return False
