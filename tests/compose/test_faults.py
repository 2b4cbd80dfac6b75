"""Composes that Docker Compose refuses: its words, with file and line."""

from __future__ import annotations

import pytest

from bot.compose import Documents, load_project
from bot.tree import MemoryTree

_S = "services:\n  s:\n    image: i\n"

_FAULTS: dict[str, tuple[str, str, int | None]] = {
    "services: [a\n": ("not-yaml", "yaml: line 1: did not find expected ',' or ']'", 2),
    "services:\n\ts:\n": ("not-yaml", "yaml: line 2: found character that cannot start any token", 2),
    f"{_S}    command: *q\n": ("not-yaml", "yaml: unknown anchor 'q' referenced", 4),
    f"{_S}    image: j\n": (
        "not-yaml",
        'failed to parse /compose.yml: line 4: mapping key "image" already defined at line 3',
        4,
    ),
    f"{_S}    <<: text\n": (
        "not-yaml",
        "failed to parse /compose.yml: yaml: map merge requires map or sequence of maps as the value",
        4,
    ),
    "1: a\nservices: {}\n": ("schema", "non-string key at top level: 1", 1),
    f"{_S}    labels:\n      1: a\n": ("schema", "non-string key in services.s.labels: 1", 5),
    "": ("no-services", "empty compose file", 1),
    "name: x\n": ("no-services", "no services", None),
    "services:\n": ("schema", "services must be a mapping", 1),
    "- a\n": ("schema", "top-level object must be a mapping", 1),
    f"{_S}    command: [run, 5]\n": ("schema", "validating /compose.yml: services.s.command.1 must be a string", 4),
    f"{_S}    command:\n      - run\n      - true\n": (
        "schema",
        "validating /compose.yml: services.s.command.1 must be a string",
        6,
    ),
    f"{_S}    foo: 1\n    bar: 2\n": (
        "schema",
        "validating /compose.yml: services.s additional properties 'foo', 'bar' not allowed",
        4,
    ),
    f"{_S}foo: 1\n": ("schema", "validating /compose.yml:  additional properties 'foo' not allowed", 4),
    f"{_S}    ports: {{}}\n": ("schema", "validating /compose.yml: services.s.ports must be a array", 4),
    f"{_S}    environment:\n      A: {{b: c}}\n": (
        "schema",
        "validating /compose.yml: services.s.environment.A must be a boolean, null, number or string",
        5,
    ),
    f"{_S}    environment: {{D: 2001-01-01}}\n": (
        "schema",
        "validating /compose.yml: services.s.environment.D invalid jsonType time.Time",
        4,
    ),
    f"{_S}    user: ${{NO:?set it}}\n": (
        "missing-variable",
        "error while interpolating services.s.user: required variable NO is missing a value: set it",
        4,
    ),
    f"{_S}    ports:\n      - ${{NO!}}\n": (
        "interpolation",
        "invalid interpolation format for services.s.ports.[].\nYou may need to escape any $ with another $.\n${NO!}",
        5,
    ),
    f"{_S}    tty: maybe\n": (
        "interpolation",
        "error while interpolating services.s.tty: failed to cast to expected type: invalid boolean: maybe",
        4,
    ),
    f"{_S}    command: 'a \"b'\n": (
        "invalid",
        "decoding failed due to the following error(s):\n\n'services[s].command' invalid command line string",
        4,
    ),
    f"{_S}    healthcheck:\n      interval: 5x\n": (
        "invalid",
        "decoding failed due to the following error(s):\n\n"
        '\'services[s].healthcheck.interval\' time: unknown unit "x" in duration "5x"',
        5,
    ),
    f"{_S}    volumes: [':/x:ro']\n": ("invalid", "invalid spec: :/x:ro: empty section between colons", 4),
    f"{_S}    ports: ['a:b']\n": ("invalid", "invalid containerPort: b", 4),
    f"{_S}    networks: [n]\n": ("invalid", 'service "s" refers to undefined network n: invalid compose project', 4),
    f"{_S}    volumes: ['data:/x']\n": (
        "invalid",
        'service "s" refers to undefined volume data: invalid compose project',
        4,
    ),
    f"{_S}    depends_on: [t]\n": (
        "invalid",
        'service "s" depends on undefined service "t": invalid compose project',
        4,
    ),
    f"{_S}    secrets: [t]\n": ("invalid", 'service "s" refers to undefined secret t: invalid compose project', 4),
    f"{_S}    network_mode: host\n    networks: [default]\n": (
        "invalid",
        "service s declares mutually exclusive `network_mode` and `networks`: invalid compose project",
        4,
    ),
    "services:\n  s:\n    command: [a]\n": (
        "invalid",
        'service "s" has neither an image nor a build context specified: invalid compose project',
        2,
    ),
    f"{_S}    env_file: [no.env]\n": (
        "not-found",
        "env file /no.env not found: stat /no.env: no such file or directory",
        4,
    ),
    f"{_S}    extends: t\n": ("invalid", 'cannot extend service "s" in /compose.yml: service "t" not found', 4),
    f"{_S}    extends: {{file: no.yml, service: t}}\n": ("not-found", "open /no.yml: no such file or directory", 4),
    f"{_S}    extends: {{file: ../no.yml, service: t}}\n": (
        "outside-repository",
        "the path leaves the repository: ../no.yml",
        4,
    ),
    f"{_S}    extends: s\n": ("cycle", "Circular reference:\n  s in /compose.yml\n  extends s in /compose.yml", 4),
    "include: [no.yml]\n": ("not-found", "open /no.yml: no such file or directory", 1),
    "include:\n  - compose.yml\n": ("cycle", "include cycle detected:\n/compose.yml\n include /compose.yml", 2),
    f"{_S}    depends_on: [t]\n  t: {{image: i, depends_on: [s]}}\n": (
        "cycle",
        "dependency cycle detected: s -> t -> s",
        4,
    ),
    f"{_S}volumes: [x]\n": ("schema", "validating /compose.yml: volumes must be a mapping", 4),
    f"{_S}secrets:\n  x: {{}}\n": ("invalid", "secrets.x: one of file|environment must be set", 5),
    "version: 3\n" + _S: ("schema", "validating /compose.yml: version must be a string", 1),
}


@pytest.mark.parametrize(("text", "fault"), _FAULTS.items(), ids=[message for _, message, _ in _FAULTS.values()])
def test_fault_has_compose_s_words_and_its_line(text: str, fault: tuple[str, str, int | None]) -> None:
    errors = load_project(Documents(MemoryTree({"compose.yml": text})), ["compose.yml"], {}).errors
    assert [(error.kind, error.message, error.line) for error in errors] == [fault]
    assert errors[0].path == "compose.yml"


def test_missing_compose_is_an_error() -> None:
    errors = load_project(Documents(MemoryTree({"d/x.yml": ""})), ["no.yml"], {}).errors
    assert [(error.kind, error.path) for error in errors] == [("not-found", "no.yml")]
    assert (
        load_project(Documents(MemoryTree({"d/x.yml": ""})), ["d"], {}).errors[0].message == "read /d: is a directory"
    )
    assert (
        load_project(Documents(MemoryTree({})), [], {}).errors[0].message == "no configuration file provided: not found"
    )


def test_fault_of_an_extended_file_is_placed_in_that_file() -> None:
    files = {
        "compose.yml": "services:\n  s: {extends: {file: b.yml, service: q}}\n",
        "b.yml": "services:\n  q:\n    image: 5\n",
    }
    error = load_project(Documents(MemoryTree(files)), ["compose.yml"], {}).errors[0]
    assert (error.path, error.line) == ("b.yml", 3)


def test_fault_beside_the_extended_service_stops_docker_compose_too() -> None:
    files = {
        "compose.yml": "services:\n  s: {extends: {file: b.yml, service: q}}\n",
        "b.yml": "services:\n  q: {image: i}\n  r:\n    image: ${NO:?set it}\n",
    }
    project = load_project(Documents(MemoryTree(files)), ["compose.yml"], {})
    assert [(error.kind, error.path, error.line) for error in project.errors] == [("missing-variable", "b.yml", 4)]
    assert "s" in project.services


@pytest.mark.parametrize("later", ["services:\n  s: !reset null\n", "services:\n  s: !override {image: k}\n"])
@pytest.mark.parametrize(
    ("field", "kind"),
    [("portz: 1", "schema"), ("ports: {a: 1}", "schema"), ("image: ${NO:?set it}", "missing-variable")],
)
def test_a_service_that_a_later_file_takes_out_is_checked_before(later: str, field: str, kind: str) -> None:
    files = {"a.yml": f"services:\n  t: {{image: i}}\n  s:\n    {field}\n", "b.yml": later}
    project = load_project(Documents(MemoryTree(files)), ["a.yml", "b.yml"], {})
    assert [(error.kind, error.path, error.line) for error in project.errors] == [(kind, "a.yml", 4)]


def test_what_a_removed_service_refers_to_does_not_matter() -> None:
    text = "services:\n  t: {image: i}\n  s: {image: i, env_file: [no.env], depends_on: [nobody]}\n"
    files = {"a.yml": text, "b.yml": "services:\n  s: !reset null\n"}
    assert not load_project(Documents(MemoryTree(files)), ["a.yml", "b.yml"], {}).errors


def test_a_fault_is_placed_in_the_file_that_is_refused() -> None:
    files = {"a.yml": "services:\n  s: {image: 3}\n", "b.yml": "\n\nservices:\n  s: {image: k}\n"}
    error = load_project(Documents(MemoryTree(files)), ["a.yml", "b.yml"], {}).errors[0]
    assert (error.path, error.line) == ("a.yml", 2)
