"""Quotes in the word behind an operator of `${…}`, where the whole stands in double quotes or a here-document."""

from __future__ import annotations

import pytest

from bot.cli.inspect_shell import answer
from tests.shell.ask import needs_bash
from tests.shell.record import bash

HERE = 'vllm "$(cat <<E\n{}\nE\n)"'
KNOWN: dict[str, list[str] | None] = {
    """vllm "${u:-$'a'}" "${v:+$'a\\n'}" "${v+$'a'}" "${u-$'a'}" "${u:=$'b'}" "$u" """: [
        "a",
        "a\n",
        "a",
        "a",
        "b",
        "b",
    ],
    """vllm ${u:-$'a b'} ${v:+$'c'}""": ["a b", "c"],
    """z="${u:-$'a'}"; vllm "$z" "${u:-$''}" "${u:-$'*'}" """: ["a", "", "*"],
    """vllm "${v#$'x'}" "${v%$'y'}" "${v/$'a'/$'q$v'}" "${v^$'x'}" "${v,,$'x'}" """: [
        "ay",
        "xa",
        "xq$vy",
        "Xay",
        "xay",
    ],
    """vllm "${u:-'{"a": 1}'}" """: ["'{a: 1}'"],
    """vllm "${u:-'{a}'}" "${u:-'$v'}" "${u:-a'}'b}" """: ["'{a}'", "'xay'", "a'}'b"],
    """vllm "${u:-it's}" 'x'""": None,
    """vllm "${u:-\\'a}" "${u:-"it's"}" "${u:-$(echo "it's")}" """: ["\\'a", "it's", "it's"],
    """vllm "${u:-$"a"}" """: ["a"],
    """vllm "${u:-'$'a''}" "${u:-'a'$'b'}" "${u:-\\$'a'}" """: ["'$'a''", "'a'b", "$'a'"],
    """vllm "${u:-${v:+$'b'}c}" "${v/a/${u:-$'q'}}" """: ["bc", "xqy"],
    HERE.format("${u:-$'a'} ${v:+$'b'} ${v#$'x'} ${v/$'a'/$'b'} ${u-'k'}"): ["$'a' $'b' ay xby 'k'"],
    HERE.format("""${u:-'}'b} ${u:-"a"}"""): ["'}'b a"],
}
"""Scripts, and the arguments of the call in bash 5.2; None where bash refuses the script."""
REFUSED = [
    """vllm "$(printf %s ${u-$'a b'})" """,
    """vllm "${u:-$'$v'}" """,
    """vllm "${u:-$'a\\\\b'}" """,
    """vllm "${u:-'"'}" """,
    """vllm "${u:-'a${u:-$'b'}c'}" """,
    """declare -A m; m[a]=1; vllm "${m[${u:-$'a'}]}" """,
    """vllm $(( ${u:-$'1'} + 1 ))""",
    HERE.format("${u:-it's}"),
    HERE.format('${u:-$"a"}'),
]


@pytest.mark.parametrize("script", KNOWN)
def test_known(script: str) -> None:
    told = answer({"script": "v=xay\n" + script})
    assert not told["unresolved"]
    assert told["outcomes"][0]["argv"] == KNOWN[script]


@needs_bash
@pytest.mark.parametrize("script", KNOWN)
def test_is_what_bash_does(script: str) -> None:
    argv = bash("v=xay\n" + script)["argv"]
    assert (argv and argv[1:]) == KNOWN[script]


@pytest.mark.parametrize("script", REFUSED)
def test_what_bash_reads_twice_is_left_open(script: str) -> None:
    assert answer({"script": "v=xay\n" + script})["unresolved"]
