"""Deployments that try to make a reader hang, swell or fall over."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.deployments.deployment import words

_HEAD = "services:\n  vllm:\n    image: vllm/vllm-openai:v0.25.1\n"


def _compose(**fields: object) -> dict[str, str]:
    service = {"image": "vllm/vllm-openai:v0.25.1", **fields}
    return {"docker-compose.yml": json.dumps({"services": {"vllm": service}})}


def _inline(script: str, shell: str = "bash", **fields: object) -> dict[str, str]:
    return _compose(entrypoint=[shell, "-c", script.replace("$", "$$")], **fields)


def _mounted(script: str, **more: str) -> dict[str, str]:
    files = _compose(entrypoint=["bash", "/s/run.sh"], volumes=["./s:/s"])
    return {**files, "s/run.sh": script, **{f"s/{name}": text for name, text in more.items()}}


def _yaml(text: str) -> dict[str, str]:
    return {"docker-compose.yml": text}


def _compose_of(commands: Mapping[str, list[str]]) -> dict[str, str]:
    services = {name: {"image": "vllm/vllm-openai:v0.25.1", "command": command} for name, command in commands.items()}
    return {"docker-compose.yml": json.dumps({"services": services})}


END = "\nexec vllm serve m\n"
_DOUBLING = "a=x;" + "a=$a$a;" * 40
_ANCHORS = "x-0: &a0 [lol, lol]\n" + "".join(f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))

HOSTILE: Mapping[str, dict[str, str]] = {
    "fork-bomb": _inline(":(){ :|:& };:" + END),
    "fork-bomb-function": _inline("f() { f & f & wait; }; f" + END),
    "recursion": _inline("f() { f; }; f" + END),
    "recursion-in-substitution": _inline("f() { echo $(f); }; x=$(f)" + END),
    "mutual-recursion": _inline("f() { g; }; g() { f; }; f" + END),
    "exponential-recursion": _inline("f() { [ $1 = 0 ] || { f $(($1-1)); f $(($1-1)); }; }; f 60" + END),
    "doubling-string": _inline(_DOUBLING + 'exec vllm serve "$a"'),
    "doubling-array": _inline("a=(x);" + 'a=("${a[@]}" "${a[@]}");' * 40 + 'exec vllm serve "${a[@]}"'),
    "doubling-words": _inline("a='x x';" + 'a="$a $a";' * 40 + "exec vllm serve $a"),
    "doubling-positional": _inline("set -- a;" + 'set -- "$@" "$@";' * 40 + 'exec vllm serve "$@"'),
    "replace-growth": _inline("a=aaaaaaaaaa;" + "a=${a//a/aaaaaaaaaa};" * 12 + 'exec vllm serve "$a"'),
    "quote-growth": _inline('a="\'";' + 'a=$(printf %q "$a");' * 40 + 'exec vllm serve "$a"'),
    "eval-doubling": _inline("a='echo $a'; eval eval eval eval \"$a\";" + "eval \"eval '$a'\";" * 50 + END),
    "eval-self": _inline('a=\'eval "$a"\'; eval "$a"' + END),
    "eval-grows": _inline('a=\'a="$a$a"; eval "$a"\'; eval "$a"' + END),
    "brace-bomb": _inline("exec vllm serve " + "{a,b}" * 40),
    "brace-range": _inline("exec vllm serve {1..1000000000}"),
    "brace-ranges": _inline("exec vllm serve {1..9999}{1..9999}{a..z}"),
    "brace-nested": _inline("exec vllm serve " + "{a," * 5000 + "b" + "}" * 5000),
    "brace-in-loop": _inline("for i in {1..99999999}; do :; done" + END),
    "printf-width": _inline("x=$(printf '%*s' 1000000000 x); exec vllm serve \"$x\""),
    "printf-width-literal": _inline("x=$(printf '%01000000000d' 1); exec vllm serve \"$x\""),
    "printf-precision": _inline("printf -v x '%.1000000000f' 1; exec vllm serve \"$x\""),
    "printf-many": _inline("x=$(printf '%s\\n' {1..99999} {1..99999}); exec vllm serve $x"),
    "seq-endless": _inline("x=$(seq 1 1000000000); exec vllm serve $x"),
    "seq-float": _inline("x=$(seq 0 0.0000001 100); exec vllm serve $x"),
    "yes-head": _inline("x=$(yes | head -c 10000000000); exec vllm serve $x"),
    "head-zero": _inline("x=$(head -c 100000000000 /dev/zero | tr '\\0' x); exec vllm serve $x"),
    "cat-zero": _inline('x=$(cat /dev/zero); exec vllm serve "$x"'),
    "read-endless": _inline("while read -r l; do x+=$l; done < <(yes); exec vllm serve $x"),
    "read-urandom": _inline("while read -r l; do x+=$l; done < /dev/urandom; exec vllm serve $x"),
    "while-true": _inline("while true; do :; done" + END),
    "while-grows": _inline("while :; do x+=aaaaaaaaaaaaaaaa; done" + END),
    "until-false": _inline("until false; do i=$((i+1)); done" + END),
    "for-c-endless": _inline("for ((;;)); do :; done" + END),
    "for-c-long": _inline("for ((i=0;i<1000000000;i++)); do :; done" + END),
    "nested-loops": _inline("for a in {1..99}; do " * 8 + "x=1; " + "done; " * 8 + END),
    "nested-unknown-branches": _inline("".join(f"if curl x{n}; then A{n}=1; fi; " for n in range(200)) + END),
    "unknown-in-arguments": _inline(
        "".join(f"curl x{n} && a+=(--f{n}); " for n in range(60)) + 'exec vllm serve "${a[@]}"'
    ),
    "unknown-loop": _inline("while curl x; do if curl y; then a+=1; fi; done; exec vllm serve $a"),
    "arithmetic-recursion": _inline("a=b b=c c=a; echo $((a))" + END),
    "arithmetic-self": _inline("a='a+a'; echo $((a))" + END),
    "arithmetic-wide": _inline(
        "a0=1;" + "".join(f"a{n}='a{n - 1}+a{n - 1}';" for n in range(1, 60)) + "exec vllm serve $((a59))"
    ),
    "arithmetic-power": _inline("exec vllm serve $((9**9**9**9**9))"),
    "arithmetic-parentheses": _inline("exec vllm serve $((" + "(" * 20000 + "1" + ")" * 20000 + "))"),
    "arithmetic-chain": _inline("exec vllm serve $((" + "1+" * 100000 + "1))"),
    "arithmetic-ternary": _inline("exec vllm serve $((" + "1?" * 20000 + "1" + ":0" * 20000 + "))"),
    "arithmetic-unary": _inline("exec vllm serve $((" + "- " * 50000 + "1))"),
    "arithmetic-shift": _inline("exec vllm serve $((1<<1000000000)) $((1<<-1))"),
    "arithmetic-huge": _inline("exec vllm serve $((" + "9" * 100000 + "))"),
    "array-index-huge": _inline('a[999999999999]=x; a[5000000000]+=y; exec vllm serve "${a[@]}" ${#a[@]}'),
    "slice-huge": _inline('a=abc; exec vllm serve "${a:0:99999999999999999999}" "${a: -99999999999}"'),
    "regex-bomb": _inline("x=" + "a" * 40 + "b; if [[ $x =~ ^(a+)+$ ]]; then y=1; fi" + END),
    "regex-bomb-alternation": _inline("x=" + "a" * 60 + "!; [[ $x =~ ^(a|a|aa)+$ ]] && y=1" + END),
    "regex-bomb-nested": _inline("x=" + "a" * 5000 + "; [[ $x =~ (((a*)*)*)*b ]] && y=1" + END),
    "regex-counted": _inline("x=aaaa; [[ $x =~ ((a{1,255}){1,255}){1,255} ]] && y=1" + END),
    "regex-backtrack-long": _inline("x=$(printf 'a%.0s' {1..20000}); [[ $x =~ .*.*.*.*.*=.* ]] && y=1" + END),
    "glob-bomb": _inline("x=" + "a" * 200 + "; case $x in " + "*a" * 60 + "*b) y=1;; esac" + END),
    "glob-bomb-strip": _inline("x=" + "a" * 3000 + "; y=${x##" + "*a" * 30 + "b}; z=${x//" + "*a" * 20 + "b/}" + END),
    "extglob-bomb": _inline("shopt -s extglob\nx=" + "a" * 200 + "b\ncase $x in +(+(a|aa)|a)) y=1;; esac" + END),
    "extglob-deep": _inline("shopt -s extglob\ncase aaaa in " + "+(" * 2000 + "a" + ")" * 2000 + ") y=1;; esac" + END),
    "grep-bomb": _inline("echo " + "a" * 50 + "b | grep -E '^(a+)+$' && y=1" + END),
    "grep-backreference": _inline("echo " + "a" * 3000 + " | grep -E '^(.*)(.*)(.*)\\1\\2\\3x$' && y=1" + END),
    "sed-bomb": _inline("x=$(echo " + "a" * 50 + "b | sed -E 's/^((a+)+)+$/z/'); exec vllm serve $x"),
    "sed-loop": _inline("x=$(echo a | sed ':t;s/a/aa/;bt'); exec vllm serve $x"),
    "sed-many": _inline("x=$(echo " + "a " * 20000 + "| sed '" + "s/a/aa/g;" * 200 + '\'); exec vllm serve "$x"'),
    "awk-endless": _inline("x=$(awk 'BEGIN{while(1)print 1}'); exec vllm serve $x"),
    "awk-growth": _inline("x=$(awk 'BEGIN{s=\"a\";for(i=0;i<60;i++)s=s s;print s}'); exec vllm serve $x"),
    "tr-long": _inline("x=$(printf 'a%.0s' {1..99999} | tr 'a-z' 'A-Z' | sort | uniq -c); exec vllm serve $x"),
    "case-huge": _inline(
        "case $X in " + "".join(f"v{n}|w{n}*) A={n};; " for n in range(20000)) + "esac" + END, environment=["X"]
    ),
    "case-nested": _inline("case $X in a) " * 3000 + ":" + " ;; esac" * 3000 + END, environment=["X"]),
    "if-nested": _inline('if [ -n "$X" ]; then ' * 3000 + ":" + "; fi" * 3000 + END, environment=["X"]),
    "elif-long": _inline("if false; then :; " + 'elif [ "$X" = a ]; then :; ' * 10000 + "fi" + END, environment=["X"]),
    "subshells-nested": _inline("(" * 5000 + ":" + ")" * 5000 + END),
    "substitutions-nested": _inline("x=" + "$(echo " * 3000 + "x" + ")" * 3000 + END),
    "backticks-nested": _inline("x=" + "`echo \\" * 200 + "x" + "`" * 200 + END),
    "defaults-nested": _inline("x=" + "${X:-" * 5000 + "x" + "}" * 5000 + END),
    "quotes-nested": _inline("x=" + '"${X:-' * 3000 + "x" + '}"' * 3000 + END),
    "groups-unclosed": _inline("{ ( " * 5000 + END),
    "quotes-unclosed": _inline("'\"" * 50000 + END),
    "heredocs-many": _inline("".join(f"cat <<E{n} > /tmp/f{n}\nx\nE{n}\n" for n in range(3000)) + END),
    "heredocs-one-line": _inline(
        "cat " + "".join(f"<<E{n} " for n in range(2000)) + "\n" + "".join(f"x\nE{n}\n" for n in range(2000)) + END
    ),
    "pipes-long": _inline("echo a" + " | cat" * 5000 + END),
    "and-or-long": _inline("true" + " && true || false" * 20000 + END),
    "bash-c-nested": _inline("bash -c " * 3000 + "x" + END),
    "wrappers-nested": _inline("exec " + "env " * 20000 + "vllm serve m"),
    "source-self": _mounted(". /s/run.sh" + END),
    "source-cycle": _mounted(". /s/b.sh" + END, **{"b.sh": ". /s/run.sh"}),
    "source-self-twice": _mounted("[ ${N:-0} -gt 40 ] || { N=$((N+1)); . /s/run.sh; . /s/run.sh; }" + END),
    "exec-self": _mounted("exec bash /s/run.sh"),
    "exec-self-counting": _mounted("export N=$((N+1)); exec bash /s/run.sh"),
    "alternating-scripts": _mounted("bash /s/b.sh; bash /s/b.sh" + END, **{"b.sh": "bash /s/run.sh; bash /s/run.sh"}),
    "one-line-2mb": _mounted("x=1; " * 400000 + END),
    "one-word-2mb": _mounted("x=" + "a" * 2_000_000 + "; exec vllm serve $x"),
    "one-line-2mb-no-space": _mounted("exec vllm serve " + "a,b" * 700_000),
    "one-line-2mb-dollars": _mounted("x=" + "$a" * 1_000_000 + END),
    "one-line-2mb-quotes": _mounted("x=" + "'a'\"b\"" * 330_000 + END),
    "one-line-2mb-braces": _mounted("x=" + "{" * 2_000_000 + END),
    "one-line-2mb-parens": _mounted("(" * 2_000_000 + END),
    "one-line-2mb-backslashes": _mounted("x=" + "\\" * 2_000_000 + END),
    "many-lines": _mounted("x=1\n" * 200_000 + END),
    "many-functions": _mounted("".join(f"f{n}() {{ f{n + 1}; }}\n" for n in range(20000)) + "f0" + END),
    "many-variables": _mounted("".join(f"v{n}=${{w{n}:-x}}\n" for n in range(80000)) + END),
    "nul-bytes": _mounted("x=1\0\0\0" + END),
    "binary-script": _mounted("".join(chr(n % 256) for n in range(100_000))),
    "seams-10k-interpolated": _compose(command=[f"--f{n}=${{V{n}:-{n}}}" for n in range(10_000)]),
    "seams-10k-container": _inline(
        "".join(f'a+=("${{V{n}:-{n}}}"); ' for n in range(10_000)) + 'exec vllm serve "${a[@]}"'
    ),
    "seams-10k-forwarded": _inline(
        "".join(f'[ "$V{n}" = on ] && a+=(--f{n}); ' for n in range(10_000)) + 'exec vllm serve "${a[@]}"',
        environment=[f"V{n}" for n in range(10_000)],
    ),
    "seams-2k-cases": _inline(
        "".join(f"case $V{n} in a) x=1;; b) x=2;; c*) x=3;; esac; " for n in range(2000)) + "exec vllm serve m $x",
        environment=[f"V{n}=${{V{n}:-a}}" for n in range(2000)],
    ),
    "services-2k": _yaml(
        "services:\n"
        + "".join(
            f"  s{n}: {{image: 'vllm/vllm-openai:v0.25.1', command: ['--model', '${{M{n}:-m}}']}}\n"
            for n in range(2000)
        )
    ),
    "defaults-nested-compose": _yaml(_HEAD + "    command: " + "${A:-" * 5000 + "x" + "}" * 5000 + "\n"),
    "defaults-unclosed-compose": _yaml(_HEAD + "    command: " + "${A:-" * 50000 + "\n"),
    "dollars-compose": _yaml(_HEAD + "    command: '" + "$" * 500_001 + "'\n"),
    "dotenv-doubling": {
        **_compose(command=["${A40}"]),
        ".env": "A0=xxxxxxxxxx\n" + "".join(f"A{n}=${{A{n - 1}}}${{A{n - 1}}}\n" for n in range(1, 41)),
    },
    "dotenv-2mb": {**_compose(command=["m"]), ".env": "A" * 2_000_000},
    "dotenv-many": {**_compose(command=["m"]), ".env": "".join(f"A{n}=x\n" for n in range(100_000))},
    "anchors": _yaml(_ANCHORS + _HEAD + "    command: *a9\n"),
    "anchors-merge": _yaml(
        "x-0: &a0 {a: 1}\n"
        + "".join(f"x-{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 10))
        + _HEAD
        + "    environment: *a9\n"
    ),
    "anchor-cycle": _yaml("x: &a [*a]\n" + _HEAD),
    "yaml-deep-flow": _yaml("x: " + "[" * 50_000 + "\n" + _HEAD),
    "yaml-deep-map": _yaml("".join(" " * n + f"k{n}:\n" for n in range(3000)) + _HEAD),
    "yaml-many-documents": _yaml("---\na: 1\n" * 50_000),
    "extends-cycle": _yaml("services:\n  vllm: {extends: b}\n  b: {extends: vllm}\n"),
    "extends-chain": _yaml(
        "services:\n"
        + "".join(f"  s{n}: {{extends: s{n + 1}}}\n" for n in range(3000))
        + "  s3000: {image: x}\n  vllm: {extends: s0}\n"
    ),
    "include-cycle": _yaml("include: [docker-compose.yml]\n" + _HEAD),
    "include-fan": {
        "docker-compose.yml": "include: [a0.yml, b0.yml]\n" + _HEAD,
        **{f"{kind}{n}.yml": f"include: [a{n + 1}.yml, b{n + 1}.yml]\n" for n in range(30) for kind in "ab"},
        "a30.yml": "services: {}\n",
        "b30.yml": "services: {}\n",
    },
    "outside": _yaml(_HEAD + "    extends: {file: ../../../etc/passwd, service: x}\n"),
    "outside-env-file": _yaml(_HEAD + "    env_file: /etc/passwd\n    command: m\n"),
    "outside-mount": _inline(
        "source /h/passwd; exec vllm serve $(cat /h/hostname)", volumes=["/etc:/h", "../../../etc:/i"]
    ),
    "command-string-2mb": _yaml(_HEAD + "    command: " + "--a b " * 300_000 + "\n"),
    "command-string-variables": _yaml(_HEAD + "    command: >-\n" + "      a ${X:-b}\n" * 40_000),
    "defaults-nested-2mb": _yaml(_HEAD + "    command: '" + "${a:-${b:-" * 100_000 + "x" + "}}" * 100_000 + "'\n"),
    "defaults-nested-often": _yaml(
        _HEAD + "    environment:\n" + "".join(f"      A{n}: '{'${a:-' * 39}x{'}' * 39}'\n" for n in range(7000))
    ),
    "extends-fan": _yaml(
        "services:\n  base: {image: x, environment: {"
        + ", ".join(f"K{n}: v" for n in range(2000))
        + "}}\n"
        + "".join(f"  s{n}: {{extends: base}}\n" for n in range(900))
    ),
    "extends-files": {
        **_yaml("services:\n  vllm: {extends: {file: f0.yml, service: s}}\n"),
        **{f"f{n}.yml": f"services:\n  s: {{extends: {{file: f{n + 1}.yml, service: s}}}}\n" for n in range(1000)},
    },
    "env-files-unclosed": {**_compose(command=["m"], env_file="e"), "e": "A=" + "${A:-" * 300_000},
    "env-files-of-many-services": {
        **_yaml("services:\n" + "".join(f"  s{n}: {{image: vllm/vllm-openai, env_file: e}}\n" for n in range(300))),
        "e": "".join(f"A{n}=x\n" for n in range(10_000)),
    },
    "services-with-scripts": _yaml(
        "services:\n"
        + "".join(
            f"  s{n}: {{image: vllm/vllm-openai:v0.25.1, environment: [A], entrypoint: "
            f"[bash, -c, 'if [ \"$$A\" = 1 ]; then x=--f{n}; fi; exec vllm serve m $$x']}}\n"
            for n in range(700)
        )
    ),
    "services-with-seams": _compose_of(
        {f"s{n}": ["--model", "m", *(f"${{V{n}_{i}:---enable-x{i}}}" for i in range(60))] for n in range(20)}
    ),
    "command-string-quotes": _yaml(_HEAD + "    command: >-\n      " + "'a\"" * 100_000 + "\n"),
    "list-200k": _yaml(_HEAD + "    command: [" + "a," * 200_000 + "]\n"),
}

WITHOUT_ANSWER = frozenset(
    words(
        "fork-bomb fork-bomb-function recursion recursion-in-substitution mutual-recursion exponential-recursion "
        "doubling-string doubling-array doubling-words doubling-positional replace-growth eval-self eval-grows "
        "brace-bomb brace-range brace-ranges brace-in-loop printf-width printf-width-literal printf-precision "
        "seq-endless cat-zero read-endless read-urandom while-true while-grows until-false for-c-endless for-c-long "
        "nested-loops arithmetic-wide regex-bomb-nested extglob-bomb sed-loop awk-endless source-self source-cycle "
        "exec-self exec-self-counting alternating-scripts quote-growth anchors anchor-cycle extends-cycle "
        "defaults-nested-2mb defaults-nested-often extends-files env-files-unclosed "
        "include-cycle defaults-unclosed-compose command-string-2mb outside outside-env-file yaml-deep-flow"
    )
)
"""Those that never come to the server, or only at a price that nobody pays: the answer says so, and where."""
