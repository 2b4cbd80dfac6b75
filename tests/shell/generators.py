"""Random words, patterns, numbers and tests, written so that most of them are valid shell."""

from __future__ import annotations

from hypothesis import strategies as st

SETUP = r"""
x=hello; e=; sp='a b  c '; p=/usr/local/foo.tar.gz; n=42; q='*x?[a]'; c='A,b;C'; nl=$'l1\nl2\n'; t=$'\ta b'; z=007
arr=(one "two three" four ""); sparse=([3]=s3 [1]=s1 [7]="s 7"); none=(); declare -A m=([k]="v w")
set -- p1 "p 2" "" p3; ref=x; ap='arr[1]'; js='{"a": 1}'; s1=":a::b c:"
"""

names = st.sampled_from(
    ["x", "e", "sp", "p", "n", "q", "c", "nl", "t", "z", "js", "s1", "unset_one", "1", "2", "3", "9"]
)
lists = st.sampled_from(["@", "*", "arr[@]", "arr[*]", "sparse[@]", "none[@]", "none[*]", "sparse[*]"])
elements = st.sampled_from(
    ["arr[1]", "arr[-1]", "sparse[3]", "sparse[2]", "m[k]", "m[zz]", "arr[n-42]", "ref", "!ref", "!ap"]
)
literals = st.text(alphabet="ab-_/.:,=%+@^~1 ", min_size=0, max_size=4)
safe_literals = st.text(alphabet="abcxyz019-_/.:,=%+@^", min_size=0, max_size=5)

glob_pieces = st.sampled_from(
    [
        "*",
        "?",
        "[a-c]",
        "[!a-z]",
        "[[:alpha:]]",
        "[^l]",
        "l",
        "a",
        "/",
        ".",
        "o",
        "[]a]",
        "[a",
        "\\*",
        "'*'",
        '"?"',
        "\\ ",
        "e",
        "[0-9]",
        "1",
    ]
)
patterns = st.lists(glob_pieces, min_size=1, max_size=4).map("".join)

numbers = st.integers(-9, 12).map(str)


def operations(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """What may stand behind a name in `${…}`."""
    return st.one_of(
        st.tuples(st.sampled_from([":-", "-", ":+", "+"]), inner).map("".join),
        st.tuples(st.sampled_from(["#", "##", "%", "%%", "^", "^^", ",", ",,"]), patterns).map("".join),
        st.tuples(st.sampled_from(["/", "//", "/#", "/%"]), patterns, st.just("/"), safe_literals).map("".join),
        st.tuples(st.sampled_from(["/", "//"]), patterns).map("".join),
        st.tuples(st.just(": "), numbers).map("".join),
        st.tuples(st.just(": "), numbers, st.just(": "), numbers).map("".join),
        st.sampled_from(["", "^", "^^", ",", ",,", "@Q", "@U", "@u", "@L", "@E"]),
    )


def _words(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parameter = st.tuples(st.just("${"), st.one_of(names, lists, elements), operations(children), st.just("}")).map(
        "".join
    )
    length = st.one_of(names, lists, st.sampled_from(["arr[1]", "sparse[9]"])).map(lambda name: f"${{#{name}}}")
    return st.one_of(
        parameter,
        length,
        children.map(lambda word: '"' + word.replace('\\"', "").replace('"', "") + '"'),
        st.tuples(children, children).map("".join),
        children.map(lambda word: f"$(echo {word})"),
        children.map(lambda word: f'"$(printf "%s" {word})"'),
        st.tuples(children, children).map(lambda two: f"{{{two[0]},{two[1]}}}"),
    )


plain_words = st.one_of(
    safe_literals,
    st.one_of(names, st.sampled_from(["@", "*", "#", "?", "0"])).map(lambda name: f"${{{name}}}"),
    names.filter(str.isidentifier).map(lambda name: f"${name}"),
    lists.map(lambda name: f'"${{{name}}}"'),
    literals.map(lambda text: f"'{text}'"),
    literals.map(lambda text: f'"{text}"'),
    st.sampled_from(
        ["\\ ", "\\\\", "$'a\\tb\\x41'", "$'\\''", "~", "{a,b}", "{1..3}", "$n", "\\$x", '"\\"$x\\""', "$'\\n'", "''"]
    ),
)
words = st.recursive(plain_words, _words, max_leaves=6)
"""Words in every combination of quotes, parameters, operators and substitutions."""


def _expressions(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.sampled_from(
        ["+", "-", "*", "/", "%", "**", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "&&", "||", ","]
    )
    return st.one_of(
        st.tuples(children, binary, children).map(" ".join),
        children.map(lambda inner: f"({inner})"),
        st.tuples(st.sampled_from(["!", "~", "-", "+", "- "]), children).map("".join),
        st.tuples(children, children, children).map(lambda three: f"{three[0]} ? {three[1]} : {three[2]}"),
        st.tuples(
            st.sampled_from(["i", "j", "sparse[2]"]),
            st.sampled_from(["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="]),
            children,
        ).map(lambda three: f"({three[0]} {three[1]} {three[2]})"),
    )


expressions = st.recursive(
    st.one_of(
        st.integers(0, 70).map(str),
        st.sampled_from(
            [
                "n",
                "i",
                "i++",
                "++j",
                "j--",
                "0x1f",
                "017",
                "2#101",
                "36#z",
                "z",
                "9223372036854775807",
                "$n",
                "${i}",
                "none",
                "sparse[3]",
                "x",
            ]
        ),
    ),
    _expressions,
    max_leaves=6,
)
"""Arithmetic, with a few operands that are errors."""

test_values = st.sampled_from(
    [
        '"$x"',
        '"$e"',
        '"$sp"',
        '"$n"',
        '"$unset_one"',
        "5",
        "abc",
        '""',
        '"$c"',
        "-n",
        "=",
        "!",
        "007",
        '" 5 "',
        "-5",
        "a*",
        '"a*"',
        '"("',
    ]
)
bracket_tests = st.recursive(
    st.one_of(
        test_values,
        st.tuples(st.sampled_from(["-n", "-z", "!", "-e", "-f", "-d"]), test_values).map(" ".join),
        st.tuples(
            test_values, st.sampled_from(["=", "!=", "==", "-eq", "-ne", "-lt", "-ge", "\\<", "\\>"]), test_values
        ).map(" ".join),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["-a", "-o"]), inner).map(" ".join),
        inner.map(lambda one: f"! {one}"),
        inner.map(lambda one: f"\\( {one} \\)"),
    ),
    max_leaves=3,
)
"""Arguments of `[`."""

_conditional_values = st.sampled_from(["$x", '"$e"', "$sp", "$n", "$unset_one", "5", "abc", "''", "$c", "007", "$z"])
regular_expressions = st.lists(
    st.sampled_from(
        [
            "a",
            "l",
            ".",
            "^",
            "$",
            "[a-z]",
            "[^0-9]",
            "+",
            "*",
            "?",
            "(l)",
            "(e|h)",
            "{1,2}",
            "[[:digit:]]",
            "\\.",
            "o",
            "2",
        ]
    ),
    min_size=1,
    max_size=5,
).map("".join)
conditionals = st.recursive(
    st.one_of(
        st.tuples(st.sampled_from(["-n", "-z", "-v x #", "-d"]), _conditional_values).map(
            lambda two: " ".join(two).split("#")[0]
        ),
        st.tuples(_conditional_values, st.sampled_from(["==", "!=", "="]), patterns).map(" ".join),
        st.tuples(_conditional_values, st.sampled_from(["-eq", "-lt", "-ge", "<", ">"]), _conditional_values).map(
            " ".join
        ),
        st.tuples(_conditional_values, st.just("=~"), regular_expressions).map(" ".join),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(" ".join),
        inner.map(lambda one: f"! {one}"),
        inner.map(lambda one: f"( {one} )"),
    ),
    max_leaves=3,
)
"""The inside of `[[ ]]`."""

formats = st.lists(
    st.one_of(
        st.sampled_from(["a", " ", "\\n", "\\t", "%%", "\\x41", "\\101", "-", "\\\\"]),
        st.tuples(
            st.just("%"),
            st.sampled_from(["", "-", "0", "+", " ", "#", "-0"]),
            st.sampled_from(["", "3", "8"]),
            st.sampled_from(["", ".2", ".0", "."]),
            st.sampled_from("sdixXoucbqeEfgG"),
        ).map("".join),
    ),
    min_size=1,
    max_size=4,
).map("".join)
format_arguments = st.lists(
    st.sampled_from(
        [
            "5",
            "-7",
            "abc",
            "'a b'",
            "''",
            "0x1f",
            "010",
            "3.75",
            "'\"A'",
            "12abc",
            "'a\\tb'",
            "+3",
            "1e3",
            '"$x"',
            '"$sp"',
        ]
    ),
    max_size=4,
).map(" ".join)
printfs = st.tuples(formats, format_arguments).map(lambda two: f"printf -v one -- '{two[0]}' {two[1]}; s=$?")

separators = st.sampled_from(["", " ", ":", ": ", ",", " ,", "$'\\n'", "a"])
lines = st.text(alphabet="ab :,\\ \t", max_size=10)
reads = st.tuples(separators, st.sampled_from(["-r", "", "-ra"]), st.sampled_from(["u", "u v", "u v w"]), lines).map(
    lambda four: (
        f"IFS={four[0] if four[0].startswith('$') else repr(four[0])} read {four[1]} "
        f"{four[2].split()[0] if four[1] == '-ra' else four[2]} <<< '{four[3]}'"
    )
)
