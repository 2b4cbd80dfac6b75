"""What a shell makes of its environment when it starts, beside taking it for its variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bot.shell import calling
from bot.shell.settings import OPTION_LETTERS, UNFOLLOWED_SWITCHES
from bot.shell.state import Shell, Variable, directory_value, variables_of
from bot.shell.syntax import Simple
from bot.shell.values import Symbol, Value
from bot.shell.wrappers import names

if TYPE_CHECKING:
    from bot.shell.interpreter import Interpreter

_RESET = {"IFS": " \t\n", "OPTIND": "1", "OPTERR": "1", "PS4": "+ ", "BASH_VERSION": "5.2.15(1)-release"}
"""Variables that bash, as root, sets anew and hands on when its environment has them."""

_COMPUTED = names(
    "LINENO RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME SHLVL SHELLOPTS BASHOPTS BASH DIRSTACK HISTCMD "
    "BASH_ARGV0 COMP_WORDBREAKS FUNCNAME PIPESTATUS BASH_SOURCE BASH_LINENO"
)
"""Variables that bash computes whatever its environment says, and hands on."""

_DROPPED = names("PPID BASHPID BASH_COMMAND BASH_SUBSHELL BASH_VERSINFO")
"""Variables that bash computes and does not hand on."""

_POSIX_RESET = {"IFS": " \t\n", "OPTIND": "1"}


def variables_at_start(
    environment: Mapping[str, Value], directory: str, posix: bool, known: Mapping[str, Variable]
) -> dict[str, Variable]:
    """The variables with which a shell starts. `known` are those of the shell that starts it."""
    variables = variables_of(environment, known)
    for name, text in (_POSIX_RESET if posix else _RESET).items():
        if name in variables or name == "IFS":
            variables[name] = Variable(Value(text), exported=name in environment)
    for name in () if posix else _COMPUTED.intersection(variables):
        variables[name] = Variable(Value(None, environment[name].origin, (Symbol(name),)), exported=True)
    for name in ({"PPID"} if posix else _DROPPED).intersection(variables):
        del variables[name]
    variables["PWD"] = Variable(directory_value(directory), exported=True)
    return variables


def obey(on: Interpreter, shell: Shell, environment: Mapping[str, Value]) -> None:
    """Switches on what bash is told by SHELLOPTS and BASHOPTS. Raises `Refusal` for what is not followed."""
    if "POSIXLY_CORRECT" in environment:
        raise on.refusal("POSIXLY_CORRECT in the environment: bash then keeps other rules")
    if "SHELLOPTS" in environment:
        given = environment["SHELLOPTS"].text
        if given is None:
            # The shell that starts this one keeps the variable up to date.
            shell.options |= on.shell.options
        for name in (given or "").split(":"):
            if name == "posix":
                raise on.refusal("SHELLOPTS makes bash keep other rules")
            if name:
                shell.options.add(OPTION_LETTERS.get(name, name))
    if "BASHOPTS" in environment:
        given = environment["BASHOPTS"].text
        switches = on.shell.switches if given is None else frozenset(filter(None, given.split(":")))
        if refused := UNFOLLOWED_SWITCHES & switches:
            raise on.refusal(f"BASHOPTS has {min(refused)}, which is not followed")
        shell.switches |= switches


def read_startup_file(on: Interpreter) -> None:
    """Runs the file that BASH_ENV names, as bash does before a script."""
    named = on.expand.variable("BASH_ENV")
    if named is None or named.text == "":
        return
    if named.text is None or any(mark in named.text for mark in "$`~\\"):
        raise on.refusal(f"BASH_ENV names a file that is not known: {named.template()}")
    calling.source(on, [Value("--"), named], Simple((), (), (), 1, f"source {named.text}"))
