"""Claims about weights: the folder into which a header downloads them (`hf download ORG/MODEL --local-dir …/model`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bot.claims.model import Claim, shortened
from bot.claims.prose import Line
from bot.provenance import Position

WORDS = ("hf download", "huggingface-cli download")

_DOWNLOAD = re.compile(
    r"(?P<words>(?:hf|huggingface-cli)\s+download\s+[\w.-]+/[\w.-]+(?:\s+[^\s`;|&]+){0,6}?\s+--local-dir[\s=]+"
    r"[`\"']?(?:\$\{?\w+(?::-[^}\s]*)?\}?|<\w+>|\S*models?(?:-cache)?)/(?P<folder>[\w.-]+\w)/?)(?=[\s`\"')]|\.?$)"
)
_OTHERWISE = re.compile(r"\b(?:or|alternatively|instead|optional(?:ly)?|other|if|e\.g|example|try)\b", re.IGNORECASE)


def downloads(path: str, blocks: Iterable[list[Line]]) -> Iterator[Claim]:
    """The folders that commands in comments put weights into, where no other comment names the folder: what is said of
    it there, as of an alternative, would explain it.
    """
    blocks = list(blocks)
    found = [claim for block in blocks for claim in _of_block(path, block)]
    if found:
        text = "\n".join(line.text for block in blocks for line in block)
        for claim in found:
            if len(re.findall(rf"(?<![\w.-]){re.escape(str(claim.value))}(?![\w-])", text)) == 1:
                yield claim


def _of_block(path: str, block: list[Line]) -> Iterator[Claim]:
    for at, line in enumerate(block):
        if not any(word in line.text for word in WORDS):
            continue
        whole = line.text
        for after in block[at + 1 : at + 4]:
            if not whole.endswith("\\"):
                break
            whole = f"{whole[:-1].rstrip()} {after.text}"
        match = _DOWNLOAD.search(whole)
        if match is None or _OTHERWISE.search(whole, 0, match.start()):
            continue
        if at and _OTHERWISE.search(block[at - 1].text):
            continue
        place = Position(path, line.number, line.column + match.start())
        end = line.column + min(match.end(), len(line.text))
        words = " ".join(match["words"].split())
        yield Claim("folder", "", match["folder"], words, shortened(whole), place, end)
