"""`bot inspect compose`: the Compose stage alone, one request at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.cli.request import BadRequest, text, texts, words
from bot.compose import Documents, Project, load_project
from bot.tree import MemoryTree


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """What Docker Compose's `config --format json` prints for the files of a request, with `$$` undone.

    `files` maps paths, as seen from the project directory, to their text; `main` are those given with `-f`
    (Compose's own default names when it is missing); `env` is the whole shell environment; `profiles` and `env_files`
    stand for `--profile` and `--env-file`, or come from `args`, a command line. `root` is the absolute path of
    the project directory: paths begin with it. Without one they begin at `/`.
    """
    if "files" not in request:
        raise BadRequest("the request has no `files`")
    options = _Options(request)
    documents = Documents(MemoryTree(texts(request, "files")), options.root)
    project = load_project(
        documents,
        options.main,
        texts(request, "env"),
        profiles=options.profiles,
        env_files=options.env_files,
        directory=options.directory,
    )
    return shown(project)


def shown(project: Project) -> dict[str, Any]:
    """A project as the contract gives it: the services that would run, and why Docker Compose refuses the others."""
    services = {name: dict(service.config) for name, service in project.services.items() if service.active}
    errors = [
        {"message": error.message, "path": error.path, "line": error.line}
        for error in project.errors
        if error.kind != "no-services" or error.message == "empty compose file"
    ]
    return {"services": services, "errors": errors}


class _Options:
    """What a request asks for, by its keys or by its `args`."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self.main = list(words(request, "main"))
        self.profiles: list[str] | None = list(words(request, "profiles")) or None
        self.env_files = list(words(request, "env_files"))
        self.directory = text(request, "directory")
        self.root = (text(request, "root") or "").rstrip("/")
        if "main" not in request:
            self._read(words(request, "args"))

    def _read(self, args: Sequence[str]) -> None:
        rest = iter(args)
        for arg in rest:
            name, equals, value = arg.partition("=")
            if name in ("-f", "--file"):
                self.main.append(value if equals else next(rest, ""))
            elif name == "--profile":
                self.profiles = [*(self.profiles or ()), value if equals else next(rest, "")]
            elif name == "--env-file":
                self.env_files.append(value if equals else next(rest, ""))
            elif name == "--project-directory":
                directory = value if equals else next(rest, "")
                self.directory = "" if directory == "." else directory
