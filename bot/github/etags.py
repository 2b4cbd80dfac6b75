"""Answers that are asked for again with `If-None-Match`: an unchanged one costs nothing of the primary limit."""

from __future__ import annotations

from dataclasses import dataclass

from cachetools import LRUCache

MAX_BYTES = 16 * 1024 * 1024
"""What all kept answers hold together. A recursive tree of 1,300 files takes about 300 kB."""

_OVERHEAD = 512
"""Bytes that a kept answer takes besides its body, roughly."""


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """What makes two requests ask the same: who asks, which form of answer, and where. Another installation may see
    less, another media type gives another body.
    """

    account: str
    accept: str
    url: str


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it came. `next` is the address of the next page."""

    etag: str
    body: bytes
    content_type: str
    next: str | None


class EtagCache:
    """Kept answers, least recently used out first."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._answers: LRUCache[AnswerKey, KeptAnswer] = LRUCache(max_bytes, getsizeof=_size)

    def get(self, key: AnswerKey) -> KeptAnswer | None:
        """The answer that came last."""
        return self._answers.get(key)

    def put(self, key: AnswerKey, answer: KeptAnswer) -> None:
        """Keep an answer; one that is larger than the cache is not kept."""
        self._answers.pop(key, None)
        if _size(answer) <= self._answers.maxsize:
            self._answers[key] = answer


def _size(answer: KeptAnswer) -> int:
    return len(answer.body) + _OVERHEAD
