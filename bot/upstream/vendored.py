"""Which lines belong to a vendored patch though they do not name the fix: its own files, its mounts and its calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.catalog import Patch

MIN_NAME = 9
"""Characters of a file's name from which on it is taken for the patch's own: `install.sh` is everybody's."""

MAX_NEEDLES = 2000
"""Names of patches that are looked for."""

_WIRED = (".yml", ".yaml", ".sh", ".bash", ".env")
_COMMON = frozenset({"install.sh", "README.md", "__init__.py", "sitecustomize.py", "Dockerfile", "patches", "overlays"})


class Vendored:
    """The patches of a repository by their files, and by the names under which composes mount and call them."""

    def __init__(self, patches: Iterable[Patch]) -> None:
        self._owners: dict[str, Patch] = {}
        needles: dict[str, Patch | None] = {}
        for patch in patches:
            for file in patch.files:
                self._owners.setdefault(file, patch)
            for needle in _needles(patch):
                known = needles.get(needle, patch)
                needles[needle] = patch if known is patch else None  # two patches share it: it is neither's
        self._needles: Mapping[str, Patch] = {
            needle: patch for needle, patch in list(needles.items())[:MAX_NEEDLES] if patch is not None
        }

    def owner(self, path: str) -> Patch | None:
        """The patch whose file a path is, or lies below."""
        if not self._owners:
            return None
        parts = path.split("/")
        found = (self._owners.get("/".join(parts[:depth])) for depth in range(len(parts), 0, -1))
        return next((patch for patch in found if patch is not None), None)

    def lines(self, text: str, path: str) -> Iterable[tuple[int, Patch]]:
        """The lines (from 1) of a compose or a script that mount or call a patch, each with it."""
        if not path.endswith(_WIRED):
            return ()
        wanted = [(needle, patch) for needle, patch in self._needles.items() if needle in text]
        if not wanted:
            return ()
        found: list[tuple[int, Patch]] = []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.lstrip().startswith("#"):
                named = {patch.id: patch for needle, patch in wanted if needle in line}
                found.extend((number, patch) for patch in named.values())
        return found


def _needles(patch: Patch) -> Iterable[str]:
    """The names by which a line can mean this patch and no other."""
    for file in patch.files:
        folder, _, name = file.rpartition("/")
        above = folder.rpartition("/")[2]
        if name in _COMMON or len(name) < MIN_NAME:
            name = f"{above}/{name}" if above else ""
        if name:
            yield name
        if len(above) >= MIN_NAME and above not in _COMMON:
            yield above
    if patch.mounted_at and patch.mounted_at.count("/") > 1:
        yield patch.mounted_at
