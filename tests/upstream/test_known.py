"""What released sources say: what is shipped first, then a probe of the source."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from bot.learn.source import SourceTree
from bot.upstream.known import known_from
from bot.upstream.probefile import read_probes

REFERENCE = "vllm-project/vllm#1"
FORMS = [
    {"holds": True, "because": "it is read", "checks": [{"in": "vllm/a.py:f", "parameter": "p"}]},
    {"holds": False, "because": "it is ignored", "checks": [{"in": "vllm/a.py:f", "parameter": "p", "read": False}]},
]
PROBES = read_probes({REFERENCE: {"title": "x", "forms": FORMS}})
SOURCES = {"0.34.0": "def f(p):\n  return p\n", "0.35.0": "def f(p):\n  return 1\n", "0.36.0": "g = 1\n"}


@pytest.mark.parametrize(
    ("reference", "release", "expected"),
    [
        (REFERENCE, "0.34.0", (True, "it is read")),
        (REFERENCE, "0.35.0", (False, "it is ignored")),
        (REFERENCE, "0.36.0", (None, "neither the old nor the new form of the code is found")),
        (REFERENCE, "0.33.0", (False, "looked up")),
        (REFERENCE, "0.37.0", None),
        ("vllm-project/vllm#2", "0.34.0", None),
    ],
)
def test_who_is_asked(reference: str, release: str, expected: tuple[bool | None, str] | None) -> None:
    asked: list[str] = []

    def source(release: str, paths: Iterable[str]) -> SourceTree | str:
        asked.append(release)
        assert list(paths) == ["vllm/a.py"]
        return SourceTree({"vllm/a.py": SOURCES[release]}.get) if release in SOURCES else "not at hand"

    known = known_from(lambda _, release: (False, "looked up") if release == "0.33.0" else None, source, PROBES)
    answers = [known(reference, release) for _ in range(2)]
    if expected is not None and expected[0] is None:
        assert answers[0] is not None
        assert answers[0][0] is None
    else:
        assert answers == [expected, expected]
    assert len(asked) <= 1


def test_what_nobody_could_tell_is_looked_up_in_the_source() -> None:
    known = known_from(
        lambda *_: (None, "a candidate"), lambda *_: SourceTree({"vllm/a.py": SOURCES["0.34.0"]}.get), PROBES
    )
    assert known(REFERENCE, "0.34.0rc1") == (True, "it is read")
