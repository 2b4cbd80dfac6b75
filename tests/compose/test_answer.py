"""What the answer says beside the values: where they come from, what was read, what is mounted."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.compose import Documents, Project, Service, load_project, looks_like_compose
from bot.tree import MemoryTree, UnreadableFile


def _load(
    files: Mapping[str, str] | str, environment: Mapping[str, str] | None = None, **options: list[str]
) -> Project:
    given = {"compose.yml": files} if isinstance(files, str) else dict(files)
    main = [name for name in given if name.endswith("compose.yml")]
    return load_project(Documents(MemoryTree(given)), main[:1], environment or {}, **options)  # type: ignore[arg-type]


def _service(files: Mapping[str, str] | str, environment: Mapping[str, str] | None = None) -> Service:
    project = _load(files, environment)
    assert project.errors == ()
    return next(iter(project.services.values()))


_SCRIPT = """\
services:
  engine:
    image: vllm/vllm-openai:${TAG:-v0.25.1}
    entrypoint:
      - bash
      - -c
      - |
        set -e

        exec vllm serve "$@"
      - --
    command: [--port, "${PORT:-8000}"]
    environment:
      - MODE=${MODE}
      - HF_TOKEN
    volumes:
      - ./patches:/etc/patches:ro
      - ../models:/models
      - cache:/cache
      - /srv:/srv
volumes:
  cache:
"""


def test_words_name_their_line_and_what_interpolation_did() -> None:
    service = _service({"deploy/compose.yml": _SCRIPT}, {"PORT": "9000"})
    assert service.image is not None
    assert [(reason.line, reason.text) for reason in service.image.because] == [
        (3, "image: vllm/vllm-openai:${TAG:-v0.25.1}"),
        (3, "TAG is not set: v0.25.1"),
    ]
    assert service.command is not None
    assert [word.text for word in service.command] == ["--port", "9000"]
    assert [reason.text for reason in service.command[1].because][1:] == ["PORT is set to 9000"]


def test_script_within_a_compose_knows_its_lines() -> None:
    service = _service({"deploy/compose.yml": _SCRIPT})
    assert service.entrypoint is not None
    script = service.entrypoint[2]
    assert script.text == 'set -e\n\nexec vllm serve "$@"\n'
    assert script.lines == (8, 9, 10, 11)
    assert script.because[0].path == "deploy/compose.yml"


@pytest.mark.parametrize(
    ("scalar", "lines"),
    [
        ("|\n      a\n      b\n", (5, 6, 7)),
        (">\n      a\n      b\n\n      c\n", (5, 8, 8)),
        (">-\n      a\n        b\n      c\n", (5, 6, 7)),
        ('"a\\nb\\nc"\n', (4, 4, 4)),
        ('"a\n\n      b"\n', (4, 6)),
        ("'a\n      b\n\n      c'\n", (4, 7)),
        ("one line\n", (4,)),
    ],
)
def test_every_line_of_a_scalar_has_its_file_line(scalar: str, lines: tuple[int, ...]) -> None:
    service = _service(f"services:\n  s:\n    image: i\n    working_dir: {scalar}")
    text = service.config["working_dir"]
    assert text.scalar.lines(text) == lines


def test_command_in_one_string_gives_each_word_its_line() -> None:
    service = _service("services:\n  s:\n    image: i\n    command: >\n      serve m\n\n      --port 80\n      --x\n")
    assert service.command is not None
    assert [(word.text, word.because[0].line) for word in service.command] == [
        ("serve", 5),
        ("m", 5),
        ("--port", 7),
        ("80", 7),
        ("--x", 7),
    ]


def test_reads_list_every_host_variable_with_its_place() -> None:
    service = _service({"deploy/compose.yml": _SCRIPT.replace("${MODE}", "${MODE:+x${DEEP-y}}")})
    assert [(read.name, read.operator, read.argument, read.field, read.position.line) for read in service.reads] == [
        ("TAG", ":-", "v0.25.1", "image", 3),
        ("PORT", ":-", "8000", "command.1", 12),
        ("MODE", ":+", "x${DEEP-y}", "environment.MODE", 14),
        ("DEEP", "-", "y", "environment.MODE", 14),
    ]
    assert service.reads[0].position.column == 29


def test_environment_tells_passed_names_apart() -> None:
    service = _service({"deploy/compose.yml": _SCRIPT}, {"HF_TOKEN": "secret"})
    assert service.forwarded == {"HF_TOKEN"}
    token = service.environment["HF_TOKEN"]
    assert token is not None
    assert (token.text, token.because[0].line) == ("secret", 15)
    assert _service({"deploy/compose.yml": _SCRIPT}).environment["HF_TOKEN"] is None


def test_environment_file_gives_the_line_in_that_file() -> None:
    files = {"a/compose.yml": "services:\n  s:\n    image: i\n    env_file: x.env\n", "a/x.env": "# c\nA=1\n"}
    service = _service(files)
    word = service.environment["A"]
    assert word is not None
    assert (word.text, word.because[0].path, word.because[0].line) == ("1", "a/x.env", 2)
    assert "a/x.env" in _load(files).files


def test_environment_file_that_is_not_there_is_an_error_and_taken_as_empty() -> None:
    text = "services:\n  s:\n    image: i\n    env_file: [x.env, .env.local]\n    environment: {A: 1}\n"
    project = _load({"a/compose.yml": text, "a/x.env": "B=2\n"})
    assert [(error.kind, error.line, error.service) for error in project.errors] == [("not-found", 4, "s")]
    service = project.services["s"]
    assert {name: str(word) for name, word in service.environment.items()} == {"A": "1", "B": "2"}
    assert {path: place.line for path, place in service.absent_env_files.items()} == {"a/.env.local": 4}


def test_number_in_an_environment_is_text_with_a_reason() -> None:
    word = _service("services:\n  s:\n    image: i\n    environment:\n      PORT: 8000\n").environment["PORT"]
    assert word is not None
    assert (word.text, word.because[0].line, word.because[0].text) == ("8000", 5, "PORT: 8000")


def test_mounts_know_what_lies_in_the_repository() -> None:
    mounts = _service({"deploy/compose.yml": _SCRIPT}).mounts
    assert [(mount.type, mount.source, mount.target, mount.read_only, mount.in_repository) for mount in mounts] == [
        ("bind", "deploy/patches", "/etc/patches", True, True),
        ("bind", "models", "/models", False, True),
        ("volume", "cache", "/cache", False, False),
        ("bind", "/srv", "/srv", False, False),
    ]
    assert [mount.position.line for mount in mounts] == [17, 18, 19, 20]


def test_mount_that_leaves_the_repository_is_not_in_it() -> None:
    mount = _service("services:\n  s: {image: i, volumes: ['../up:/x']}\n").mounts[0]
    assert (mount.source, mount.in_repository) == ("/../up", False)


def test_extended_service_keeps_the_lines_of_both_files() -> None:
    files = {
        "compose.yml": "services:\n  s:\n    extends: {file: base/b.yml, service: q}\n    user: '1'\n",
        "base/b.yml": "services:\n  q:\n    image: z\n    command: [run]\n",
    }
    service = _service(files)
    assert service.command is not None
    assert (service.command[0].because[0].path, service.command[0].because[0].line) == ("base/b.yml", 4)
    assert set(_load(files).files) == {"base/b.yml", "compose.yml"}


def test_root_is_put_before_paths() -> None:
    documents = Documents(MemoryTree({"d/compose.yml": "services:\n  s: {image: i, volumes: ['./x:/y']}\n"}), "/repo")
    project = load_project(documents, ["d/compose.yml"], {})
    assert project.services["s"].config["volumes"][0]["source"] == "/repo/d/x"


def test_inactive_services_are_there_and_say_so() -> None:
    text = "services:\n  a: {image: i, profiles: [x]}\n  b: {image: i}\n"
    assert {name: service.active for name, service in _load(text).services.items()} == {"a": False, "b": True}
    assert _load(text, {"COMPOSE_PROFILES": "x"}).services["a"].active
    assert _load(text, profiles=["*"]).services["a"].active


def test_fault_of_one_service_leaves_the_others() -> None:
    project = _load("services:\n  a: {image: i, command: 'x \"y'}\n  b: {image: i, ports: [q]}\n  c: {image: i}\n")
    assert sorted(project.services) == ["b", "c"]
    assert [(error.service, error.line) for error in project.errors] == [("a", 2), ("b", 3)]


def test_fragment_without_an_image_still_gives_its_command() -> None:
    project = _load("services:\n  a:\n    command: [run]\n")
    assert [word.text for word in project.services["a"].command or ()] == ["run"]
    assert project.errors[0].message.startswith('service "a" has neither an image nor a build context specified')


def test_answer_in_another_environment_does_not_depend_on_earlier_ones() -> None:
    files = {
        "compose.yml": "services:\n  s:\n    image: i:$TAG\n    environment: [A]\n    command: serve ${X:-x} ~\n"
        "    volumes: ['~/m:/m']\n    extends: {file: '${B:-b}.yml', service: q}\n",
        "b.yml": "services:\n  q: {labels: {of: b}}\n",
        "c.yml": "services:\n  q: {labels: {of: c}}\n",
    }
    documents = Documents(MemoryTree(files))
    worlds: list[dict[str, str]] = [{}, {"TAG": "1"}, {"A": "a"}, {"X": "y"}, {"HOME": "/h"}, {"B": "c"}, {}]
    for world in worlds:
        fresh = load_project(Documents(MemoryTree(files)), ["compose.yml"], world)
        assert load_project(documents, ["compose.yml"], world) == fresh


def test_project_name_is_known_to_interpolation() -> None:
    assert _service("name: Foo\nservices:\n  s: {image: $COMPOSE_PROJECT_NAME}\n").config["image"] == "foo"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("services:\n  a: {image: i}\n", True),
        ("services:\n  a: {deploy: {}}\n", True),
        ("services: {}\n", False),
        ("services: [a]\n", False),
        ("services:\n  a: {host: x}\n", False),
        ("jobs: {}\n", False),
        ("services: [\n", False),
    ],
)
def test_looks_like_compose(text: str, found: bool) -> None:
    answer, why = looks_like_compose(Documents(MemoryTree({"a.yml": text})), "a.yml")
    assert answer is found
    assert bool(why) is not found


class _Unreadable(MemoryTree):
    def read(self, path: str) -> str | None:
        if path == "bad.yml":
            raise UnreadableFile(path, "not UTF-8")
        return super().read(path)


def test_unreadable_file_is_one_clear_error() -> None:
    tree = _Unreadable(
        {"bad.yml": "", "compose.yml": "services:\n  s: {image: i, extends: {file: bad.yml, service: x}}\n"}
    )
    project = load_project(Documents(tree), ["bad.yml"], {})
    assert [(error.message, error.path) for error in project.errors] == [("/bad.yml: not UTF-8", "bad.yml")]
    assert load_project(Documents(tree), ["compose.yml"], {}).errors[0].message == "/bad.yml: not UTF-8"


@pytest.mark.parametrize("args", ["{A: , B: 1}", "[A, B=1]"])
def test_bare_build_argument_takes_the_host_s_value(args: str) -> None:
    text = f"services:\n  s:\n    build: {{context: ., args: {args}}}\n"
    assert _service(text, {"A": "host"}).config["build"]["args"] == {"A": "host", "B": "1"}
    assert _service(text).config["build"]["args"] == {"B": "1"}


def test_a_value_that_env_states_gives_the_line_in_it() -> None:
    text = 'services:\n  s:\n    image: i\n    command: ["${A:-b}", "${C:-d}"]\n    environment: [A]\n'
    service = _service({"compose.yml": text, ".env": "# c\nexport A=1\n"})
    assert service.command is not None
    assert [(reason.path, reason.line) for reason in service.command[0].because][2:] == [(".env", 2)]
    assert all(reason.path == "compose.yml" for reason in service.command[1].because)
    passed = service.environment["A"]
    assert passed is not None
    assert [(reason.path, reason.line) for reason in passed.because] == [("compose.yml", 5), (".env", 2)]


@pytest.mark.parametrize(
    ("line", "read"),
    [("A=${B:-c}", ("B", ":-", "c")), ("A=$B", ("B", "", "")), ("A", ("A", "bare", "")), ("A='$B'", None)],
)
def test_variables_of_an_environment_file_are_reads(line: str, read: tuple[str, str, str] | None) -> None:
    files = {"compose.yml": "services:\n  s: {image: i, env_file: x.env}\n", "x.env": f"Z=1\n{line}\n"}
    found = [(one.name, one.operator, one.argument) for one in _service(files).reads]
    assert found == ([read] if read else [])
    assert all(str(one.position) == "x.env:2" and one.field == "env_file.A" for one in _service(files).reads)
