"""Scripts made to hurt: each must end soon, with an answer or a reason."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.cli.inspect_shell import answer

SCRIPTS = {
    "endless loop": "while true; do :; done",
    "endless recursion": "f() { f; }; f",
    "doubling": "x=a; while :; do x=$x$x; done",
    "doubling arguments": 'set -- a; while :; do set -- "$@" "$@"; done',
    "braces": "echo {1..9999}{1..9999}",
    "deep parentheses": "(" * 3000,
    "deep substitutions": "$(" * 3000,
    "deep quotes": '"$(' * 2000,
    "deep tests": "[[ " + "( " * 2000,
    "deep arithmetic": "echo $((" + "(" * 5000 + "))",
    "many stars": "case " + "a" * 60 + " in *a*a*a*a*a*a*a*a*b) ;; esac",
    "nested groups": "shopt -s extglob\n[[ " + "a" * 60 + " == +(+(a))b ]]",
    "backtracking": "[[ " + "a" * 60 + " =~ (a*)*b ]]",
    "wide format": 'printf "%999999999d" 1',
    "power": "echo $((2**2**2**2**9999999))",
    "sources itself": ". ./entrypoint.sh",
    "starts itself": "exec bash entrypoint.sh",
    "here-documents": "<<A\n" * 1000,
    "control characters": "\x00\x01",
    "many commands": "a;" * 20000,
    "long pipe": "a|" * 3000 + "b",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_ends_with_an_answer(script: str) -> None:
    result = answer({"script": script + "\n"})
    assert result["outcomes"] or result["unresolved"]


_FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "if ",
            "then ",
            "fi\n",
            "case ",
            " in ",
            "esac\n",
            ";;",
            "for i in ",
            "do ",
            "done\n",
            "{ ",
            "}\n",
            "( ",
            ")\n",
            "$(",
            "`",
            '"',
            "'",
            "${",
            "}",
            "$((",
            "))",
            "[[ ",
            " ]]",
            "<<E\n",
            "E\n",
            "|",
            "&&",
            "||",
            "&",
            ";",
            "\n",
            "x=",
            "a=(",
            "f() ",
            "vllm serve ",
            "$x",
            "@",
            "*",
            "?",
            "[",
            "]",
            "!",
            "=~ ",
            "eval ",
            "exec ",
            "set -e\n",
            "exit 1\n",
            "\\",
            "#",
            "~",
            ">",
            "<",
        ]
    ),
    max_size=25,
).map("".join)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(_FRAGMENTS)
def test_never_crashes(script: str) -> None:
    result = answer({"script": script})
    assert result["outcomes"] or result["unresolved"]


@pytest.mark.soak
@settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(_FRAGMENTS)
def test_never_crashes_on_many(script: str) -> None:
    answer({"script": script})
