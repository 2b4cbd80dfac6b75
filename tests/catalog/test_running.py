"""Which files a command line runs: what only names a file does not."""

from __future__ import annotations

import shlex

import pytest

from bot.catalog.running import files_run

X = "/etc/x/install.sh"


@pytest.mark.parametrize(
    "command",
    [
        "{X}",
        "{X} --force",
        "bash {X}",
        "/bin/bash -e {X} arg",
        "bash -euo pipefail {X}",
        "bash -x -o pipefail -- {X}",
        "sh {X}",
        ". {X}",
        "source {X} arg",
        "source -- {X}",
        "python3 {X}",
        "python3 -u -W ignore {X} --flag",
        "/opt/venv/bin/python3.12 {X}",
        "perl {X}",
        "patch -p1 -i {X}",
        "patch -d /site -p1 --input={X}",
        "patch -N -i{X}",
        "patch vllm.py {X}",
        "patch -d /site -p 1 vllm.py {X}",
        "git apply {X}",
        "git -C /site apply -p1 --whitespace=nowarn {X}",
        "git -c a=b am {X}",
        "pip install --no-deps {X}",
        "pip3 install -e {X}",
        "python3 -m pip install {X}",
        "uv pip install --python /usr/bin/python3 {X}",
        "dpkg -i {X}",
        "make -C {X}",
        "env A=b bash {X}",
        "env -u A -i B=c {X}",
        "timeout 5 bash {X}",
        "timeout -k 3 5 nice -n 5 bash {X}",
        "nohup {X}",
        "exec bash {X}",
        "sudo -u root bash {X}",
    ],
)
def test_runs(command: str) -> None:
    assert X in files_run(shlex.split(command.format(X=X)))


@pytest.mark.parametrize(
    "command",
    [
        "echo {X}",
        "cat {X}",
        "chmod +x {X}",
        "test -f {X}",
        "[ -x {X} ]",
        "ls -l {X}",
        "cp {X} /tmp",
        "ln -s {X} /tmp/y",
        "unheard-of {X}",
        "bash /other.sh {X}",
        "bash -c 'true' {X}",
        "bash -ec 'true' {X}",
        "bash --rcfile {X} /other.sh",
        "source /other.sh {X}",
        "python3 /other.py {X}",
        "python3 -m json.tool {X}",
        "python3 -c pass {X}",
        "python3 -W {X} /other.py",
        "patch -p1 -d {X} -i /other.patch",
        "patch --dry-run -p1 -i {X}",
        "patch -R -p1 -i {X}",
        "patch -o {X} vllm.py /other.patch",
        "git apply --check {X}",
        "git apply --directory {X} /other.patch",
        "git add {X}",
        "git log apply {X}",
        "pip install -r {X}",
        "pip show {X}",
        "pip install --target {X} other",
        "dpkg --contents {X}",
        "timeout 5 cat {X}",
        "env A={X} bash /other.sh",
        "env -C {X} bash /other.sh",
        "",
    ],
)
def test_does_not_run(command: str) -> None:
    assert X not in files_run(shlex.split(command.format(X=X)))


@pytest.mark.parametrize(
    "command", ["patch -p1", "patch -d /site vllm.py", "git apply", "git apply -", "bash", "bash -s"]
)
def test_applies_its_input(command: str) -> None:
    assert X in files_run(shlex.split(command), X)


@pytest.mark.parametrize(
    "command", ["cat", "patch --dry-run", "patch -i /other", "bash /other.sh", "bash -c true", "tee"]
)
def test_only_reads_its_input(command: str) -> None:
    assert X not in files_run(shlex.split(command), X)
