"""Random scripts of nested commands: control flow, functions, `set -e`, subshells and pipelines."""

from __future__ import annotations

import random

_HEAD = """x=a; n=1; y=; L=()
f1() { [ $n -gt 1 ]; }
f2() { echo "$1$n"; }
f3() { local x=$1; shift; L+=("$x" $#); return $n; }
"""
_OPTIONS = ("", "set -e\n", "set -u\n", "set -eo pipefail\n", "set -E -e\n")
_WORDS = ("a", '"$x"', "$x", "$n", '"$@"', '"${L[@]}"', "$?", "b$n", '"$(f2 q)"', "${y:-d}", '"${x:+s}"', "$((n+1))")
_CONDITIONS = (
    "true", "false", '[ "$x" = a ]', "[ $n -gt 1 ]", "[[ $x == a* ]]", "(( n > 1 ))", "! true", "f1", "f1 && true",
    'false || [ -n "$y" ]', 'test -z "$y"', "(exit 0)", "(exit 2)", "[ $# -gt 1 ]", "! false || f1",
    "{ false; true; }", "f3 x",
)  # fmt: skip
_SIMPLE = (
    "x=b", 'x="$n"', 'x="$x$x"', "x=$(echo c)", "x=${x}z", "x=$(false)", "x=$(exit 3)", "n=$((n+2))", "n=$((n-1))",
    "y=3", "unset y", "export y=e", 'set -- 1 2 "3 4"', "shift", "local q=1 2>/dev/null", 'L+=("$#")', 'L+=("s$?")',
    "false", "f1", "f3 z", "return 3 2>/dev/null", "exit 3", "set -e", "set +e", "((n++))", "let n-=1", "x+=q",
    "set -o pipefail", 'eval "n=$n"', 'read x y <<< "p q r"', "trap 'L+=(t); vllm serve trap \"${L[@]}\" $?' EXIT",
    "trap 'echo failed' ERR",
)  # fmt: skip


class Scripts:
    """A source of random scripts that end."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)

    def one(self) -> str:
        """A whole script; it shows its state in the arguments of its last command."""
        lines = "\n".join(self._statement(2) for _ in range(self.random.randint(2, 7)))
        return f'{self.random.choice(_OPTIONS)}{_HEAD}{lines}\nvllm serve end "${{L[@]}}" $x $n $? "$@"\n'

    def _words(self, least: int) -> str:
        return " ".join(self.random.choice(_WORDS) for _ in range(self.random.randint(least, 3)))

    def _condition(self) -> str:
        return self.random.choice(_CONDITIONS)

    def _body(self, depth: int, most: int = 2) -> str:
        return "; ".join(self._statement(depth - 1) for _ in range(self.random.randint(1, most)))

    def _statement(self, depth: int) -> str:
        choose = self.random.choice
        if depth <= 0 or self.random.random() < 0.4:
            return choose(
                [
                    choose(_SIMPLE),
                    f"L+=({self._words(1)})",
                    f"vllm serve {self._words(0)}",
                    f"{self._condition()} && L+=(y)",
                    f"{self._condition()} || L+=(n)",
                    "echo q | " + choose(["{ read x; L+=(r); }", "cat >/dev/null", "false", "(exit 2)"]),
                ]
            )
        first, second, third = self._body(depth), self._body(depth), self._body(depth)
        test, count = self._condition(), f"c{depth}"
        return choose(
            [
                f"({first})",
                f"{{ {first}; }}",
                f"! {{ {first}; }}; :",
                f"(! {{ {first}; }})",
                f"y=$( {first})",
                f"if {test}; then {first}; elif {self._condition()}; then {second}; else {third}; fi",
                f"if ! {test}; then {first}; fi",
                f"for i in {self._words(0)}; do {first}; {choose([':', 'break', 'continue'])}; done",
                f"{count}=0; while [ ${count} -lt 2 ]; do {count}=$(({count}+1)); {first}; done",
                f"for (({count}=0;{count}<2;{count}++)); do {first}; done",
                f"case $x in a|b) {first}{choose([';;', ';&', ';;&'])} [!a]*) {second};; *) {third};; esac",
                f"f5() {{ {first}; {choose(['return', 'return 2', 'true', 'false'])}; }}; f5",
            ]
        )
