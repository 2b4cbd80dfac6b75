"""The environments of a question: the shell's, the project's `.env`, and those of includes."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from bot.compose import dotenv
from bot.compose.documents import Documents
from bot.compose.faults import Fault
from bot.compose.layers import Scope
from bot.compose.values import Environment, Stated

DEFAULT_NAMES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
DEFAULT_OVERRIDES = (
    "compose.override.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
    "docker-compose.override.yaml",
)


def project_environment(
    documents: Documents, directory: str, shell: Mapping[str, str], env_files: Sequence[str], read: dict[str, None]
) -> dict[str, str]:
    """The shell's variables and, below them, those of the environment files. Notes the files in `read`.

    Raises `Fault` when a file that was named is not there, or one cannot be read.
    """
    named = list(env_files) or [name for name in shell.get("COMPOSE_ENV_FILES", "").split(",") if name]
    default = posixpath.join(directory, ".env")
    files = [documents.locate("", name) for name in named] or ([default] if documents.is_file(default) else [])
    found = read_files(documents, files, shell)
    read.update(dict.fromkeys(files))
    return {**found, **shell}


def read_files(documents: Documents, files: Sequence[str], outer: Environment) -> dict[str, str]:
    """The variables of some environment files; what is set outside wins while they refer to one another."""
    values: dict[str, str] = {}
    placed: dict[str, str] = {}
    for path in files:
        source = documents.text(path)
        if source is None:
            shown = documents.shown(path)
            if documents.tree.is_directory(path):
                raise Fault("not-found", f"{shown} is a directory", path=path)
            raise Fault("not-found", f"couldn't find env file: {shown}", path=path)
        asked: dict[str, list[dotenv.Asked]] = {}

        def note(one: dotenv.Asked, asked: dict[str, list[dotenv.Asked]] = asked) -> None:
            asked.setdefault(one.target, []).append(one)

        try:
            lines = dotenv.parse(source.text, outer.get, values, note)
        except dotenv.BadEnvironmentFile as error:
            message = f"failed to read {documents.shown(path)}: {error}"
            raise Fault("not-yaml", message, path=path, line=error.line) from None
        for name, line in lines.items():
            placed[name] = Stated.at(values[name], source, line, asked.get(name, ()))
    return placed


def default_files(documents: Documents, directory: str) -> list[str]:
    """The files that Compose looks for when it is given none."""
    main = next((name for name in DEFAULT_NAMES if documents.is_file(posixpath.join(directory, name))), None)
    if main is None:
        return []
    override = next((name for name in DEFAULT_OVERRIDES if documents.is_file(posixpath.join(directory, name))), None)
    return [main, override] if override else [main]


class QuestionScopes:
    """The environments of one question, worked out as they are needed."""

    def __init__(self, documents: Documents, environment: Environment) -> None:
        self._documents = documents
        self._known: dict[Scope, Environment] = {Scope(): environment}

    def of(self, scope: Scope) -> Environment:
        """The variables that a scope sees. Raises `Fault` when an environment file cannot be read."""
        found = self._known.get(scope)
        if found is None:
            outer = self.of(Scope(scope.files[:-1]))
            found = {**read_files(self._documents, scope.files[-1], outer), **outer}
            self._known[scope] = found
        return found
