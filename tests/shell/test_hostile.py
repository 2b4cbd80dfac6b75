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
    "exponential group": "[[ " + "a" * 32 + " =~ (a*)*b ]]",
    "matches without end": "x=$(printf 'a%.0s' {1..200}); for i in {1..300}; do [[ $x =~ a*b ]]; done",
    "suffixes without end": "x=$(printf 'ab%.0s' {1..1500}); for i in {1..300}; do y=${x%%b*}; done",
    "greps without end": 'x=$(seq 1 9000); for i in $(seq 1 6000); do echo "$x" | grep -q 77; done',
    "words without end": "x=$(seq 1 9000); for i in $(seq 1 6000); do set -- $x; done",
    "growing array": 'for i in $(seq 1 6000); do A+=($i); B=("${A[@]}"); done',
    "quoting without end": 'x=$(seq 1 9000); for i in $(seq 1 6000); do printf "%q" "$x" > q; done',
    "lines without end": 'x=$(seq 1 9000); for i in $(seq 1 6000); do mapfile A <<< "$x"; done',
    "brackets": "case " + "[" * 50_000 + " in " + "[" * 50_000 + ") ;; esac",
    "blanks in awk": "echo a | awk '{print" + " " * 3_000 + "'",
    "counts that are no numbers": "mapfile -n x A <<< a; mapfile -u; seq -s; vllm serve a",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_ends_with_an_answer(script: str) -> None:
    result = answer({"script": script + "\n"})
    assert result["outcomes"] or result["unresolved"]


LONG = "1" * 5_000
NUMBERS = (
    f"[ {LONG} -eq 1 ]", f"[[ {LONG} -eq 1 ]]", f"printf %d {LONG}", f"printf %{LONG}d 1", f"printf %.{LONG}d 1",
    f"echo ${{{LONG}}}", f"exit {LONG}", f"shift {LONG}", f"for i in a; do break {LONG}; done",
    f"echo a | head -n {LONG}",
    f"echo a | tail -n +{LONG}", f"echo a | cut -f {LONG}", f"echo a | sed -n {LONG}p", f"echo a | sed s/a/b/{LONG}",
    f"echo a | grep -m {LONG} a", f"echo a | awk '{{print ${LONG}}}'", f"echo a >&{LONG}", f"read -n {LONG} x <<< a",
    f"OPTIND={LONG}; getopts ab x", f"a[{LONG}]=1", f"echo {{1..{LONG}}}", f"[[ a =~ a{{{LONG}}} ]]",
    f"declare -i x={LONG}", f"mapfile -n {LONG} A <<< x", f"printf '{LONG}\\n2\\n' | sort -n",
)  # fmt: skip


@pytest.mark.parametrize("script", NUMBERS, ids=range(len(NUMBERS)))
def test_long_numbers_end_with_an_answer(script: str) -> None:
    result = answer({"script": script + "\nvllm serve a\n"})
    assert result["outcomes"] or result["unresolved"][0]["line"] == 1


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
