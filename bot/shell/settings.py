"""Builtins that change how the shell works: `set`, `shopt`, `trap`, `unset`."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from bot.shell.state import Status, Variable
from bot.shell.syntax import Simple
from bot.shell.values import Value

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

OPTION_LETTERS = {
    "allexport": "a", "errexit": "e", "noglob": "f", "hashall": "h", "monitor": "m", "noexec": "n", "nounset": "u",
    "verbose": "v", "xtrace": "x", "braceexpand": "B", "noclobber": "C", "errtrace": "E", "physical": "P",
    "functrace": "T", "notify": "b", "keyword": "k", "privileged": "p", "onecmd": "t",
}  # fmt: skip


_LETTERS = frozenset("abefhkmnptuvxBCEHPT")

UNFOLLOWED_SWITCHES = frozenset({"expand_aliases", "lastpipe"})
"""Switches that change how a script is read or run in ways that the interpreter does not model."""


def set_builtin(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    """`set`: options, and the positional parameters."""
    if not arguments:
        raise on.refusal("the list that `set` prints is not followed")
    if not _are_options(on, arguments):
        return 2
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
        on_off = partial(_switch, options, text[0] == "-")
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
            else:
                on_off(letter)
        at += 1
    if at < len(arguments):
        on.shell.positional = arguments[at:]
    return 0


def _switch(options: set[str], on: bool, option: str) -> None:
    """Turns an option on or off. Braces expand unless that is turned off, which is kept as an option of its own."""
    if option == "B":
        option, on = "nobraceexpand", not on
    (options.add if on else options.discard)(option)


def _are_options(on: Interpreter, arguments: list[Value]) -> bool:
    """Whether there are options of these letters: `set` looks at all of them before it sets the first."""
    waiting = iter(arguments)
    for argument in waiting:
        text = on.way.resolve(argument).text or ""
        if text[:1] not in ("-", "+") or text in ("-", "+", "--"):
            return True
        for letter in text[1:]:
            if letter == "o":
                next(waiting, None)
            elif letter not in _LETTERS:
                return False
    return True


_SWITCHES_ON = frozenset(
    [
        "checkwinsize",
        "cmdhist",
        "complete_fullquote",
        "extquote",
        "force_fignore",
        "globasciiranges",
        "globskipdots",
        "hostcomplete",
        "interactive_comments",
        "patsub_replacement",
        "progcomp",
        "promptvars",
        "sourcepath",
    ]
)


def shopt(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`shopt`."""
    letters, at = "", 0
    while at < len(arguments) and re.fullmatch(r"-[supqo]+", arguments[at].text or ""):
        letters += (arguments[at].text or "")[1:]
        at += 1
    names = [text_of(on, one, "the option") for one in arguments[at:]]
    if "o" in letters and ("s" in letters or "u" in letters):
        for name in names:
            letter = OPTION_LETTERS.get(name, name)
            _switch(on.shell.options, "s" in letters, letter)
        return 0
    status = 0
    for name in names:
        if "s" in letters:
            on.shell.switches.add(name)
            on.shell.switches.discard("no:" + name)
            if name in UNFOLLOWED_SWITCHES:
                raise on.refusal(f"shopt -s {name} is not followed", node.line)
        elif "u" in letters:
            on.shell.switches.discard(name)
            on.shell.switches.add("no:" + name)
        elif name not in on.shell.switches and not (name in _SWITCHES_ON and "no:" + name not in on.shell.switches):
            status = 1
    return status


def trap(on: Interpreter, arguments: list[Value], node: Simple) -> Status:
    """`trap`: only EXIT and ERR ever run here."""
    if len(arguments) > 1 and on.way.resolve(arguments[0]).text is None:
        names = [text_of(on, one, "a signal of trap") for one in arguments[1:]]
        if not {"EXIT", "ERR", "DEBUG", "RETURN"}.intersection(map(_signal, names)):
            # Nobody sends a signal here, so these commands never run, whatever they are.
            return 0
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


def unset(on: Interpreter, arguments: list[Value], _node: Simple) -> Status:
    """`unset`, of variables, elements and functions."""
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
        if (on.machine.opaque or on.machine.open) and variable is None:
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


def alias(on: Interpreter, _arguments: list[Value], node: Simple) -> Status:
    """`alias`: not expanded in a script."""
    if on.shell.posix:
        raise on.refusal("an alias is not followed", node.line)
    return 0


def text_of(on: Interpreter, value: Value, what: str) -> str:
    """The known text of an argument. Raises `Refusal`."""
    value = on.way.resolve(value)
    if value.text is None:
        raise on.refusal(f"{what} is not known: {value.template()}")
    return value.text
