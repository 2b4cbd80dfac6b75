"""Patterns of file names over folders that are mounted from the repository."""

from __future__ import annotations

import pytest

from tests.worlds.build import compose, deployment

HERE = "./patches:/patches:ro"
FILES = {
    "deploy/patches/01-a.py": "a",
    "deploy/patches/02-b.py": "b",
    "deploy/patches/.hidden.py": "c",
    "deploy/patches/run.sh": "true\n",
    "deploy/patches/sub/install.sh": "true\n",
    "deploy/more/03-c.py": "d",
    "deploy/mixed/a_b.py": "",
    "deploy/mixed/A.py": "",
    "deploy/mixed/ab.py": "",
}


def _argv(
    script: str, volumes: tuple[str, ...] = (HERE,), environment: tuple[str, ...] = ()
) -> tuple[list[str] | None, list[str]]:
    """The arguments (None when they are not known), and the commands of the steps."""
    run = deployment(compose(script, environment, volumes), FILES).realise().run
    assert run is not None
    if run.unresolved or len(run.outcomes) != 1 or run.outcomes[0].argv is None:
        return None, []
    (outcome,) = run.outcomes
    if not all(one.known for one in outcome.argv or ()):
        return None, []
    return [one.text for one in outcome.argv or ()], [" ".join(word.text for word in one.run) for one in outcome.steps]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("/patches/*.py", ["/patches/01-a.py", "/patches/02-b.py"]),
        ("/patches/0[2-9]*", ["/patches/02-b.py"]),
        ("/patches/.h*", ["/patches/.hidden.py"]),
        ("/patches/*/install.sh", ["/patches/sub/install.sh"]),
        ("/patches/*/*.sh", ["/patches/sub/install.sh"]),
        ("/patches/*", ["/patches/01-a.py", "/patches/02-b.py", "/patches/run.sh", "/patches/sub"]),
        ('"/patches/"*.sh', ["/patches/run.sh"]),
        ("$$D/*.py", ["/patches/01-a.py", "/patches/02-b.py"]),
        ("$$(ls /patches)", ["01-a.py", "02-b.py", "run.sh", "sub"]),
        ("/patches/*.txt", None),
        ("/elsewhere/*.py", None),
        ("/patches/**/*.sh", None),
    ],
)
def test_names_in_a_folder_of_the_repository(words: str, names: list[str] | None) -> None:
    assert _argv(f"D=/patches; exec vllm {words}")[0] == names


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("cd /patches && exec vllm *.py", ["01-a.py", "02-b.py"]),
        ("cd /patches; exec vllm ./*.sh", ["./run.sh"]),
        (
            "shopt -s dotglob; LC_ALL=C; exec vllm /patches/*.py",
            ["/patches/.hidden.py", "/patches/01-a.py", "/patches/02-b.py"],
        ),
        ("shopt -s extglob\nexec vllm /patches/@(run|walk).sh", ["/patches/run.sh"]),
        ("set -f; exec vllm /patches/*.py", ["/patches/*.py"]),
        ("rm /patches/01-a.py; exec vllm /patches/*.py", None),
        (
            "echo x > /patches/00.py; exec vllm /patches/*.py",
            ["/patches/00.py", "/patches/01-a.py", "/patches/02-b.py"],
        ),
        ("tar xf t.tar -C /patches; exec vllm /patches/*.py", None),
    ],
)
def test_what_the_script_does_before(script: str, names: list[str] | None) -> None:
    assert _argv(script)[0] == names


def test_a_loop_over_patches_is_followed_file_by_file() -> None:
    argv, steps = _argv('for f in /patches/*.py; do python3 "$$f" || exit 1; done; exec vllm serve m')
    assert argv == ["serve", "m"]
    assert steps == ["python3 /patches/01-a.py", "python3 /patches/02-b.py"]


def test_ls_into_a_loop() -> None:
    script = 'ls /patches | grep py | { while read -r f; do A+=("$$f"); done; vllm serve "$${A[@]}"; }'
    assert _argv(script)[0] == ["serve", "01-a.py", "02-b.py"]


def test_a_mount_within_the_folder_is_seen_as_a_name() -> None:
    volumes = (HERE, "./more/03-c.py:/patches/03-c.py:ro")
    assert _argv("exec vllm /patches/0*.py", volumes)[0] == [f"/patches/{name}.py" for name in ("01-a", "02-b", "03-c")]


@pytest.mark.parametrize(
    ("environment", "names"), [((), None), (("LC_ALL=C",), ["A.py", "a_b.py", "ab.py"]), (("LANG=en_US.UTF-8",), None)]
)
def test_an_order_that_depends_on_the_locale(environment: tuple[str, ...], names: list[str] | None) -> None:
    script = "cd /mixed; exec vllm *.py"
    assert _argv(script, ("./mixed:/mixed",), environment)[0] == names


def test_that_the_host_has_no_more_is_an_assumption() -> None:
    run = deployment(compose("exec vllm /patches/*.py", (), (HERE,)), FILES).realise().run
    assert run is not None
    assert [note.reason for note in run.outcomes[0].notes] == [
        "/patches is assumed to hold what the repository has there, and nothing else"
    ]
