"""What Docker Compose would run: the question to this stage, and its answer."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.compose.builder import Builder
from bot.compose.casts import NO_CAST
from bot.compose.consistency import check_consistency, normalize, select
from bot.compose.documents import Documents
from bot.compose.environment import QuestionScopes, default_files, project_environment
from bot.compose.faults import Fault
from bot.compose.fill import fill
from bot.compose.given_files import given_files
from bot.compose.layers import Names, line_in
from bot.compose.model import ComposeError, Project, Service
from bot.compose.plan import Plan, Resolved
from bot.compose.scalars import go_quoted
from bot.compose.sections import reads_of_files, resolve_sections
from bot.compose.services import build_service
from bot.compose.structure import Structure

MAX_STRUCTURES = 64
"""Structures that are kept of one set of files: one, unless variables decide what is extended or included."""

MAX_VARIABLES = 50_000
"""Variables of all containers together, those of environment files among them, each service's own."""

_NOT_IN_A_NAME = re.compile("[^a-z0-9_-]")
_Plans = dict[str, Plan]


def load_project(
    documents: Documents,
    files: Sequence[str],
    environment: Mapping[str, str],
    *,
    profiles: Sequence[str] | None = None,
    env_files: Sequence[str] = (),
    directory: str | None = None,
    only: str | None = None,
) -> Project:
    """What Docker Compose 2.40.3 would run for these files in this shell environment.

    `files` are paths of the tree, as given with `-f`; without any, `COMPOSE_FILE` and the default names count.
    `environment` is the whole shell environment. `profiles` and `env_files` are as given with `--profile` and
    `--env-file` (paths relative to the project directory), and win over `COMPOSE_PROFILES` and `COMPOSE_ENV_FILES`.
    `directory` is the project directory, the first file's when it is not given. `only` asks for one service: the others
    and their faults are left out, which is what most of the work is for in a file of many services. Never raises for
    what is in the tree: faults are in `Project.errors`, and what can be resolved in spite of them is in
    `Project.services`.
    """
    start = posixpath.dirname(files[0]) if files else (directory or "")
    place = start if directory is None else directory
    read: dict[str, None] = {}
    faults: list[tuple[Fault, str | None]] = []
    try:
        variables = project_environment(documents, place, environment, env_files, read)
    except Fault as fault:
        faults.append((fault, None))
        variables = dict(environment)
    chosen = list(files) or _files_from_environment(documents, place, variables, faults)
    if not chosen:
        return _project(place, {}, [*faults, (_nothing_found(), None)], read, "")
    return _resolve(documents, tuple(chosen), place, variables, profiles, faults, read, only)


def _nothing_found() -> Fault:
    return Fault("not-found", "no configuration file provided: not found")


def _files_from_environment(
    documents: Documents, place: str, variables: Mapping[str, str], faults: list[tuple[Fault, str | None]]
) -> list[str]:
    listed = variables.get("COMPOSE_FILE", "")
    names = listed.split(variables.get("COMPOSE_PATH_SEPARATOR") or ":") if listed else default_files(documents, place)
    found: list[str] = []
    for name in names:
        try:
            found.append(documents.locate("", name))
        except Fault as fault:
            faults.append((fault, None))
    return found


def _resolve(
    documents: Documents,
    files: tuple[str, ...],
    place: str,
    variables: dict[str, str],
    profiles: Sequence[str] | None,
    faults: list[tuple[Fault, str | None]],
    read: dict[str, None],
    only: str | None,
) -> Project:
    name, named = _name_from_environment(variables)
    structure, plans = _structure(documents, files, place, variables)
    if named and normal_name(name) != name:
        faults.append((Fault("invalid", f"invalid project name {go_quoted(name)}: {_NAME_RULE}"), None))
    if not named:
        name = _name_from_files(structure, documents, place, variables, faults) or name
    variables.setdefault("COMPOSE_PROJECT_NAME", name)
    scopes = QuestionScopes(documents, variables)
    faults += structure.faults
    resolved: dict[str, Resolved] = {}
    asked = plans if only is None else {only: plans[only]} if only in plans else {}
    for service, plan in asked.items():
        try:
            answer = plan.resolve(scopes)
        except Fault as fault:
            faults.append((fault, service))
            continue
        faults += [(fault, service) for fault in answer.faults]
        if answer.usable:
            resolved[service] = answer
    selected = select(resolved, profiles, variables)
    normalize(resolved, faults)
    if only is None:
        faults += _faults_beside(structure, scopes)
        faults += _faults_of_removed(structure, scopes, documents, place)
        sections = resolve_sections(structure, scopes, documents, faults)
        check_consistency(resolved, selected, sections, structure, faults)
    services: dict[str, Service] = {}
    total = 0
    for service, answer in resolved.items():
        try:
            position = structure.positions[service]
            active = service in selected
            built, further, wrong = build_service(documents, answer, position, scopes, place, active)
            services[service] = _with_files(built, structure, answer, scopes, place)
            read.update(further)
            faults += [(fault, service) for fault in wrong]
            total += len(services[service].environment)
            if total > MAX_VARIABLES:
                message = f"more than {MAX_VARIABLES} variables in the environments of all services"
                faults.append((Fault("too-large", message, path=position.path, line=position.line), None))
                break
        except Fault as fault:
            faults.append((fault, service))
    if not structure.services and not faults:
        faults.append((Fault("no-services", "no services", path=files[0], line=None), None))
    read.update(structure.files)
    return _project(place, services, faults, read, name)


def _with_files(
    service: Service, structure: Structure, answer: Resolved, scopes: QuestionScopes, place: str
) -> Service:
    """The service with the files that its `configs:` and `secrets:` give it."""
    if not (answer.config.get("configs") or answer.config.get("secrets")):
        return service
    mounts, contents = given_files(structure, answer.config, scopes, place)
    return replace(
        service,
        reads=(*service.reads, *reads_of_files(structure, answer.config)),
        mounts=(*service.mounts, *mounts),
        contents=contents,
    )


def _structure(
    documents: Documents, files: tuple[str, ...], place: str, variables: Mapping[str, str]
) -> tuple[Structure, _Plans]:
    """The structure of the files, from the cache when the variables that decide it have not changed."""
    known: list[tuple[Names, Any, Structure, _Plans]] = documents.structures.setdefault((files, place), [])
    scopes = QuestionScopes(documents, variables)
    for names, key, structure, plans in known:
        try:
            if names.key(scopes) == key:
                return structure, plans
        except Fault:
            continue
    structure = Builder(documents, scopes, place).build(files)
    plans = {
        name: Plan(documents, name, layers, place, structure.positions[name])
        for name, layers in structure.services.items()
    }
    names = Names({scope: tuple(found) for scope, found in structure.names.items()})
    if len(known) < MAX_STRUCTURES:
        known.append((names, names.key(scopes), structure, plans))
    return structure, plans


def _faults_beside(structure: Structure, scopes: QuestionScopes) -> list[tuple[Fault, str | None]]:
    """Compose reads all services of a file that it extends, and stops at the fault of any."""
    found: list[tuple[Fault, str | None]] = []
    for layer in structure.beside.values():
        for field in dict.fromkeys(layer.fields()):
            if field == "extends":
                continue
            try:
                layer.value(field, scopes)
            except Fault as fault:
                if not fault.path:
                    fault.path, fault.line = line_in(layer.nodes(field), fault.field[3:]) or (layer.file, 1)
                found.append((fault, None))
    for name, node, scope in structure.extensions:
        try:
            fill(node, NO_CAST, scopes.of(scope), (name,))
        except Fault as fault:
            found.append((fault, None))
    return found


def _faults_of_removed(
    structure: Structure, scopes: QuestionScopes, documents: Documents, place: str
) -> list[tuple[Fault, str | None]]:
    """Compose checks each document as it comes, so a service that a later one takes out must be sound all the same."""
    return [
        (fault, None)
        for name, layers, position in structure.removed
        for fault in Plan(documents, name, layers, place, position).check(scopes)
    ]


def _name_from_environment(variables: Mapping[str, str]) -> tuple[str, bool]:
    name = variables.get("COMPOSE_PROJECT_NAME", "")
    return name, bool(name)


def _name_from_files(
    structure: Structure,
    documents: Documents,
    place: str,
    variables: Mapping[str, str],
    faults: list[tuple[Fault, str | None]],
) -> str:
    if structure.name is not None:
        node, _ = structure.name
        try:
            value = fill(node, NO_CAST, variables, ("name",))
        except Fault as fault:
            faults.append((fault, None))
            value = ""
        if isinstance(value, str) and value:
            return normal_name(value)
    directory = posixpath.basename(place) or posixpath.basename(documents.root)
    return normal_name(directory) or DEFAULT_NAME


_NAME_RULE = (
    "must consist only of lowercase alphanumeric characters, hyphens, and underscores"
    " as well as start with a letter or number"
)
DEFAULT_NAME = "proj"
"""The name of a project in the root of a repository whose own directory is not known."""


def normal_name(name: str) -> str:
    """A project's name as Compose makes it of a directory's."""
    return _NOT_IN_A_NAME.sub("", name.lower()).lstrip("_-")


def _project(
    place: str,
    services: Mapping[str, Service],
    faults: list[tuple[Fault, str | None]],
    read: Mapping[str, None],
    name: str,
) -> Project:
    errors: dict[ComposeError, None] = {}
    for fault, service in faults:
        errors.setdefault(ComposeError(fault.kind, fault.message, fault.path or place, fault.line, service))
    return Project(name, services, tuple(errors), tuple(sorted(read)))
