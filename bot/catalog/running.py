"""Which files a command runs or applies, as far as the command line alone tells.

To name a file is not to run it: `cat`, `chmod +x` and `test -f` leave the engine as it was. A program that is not known
here runs nothing: a hazard is never cleared by what nobody understands.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from bot.shell.catalogue import PYTHON, SHELLS
from bot.shell.wrappers import WRAPPERS, names

_INTERPRETERS = frozenset({"perl", "node", "ruby"})
_SOURCES = frozenset({"source", "."})
_PYTHON_OPTIONS = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_PATCH_OPTIONS = names(
    "-d --directory -p --strip -F --fuzz -o --output -r --reject-file -D --ifdef -B --prefix -b --suffix -z -V -Y "
    "--version-control -g --get"
)
_APPLY_OPTIONS = names("--exclude --include --directory --whitespace -p -C --build-fake-ancestor")
_PACKAGE_OPTIONS = names(
    "-r --requirement -c --constraint -t --target -i --index-url --extra-index-url -f --find-links --prefix --root "
    "--python -p --cache-dir --src --log --no-binary --only-binary --platform --overrides"
)
_PACKAGERS = frozenset(
    {"pip", "pip3", "uv", "apt", "apt-get", "dnf", "yum", "microdnf", "apk", "conda", "mamba", "npm"}
)
_DRY = frozenset({"--dry-run", "--check", "--stat", "--numstat", "--summary", "--reverse"})
_INSTALLS = frozenset({"install", "add", "i", "localinstall"})
_ENV_OPTIONS = frozenset({"-u", "--unset", "-C", "--chdir", "-S", "--split-string"})
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_MOST_WRAPPERS = 12
"""Wrappers inside wrappers beyond this are not followed, as in the interpreter."""

Words = Sequence[str]


def files_run(command: Words, standard_input: str | None = None) -> frozenset[str]:
    """The files that a command runs, applies or installs. `standard_input` is the file that it is given by `<`."""
    words = _unwrapped(command)
    if not words:
        return frozenset()
    base = posixpath.basename(words[0])
    found = _runner(base)
    run = set(found(words[1:])) if found is not None else set()
    if "/" in words[0]:
        run.add(words[0])
    if standard_input is not None and _takes_input(base, words[1:]):
        run.add(standard_input)
    return frozenset(run)


def _runner(base: str) -> Callable[[Words], Iterator[str]] | None:
    if base in SHELLS or base in ("zsh", "ksh"):
        return _of_shell
    if PYTHON.match(base):
        return _of_python
    if base in _PACKAGERS:
        return _of_packager
    return _RUNNERS.get(base)


def _unwrapped(command: Words) -> Words:
    """The command behind `env A=b`, `timeout 5`, `nohup`…"""
    words = command
    for _ in range(_MOST_WRAPPERS):
        base = posixpath.basename(words[0]) if words else ""
        if base == "env":
            at = _first_operand(words, 1, _ENV_OPTIONS)
            while at < len(words) and _ASSIGNMENT.match(words[at]):
                at += 1
        elif (wrapper := WRAPPERS.get(base)) is not None:
            at = _first_operand(words, 1, wrapper.valued) + wrapper.operands
        elif base in ("exec", "command", "builtin", "time"):
            at = _first_operand(words, 1, frozenset({"-a"}))
        else:
            break
        words = words[at:]
    return words


def _first_operand(words: Words, at: int, valued: frozenset[str]) -> int:
    """The place of the first argument that is no option; options of `valued` take the next argument."""
    while at < len(words) and words[at].startswith(("-", "+")) and len(words[at]) > 1:
        if words[at] == "--":
            return at + 1
        at += 2 if words[at] in valued else 1
    return at


def _operands(words: Words, valued: frozenset[str]) -> Iterator[str]:
    at, ended = 0, False
    while at < len(words):
        word = words[at]
        if ended or not word.startswith("-") or word == "-":
            yield word
        elif word == "--":
            ended = True
        elif word in valued:
            at += 1
        at += 1


def _of_shell(arguments: Words) -> Iterator[str]:
    at = 0
    while at < len(arguments) and arguments[at].startswith(("-", "+")) and arguments[at] not in ("--", "-"):
        option = arguments[at]
        letters = "" if option.startswith("--") else option[1:]
        if "c" in letters:
            return
        at += 2 if option in ("--rcfile", "--init-file") or letters.endswith(("o", "O")) else 1
    at += arguments[at : at + 1] in (["--"], ("--",))
    if at < len(arguments) and arguments[at] != "-":
        yield arguments[at]


def _of_source(arguments: Words) -> Iterator[str]:
    yield from list(_operands(arguments, frozenset()))[:1]


def _of_python(arguments: Words) -> Iterator[str]:
    for at, word in enumerate(arguments):
        if re.fullmatch(r"-[a-zA-Z]*m", word):
            if arguments[at + 1 : at + 2] in (["pip"], ("pip",)):
                yield from _of_packager(arguments[at + 2 :])
            return
        if re.fullmatch(r"-[a-zA-Z]*c", word):
            return
        if not word.startswith("-"):
            break
    at = _first_operand(arguments, 0, _PYTHON_OPTIONS)
    if at < len(arguments):
        yield arguments[at]


def _of_interpreter(arguments: Words) -> Iterator[str]:
    if not any(word.startswith(("-e", "--eval")) for word in arguments):
        yield from list(_operands(arguments, frozenset({"-I", "-r", "--require"})))[:1]


def _of_packager(arguments: Words) -> Iterator[str]:
    """What is installed: a folder, a wheel, a package file."""
    for at, word in enumerate(arguments):
        if word in _INSTALLS:
            yield from _operands(arguments[at + 1 :], _PACKAGE_OPTIONS)
            return


def _of_package_file(arguments: Words) -> Iterator[str]:
    if any(re.fullmatch(r"-[a-zA-Z]*[iU][a-zA-Z]*|--install|--upgrade", word) for word in arguments):
        yield from _operands(arguments, frozenset())


def _of_make(arguments: Words) -> Iterator[str]:
    for option, word in pairwise(arguments):
        if option in ("-C", "-f", "--directory", "--file"):
            yield word


def _of_patch(arguments: Words) -> Iterator[str]:
    if _is_dry(arguments):
        return
    given = _patch_given(arguments)
    if given is not None:
        yield given
    else:
        # `patch ORIGINAL PATCHFILE`
        yield from list(_operands(arguments, _PATCH_OPTIONS))[1:2]


def _patch_given(arguments: Words) -> str | None:
    for at, word in enumerate(arguments):
        if word in ("-i", "--input"):
            return arguments[at + 1] if at + 1 < len(arguments) else None
        if word.startswith("--input="):
            return word.removeprefix("--input=")
        if word.startswith("-i") and len(word) > 2:
            return word[2:]
    return None


def _of_git(arguments: Words) -> Iterator[str]:
    at = _first_operand(arguments, 0, frozenset({"-C", "-c", "--git-dir", "--work-tree"}))
    if at < len(arguments) and arguments[at] in ("apply", "am"):
        rest = arguments[at + 1 :]
        if not _is_dry(rest):
            yield from (word for word in _operands(rest, _APPLY_OPTIONS) if word != "-")


def _is_dry(arguments: Words) -> bool:
    """Whether the patch is only looked at, or taken away."""
    return any(word in _DRY or re.fullmatch(r"-[a-zA-Z0-9]*R[a-zA-Z0-9]*", word) for word in arguments)


def _takes_input(base: str, arguments: Words) -> bool:
    """Whether a command does to its standard input what it would do to a file that it runs."""
    if base == "patch":
        return not _is_dry(arguments) and not list(_of_patch(arguments))
    if base == "git":
        applies = any(word in ("apply", "am") for word in arguments)
        return applies and not _is_dry(arguments) and not list(_of_git(arguments))
    if base in SHELLS:
        return not list(_of_shell(arguments)) and "-c" not in arguments
    return bool(PYTHON.match(base)) and not [word for word in arguments if word != "-"]


_RUNNERS: dict[str, Callable[[Words], Iterator[str]]] = {
    **dict.fromkeys(_SOURCES, _of_source),
    **dict.fromkeys(_INTERPRETERS, _of_interpreter),
    "dpkg": _of_package_file,
    "rpm": _of_package_file,
    "make": _of_make,
    "patch": _of_patch,
    "git": _of_git,
}
