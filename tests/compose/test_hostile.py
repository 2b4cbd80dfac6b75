"""Composes that are made to hurt end in a clear error, or are resolved; never a crash, never without end."""

from __future__ import annotations

import pytest

from bot.compose import Documents, load_project, looks_like_compose
from bot.tree import MemoryTree

_S = "services:\n  s:\n    image: i\n"
_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n" for below, name in zip("abcdefgh", "bcdefghi", strict=True)
)

_REFUSED = {
    "aliases that multiply": (f"{_BOMB}{_S}    command: *i\n", "too-large"),
    "an anchor in itself": (f"a: &a\n  b: *a\n{_S}", "cycle"),
    "deep flow": ("a: " + "[" * 100_000, "not-yaml"),
    "deep mappings": ("".join(f"{' ' * depth}a:\n" for depth in range(1_000)), "too-large"),
    "deep sequences": ("- " * 10_000 + "x", "too-large"),
    "deep defaults": (f'{_S}    command: "{"${A:-" * 5_000}{"}" * 5_000}"\n', "too-large"),
    "unclosed variables": (f'{_S}    command: "{"${A:-" * 20_000}"\n', "interpolation"),
    "many services": ("services:\n" + "".join(f"  s{n}: {{image: i}}\n" for n in range(5_000)), "too-large"),
    "many ports": (
        f"{_S}    ports:\n" + "".join(f'      - "1.1.1.{n}:1-65535:1-65535"\n' for n in range(200)),
        "too-large",
    ),
    "long values": (f'{_S}    command: "{"$LONG" * 2_000}"\n', "interpolation"),
    "binary": ("\x00\x01\x02" * 100, "not-yaml"),
    "a ring of extensions": (
        "services:\n" + "".join(f"  s{n}: {{image: i, extends: s{(n + 1) % 300}}}\n" for n in range(300)),
        "cycle",
    ),
    "a huge number": (f'{_S}    cpus: "{"9" * 100_000}"\n', "interpolation"),
    "a huge duration": (f'{_S}    stop_grace_period: "{"9" * 100_000}s"\n', "invalid"),
    "a long row of extensions": (
        "services:\n  s0: {image: i}\n" + "".join(f"  s{n + 1}: {{extends: s{n}}}\n" for n in range(900)),
        "cycle",
    ),
}


@pytest.mark.parametrize(("text", "kind"), _REFUSED.values(), ids=_REFUSED)
def test_refused_with_a_line(text: str, kind: str) -> None:
    documents = Documents(MemoryTree({"compose.yml": text}))
    errors = load_project(documents, ["compose.yml"], {"LONG": "x" * 5_000}).errors
    assert errors[0].kind == kind
    assert errors[0].line is not None
    looks_like_compose(documents, "compose.yml")


_DOUBLING = "A0=xxxxxxxx\n" + "".join(f"A{n + 1}=${{A{n}}}${{A{n}}}\n" for n in range(40))
_FILES = {
    "variables that double": ({"compose.yml": _S, ".env": _DOUBLING}, "not-yaml"),
    "variables of a service that double": ({"compose.yml": f"{_S}    env_file: e\n", "e": _DOUBLING}, "not-yaml"),
    "inclusions that double": (
        {"compose.yml": f"include: [f0, f0]\n{_S}", "f40": _S}
        | {f"f{n}": f"include: [f{n + 1}, f{n + 1}]\nservices: {{s{n}: {{image: i}}}}\n" for n in range(40)},
        "too-large",
    ),
}


@pytest.mark.parametrize(("files", "kind"), _FILES.values(), ids=_FILES)
def test_files_refused_with_a_line(files: dict[str, str], kind: str) -> None:
    errors = load_project(Documents(MemoryTree(files)), ["compose.yml"], {}).errors
    assert errors[0].kind == kind
    assert errors[0].line is not None


_RESOLVED = {
    "ten thousand variables": f"{_S}    environment:\n"
    + "".join(f"      V{n}: ${{V{n}:-$A}}\n" for n in range(10_000)),
    "variables in one line": f'{_S}    command: ["' + "".join(f"${{V{n}:-x}} " for n in range(10_000)) + '"]\n',
    "many variables in one scalar": f'{_S}    command: "' + "${X:-b}" * 50_000 + '"\n',
    "many variables in a folded block": f"{_S}    command: >\n" + "      a b ${X}\n" * 10_000,
    "many words": f'{_S}    command: "' + "a " * 50_000 + '"\n',
    "many quotes": f"{_S}    command: >-\n      " + "'a' " * 10_000 + "\n",
    "a long folded block": f"{_S}    command: >\n" + "      a b\n\n" * 10_000,
    "many labels": f"{_S}    labels:\n" + "".join(f"      k{n}: v\n" for n in range(20_000)),
    "many dependencies": "services:\n"
    + "".join(
        f"  s{n}: {{image: i, depends_on: [{', '.join(f's{m}' for m in range(n + 1, min(n + 20, 300)))}]}}\n"
        for n in range(300)
    ),
    "a null byte": f'{_S}    command: "a\\0b"\n',
    "a huge integer": f"{_S}    environment: {{A: {'9' * 100_000}}}\n",
    "a size beyond all numbers": f"{_S}    shm_size: 1e308g\n",
    "carriage returns": _S.replace("\n", "\r\n"),
    "a byte order mark": f"\ufeff{_S}",
}


@pytest.mark.parametrize("text", _RESOLVED.values(), ids=_RESOLVED)
def test_resolved(text: str) -> None:
    project = load_project(Documents(MemoryTree({"compose.yml": text})), ["compose.yml"], {"A": "1"})
    assert project.errors == ()
    assert project.services
