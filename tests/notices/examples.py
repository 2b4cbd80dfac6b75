"""Writes the issues of the documentation: `python -m tests.notices.examples`."""

from __future__ import annotations

from pathlib import Path

from bot.notices import marks
from tests.notices.conversation import Conversation
from tests.notices.scene import BOTH, MERGED, OPEN, OTHER, RELEASED, files, watched
from tests.upstream.timeline import REFERENCE, Fact, pull

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "issues"
RULES = ("mtp-prefix-cache-hybrid",)

_MORE = {
    "patches/vllm-pr46324-graphs/install.sh": "echo applied\n",
    "docs/RISKS.md": "# Accepted risks\n\n- Accepted risk: one prefix cache for all until vllm#48375 is in.\n",
}
_PATCH = """\
  - id: vllm-graphs
    files: [patches/vllm-pr46324-graphs/install.sh]
    load_bearing_when: []
    upstream:
      ref: "vllm#46324 (fix PR)"
      drop_when: "{both}"
"""


def _tree(one: str, two: str) -> dict[str, str]:
    tree = files({"one": one, "two": two}, **_MORE)
    tree["profiles/patches.yml"] += _PATCH.format(both=BOTH)
    return tree


def examples() -> dict[str, str]:
    """Each example by the name of its file."""
    other: list[Fact] = [pull(46324, state="open", title="Align capture sizes")]
    conversation = Conversation()
    old, new = _tree("0.33.0", "0.33.0"), _tree("0.34.0", "0.33.0")
    conversation.tell(watched(old, {REFERENCE: OPEN, OTHER: other}), RULES)
    conversation.tell(watched(old, {REFERENCE: MERGED, OTHER: other}), RULES)
    merged = _page(conversation)
    conversation.tell(watched(old, {REFERENCE: RELEASED, OTHER: other}), RULES)
    conversation.tell(watched(new, {REFERENCE: RELEASED, OTHER: other}), RULES)
    return {"merged-upstream.md": merged, "caveats-may-go.md": _page(conversation)}


def _page(conversation: Conversation) -> str:
    issue = conversation.only()
    comments = [comment.partition("\n")[2] for comment in issue.comments]
    parts = [
        f"# {issue.title}",
        _shown(issue.body),
        *(f"---\n\n**Seamguard** commented:\n\n{text}" for text in comments),
    ]
    return "\n\n".join(parts) + "\n"


def _shown(body: str) -> str:
    """The text without the marks around it."""
    return body.partition("\n")[2].removesuffix(marks.END).strip()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in examples().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
