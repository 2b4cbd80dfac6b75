"""Programs that the interpreter knows by name: engines, launchers, and what only prepares."""

from __future__ import annotations

import re

ENGINES = frozenset(
    {
        "vllm", "llama-server", "server", "sglang", "lmcache", "lmcache_server", "tritonserver", "trtllm-serve",
        "text-generation-launcher", "text-generation-server", "text-generation-router", "ollama", "ik_llama-server",
        "llama-swap", "koboldcpp", "aphrodite", "tabbyapi", "lmdeploy", "mistralrs-server", "infinity_emb",
        "text-embeddings-router", "openllm", "litellm", "mlc_llm", "llamafile", "dynamo", "vllm-omni",
    }
)  # fmt: skip
"""Programs that serve a model, by their file name."""

ENGINE_MODULES = re.compile(
    r"(?:vllm|sglang|lmcache|lmdeploy|aphrodite|llama_cpp|tensorrt_llm|mlc_llm|vllm_omni|infinity_emb|dynamo|exllamav2"
    r"|tabbyapi|ktransformers)(?:\.|\Z)"
)
"""Python modules (`python -m …`) that serve a model."""

ENGINE_FILES = frozenset({"api_server.py", "launch_server.py"})
"""File names of servers that are started as `python FILE`."""

PYTHON = re.compile(r"python(?:[23](?:\.[0-9]+)?)?\Z")

SHELLS = frozenset({"bash", "sh", "dash", "ash", "rbash"})

INSTALLERS = frozenset(
    {
        "pip", "pip3", "uv", "apt-get", "apt", "apk", "dnf", "yum", "microdnf", "conda", "mamba", "npm", "pnpm", "yarn",
        "cargo", "make", "cmake", "ninja", "patch", "dpkg", "rpm",
    }
)  # fmt: skip
"""Programs that change what the engine is made of: a run of one is a step."""

PREPARATION = frozenset(
    {
        "mkdir", "cp", "mv", "rm", "ln", "chmod", "chown", "touch", "install", "rsync", "tar", "unzip",
        "gunzip", "gzip", "curl", "wget", "git", "git-lfs", "huggingface-cli", "hf", "aria2c", "sed", "tee",
        "sync", "ulimit", "sysctl", "mount", "umount", "ldconfig", "update-ca-certificates", "locale-gen",
        "service", "ray", "redis-server", "nginx", "sshd", "ssh-keygen", "ip", "ifconfig", "iptables",
        "modprobe", "nvidia-persistenced", "nvidia-cuda-mps-control", "mktemp", "dd", "truncate", "kill",
        "pkill", "killall", "stty", "clear", "tput", "logger", "aws", "gsutil", "gcloud", "s3cmd", "rclone",
        "mpirun", "nvidia-ctk", "setcap", "useradd", "groupadd", "usermod", "xargs", "find", "date", "hostname",
        "id", "whoami", "uname", "nproc", "free", "df", "du", "ls", "ps", "env", "printenv", "lscpu", "lspci",
        "nvidia-smi", "rocm-smi", "rocminfo", "nvcc", "ldd", "file", "stat", "readlink", "realpath", "tail",
        "head", "less", "more", "watch", "time", "jq", "yq", "envsubst", "base64", "md5sum", "sha256sum",
    }
)  # fmt: skip
"""Programs that exist in most images and whose success is assumed where nothing asks for it."""

QUERIES = frozenset(
    {
        "nvidia-smi", "rocm-smi", "rocminfo", "grep", "egrep", "fgrep", "curl", "wget", "nc", "ncat", "ping", "pgrep",
        "pidof", "lspci", "lscpu", "ls", "find", "stat", "cmp", "diff", "getent", "id", "jq", "nvcc", "test", "netstat",
        "ss", "lsof", "awk", "python", "python3", "mountpoint", "file", "ldconfig", "kill", "pg_isready", "redis-cli",
        "timeout", "hostname", "git",
    }
)  # fmt: skip
"""Programs that are asked something: in a condition both answers are possible."""

ANSWERS = frozenset(
    {
        "grep", "egrep", "fgrep", "nc", "ncat", "ping", "pgrep", "pidof", "cmp", "diff", "getent", "mountpoint", "test",
        "pg_isready", "redis-cli", "kill", "[",
    }
)  # fmt: skip
"""Programs that answer a question by their status: to fail is as usual as to succeed."""

COMMON = frozenset(
    {
        "numactl", "cat", "ls", "mkdir", "rm", "cp", "mv", "ln", "chmod", "touch", "date", "hostname", "uname",
        "id", "whoami", "sleep", "env", "nohup", "nice", "timeout", "stdbuf", "tr", "cut", "sed", "grep", "awk",
        "seq", "head", "tail", "sort", "wc", "tee", "uniq", "basename", "dirname", "readlink", "realpath",
        "mktemp", "xargs", "find", "bash", "sh", "dash", "setsid", "taskset", "ionice", "chrt", "expr", "true",
        "false", "printf", "echo", "test", "rev", "tac", "paste", "comm", "fold", "nl", "od", "xxd", "base64",
        "md5sum", "sha256sum", "egrep", "fgrep", "mawk", "printenv", "nproc", "df", "du", "stat", "sync", "yes",
        "rmdir", "dd", "stty", "tty", "install", "logname", "which", "gzip", "tar", "diff", "cmp", "split",
        "join", "shuf", "factor", "numfmt", "cksum", "sum", "expand", "unexpand", "pr", "fmt", "truncate",
        "pwd", "kill", "[",
    }
)  # fmt: skip
"""Programs of a plain Debian system (and numactl): what a closed world has besides its files."""

PERHAPS = frozenset({"jq", "yq", "envsubst", "perl", "bc", "gawk", "git", "curl", "wget"})
"""Programs that many plain systems have besides: in a closed world it is open what running one does."""

EVERYWHERE = frozenset(
    {
        "bash", "sh", "cat", "ls", "grep", "sed", "awk", "env", "python3", "vllm", "mkdir", "cp", "rm",
    }
)  # fmt: skip
"""Programs that every image of an engine has."""

CLOSED_STUBS = frozenset({"vllm", "python3", "python"})
"""In a closed world these are the programs that serve."""


def is_inference_server(name: str | None) -> bool:
    """Whether a program's or Python package's own name is that of a server of models ("vllm", "llama-server")."""
    return name is not None and (name in ENGINES or ENGINE_MODULES.match(name) is not None)
