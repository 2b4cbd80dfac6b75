"""The shell's own commands."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bot.shell import commands, conditions, programs, redirects
from bot.shell.declarations import DECLARATIONS, declare
from bot.shell.grammar import parse
from bot.shell.inputs import getopts, mapfile, read
from bot.shell.model import SourceFile
from bot.shell.output import echo, printf
from bot.shell.state import Exit, Frame, Loop, Refusal, Return, Status, Variable
from bot.shell.syntax import Simple
from bot.shell.values import Value, concatenate

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

Builtin = Callable[["Interpreter", list[Value], Simple], Status]

OPTION_LETTERS = {
    "allexport": "a", "errexit": "e", "noglob": "f", "hashall": "h", "monitor": "m", "noexec": "n", "nounset": "u",
    "verbose": "v", "xtrace": "x", "braceexpand": "B", "noclobber": "C", "errtrace": "E", "physical": "P",
    "functrace": "T", "notify": "b", "keyword": "k", "privileged": "p", "onecmd": "t",
}  # fmt: skip
SPECIAL = frozenset(
    {
        ":",
        ".",
        "break",
        "continue",
        "eval",
        "exec",
        "exit",
        "export",
        "readonly",
        "return",
        "set",
        "shift",
        "trap",
        "unset",
    }
)


def find(on: Interpreter, name: str) -> Builtin | None:
    """The builtin of this name."""
    if on.shell.posix and name in _BASH_ONLY:
        return None
    return _BUILTINS.get(name)


def text_of(on: Interpreter, value: Value, what: str) -> str:
    """The known text of an argument. Raises `Refusal`."""
    value = on.way.resolve(value)
    if value.text is None:
        raise on.refusal(f"{what} is not known: {value.template()}")
    return value.text


# --- control -------------------------------------------------------------------------------------------------------


def _true(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    return 0


def _false(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    return 1


def _status_argument(on: Interpreter, arguments: list[Value]) -> Status:
    if not arguments:
        return on.shell.status
    value = on.way.resolve(arguments[0])
    if value.text is None:
        symbols = value.symbols()
        return symbols[0] if len(value.parts) == 1 else on.shell.status
    if not re.fullmatch(r"\s*[+-]?[0-9]+\s*", value.text):
        return 2
    return int(value.text) & 0xFF


def _exit(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    raise Exit(_status_argument(on, arguments))


def _return(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if not on.shell.frames:
        if on.shell.posix:
            raise Exit(_status_argument(on, arguments))
        return 2
    raise Return(_status_argument(on, arguments))


def _loop_control(again: bool) -> Builtin:
    def control(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
        if on.loops == 0:
            return 0
        levels = 1
        if arguments:
            text = text_of(on, arguments[0], "the number of loops")
            if not text.isdecimal():
                raise Exit(128)
            levels = int(text)
            if levels < 1:
                raise Loop(on.loops, again=False) if not again else Loop(on.loops, again=False)
        raise Loop(levels, again=again)

    return control


def _shift(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if any(one.splits for one in on.shell.positional):
        raise on.refusal("shift over a value of unknown length")
    count = 1
    if arguments:
        text = text_of(on, arguments[0], "the argument of shift")
        if not re.fullmatch(r"[+-]?[0-9]+", text):
            return 1
        count = int(text)
    if not 0 <= count <= len(on.shell.positional):
        if on.shell.posix:
            raise Exit(2)
        return 1
    on.shell.positional = on.shell.positional[count:]
    return 0


def _eval(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    arguments = [on.way.resolve(one) for one in arguments]
    if any(one.text is None for one in arguments):
        raise on.refusal("eval of a text that is not known", node.line)
    text = " ".join(one.text or "" for one in arguments)
    if not text.strip():
        return 0
    commands.deeper(on)
    outer = on.source
    on.source = programs.source_of_value(on, Value(text, arguments[0].origin))
    try:
        script = parse(text, posix=on.shell.posix)
        status: Status = 0
        for unit in script.units:
            status = on.sequence(unit)
        if script.failure is not None:
            return 2 if not on.shell.posix else _raise(Exit(2))
        return status
    finally:
        on.source = outer
        on.machine.depth -= 1


def _raise(error: Exception) -> Status:
    raise error


def _exec(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    at = 0
    extra = commands.prefix_environment(on, node)
    env_cleared = False
    while at < len(arguments) and (arguments[at].text or "").startswith("-"):
        text = arguments[at].text
        at += 1
        if text == "--":
            break
        if text == "-a":
            at += 1
        elif text in ("-c", "-cl", "-lc"):
            env_cleared = True
        elif text != "-l":
            return 2
    if at >= len(arguments):
        for assignment in node.assignments:
            commands.assign(on, assignment)
        return 0
    if env_cleared:
        raise on.refusal("exec -c is not followed")
    return programs.run(on, arguments[at:], extra, node, replace=True)


def _source(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if arguments and arguments[0].text == "--":
        arguments = arguments[1:]
    if not arguments:
        return 2
    name = on.way.resolve(arguments[0])
    if name.text is None:
        on.machine.sourced.setdefault(name.template())
        return _unknown_source(on, name.template(), arguments, node)
    found = programs._script(on, name.text)
    if found is None:
        path = on.path(name.text)
        on.machine.sourced.setdefault(path)
        if path == "/dev/null":
            return 0
        if on.machine.exists(path) is False or (on.machine.closed and "/" not in name.text):
            if on.shell.posix:
                raise Exit(2)
            return 1
        return _unknown_source(on, path, arguments, node)
    path, text, source = found
    on.machine.sourced.setdefault(path)
    return _sourced(on, text, source, arguments, node)


def _sourced(on: Interpreter, text: str, source, arguments: list[Value], node: Simple) -> Status:  # type: ignore[no-untyped-def]
    commands.deeper(on)
    shell = on.shell
    outer = on.source, on.loops, on.guards
    positional = shell.positional
    replaced = len(arguments) > 1
    if replaced:
        shell.positional = arguments[1:]
        given = shell.positional
    frame = Frame("source", source, node.line, function=False)
    shell.frames.append(frame)
    on.source = source
    shell.status = 0
    status: Status = 0
    script = parse(text, posix=shell.posix)
    try:
        for unit in script.units:
            status = on.sequence(unit)
        if script.failure is not None:
            status = 2 if not shell.posix else _raise(Exit(2))
    except Return as ended:
        status = ended.status
    finally:
        on.source, on.loops, on.guards = outer
        shell.frames.pop()
        if replaced and shell.positional is given:
            shell.positional = positional
        on.machine.depth -= 1
    return status


def _unknown_source(on: Interpreter, path: str, arguments: list[Value], node: Simple) -> Status:
    """A script that is not in the repository: what it sets are symbols of their own names."""
    if on.machine.closed:
        raise on.refusal(f"source of a file that is not known: {path}", node.line)
    on.machine.opaque = True
    on.machine.note(on, f"{path} is assumed to change nothing that the entrypoint or the environment set", node.line)
    return programs._assumed_step(on, [Value("source", on.here(node.line)), *arguments], node)


def _command(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    at = 0
    while at < len(arguments) and re.fullmatch(r"-[pvV]+", arguments[at].text or ""):
        if "v" in (arguments[at].text or "").lower():
            return _look_up(on, arguments[at + 1 :], node, verbose="V" in (arguments[at].text or ""))
        at += 1
    if at < len(arguments) and arguments[at].text == "--":
        at += 1
    if at >= len(arguments):
        return 0
    return _without_functions(on, arguments[at:], node)


def _builtin(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if not arguments:
        return 0
    name = text_of(on, arguments[0], "the builtin")
    found = find(on, name)
    if found is None:
        return 1
    if name in DECLARATIONS:
        return declare(on, name, arguments[1:], {})
    return found(on, arguments[1:], node)


def _without_functions(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    name = text_of(on, arguments[0], "the program's name")
    found = find(on, name)
    if name in DECLARATIONS:
        return declare(on, name, arguments[1:], {})
    if found is not None:
        return found(on, arguments[1:], node)
    return programs.run(on, arguments, commands.prefix_environment(on, node), node)


def _look_up(on: Interpreter, arguments: list[Value], node: Simple, *, verbose: bool = False) -> Status:
    """`command -v`, and the status of `type` and `hash`."""
    status: Status = 1
    for argument in arguments:
        name = text_of(on, argument, "the program's name")
        if name in on.shell.functions or find(on, name) is not None or name in _KEYWORDS:
            commands.output(on, Value(name + "\n", on.here(node.line)))
            status = 0
            continue
        known = programs.program_exists(on, name)
        if known is None:
            question = on.way.symbol(f"{name} is installed")
            known = on.way.is_one_of(question, ("yes",))
        if known:
            if name.startswith("/"):
                commands.output(on, Value(name + "\n", on.here(node.line)))
            else:
                path = on.way.symbol(f"path of {name}", on.here(node.line))
                commands.output(on, concatenate([path, Value("\n", path.origin)]))
            status = 0
    return status


_KEYWORDS = frozenset(["if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function", "{", "}", "!", "[["])


def _type(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    at, letters = 0, ""
    while at < len(arguments) and re.fullmatch(r"-[atpPf]+", arguments[at].text or ""):
        letters += (arguments[at].text or "")[1:]
        at += 1
    if "t" in letters:
        name = text_of(on, arguments[at], "the name") if at < len(arguments) else ""
        kind = _kind(on, name)
        if kind:
            commands.output(on, Value(kind + "\n", on.here(node.line)))
        return int(not kind)
    outer = on.io
    if "p" not in letters and "P" not in letters:
        # What `type` prints is prose: nobody reads it but people.
        on.io = {key: one for key, one in on.io.items() if key != 1}
    try:
        return _look_up(on, arguments[at:], node)
    finally:
        on.io = outer


def _kind(on: Interpreter, name: str) -> str:
    if name in _KEYWORDS:
        return "keyword"
    if name in on.shell.functions:
        return "function"
    if find(on, name) is not None:
        return "builtin"
    known = programs.program_exists(on, name)
    if known is None:
        known = on.way.is_one_of(on.way.symbol(f"{name} is installed"), ("yes",))
    return "file" if known else ""


def _hash(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    names = [one for one in arguments if not (one.text or "").startswith("-")]
    if not names:
        return 0
    outer, on.io = on.io, {key: one for key, one in on.io.items() if key != 1}
    try:
        return _look_up(on, names, node)
    finally:
        on.io = outer


# --- the shell's settings ------------------------------------------------------------------------------------------


def _set(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if not arguments:
        raise on.refusal("the list that `set` prints is not followed")
    options, at = on.shell.options, 0
    while at < len(arguments):
        text = on.way.resolve(arguments[at]).text
        if text is None:
            if at == 0 and not isinstance(arguments[at].parts[0], str):
                raise on.refusal("the arguments of set are not known")
            break
        if text in ("--", "-"):
            if text == "--" or at + 1 < len(arguments):
                on.shell.positional = arguments[at + 1 :]
            return 0
        if text[:1] not in ("-", "+") or len(text) < 2:
            break
        on_off = options.add if text[0] == "-" else options.discard
        for letter in text[1:]:
            if letter == "o":
                at += 1
                name = arguments[at].text if at < len(arguments) else None
                if name is None:
                    return 0
                if name in OPTION_LETTERS:
                    on_off(OPTION_LETTERS[name])
                elif name == "pipefail" and on.shell.posix:
                    raise on.refusal("`set -o pipefail` in sh: dash refuses it, other shells do not")
                elif name in (
                    "pipefail",
                    "posix",
                    "nolog",
                    "vi",
                    "emacs",
                    "history",
                    "ignoreeof",
                    "interactive-comments",
                ):
                    on_off(name)
                else:
                    return 2
            elif letter in "abefhkmnptuvxBCEHPT":
                on_off(letter)
            else:
                return 2
        at += 1
    if at < len(arguments):
        on.shell.positional = arguments[at:]
    return 0


_SWITCHES_ON = frozenset(
    ["checkwinsize", "cmdhist", "complete_fullquote", "extquote", "force_fignore", "globasciiranges", "globskipdots", "hostcomplete", "interactive_comments", "patsub_replacement", "progcomp", "promptvars", "sourcepath"]
)


def _shopt(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    letters, at = "", 0
    while at < len(arguments) and re.fullmatch(r"-[supqo]+", arguments[at].text or ""):
        letters += (arguments[at].text or "")[1:]
        at += 1
    names = [text_of(on, one, "the option") for one in arguments[at:]]
    if "o" in letters and ("s" in letters or "u" in letters):
        for name in names:
            letter = OPTION_LETTERS.get(name, name)
            (on.shell.options.add if "s" in letters else on.shell.options.discard)(letter)
        return 0
    status = 0
    for name in names:
        if "s" in letters:
            on.shell.switches.add(name)
            on.shell.switches.discard("no:" + name)
            if name == "expand_aliases" or (name == "lastpipe"):
                raise on.refusal(f"shopt -s {name} is not followed", node.line)
        elif "u" in letters:
            on.shell.switches.discard(name)
            on.shell.switches.add("no:" + name)
        elif name not in on.shell.switches and not (name in _SWITCHES_ON and "no:" + name not in on.shell.switches):
            status = 1
    return status


def _trap(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    texts = [text_of(on, one, "an argument of trap") for one in arguments]
    if texts and texts[0] in ("-p", "-l"):
        return 0
    if texts and texts[0] == "--":
        texts = texts[1:]
    if not texts:
        return 0
    if len(texts) == 1 or texts[0] == "-" or texts[0].isdecimal():
        names = texts[1:] if texts[0] == "-" else texts
        for name in names:
            on.shell.traps.pop(_signal(name), None)
        return 0
    for name in texts[1:]:
        signal = _signal(name)
        if signal in ("DEBUG", "RETURN"):
            raise on.refusal(f"a trap on {signal} is not followed", node.line)
        on.shell.traps[signal] = texts[0]
    return 0


def _signal(name: str) -> str:
    name = name.upper().removeprefix("SIG")
    return "EXIT" if name == "0" else name


def _unset(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    functions = variables = False
    status = 0
    for argument in arguments:
        text = text_of(on, argument, "the argument of unset")
        if text in ("-f", "-v", "-n"):
            functions, variables = text == "-f", text == "-v"
            continue
        if functions:
            on.shell.functions.pop(text, None)
            continue
        name, bracket, index = text.partition("[")
        variable = on.shell.variables.get(name)
        if variable is not None and variable.readonly:
            status = 1
        elif bracket and variable is not None:
            _unset_element(on, name, index.removesuffix("]"))
        elif variable is not None:
            if variable.reference and variable.value is not None:
                on.unset(variable.value.text or "")
            else:
                on.unset(name)
        elif not variables:
            on.shell.functions.pop(text, None)
        if on.machine.opaque and variable is None:
            on.shell.variables[name] = Variable()
    return status


def _unset_element(on: Interpreter, name: str, index: str) -> None:
    variable = on.own(name)
    if variable.items is None:
        return
    if index in ("@", "*"):
        variable.items.clear()
    elif variable.mapping:
        variable.items.pop(index, None)
    else:
        variable.items.pop(on.expand.index_number(index, variable), None)


def _alias(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if on.shell.posix:
        raise on.refusal("an alias is not followed", node.line)
    return 0


# --- the rest ------------------------------------------------------------------------------------------------------


def _test(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    return conditions.builtin_test(on, arguments)


def _bracket(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if not arguments or arguments[-1].text != "]":
        return 2
    return conditions.builtin_test(on, arguments[:-1])


def _let(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    status: Status = 1
    for argument in arguments:
        status = on.arithmetic_status(text_of(on, argument, "the expression"), node.line)
    return status


def _cd(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    arguments = [one for one in arguments if one.text not in ("-P", "-L", "--", "-e")]
    target = on.way.resolve(arguments[0]) if arguments else on.expand.variable("HOME")
    if target is None:
        return 1
    if len(arguments) > 1 and not on.shell.posix:
        return 1
    if target.text is None:
        raise on.refusal(f"cd to a directory that is not known: {target.template()}", node.line)
    text = target.text
    if text == "-":
        old = on.expand.variable("OLDPWD")
        if old is None or old.text is None:
            return 1
        text = old.text
        commands.output(on, Value(text + "\n", on.here(node.line)))
    if not text:
        return 0
    path = on.path(text)
    known = on.machine.is_directory(path)
    if known is False:
        return 1
    if known is None:
        on.machine.note(on, f"the directory {path} is assumed to exist", node.line)
    on.assign("OLDPWD", Value(on.shell.directory, on.here(node.line)))
    on.shell.directory = path
    on.assign("PWD", Value(path, on.here(node.line)))
    return 0


def _pwd(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    value = on.expand.variable("PWD") or Value(on.shell.directory)
    return commands.output(on, concatenate([value, Value("\n", value.origin)]))


def _directory_stack(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    raise on.refusal("the stack of directories is not followed", node.line)


def _wait(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    wanted = [one for one in arguments if not (one.text or "").startswith("-")]
    if not wanted and not any((one.text or "").startswith("-n") for one in arguments):
        return 0
    return on.shell.background


def _quiet(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    return 0


def _sleep(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    on.machine.sleep(on)
    return 0


def _kill(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    if on.condition_depth:
        return programs._other(on, "kill", [Value("kill"), *arguments], node)
    return 0


def _caller(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    return int(not on.shell.frames)


_BUILTINS: dict[str, Builtin] = {
    ":": _true,
    "true": _true,
    "false": _false,
    "exit": _exit,
    "return": _return,
    "break": _loop_control(again=False),
    "continue": _loop_control(again=True),
    "shift": _shift,
    "eval": _eval,
    "exec": _exec,
    ".": _source,
    "source": _source,
    "command": _command,
    "builtin": _builtin,
    "type": _type,
    "hash": _hash,
    "set": _set,
    "shopt": _shopt,
    "trap": _trap,
    "unset": _unset,
    "alias": _alias,
    "unalias": _quiet,
    "test": _test,
    "[": _bracket,
    "let": _let,
    "cd": _cd,
    "pwd": _pwd,
    "pushd": _directory_stack,
    "popd": _directory_stack,
    "dirs": _directory_stack,
    "wait": _wait,
    "ulimit": _quiet,
    "umask": _quiet,
    "disown": _quiet,
    "enable": _quiet,
    "times": _quiet,
    "jobs": _quiet,
    "bg": _quiet,
    "fg": _quiet,
    "sleep": _sleep,
    "kill": _kill,
    "caller": _caller,
    "echo": echo,
    "printf": printf,
    "read": read,
    "mapfile": mapfile,
    "readarray": mapfile,
    "getopts": getopts,
    **dict.fromkeys(DECLARATIONS, _quiet),
}
_BASH_ONLY = frozenset(
    ["source", "builtin", "shopt", "let", "pushd", "popd", "dirs", "disown", "enable", "mapfile", "readarray", "declare", "typeset", "caller"]
)

_: Mapping[str, Builtin] = _BUILTINS
__all__ = [
    "DECLARATIONS",
    "OPTION_LETTERS",
    "SPECIAL",
    "Refusal",
    "SourceFile",
    "declare",
    "find",
    "posixpath",
    "redirects",
]
