"""A suggestion in a review, applied as GitHub applies it: its lines take the place of those that the comment is on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.sandbox.github import ReviewComment
from tests.end_to_end.harness import CLEAN, the_check, world
from tests.remedies.repositories import EARLY, MISSPELT, PATH, SEAM
from tests.remedies.test_arguments import HEAD, LATER, items
from tests.remedies.test_mounts import FILES as PATCHED
from tests.remedies.test_mounts import NEW, SIBLING

_SUGGESTION = re.compile(r"^(`{3,})suggestion\n(.*?)\n?^\1$", re.M | re.S)


def apply(comment: ReviewComment, text: str) -> str:
    """What GitHub makes of the file when somebody clicks on "Commit suggestion"."""
    found = _SUGGESTION.search(comment.body)
    assert found, comment.body
    assert comment.line is not None
    first = comment.start_line or comment.line
    lines = text.split("\n")
    lines[first - 1 : comment.line] = found[2].split("\n")
    return "\n".join(lines)


STALE = "# Streams: 8\n" + items("--max-num-seqs", '"4"')
DEAD = items("--max-num-seqs", '"8"', *LATER)


@pytest.mark.parametrize(
    ("text", "conclusion"),
    [
        pytest.param(SEAM, "neutral", id="seam"),
        pytest.param(EARLY, "neutral", id="early"),
        pytest.param(MISSPELT, "failure", id="flag"),
        pytest.param(items("--disable-log-requests"), "failure", id="moved flag"),
        pytest.param(items("--dtype", "bf16"), "failure", id="value"),
        pytest.param(DEAD, "neutral", id="overridden"),
        pytest.param(STALE, "neutral", id="claim"),
    ],
)
async def test_an_applied_suggestion_makes_the_check_green(tmp_path: Path, text: str, conclusion: str) -> None:
    async with world(tmp_path, {"compose/one.yml": CLEAN}) as here:
        pull = here.repository.open_pull({PATH: text})
        await here.settle()
        assert the_check(pull).conclusion == conclusion
        (thread,) = pull.conversation().threads
        assert "Proved by resolving the compose" in thread.comment.body
        pull.push({PATH: apply(thread.comment, text)})
        await here.settle()
        assert the_check(pull).conclusion == "success"
        (thread,) = pull.conversation().threads
        assert thread.comment.minimised == "RESOLVED"


async def test_an_edit_away_from_the_diff_is_a_patch(tmp_path: Path) -> None:
    quiet = SEAM.replace("--served-model-name $${VLLM_EAGER:-llama} ", "")
    far = quiet.replace("    entrypoint:\n", "".join(f"    # {n}\n" for n in range(20)) + "    entrypoint:\n")
    loud = far.replace('serve "$$@"', 'serve --served-model-name $${VLLM_EAGER:-llama} "$$@"')
    async with world(tmp_path, {PATH: far}) as here:
        pull = here.repository.open_pull({PATH: loud})
        await here.settle()
        (thread,) = pull.conversation().threads
        assert "A patch that does it" in thread.comment.body
        assert "\n```diff\ndiff --git a/compose/engine.yml b/compose/engine.yml\n" in thread.comment.body
        assert "suggestion\n" not in thread.comment.body


async def test_a_comment_that_is_there_keeps_its_lines(tmp_path: Path) -> None:
    """GitHub does not move a comment when its text is edited: a suggestion for other lines would go astray there."""
    async with world(tmp_path, {"compose/one.yml": CLEAN}) as here:
        pull = here.repository.open_pull({PATH: SEAM})
        await here.settle()
        (thread,) = pull.conversation().threads
        first = thread.comment.line
        more = SEAM.replace("  # one is enough\n", "  # one is enough\n      - TWO=2\n")
        pull.push({PATH: more})
        await here.settle()
        (thread,) = pull.conversation().threads
        assert thread.comment.line == first
        assert "suggestion\n" not in thread.comment.body
        assert "A patch that does it" in thread.comment.body


async def test_a_mount_that_is_missing_is_suggested_at_its_sibling(tmp_path: Path) -> None:
    whole = PATCHED[PATH].replace(SIBLING, SIBLING + NEW)
    async with world(tmp_path, {**PATCHED, PATH: whole}) as here:
        pull = here.repository.open_pull({PATH: PATCHED[PATH]})
        await here.settle()
        (thread,) = pull.conversation().threads
        assert "Mounts `compose/p/pr48375` at `/etc/fix`" in thread.comment.body
        assert apply(thread.comment, PATCHED[PATH]) == whole


async def test_a_claim_above_the_change_is_a_patch(tmp_path: Path) -> None:
    """The change is far from the sentence that it makes wrong."""
    filler = "".join(f"      # {number}\n" for number in range(20))
    text = "# Streams: 8\n" + HEAD + filler + '      - --max-num-seqs\n      - "8"\n'
    async with world(tmp_path, {PATH: text}) as here:
        pull = here.repository.open_pull({PATH: text.replace('- "8"', '- "4"')})
        await here.settle()
        (thread,) = pull.conversation().threads
        assert "A patch that does it" in thread.comment.body
        assert "-# Streams: 8\n+# Streams: 4\n" in thread.comment.body
        assert "suggestion\n" not in thread.comment.body
