"""Things that are found when somebody first looks at them: of most worlds nobody asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, overload

Item = TypeVar("Item")


class Deferred(Sequence[Item]):
    """A sequence that is worked out once, when it is first looked at."""

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[], Sequence[Item]]) -> None:
        self._find = find
        self._found: Sequence[Item] | None = None

    @property
    def _items(self) -> Sequence[Item]:
        if self._found is None:
            self._found = self._find()
        return self._found

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._items)
