"""The container that a service describes: its files as far as mounts decide them, and its first process."""

from __future__ import annotations

import pytest

from bot.compose import Mount
from bot.provenance import Position
from bot.tree import MemoryTree, UnreadableFile
from bot.worlds.container import MountedFiles
from tests.worlds.build import IMAGE, deployment

HERE = Position("compose.yml", 1)


def _mount(source: str, target: str, in_repository: bool = True) -> Mount:
    return Mount("bind", source, target, False, in_repository, HERE)


TREE = MemoryTree({"scripts/a.sh": "a", "scripts/sub/b.sh": "b", "other/a.sh": "other", "pkg/vllm/x.py": "x"})
PACKAGES = "/usr/lib/python3/dist-packages"


# Files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mounts", "path", "expected"),
    [
        ([("scripts", "/etc/x")], "/etc/x/a.sh", "scripts/a.sh"),
        ([("scripts", "/etc/x/")], "/etc/x/sub/b.sh", "scripts/sub/b.sh"),
        ([("scripts/a.sh", "/run.sh")], "/run.sh", "scripts/a.sh"),
        ([("scripts", "/etc/x")], "/etc/xa.sh", None),
        ([("scripts", "/etc/x")], "/etc/x/none.sh", None),
        ([("scripts", "/etc/x")], "/etc/x", None),
        ([("scripts", "/etc/x")], "/elsewhere/a.sh", None),
        ([("", "/repo")], "/repo/scripts/a.sh", "scripts/a.sh"),
        ([("scripts", "/")], "/a.sh", "scripts/a.sh"),
        ([("scripts", "/x"), ("other/a.sh", "/x/a.sh")], "/x/a.sh", "other/a.sh"),
        ([("other/a.sh", "/x/a.sh"), ("scripts", "/x")], "/x/a.sh", "other/a.sh"),
        ([("scripts", "/x"), ("other", "/x/sub")], "/x/sub/b.sh", None),
        ([("scripts", "/x")], "/x/../x/../../other/a.sh", None),
    ],
)
def test_the_longest_mount_over_a_path_shows_the_repositorys_file(
    mounts: list[tuple[str, str]], path: str, expected: str | None
) -> None:
    found = MountedFiles(TREE, tuple(_mount(source, target) for source, target in mounts)).read(path)
    assert (found.path if found else None) == expected


def test_a_volume_hides_the_repositorys_files_below_it() -> None:
    volume = _mount("other", "/x/sub", in_repository=False)  # named like a folder of the repository
    files = MountedFiles(TREE, (_mount("scripts", "/x"), volume))
    assert files.read("/x/sub/a.sh") is None
    assert (files.read("/x/sub/b.sh"), files.exists("/x/sub/b.sh"), files.exists("/x/a.sh")) == (None, None, True)


@pytest.mark.parametrize(
    ("path", "exists"),
    [
        pytest.param("/x/a.sh", True, id="file"),
        pytest.param("/x/sub", True, id="folder"),
        pytest.param("/x", True, id="the mount itself"),
        pytest.param("/x/none", None, id="may be made on the host"),
        pytest.param("/usr/bin/vllm", None, id="the image's"),
        pytest.param("/filled/on/host", None, id="a folder that the repository lacks"),
        pytest.param(f"{PACKAGES}/gone/x.py", False, id="below a package that the repository lacks"),
        pytest.param(f"{PACKAGES}/gone", None, id="the folder of that package, which Docker makes"),
        pytest.param(f"{PACKAGES}/vllm/x.py", True, id="in a package that the repository has"),
        pytest.param(f"{PACKAGES}/vllm/y.py", None, id="not in a package that the repository has"),
    ],
)
def test_whether_a_path_exists(path: str, exists: bool | None) -> None:
    mounts = (("scripts", "/x"), ("filled", "/filled"), ("gone", f"{PACKAGES}/gone"), ("pkg/vllm", f"{PACKAGES}/vllm"))
    files = MountedFiles(TREE, tuple(_mount(source, target) for source, target in mounts))
    assert files.exists(path) is exists
    assert files.absent == ({"gone"} if exists is False else set())


def test_a_file_that_cannot_be_used_is_not_known() -> None:
    class Broken(MemoryTree):
        def read(self, path: str) -> str | None:
            raise UnreadableFile(path, "binary")

    assert MountedFiles(Broken({}), (_mount("scripts", "/x"),)).read("/x/a.sh") is None


@pytest.mark.parametrize(
    ("volume", "found"),
    [
        ("./run.sh:/run.sh", True),
        ("./run.sh:/run.sh:ro", True),
        ("{type: bind, source: ./run.sh, target: /run.sh, read_only: true}", True),
        ("../../run.sh:/run.sh", False),
        ("/run.sh:/run.sh", False),
        ("~/run.sh:/run.sh", False),
        ("named:/run.sh", False),
    ],
)
def test_an_entrypoint_is_followed_into_the_repository_only(volume: str, found: bool) -> None:
    text = f"""
services:
  engine: {{image: {IMAGE}, entrypoint: [bash, /run.sh], volumes: ['{volume}']}}
volumes: {{named: }}
"""
    if volume.startswith("{"):
        text = text.replace(f"'{volume}'", volume)
    run = deployment(text, {"deploy/run.sh": "exec vllm serve here", "run.sh": "exec vllm serve outside"}).realise().run
    assert run is not None
    words = [[word.text for word in outcome.argv or ()] for outcome in run.outcomes]
    assert (["serve", "here"] in words) is found
    assert ["serve", "outside"] not in words


# The first process ---------------------------------------------------------------------------------------------------

SERVER = ("vllm", "serve")


def _argv(service: str, image_entrypoint: tuple[str, ...] | None) -> tuple[list[str] | None, str, bool]:
    started = deployment(f"services:\n  engine: {service}\n", entrypoint_of=lambda _: image_entrypoint).realise().start
    assert started is not None
    words = None if started.process is None else [word.text for word in started.process.argv]
    return words, started.reason, started.assumption is not None


@pytest.mark.parametrize(
    ("service", "image_entrypoint", "argv", "assumed"),
    [
        pytest.param("{image: i, entrypoint: [a, b], command: [c]}", SERVER, ["a", "b", "c"], False, id="both"),
        pytest.param("{image: i, entrypoint: a b}", SERVER, ["a", "b"], False, id="entrypoint clears the command"),
        pytest.param("{image: i, command: [-m, x]}", SERVER, [*SERVER, "-m", "x"], True, id="image and command"),
        pytest.param("{image: i}", SERVER, [*SERVER], True, id="image alone"),
        pytest.param("{image: i, entrypoint: [], command: [a]}", SERVER, ["a"], False, id="cleared, command"),
        pytest.param("{image: i, entrypoint: '', command: [a]}", SERVER, ["a"], False, id="cleared by text"),
        pytest.param("{image: i, command: [bash, -c, x]}", None, ["bash", "-c", "x"], True, id="unknown image, shell"),
        pytest.param("{image: i, command: [/bin/bash, x]}", None, ["/bin/bash", "x"], True, id="a shell by its path"),
        pytest.param("{image: i, command: [--model, x]}", None, None, False, id="unknown image, arguments"),
        pytest.param("{image: i}", None, None, False, id="nothing known"),
        pytest.param("{image: i, entrypoint: []}", SERVER, None, False, id="cleared, and nothing else"),
        pytest.param("{build: ., command: [--model, x]}", None, None, False, id="built from source"),
    ],
)
def test_what_the_container_starts(
    service: str, image_entrypoint: tuple[str, ...] | None, argv: list[str] | None, assumed: bool
) -> None:
    words, reason, is_assumed = _argv(service, image_entrypoint)
    assert (words, is_assumed) == (argv, assumed)
    assert bool(reason) is (argv is None)


def test_an_entrypoint_given_as_null_leaves_the_image_its_own() -> None:
    assert _argv("{image: i, entrypoint: null, command: [x]}", SERVER)[0] == [*SERVER, "x"]


@pytest.mark.parametrize(
    ("service", "directory"),
    [("{image: i, entrypoint: [a]}", ""), ("{image: i, entrypoint: [a], working_dir: /w}", "/w")],
)
def test_the_process_starts_in_the_working_directory(service: str, directory: str) -> None:
    started = deployment(f"services:\n  engine: {service}\n").realise().start
    assert started is not None
    assert started.process is not None
    assert started.process.directory == directory


def test_only_variables_that_exist_in_the_container_are_in_its_environment() -> None:
    text = "services:\n  engine:\n    image: i\n    entrypoint: [a]\n    environment: [SET=1, PASSED, LACKING]\n"
    started = deployment(text, environment={"PASSED": "2", "OTHER": "3"}).realise().start
    assert started is not None
    assert started.process is not None
    assert {name: word.text for name, word in started.process.environment.items()} == {"SET": "1", "PASSED": "2"}
