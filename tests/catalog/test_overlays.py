from __future__ import annotations

import pytest

from bot.catalog import WiredPatch, overlays_for, read_catalog
from bot.compose.model import Mount, Service
from bot.provenance import Position, Word
from bot.shell.model import Step
from bot.tree import MemoryTree

HERE = Position("c.yml", 1)
FIX = """
- id: fix
  files: [p/pr48375/install.sh, p/pr48375/fix.py]
  delivery_mechanism: install_script
  delivery_spec: {script: p/pr48375/install.sh, mounted_at: /etc/fix, invoke: bash /etc/fix/install.sh}
  upstream: {ref: 'vllm#48375'}
- {id: over, files: [p/over/a.py, p/over/b.py], delivery_mechanism: site_package_overlay}
- {id: folder, files: [p/folder], delivery_mechanism: install_script}
- id: template
  files: [p/chat.jinja]
  delivery_mechanism: chat_template
- {id: hook, files: [p/hook/sitecustomize.py], delivery_mechanism: python_sidecar}
- {id: nothing, files: [], delivery_mechanism: none}
"""
CATALOG = read_catalog(MemoryTree({"patches.yml": FIX}))
PACKAGES = "/usr/lib/python3.12/dist-packages/vllm"


def service(mounts: dict[str, str], environment: dict[str, str] | None = None) -> Service:
    bound = (Mount("bind", at, target, True, not at.startswith("/"), HERE) for at, target in mounts.items())
    words = {name: Word(value) for name, value in (environment or {}).items()}
    return Service("s", HERE, {}, None, None, None, words, tuple(bound), ())


def step(command: str, before: bool = True, stops: bool | None = True) -> Step:
    return Step(tuple(Word(word) for word in command.split()), before, lambda: stops, HERE)


def only(mounts: dict[str, str], *steps: Step, **more: dict[str, str]) -> WiredPatch:
    (patch,) = overlays_for(CATALOG, service(mounts, **more), steps)
    return patch


RUN = step("bash /etc/fix/install.sh")


@pytest.mark.parametrize(
    ("mounts", "steps", "wired", "why"),
    [
        ({"p/pr48375": "/etc/fix"}, [RUN], True, ""),
        ({"p": "/etc"}, [step("bash /etc/pr48375/install.sh")], True, ""),
        ({"p/pr48375": "/etc/fix/"}, [RUN], True, ""),
        ({"p/pr48375/install.sh": "/i.sh", "p/pr48375/fix.py": "/f.py"}, [step("sh /i.sh")], True, ""),
        ({"p/pr48375": "/etc/fix"}, [], False, "nothing runs /etc/fix/install.sh"),
        ({"p/pr48375": "/etc/fix"}, [step("python3 /etc/fix/fix.py")], False, "nothing runs"),
        ({"p/pr48375": "/elsewhere"}, [RUN], False, "nothing runs /elsewhere/install.sh"),
        ({"p/pr48375": "/etc/fix"}, [step("bash /etc/fix/install.sh", stops=False)], False, "although"),
        ({"p/pr48375": "/etc/fix"}, [step("bash /etc/fix/install.sh", stops=None)], None, "whether the engine starts"),
        ({"p/pr48375": "/etc/fix"}, [step("bash /etc/fix/install.sh", stops=None), RUN], True, ""),
        ({"p/pr48375": "/etc/fix"}, [step("bash /etc/fix/install.sh", before=False)], False, "does not run before"),
        ({"p/pr48375": "/etc/fix"}, [step("bash /etc/fix/install.sh", before=False), RUN], True, ""),
        ({"p/pr48375/install.sh": "/i.sh"}, [step("sh /i.sh")], None, "p/pr48375/fix.py is not mounted"),
        ({"p/pr48375/fix.py": "/etc/fix/fix.py"}, [RUN], False, "install.sh is not mounted"),
        ({}, [RUN], False, "is run and not mounted"),
    ],
)  # fmt: skip
def test_an_install_script(mounts: dict[str, str], steps: list[Step], wired: bool | None, why: str) -> None:
    patch = only(mounts, *steps)
    assert (patch.id, patch.listed, patch.upstream) == ("fix", True, ("vllm-project/vllm#48375",))
    assert patch.wired is wired
    assert why in patch.why
    assert bool(patch.why) == (not patch.wired)
    assert patch.because[0].path == "patches.yml"


@pytest.mark.parametrize(
    ("mounts", "wired"),
    [
        ({"p/over/a.py": f"{PACKAGES}/a.py", "p/over/b.py": f"{PACKAGES}/b.py"}, True),
        ({"p/over": PACKAGES}, True),
        ({"p/over/a.py": f"{PACKAGES}/a.py"}, False),
        ({"p/over": "/etc/over"}, False),
    ],
)
def test_files_laid_over_the_package_need_no_step(mounts: dict[str, str], wired: bool) -> None:
    assert only(mounts).wired is wired


def test_a_folder_is_run_by_any_file_in_it() -> None:
    assert only({"p/folder": "/x"}, step("bash /x/go.sh")).wired is True
    assert only({"p/folder/go.sh": "/go.sh"}, step("bash /go.sh")).wired is True
    assert only({"p/folder": "/x"}, step("bash /xy/go.sh")).wired is False


def test_a_template_is_applied_by_an_argument() -> None:
    on = service({"p/chat.jinja": "/etc/chat.jinja"})

    def wired(argv: tuple[Word, ...] | None) -> bool | None:
        (patch,) = overlays_for(CATALOG, on, (), argv)
        return patch.wired

    assert wired((Word("--chat-template"), Word("/etc/chat.jinja"))) is True
    assert wired((Word("--chat-template=/etc/chat.jinja"),)) is True
    assert wired((Word("serve"),)) is False
    assert wired(None) is None
    assert only({"p/chat.jinja": "/models/m/chat_template.jinja"}).wired is True


def test_an_import_hook_is_run_by_python_itself() -> None:
    patch = only({"p/hook": "/h"}, environment={"PYTHONPATH": "/a:/h"})
    assert (patch.invoked, patch.failure_stops_boot, patch.wired) == (True, None, None)
    assert only({"p/hook/sitecustomize.py": "/h/sitecustomize.py"}, environment={"PYTHONPATH": "/h"}).invoked is True
    assert only({"p/hook": "/h"}, environment={"PYTHONPATH": "/a"}).wired is False


@pytest.mark.parametrize(
    ("mounts", "steps", "upstream", "wired"),
    [
        ({"q/vllm-pr46324": "/etc/q"}, [step("bash /etc/q/install.sh")], ("vllm-project/vllm#46324",), True),
        (
            {"q/vllm-pr46324/a.sh": "/a", "q/vllm-pr46324/b.py": "/b"},
            [step("sh /a")],
            ("vllm-project/vllm#46324",),
            True,
        ),
        ({"q/vllm-pr46324": "/etc/q"}, [], ("vllm-project/vllm#46324",), False),
        ({"overlays/some.py": "/o.py"}, [step("python3 /o.py")], (), True),
        ({"src/some.py": f"{PACKAGES}/some.py"}, [], (), True),
        ({"q/some.sh": "/etc/pr46324.sh"}, [step("sh /etc/pr46324.sh")], ("vllm-project/vllm#46324",), True),
    ],
)
def test_patches_that_are_not_listed(
    mounts: dict[str, str], steps: list[Step], upstream: tuple[str, ...], wired: bool
) -> None:
    patch = only(mounts, *steps)
    assert (patch.listed, patch.upstream, patch.wired) == (False, upstream, wired)


@pytest.mark.parametrize(
    "mounts",
    [
        {"cache": "/root/.cache"},
        {"scripts/detect.sh": "/detect.sh"},
        {"patches/chat.jinja": "/chat.jinja"},
        {"/host/pr46324": "/etc/q"},
    ],
)
def test_other_mounts_are_no_patches(mounts: dict[str, str]) -> None:
    assert overlays_for(CATALOG, service(mounts), [step("bash /detect.sh")]) == ()


def test_a_place_that_another_patch_takes_is_not_missing() -> None:
    entries = (f"- {{id: {name}, files: [{name}], delivery_spec: {{mounted_at: /p}}}}\n" for name in ("one", "two"))
    catalog = read_catalog(MemoryTree({"patches.yml": "".join(entries)}))
    found = overlays_for(catalog, service({"one": "/p"}), [step("bash /p/install.sh")])
    assert [(patch.id, patch.wired) for patch in found] == [("one", True)]


def test_a_folder_of_all_patches_brings_only_what_is_run() -> None:
    assert overlays_for(CATALOG, service({"p": "/p"}), ()) == ()
    assert only({"p": "/p"}, step("bash /p/folder/go.sh")).id == "folder"


@pytest.mark.parametrize(
    ("files", "fixes"),
    [
        ({}, True),
        ({"p/pr48375/install.sh": "", "p/pr48375/fix.py": ""}, False),
        ({"p/pr48375/install.sh": "#!/bin/sh\nset -e\n# later\nexit 0\n", "p/pr48375/fix.py": ""}, False),
        ({"p/pr48375/install.sh": "#!/bin/sh\npython3 fix.py\n", "p/pr48375/fix.py": ""}, True),
        ({"p/pr48375/install.sh": "true\n", "p/pr48375/fix.py": '"""Soon."""\nimport re\n'}, False),
        ({"p/pr48375/install.sh": "", "p/pr48375/fix.py": "import fix\n"}, True),
        ({"p/pr48375/install.sh": "", "p/pr48375/fix.py": "def (\n"}, True),
        ({"p/pr48375/fix.py": ""}, True),
    ],
)
def test_a_patch_whose_files_do_nothing_brings_no_fix(files: dict[str, str], fixes: bool) -> None:
    (patch,) = overlays_for(CATALOG, service({"p/pr48375": "/etc/fix"}), [RUN], text=files.get)
    assert patch.wired
    assert bool(patch.upstream) is fixes
