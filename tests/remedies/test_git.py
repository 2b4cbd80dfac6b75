"""What is offered is taken by `git apply`, is accepted by Docker Compose, and leaves every other byte alone."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.audit import audit
from bot.cli.opening import opened
from bot.remedies import Changed, Offer, patch, remedies
from tests.compose.oracle import ask_docker_compose, needs_docker_compose
from tests.corpus import CORPUS, needs_corpus
from tests.remedies.repositories import EARLY, HYBRID, MISSPELT, PATH, RULES, SEAM, answers, offer


def applied(folder: Path, files: Mapping[str, str], diff: str) -> dict[str, str]:
    """The files after `git apply`."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for check in (["--check"], []):
        subprocess.run(["git", "apply", *check, "-"], cwd=folder, input=diff.encode(), check=True)
    return {path: (folder / path).read_bytes().decode() for path in files}


def assert_only_an_edit(file: Changed) -> None:
    """The lines that are replaced are few, and all others are the same bytes."""
    start, end, text = file.span
    old = file.before.split("\n")
    assert "\n".join([*old[: start - 1], *text.split("\n"), *old[end:]]) == file.after or not text
    assert end - start < 12


CASES = {
    "dead-seam": SEAM,
    "early-interpolation": EARLY,
    "unknown-flag": MISSPELT,
    "mtp-prefix-cache-hybrid": HYBRID,
}


@pytest.mark.parametrize("rule", CASES)
@pytest.mark.parametrize("shape", ["plain", "crlf", "bom", "no end"])
def test_git_takes_the_diff(tmp_path: Path, rule: str, shape: str) -> None:
    text = {
        "plain": CASES[rule],
        "crlf": CASES[rule].replace("\n", "\r\n"),
        "bom": f"\ufeff{CASES[rule]}",
        "no end": CASES[rule].rstrip("\n"),
    }[shape]
    found = offer({PATH: text}, rule)
    assert applied(tmp_path, {PATH: text}, patch(found.files)) == {PATH: found.files[0].after}
    assert_only_an_edit(found.files[0])


@pytest.mark.parametrize("path", ["a b/engine.yml", 'quo"te/engine.yml', "ünï/engine.yml", "tab\t/engine.yml"])
def test_git_takes_strange_paths(tmp_path: Path, path: str) -> None:
    file = Changed(path, "a\nb\n", "a\nb\nc\n")
    assert applied(tmp_path, {path: file.before}, patch([file])) == {path: file.after}


@needs_docker_compose
@pytest.mark.parametrize("rule", CASES)
def test_docker_compose_takes_the_edited_file(rule: str) -> None:
    found = offer({PATH: CASES[rule]}, rule).files[0]
    before, after = (ask_docker_compose({PATH: text}, ["-f", PATH]) for text in (found.before, found.after))
    assert isinstance(before, dict), before
    assert isinstance(after, dict), after
    assert before.keys() == after.keys()


COMMENTS = st.sampled_from(["", "  # why", " #", "   ", "  # - VLLM_EAGER"])
VALUES = st.sampled_from(
    ["A=1", "'B=it''s'", '"C=\\"x\\""', "D", "- [deep]", "&anchor E=5", "!!str F=6", "G=a # b", "H=|", "'I: j'"]
)
ITEMS = st.lists(st.tuples(VALUES.filter(lambda value: not value.startswith("- ")), COMMENTS), min_size=1, max_size=6)
LINES = st.sampled_from(["", "      # a note", "  # out of line", "      #- F=1"])


@st.composite
def layouts(draw: st.DrawFn) -> str:
    """The sample in another layout: comments, quotes, anchors, flow style, indentation, line ends, byte-order mark."""
    items = draw(ITEMS)
    if draw(st.booleans()):
        plain = [value for value, _ in items if "#" not in value]
        environment = f"    environment: [{', '.join(plain)}{draw(st.sampled_from(['', ' ', ',']))}]\n" if plain else ""
    else:
        indent, gap = " " * draw(st.integers(4, 9)), " " * draw(st.integers(1, 3))
        rows = []
        for value, comment in items:
            rows.append(f"{indent}-{gap}{value}{comment}\n")
            if line := draw(LINES):
                rows.append(f"{line}\n")
        environment = f"    environment:{draw(COMMENTS)}\n{''.join(rows)}"
    head, _, rest = SEAM.partition("    environment:")
    tail = rest[rest.index("    entrypoint:") :]
    pieces = (head, environment, tail) if draw(st.booleans()) else (head, tail, environment)
    text = "".join(pieces)
    if draw(st.booleans()):
        text += "x-more: &more\n  a: [1, 2]\nx-again: *more\n"
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + (text if draw(st.booleans()) else text.rstrip())


@settings(max_examples=60, deadline=None)
@given(layouts())
def test_any_layout_is_kept_but_for_what_comes_in(text: str) -> None:
    for found in answers({PATH: text}, "dead-seam"):
        if isinstance(found, Offer):
            (file,) = found.files
            old, new = file.before, file.after
            at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
            grown = len(new) - len(old)
            assert new[:at] + new[at + grown :] == old
            assert grown < 60
            # the same characters may stand on both sides of where something came in
            assert "VLLM_EAGER" in new[max(at - 40, 0) : at + grown + 40]


@needs_corpus
def test_every_edit_over_the_corpus(tmp_path: Path) -> None:
    """Each one is proved, git takes it, and bytes outside of it are the same."""
    source, target = tmp_path / "source", tmp_path / "target"
    subprocess.run(["git", "clone", "-q", "-b", "main", str(CORPUS / "club-history.bundle"), str(source)], check=True)
    target.mkdir()
    seen: dict[str, int] = {}
    with opened(source, None) as repository:
        report = audit(repository, RULES)
        wanted = [one for one in report.findings if one.edit and one.status == "active"]
        # an edit of `patches.yml` is proved on every compose, so one of them has to do
        chosen = [one for one in wanted if one.edit != "name-in-list"]
        chosen += [one for one in wanted if one.edit == "name-in-list"][:1]
        for finding, answer in zip(chosen, remedies(repository, report, chosen, RULES), strict=True):
            if isinstance(answer, Offer):
                seen[finding.rule] = seen.get(finding.rule, 0) + 1
                for file in answer.files:
                    assert_only_an_edit(file)
                diff = patch(answer.files).encode()
                subprocess.run(["git", "apply", "--check", "-"], cwd=source, input=diff, check=True)
    assert seen.get("dead-seam", 0) >= 1
    assert sum(seen.values()) >= 10
