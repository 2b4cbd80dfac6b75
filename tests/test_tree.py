import pytest

from bot.tree import MemoryTree, OutsideTree, is_within, join


@pytest.mark.parametrize(
    ("directory", "path", "expected"),
    [
        ("", "a.yml", "a.yml"),
        ("models/x", "../../scripts/run.sh", "scripts/run.sh"),
        ("models/x", "./y/../z.yml", "models/x/z.yml"),
        ("models", "..", ""),
    ],
)
def test_join_normalises_paths_inside_the_tree(directory: str, path: str, expected: str) -> None:
    assert join(directory, path) == expected


@pytest.mark.parametrize(("directory", "path"), [("", "../a"), ("models", "../../a"), ("x", "/etc/passwd"), ("", "..")])
def test_join_refuses_paths_that_leave_the_tree(directory: str, path: str) -> None:
    with pytest.raises(OutsideTree, match="leaves the repository"):
        join(directory, path)


def test_files_lie_over_another_tree_and_can_delete_its_files() -> None:
    below = MemoryTree({"a": "old", "b": "kept", "c/d": "gone"})
    tree = MemoryTree({"a": "new"}, below, frozenset({"c/d"}))
    assert [tree.read(path) for path in ("a", "b", "c/d", "e")] == ["new", "kept", None, None]
    assert list(tree.paths()) == ["a", "b"]
    assert (tree.is_directory("c"), tree.is_directory(""), below.is_directory("c")) == (False, True, True)


@pytest.mark.parametrize(
    ("path", "within"),
    [("a/b", True), ("a/b/c.py", True), ("a/b.py", False), ("a", False), ("one.py", True), ("", False), ("/x", False)],
)
def test_a_path_lies_in_a_place_by_its_folders(path: str, within: bool) -> None:
    assert is_within(path, {"a/b", "one.py"}) is within
