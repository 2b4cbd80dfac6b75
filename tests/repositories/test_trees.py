"""What holds for every kind of tree: the same files read through a folder, a revision and a bare clone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.repositories import DirectoryTree, RevisionTree
from bot.tree import MAX_FILE_BYTES, Tree, UnreadableFile
from tests.repositories.conftest import Repository, created

FILES: dict[str, str | bytes] = {
    "compose.yml": "services: {}\n",
    "deep/down/here.yml": "a: 1\r\nb: 2\r\n",
    "deep/straße.yml": "schön\n",
    "binary.yml": b"a\0b",
    "latin.yml": b"caf\xe9",
    "empty.yml": b"",
    "exactly.yml": b"x" * MAX_FILE_BYTES,
    "huge.yml": b"x" * (MAX_FILE_BYTES + 1),
    "node_modules.yml": "no folder\n",
}
LINKS = {
    "deep/sibling.yml": "../compose.yml",
    "deep/twice.yml": "sibling.yml",
    "folder": "deep/down",
    "deep/upward.yml": "../folder/../straße.yml",
    "outside.yml": "../../secret",
    "absolute.yml": "/etc/hostname",
    "circle.yml": "circle2.yml",
    "circle2.yml": "circle.yml",
    "broken.yml": "nothing.yml",
}


@pytest.fixture(scope="module", params=["folder", "plain", "revision", "bare"])
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    tmp_path = tmp_path_factory.mktemp("trees")
    repository = created(tmp_path / "repository")
    (tmp_path / "secret").write_text("secret")
    (tmp_path.parent / "secret").write_text("secret")
    for name, target in LINKS.items():
        link = repository.path / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    repository.commit(FILES)
    if request.param == "folder":
        yield DirectoryTree(repository.path)
    elif request.param == "plain":
        (repository.path / ".git").rename(tmp_path / "elsewhere")
        yield DirectoryTree(repository.path)
    else:
        where = repository.path
        if request.param == "bare":
            where = tmp_path / "bare.git"
            (repository.path / ".git").rename(where)
            Repository(where).git("config", "core.bare", "true")
        with RevisionTree(where, "main") as revision:
            yield revision


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("compose.yml", "services: {}\n"),
        ("deep/down/here.yml", "a: 1\r\nb: 2\r\n"),
        ("deep/straße.yml", "schön\n"),
        ("empty.yml", ""),
        ("exactly.yml", "x" * MAX_FILE_BYTES),
        ("deep/sibling.yml", "services: {}\n"),
        ("deep/twice.yml", "services: {}\n"),
        ("folder/here.yml", "a: 1\r\nb: 2\r\n"),
        ("deep/upward.yml", "schön\n"),
        ("missing.yml", None),
        ("broken.yml", None),
        ("deep", None),
        ("folder", None),
        ("compose.yml/below", None),
        ("", None),
        (".", None),
        ("./compose.yml", None),
        ("deep/../compose.yml", None),
        ("../secret", None),
        ("/etc/hostname", None),
        ("compose.yml\0", None),
        ("compose\n.yml", None),
        (".git/config", None),
        ("\udcff", None),
    ],
)
def test_reads(tree: Tree, path: str, text: str | None) -> None:
    assert tree.read(path) == text


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("binary.yml", "binary"),
        ("latin.yml", "not UTF-8"),
        ("huge.yml", "larger than 2 MiB"),
        ("outside.yml", "leaves the repository"),
        ("absolute.yml", "leaves the repository"),
    ],
)
def test_refuses(tree: Tree, path: str, message: str) -> None:
    for _ in range(2):
        with pytest.raises(UnreadableFile, match=message) as caught:
            tree.read(path)
        assert caught.value.path == path
    assert tree.read("compose.yml") == "services: {}\n"


def test_refuses_a_circle_of_links(tree: Tree) -> None:
    with pytest.raises(UnreadableFile):
        tree.read("circle.yml")


def test_lists_files_and_links_to_files(tree: Tree) -> None:
    listed = list(tree.paths())
    assert listed == sorted(listed)
    followed = {"deep/sibling.yml", "deep/twice.yml", "deep/upward.yml", "outside.yml", "absolute.yml"}
    assert set(listed) - {"circle.yml", "circle2.yml"} == {*FILES, *followed}


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("", True),
        ("deep", True),
        ("deep/down", True),
        ("folder", True),
        ("compose.yml", False),
        ("missing", False),
        ("..", False),
        ("dee", False),
        ("outside.yml", False),
    ],
)
def test_knows_directories(tree: Tree, path: str, answer: bool) -> None:
    assert tree.is_directory(path) is answer
