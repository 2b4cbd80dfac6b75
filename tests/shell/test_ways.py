"""Symbols, forks, steps, reasons and facts: what bash cannot tell, because it knows everything."""

from __future__ import annotations

import pytest

from bot.provenance import Word
from bot.shell import Process, run
from tests.shell.ask import Mounts, argvs, entrypoint

NVLINK = """
source /etc/box/detect.sh
if [ "${_NVLINK:-0}" = "1" ]; then
  exec vllm serve "$@"
else
  exec vllm serve --disable-custom-all-reduce "$@"
fi
"""


def test_unknown_source_forks_on_what_it_may_set() -> None:
    result = entrypoint(NVLINK, "--model", "m")
    assert [(dict(one.assumed), argv) for one, argv in zip(result.outcomes, argvs(result), strict=True)] == [
        ({"_NVLINK": "1"}, ["vllm", "serve", "--model", "m"]),
        ({"_NVLINK": "not 1"}, ["vllm", "serve", "--disable-custom-all-reduce", "--model", "m"]),
    ]
    assert result.sourced == ("/etc/box/detect.sh",)
    assert any("assumed to change nothing" in note.reason for note in result.outcomes[0].notes)


@pytest.mark.parametrize(("value", "extra"), [("1", []), ("0", ["--disable-custom-all-reduce"])])
def test_symbols_can_be_fixed(value: str, extra: list[str]) -> None:
    result = entrypoint(NVLINK, symbols={"_NVLINK": value})
    assert argvs(result) == [["vllm", "serve", *extra]]


def test_later_tests_of_a_symbol_agree_with_earlier_ones() -> None:
    script = 'x=$(nvidia-smi -q)\n[ "$x" = a ] && A=1\ncase $x in a) B=1;; b) B=2;; *) B=3;; esac\nvllm serve "$A$B"'
    result = entrypoint(script)
    assert argvs(result) == [["vllm", "serve", "11"], ["vllm", "serve", "2"], ["vllm", "serve", "3"]]


def test_numeric_tests_of_a_symbol_agree() -> None:
    script = "n=$(nvidia-smi -L | wc -l)\nif [ $n -gt 4 ]; then L=many; elif (( n > 2 )); then L=some; else L=few; fi\n"
    script += 'if [[ $n -gt 1 ]]; then L+=+; else L+=-; fi\nvllm serve "$L"'
    assert argvs(entrypoint(script)) == [["vllm", "serve", one] for one in ("many+", "some+", "few+", "few-")]


SOURCED = "source /etc/box/detect.sh\n"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param('[ $X -gt 5 ] && [[ $X == 1* ]] && A=1; vllm serve "$A"', {"1", "${A}"}, id="pattern"),
        pytest.param("(( X > 4 )) || exit; (( X % 2 )) && A=odd || A=even; vllm serve $A", {"odd", "even"}, id="odd"),
        pytest.param(
            "if [ $X -gt 5 ]; then A=0; elif [ $X = 2 ]; then A=1; elif [ $X -lt 3 ]; then A=2; else A=3; fi\n"
            "vllm serve $A",
            {"0", "1", "2", "3"},
            id="excluded",
        ),
    ],
)
def test_comparisons_of_numbers_decide_nothing_else(script: str, expected: set[str]) -> None:
    found = [one[2] for one in argvs(entrypoint(SOURCED + script)) if one is not None]
    assert set(found) == expected


@pytest.mark.parametrize("script", ["X=$(grep foo /etc/x) || X=none", "nvidia-smi > /f && X=$(cat /f)"])
def test_how_a_program_ends_is_not_what_it_prints(script: str) -> None:
    (word,) = (one.argv[1] for one in entrypoint(f'{script}; vllm serve "$X"').outcomes[:1] if one.argv is not None)
    assert not word.known


def test_a_failed_stage_fails_the_pipeline() -> None:
    script = "set -o pipefail\nif false | detect; then A=1; else A=2; fi\nvllm serve $A"
    assert argvs(entrypoint(script)) == [["vllm", "serve", "2"]]


def test_a_status_of_several_parts_is_not_known() -> None:
    (outcome,) = entrypoint(SOURCED + 'exit "${X}1"').outcomes
    assert outcome.exit is None


def test_open_questions_on_one_way_are_bounded() -> None:
    result = entrypoint("for i in $(seq 1 2000); do [ -e /x/$i ] && A=1; done; vllm serve $A")
    assert "open questions" in result.unresolved[0].reason


@pytest.mark.parametrize(
    "change",
    [
        "sed -i s/5/6/ /m/a.sh",
        "python3 /m/edit.py /m/a.sh",
        "curl -o /m/a.sh http://x",
        "cp /other /m/a.sh",
        "cp /one/a.sh /two /m",
        "ln -sf /other /m/a.sh",
        "rm -rf /m/*",
        "rm -rf /m; mkdir -p /m",
    ],
)
def test_a_script_that_was_changed_is_not_known(change: str) -> None:
    files = {"/m/a.sh": "A=5", "/m/edit.py": ""}
    (outcome,) = entrypoint(f'{change}\n. /m/a.sh\nvllm serve "$A"', files=files).outcomes
    assert outcome.argv is not None
    assert not outcome.argv[1].known


@pytest.mark.parametrize("use", ["ls -l /m/a.sh", "chmod +x /m/a.sh", "grep -q A /m/a.sh || true", "ln -s /m/a.sh /b"])
def test_a_script_that_was_looked_at_is_still_known(use: str) -> None:
    result = entrypoint(f'{use}\n. /m/a.sh\nvllm serve "$A"', files={"/m/a.sh": "A=5"})
    assert argvs(result) == [["vllm", "serve", "5"]]


def test_what_a_loop_that_waits_sets_is_not_known() -> None:
    (outcome,) = entrypoint('A=()\nuntil curl -s x; do A+=(1); n=1; done\nvllm serve "$n" "${A[@]}"').outcomes
    assert outcome.argv is not None
    assert [(word.known, word.splits) for word in outcome.argv[1:]] == [(False, False), (False, True)]


def test_guards_end_with_a_loop() -> None:
    (outcome,) = entrypoint("for i in 1 2; do\n[ $i = 2 ] && break\ndone\nA=x\nvllm serve $A").outcomes
    assert outcome.argv is not None
    assert [reason.line for reason in outcome.argv[1].because] == [13]


def test_forks_that_make_no_difference_disappear() -> None:
    result = entrypoint("if grep -q flags /proc/cpuinfo; then echo yes; else echo no; fi\nexec vllm serve m")
    assert argvs(result) == [["vllm", "serve", "m"]]
    assert result.outcomes[0].assumed == {}


def test_unknown_words_are_marked() -> None:
    (outcome,) = entrypoint('exec vllm serve "$(hostname)" -tp $(nproc)').outcomes
    assert outcome.argv is not None
    assert [(word.text, word.known, word.splits) for word in outcome.argv] == [
        ("serve", True, False),
        ("${$(hostname)}", False, False),
        ("-tp", True, False),
        ("${$(nproc)}", False, True),
    ]


@pytest.mark.parametrize(
    ("script", "stops"),
    [
        ("bash /box/install.sh || exit 1\nexec vllm serve", True),
        ("bash /box/install.sh\nexec vllm serve", False),
        ("set -e\nbash /box/install.sh\nexec vllm serve", True),
        ("set -e\nbash /box/install.sh || true\nexec vllm serve", False),
        ("if ! bash /box/install.sh; then exit 3; fi\nexec vllm serve", True),
        ("bash /box/install.sh && exec vllm serve", True),
        ("bash /box/install.sh; [ $? -eq 0 ] || exit 1\nexec vllm serve", True),
        ("set -eo pipefail\nbash /box/install.sh 2>&1 | tee /tmp/log\nexec vllm serve", True),
        ("set -e\nbash /box/install.sh 2>&1 | tee /tmp/log\nexec vllm serve", False),
    ],
)
def test_steps_know_whether_their_failure_stops_the_boot(script: str, stops: bool) -> None:
    (outcome,) = entrypoint(script, files={"/box/install.sh": "cp a b\n"}).outcomes
    (step,) = outcome.steps
    assert [word.text for word in step.run] == ["bash", "/box/install.sh"]
    assert (step.before_engine, step.failure_stops_boot) == (True, stops)
    assert outcome.program is not None


def test_a_step_behind_the_engine_is_not_before_it() -> None:
    (outcome,) = entrypoint("vllm serve m &\nbash /box/warm.sh\nwait").outcomes
    assert [(step.before_engine, step.failure_stops_boot) for step in outcome.steps] == [(False, False)]


def test_a_missing_file_fails() -> None:
    result = entrypoint("bash /box/install.sh || exit 4\nexec vllm serve", absent=frozenset({"/box/install.sh"}))
    assert [(one.program, one.exit) for one in result.outcomes] == [(None, 4)]


def test_mounted_scripts_are_followed_to_the_engine() -> None:
    files = {"/app/start.sh": '#!/bin/bash\nexec vllm serve "$MODEL" "$@"\n'}
    process = Process((Word("/app/start.sh"), Word("--x")), {"MODEL": Word("m")})
    result = run(process, Mounts(files))
    assert argvs(result) == [["vllm", "serve", "m", "--x"]]
    assert result.outcomes[0].argv is not None
    assert result.outcomes[0].argv[0].because[-1].path == "repo/app/start.sh"


@pytest.mark.parametrize(
    "prefix",
    [
        "env A=1",
        "nohup",
        "tini -g --",
        "dumb-init --",
        "numactl -N 0 -m 0",
        "stdbuf -oL",
        "nice -n 5",
        "ionice -c 2 -n 0",
        "taskset -c 0-3",
        "timeout -k 5 10",
        "chrt -f 10",
        "gosu user",
        "su-exec user",
        "setsid -w",
        "/usr/bin/env -u B",
        "uv run --with x",
        "env -S 'A=1 nohup'",
    ],
)
def test_wrappers(prefix: str) -> None:
    assert argvs(entrypoint(f"exec {prefix} vllm serve m")) == [["vllm", "serve", "m"]]


@pytest.mark.parametrize(
    "command",
    [
        "llama-server -m x",
        "python3 -m sglang.launch_server --a",
        "python -m vllm.entrypoints.openai.api_server",
        "/opt/venv/bin/vllm serve",
    ],
)
def test_engines_in_the_foreground(command: str) -> None:
    (outcome,) = entrypoint(f"{command}\necho done").outcomes
    assert (outcome.exit, outcome.status) == (None, 0)
    assert argvs(entrypoint(command)) == [command.split(" ")]


def test_other_programs_replace_the_script_too() -> None:
    (outcome,) = entrypoint("exec nginx -g 'daemon off;'").outcomes
    assert argvs(entrypoint("exec nginx -g x")) == [["nginx", "-g", "x"]]
    assert outcome.exit is None


def test_words_say_where_they_come_from() -> None:
    script = 'ARGS=()\nif [ "${SPEC:-on}" != "off" ]; then\n  ARGS=(--speculative-config x)\nfi\n'
    script += 'exec vllm serve "$@" "${ARGS[@]}"'
    (outcome,) = entrypoint(script, "--model").outcomes
    assert outcome.argv is not None
    serve, model, flag, _ = outcome.argv
    assert [reason.line for reason in serve.because] == [14]
    assert [(reason.kind, reason.line) for reason in model.because] == [("compose", 100)]
    assert [(reason.line, reason.text) for reason in flag.because] == [
        (11, 'if [ "${SPEC:-on}" != "off" ]; then'),
        (11, "SPEC is not set"),
        (12, "ARGS=(--speculative-config x)"),
    ]


def test_environment_of_the_engine() -> None:
    (outcome,) = entrypoint("export A=1\nB=2\nKEEP=same\nC=3 exec vllm serve", env={"KEEP": "same", "Z": "z"}).outcomes
    assert {name: word.text for name, word in outcome.exported.items()} == {"A": "1", "C": "3"}
    assert outcome.environment["Z"].text == "z"


def test_facts_cover_branches_that_are_not_taken() -> None:
    script = (
        'MODE="${SPEC:-on}"; MODE="${MODE,,}"\n'
        'case "$MODE" in off|0|no*) exit 0;; esac\n'
        'if [ -n "${KEY:-}" ]; then A="${TP:+--tp $TP}"; fi\n'
        '[ "$COUNT" -gt 3 ] && B=$OTHER\nvllm $A $B'
    )
    result = entrypoint(script)
    read = {(one.name, one.operator, one.inherited, one.position.line) for one in result.reads}
    assert {
        ("SPEC", ":-", True, 10),
        ("MODE", ",,", False, 10),
        ("KEY", ":-", True, 12),
        ("TP", ":+", True, 12),
        ("OTHER", "", True, 13),
        ("A", "", True, 14),
    } <= read
    compared = {(one.name, one.value) for one in result.comparisons}
    assert {("SPEC", "off"), ("SPEC", "0"), ("SPEC", "no"), ("KEY", ""), ("COUNT", "3")} <= compared
    assert {"MODE", "A", "B"} <= result.writes


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ('eval "$(curl http://x)"\nvllm serve', "eval of a text that is not known"),
        ("$(cat /etc/program) serve", "the program's name is not known"),
        ("f() { f; }\nf", "calls itself too deeply"),
        ("while true; do :; done", "more commands than are followed"),
        ("echo {1..1000000000}", "a brace expansion makes too many words"),
        ("x=a; while :; do x=$x$x; done", "a variable grows without end"),
        ("select x in a b; do vllm serve; done", "select asks a person"),
        ("coproc vllm serve", "coproc is not followed"),
    ],
)
def test_what_is_not_guessed_has_a_reason_and_a_line(script: str, reason: str) -> None:
    result = entrypoint(script)
    assert result.outcomes == ()
    assert reason in result.unresolved[0].reason
    position = result.unresolved[0].position
    assert position is not None
    assert position.path == "compose.yml"
    assert 10 <= position.line <= 11


def test_waiting_loops_end() -> None:
    script = "vllm serve m &\nuntil curl -s localhost; do sleep 5; done\nwhile true; do sleep 60; done"
    assert argvs(entrypoint(script)) == [["vllm", "serve", "m"]]


def test_sh_is_dash() -> None:
    assert argvs(entrypoint('x=$(echo "a\\tb"); exec vllm serve "$x" {1,2}', shell="sh")) == [
        ["vllm", "serve", "a\tb", "{1,2}"]
    ]
    assert entrypoint("a=(1 2)\nexec vllm serve", shell="/bin/sh").unresolved


def test_a_step_tells_the_file_that_it_reads() -> None:
    script = 'patch -p1 < /etc/x/a.patch || exit 1; D=/etc/x; patch < "$D/b.patch"; exec vllm serve m'
    (outcome,) = entrypoint(script, files={"/etc/x/a.patch": "--- a\n"}).outcomes
    assert [step.standard_input for step in outcome.steps] == ["/etc/x/a.patch", "/etc/x/b.patch"]


@pytest.mark.parametrize(
    ("script", "ways"),
    [
        ("nvidia-smi -L && A=1; nvidia-smi -L && B=1", {("1", "1"), ("", "")}),
        ("curl -f x && A=1; curl -f x && B=1", {("1", "1"), ("1", ""), ("", "1"), ("", "")}),
        ("[ -f /m ] && A=1; [ -f /m ] && B=1", {("1", "1"), ("", "")}),
        ("[ -f /m ] && A=1; sleep 1; [ -f /m ] && B=1", {("1", "1"), ("1", ""), ("", "1"), ("", "")}),
        ("f() { grep -q $1 /m; }; f a && A=1; f b && B=1", {("1", "1"), ("1", ""), ("", "1"), ("", "")}),
        ("curl x; [ $? = 0 ] && A=1", {("1", ""), ("", "")}),
        ("X=$(curl x) || A=1", {("1", ""), ("", "")}),
        ("set -e; X=$(curl x); A=1", {("1", "")}),
        ("pip install x; [ $? = 0 ] && A=1", {("1", "")}),
    ],
)
def test_what_may_be_answered_otherwise_is_asked_again(script: str, ways: set[tuple[str, str]]) -> None:
    result = entrypoint(f'A=; B=; {script}; exec vllm "$A" "$B"')
    assert not result.unresolved
    assert {tuple(argv[1:]) for argv in argvs(result) if argv is not None} == ways


def test_a_loop_that_waits_long_forgets_what_it_counts() -> None:
    script = "for i in $(seq 90); do curl -f x && break; N=$i; sleep 1; done; exec vllm serve m"
    assert argvs(entrypoint(script)) == [["vllm", "serve", "m"]]
    counted = argvs(entrypoint(script + ' "$N"'))
    assert ["vllm", "serve", "m", ""] in counted
    assert ["vllm", "serve", "m", "90"] in counted
    assert any("${N after the loop}" in argv[-1] for argv in counted if argv)


@pytest.mark.parametrize(
    ("mounts", "command", "argv"),
    [
        ({"/usr/local/bin/vllm": 'exec python3 -m vllm.x "$@"'}, "vllm serve", ["python3", "-m", "vllm.x", "serve"]),
        ({"/opt/vllm": 'exec vllm "$@" --more'}, "/opt/vllm serve", ["vllm", "serve", "--more"]),
        ({"/usr/bin/numactl": 'exec "${@:2}" --shadowed'}, "numactl -a vllm serve", ["vllm", "serve", "--shadowed"]),
        ({"/opt/x/vllm": "exec vllm wrong"}, "vllm serve", ["vllm", "serve"]),
        ({"/app/bin/vllm": "exec vllm wrong"}, "PATH=/app/bin; vllm serve", ["vllm", "wrong"]),
    ],
)
def test_a_mounted_file_is_the_program_of_its_name(mounts: dict[str, str], command: str, argv: list[str]) -> None:
    files = {path: f"#!/bin/bash\n{text}\n" for path, text in mounts.items()}
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin"} if "PATH" in command else None
    script = command.replace("; ", ":$PATH; exec ") if env else f"exec {command}"
    if env:
        files["/app/bin/vllm"] = "#!/bin/bash\nexec /usr/local/bin/vllm wrong\n"
        argv = ["/usr/local/bin/vllm", "wrong"]
    assert argvs(entrypoint(script, files=files, env=env)) == [argv]


@pytest.mark.parametrize("path", ["/usr/bin/vllm", "/opt/venv/bin/vllm"])
def test_a_mounted_program_behind_the_path_of_the_image_is_not_guessed(path: str) -> None:
    result = entrypoint("exec vllm serve m", files={path: "#!/bin/bash\nexec vllm other\n"})
    assert result.unresolved
    assert not result.outcomes


@pytest.mark.parametrize(
    ("text", "locale", "known"), [("abc", "", True), ("é", "", False), ("é", "C.UTF-8", True), ("é", "C", False)]
)
@pytest.mark.parametrize("form", ["${#X}", "${X:0:1}", "${X#?}"])
def test_characters_beyond_ascii_depend_on_the_locale(form: str, text: str, locale: str, known: bool) -> None:
    env = {"X": text, **({"LANG": locale} if locale else {})}
    assert (not entrypoint(f'exec vllm "{form}"', env=env).unresolved) == known


ASKED_AGAIN = "for i in 1 2 3; do {}; done; vllm serve {}"


@pytest.mark.parametrize(
    ("body", "told", "exact"),
    [
        pytest.param('curl x || A+="b"', '"$A"', set(), id="text"),
        pytest.param("curl x || A+=(b)", '"${A[@]}"', set(), id="array"),
        pytest.param('V=$(curl x); [ "$V" = 2 ] && A+=(b)', '"${A[@]}"', set(), id="asked in a substitution"),
        pytest.param("( curl x ) || A+=(b)", '"${A[@]}"', set(), id="asked in a subshell"),
        pytest.param("curl x | grep -q y || A+=(b)", '"${A[@]}"', set(), id="asked in a pipeline"),
        pytest.param('curl x || set -- "$@" b', '"$@"', set(), id="arguments"),
        pytest.param("curl x || echo b >> /tmp/f", '"$(cat /tmp/f)"', set(), id="a file"),
        pytest.param("curl x && break; N=$i", '"$N"', {"", "3"}, id="the last round is the last"),
    ],
)
def test_rounds_may_be_answered_in_any_mixture(body: str, told: str, exact: set[str]) -> None:
    """One failure among successes is another count than none and than all: nothing is told as known that counts."""
    words = [word for argv in argvs(entrypoint(ASKED_AGAIN.format(body, told))) if argv for word in argv[2:]]
    known = {word for word in words if "${" not in word}
    assert any("${" in word for word in words)
    assert known <= exact | {"b"}
    assert not any("bb" in word or "b\nb" in word for word in words)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("[ $(nproc) -gt 4 ]; R=$?", {"0", "${[ $(nproc) -gt 4 ]}"}),
        ("[ $(nproc) -ne 4 ]; R=$?", {"0", "${[ $(nproc) -ne 4 ]}"}),
        ("x=$(nproc); [ $x -gt 2 ] && { [ $x -gt 8 ]; R=$?; }", {"0", "1", ""}),
        ("x=$(nproc); [ $x -gt 4 ] && R=many; [ $x -le 4 ] && R=few", {"many", "few", ""}),
    ],
)
def test_what_a_program_prints_may_be_no_number(script: str, expected: set[str]) -> None:
    """`[` fails with 2 then, however it compares; once a comparison has held it is one."""
    assert {argv[-1] for argv in argvs(entrypoint(f'{script}; vllm serve "$R"')) if argv} == expected
