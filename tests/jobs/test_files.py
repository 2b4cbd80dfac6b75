"""A commit seen through what was fetched of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.github.model import Blob, ChangedFile, RepositoryTree, TreeEntry
from bot.jobs.files import FetchedTree, proposed
from bot.jobs.gather import matters
from bot.repositories import DirectoryTree
from bot.tree import UnreadableFile

TEXT = {name: Blob(name, f"text of {name}") for name in "abc"}


def entries(**files: str) -> dict[str, TreeEntry]:
    """Entries by path, with `__` for a slash; a blob's name, or `-> target`."""
    found = {}
    for name, sha in files.items():
        path = name.replace("__", "/")
        found[path] = TreeEntry(path, sha, 1, "120000" if sha.startswith("->") else "100644")
    return found


def test_files_are_read_and_missing_ones_noted() -> None:
    tree = FetchedTree(entries(x="a", d__y="missing"), TEXT)
    assert tree.read("x") == "text of a"
    assert tree.read("nothing") is None
    with pytest.raises(UnreadableFile, match="not been fetched"):
        tree.read("d/y")
    assert tree.asked == {"d/y": "missing"}
    assert list(tree.paths()) == ["d/y", "x"]
    assert tree.is_directory("d")
    assert tree.is_directory("")
    assert not tree.is_directory("x")


def test_a_file_without_text_says_why() -> None:
    tree = FetchedTree(entries(x="bin"), {"bin": Blob("bin", None, "the file is binary")})
    with pytest.raises(UnreadableFile, match="binary"):
        tree.read("x")


LINKS = {
    "up/link": "../real/file",
    "folder": "real",
    "out": "../secret",
    "absolute": "/etc/passwd",
    "circle": "circle",
    "dangling": "nowhere",
    "twice": "up/link",
}


@pytest.mark.parametrize("path", [*LINKS, "folder/file", "real/file", "folder/nothing", "out/x"])
def test_links_are_followed_as_in_a_checkout(tmp_path: Path, path: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "up").mkdir()
    (tmp_path / "real/file").write_text("content")
    for link, target in LINKS.items():
        (tmp_path / link).symlink_to(target)
    blobs = {f"->{target}": Blob(f"->{target}", target) for target in LINKS.values()} | {"f": Blob("f", "content")}
    listed = {link: TreeEntry(link, f"->{target}", 1, "120000") for link, target in LINKS.items()}
    tree = FetchedTree({**listed, "real/file": TreeEntry("real/file", "f", 7, "100644")}, blobs)

    def read(side: FetchedTree | DirectoryTree) -> str | None:
        try:
            return side.read(path)
        except UnreadableFile:
            return "unreadable"

    assert read(tree) == read(DirectoryTree(tmp_path))


def test_a_change_lies_over_the_base() -> None:
    base = RepositoryTree(entries(kept="a", gone="a", edited="a", old="b", link="->kept"))
    changes = [
        ChangedFile("gone", "removed", "a"),
        ChangedFile("edited", "modified", "c"),
        ChangedFile("new", "added", "c"),
        ChangedFile("moved", "renamed", "b", previous_path="old"),
        ChangedFile("copy", "copied", "b", previous_path="kept"),
        ChangedFile("link", "modified", "->x"),
        ChangedFile("sub", "added", "d" * 40, patch=f"@@ -0,0 +1 @@\n+Subproject commit {'d' * 40}"),
        ChangedFile("huge", "added", None),
    ]
    found = proposed(base, changes)
    assert {path: entry.sha for path, entry in found.items()} == {
        "kept": "a", "edited": "c", "new": "c", "moved": "b", "copy": "b", "link": "->x",
    }  # fmt: skip
    assert found["link"].mode == "120000"
    assert base.entries["gone"].sha == "a", "the base is left as it is"


@pytest.mark.parametrize(
    "patch",
    [
        f"@@ -1,2 +1,3 @@\n services:\n+  more:\n+# Subproject commit {'d' * 40}",
        f"@@ -1 +1,2 @@\n-a\n+b\n+Subproject commit {'d' * 40}",
        f"@@ -1 +1 @@\n-a: b\n+Subproject commit {'d' * 40} ",
    ],
)
def test_a_file_that_speaks_of_submodules_is_a_file(patch: str) -> None:
    found = proposed(RepositoryTree(entries(file="a")), [ChangedFile("file", "modified", "c", patch=patch)])
    assert found["file"].sha == "c"


def test_files_that_swap_their_names() -> None:
    base = RepositoryTree(entries(x="a", y="b"))
    changes = [
        ChangedFile("y", "renamed", "a", previous_path="x"),
        ChangedFile("x", "renamed", "b", previous_path="y"),
    ]
    assert {path: entry.sha for path, entry in proposed(base, changes).items()} == {"x": "b", "y": "a"}


@pytest.mark.parametrize(
    "path",
    ["compose.yml", "a/.env", "patches.yml", "entry.sh", "x.py", "Dockerfile", "config.json", ".github/seamguard.yml",
     "profiles/models/a.yml", "bin/serve", "chat.jinja", "notice.yml", "deploy/license.sh", "authors.env", "vars.txt"],
)  # fmt: skip
def test_what_may_reach_an_engine_matters(path: str) -> None:
    assert matters(path)


@pytest.mark.parametrize(
    "path",
    ["README.md", "docs/a.PNG", "LICENSE", "LICENSE.txt", "requirements-dev.txt", ".github/workflows/ci.yml",
     "uv.lock"],
)  # fmt: skip
def test_what_can_not_does_not(path: str) -> None:
    assert not matters(path)
