"""Edits of what comments say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.claims import Claim, claims_of_comments, respelt, says
from bot.remedies.case import Case
from bot.remedies.model import Candidate, Meant, NoEdit, TextEdit, applied


def state_value(case: Case) -> Iterator[Candidate]:
    """The value that is so in the place of the one that a comment states, wherever it states it."""
    claims: Sequence[Claim] = case.finding.observed.get("claims", ())
    actual = case.finding.observed.get("actual")
    made = [_restated(case, claim, actual) for claim in claims]
    if not made:
        raise NoEdit("where it is said is not known")
    edits = tuple(dict.fromkeys(edit for edit, _ in made))
    for claim in claims:
        _assert_true(case, claim, edits, actual)
    old, new = made[0][1], edits[0].text
    yield Candidate(edits, f"Says `{new}` instead of `{old}`, as {case.finding.service} runs it by default", Meant())


def _restated(case: Case, claim: Claim, actual: object) -> tuple[TextEdit, str]:
    """The edit of one place, and what stands there."""
    path = claim.position.path
    if claim.spelt is None:
        raise NoEdit(f"{claim.position} says more than a value: how the sentence should go on is for a person to say")
    text = case.text(path)
    lines = text.split("\n")
    begin = sum(len(line) + 1 for line in lines[: claim.position.line - 1])
    start, end = (begin + column - 1 for column in claim.spelt)
    old = text[start:end]
    new = respelt(claim, old, actual)
    if new is None or new == old:
        raise NoEdit(f"how {actual} is written in the place of {old} in {claim.position} is for a person to say")
    return TextEdit(path, start, end, new), old


def _assert_true(case: Case, claim: Claim, edits: Sequence[TextEdit], actual: object) -> None:
    """Raises `NoEdit` unless the edited comment is still read as a claim about the same, and a true one."""
    path = claim.position.path
    text = applied(case.text(path), [edit for edit in edits if edit.path == path])
    there = (one for one in claims_of_comments(path, text) if one.position.line == claim.position.line)
    if not any((one.kind, one.subject) == (claim.kind, claim.subject) and says(one, actual) for one in there):
        raise NoEdit(f"the sentence in {claim.position} would no longer be read as one about the same value")
