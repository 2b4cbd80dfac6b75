"""GitHub's description of its REST API, cut to what the simulator serves and sends."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.github.hub import sorted_routes
from tests.contract import fetch

Json = dict[str, Any]

AVAILABLE = fetch.OPENAPI.file.exists()
needs_description = pytest.mark.skipif(
    not AVAILABLE,
    reason="GitHub's OpenAPI description is not in .cache/contract: `python -m tests.contract.fetch` needs npm",
)

NOT_DESCRIBED = {"/graphql"}
"""Served, and in no REST description."""

WEBHOOKS = (
    "pull-request-opened", "pull-request-synchronize", "pull-request-closed", "pull-request-reopened",
    "pull-request-edited", "pull-request-ready-for-review", "issue-comment-created", "issue-comment-edited",
    "issue-comment-deleted", "issues-opened", "issues-closed", "issues-edited", "issues-reopened",
    "check-run-created", "check-run-completed", "check-run-rerequested", "check-suite-requested",
    "check-suite-rerequested", "push", "merge-group-checks-requested", "installation-created",
    "installation-deleted", "installation-suspend", "installation-unsuspend", "installation-repositories-added",
    "pull-request-review-submitted", "pull-request-review-edited", "pull-request-review-comment-created",
    "pull-request-review-comment-edited", "pull-request-review-comment-deleted",
)  # fmt: skip


def plain(template: str) -> str:
    """A path template without its names: two that match the same paths are the same."""
    return re.sub(r"\{[^}]*\}", "{}", template)


@cache
def description() -> Json:
    """The paths that the simulator serves, with all that they refer to."""
    routes = sorted({(route.method.lower(), plain(route.template)) for route in sorted_routes()})

    def paths(whole: Json) -> Json:
        kept: Json = {}
        for template, methods in whole["paths"].items():
            served = {name: each for name, each in methods.items() if (name, plain(template)) in set(routes)}
            if served:
                kept[template] = served
        return {"info": whole["info"], "servers": whole["servers"], "paths": kept}

    return _cached("rest", routes, paths)


@cache
def hooks() -> Json:
    """The webhooks that the simulator sends, with all that they refer to."""

    def sent(whole: Json) -> Json:
        names = whole["x-webhooks"]
        return {"x-webhooks": {name: names[name] for name in names if name in WEBHOOKS}}

    return _cached("hooks", WEBHOOKS, sent)


def _cached(kind: str, asked: object, chosen: Callable[[Json], Json]) -> Json:
    """A cut of the description, made again whenever something else is asked of it, or this file has changed."""
    key = hashlib.sha256(json.dumps(asked).encode() + Path(__file__).read_bytes()).hexdigest()[:16]
    file = fetch.CACHE / f"{kind}-{fetch.OPENAPI.version}-{key}.json"
    if not file.exists():
        for old in fetch.CACHE.glob(f"{kind}-*.json"):
            old.unlink(missing_ok=True)
        whole = json.loads(gzip.decompress(fetch.OPENAPI.file.read_bytes()))
        fetch.write(file, json.dumps(_complete(whole, chosen(whole))).encode())
    found: Json = json.loads(file.read_bytes())
    return found


def _complete(whole: Json, cut: Json) -> Json:
    """A part of the description with the components that it reaches, without examples."""
    components: Json = {"schemas": {}}
    waiting = list(_references(cut))
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        if name not in components.setdefault(kind, {}):
            components[kind][name] = whole["components"][kind][name]
            waiting += _references(components[kind][name])
    complete = {"openapi": whole["openapi"], **cut, "components": components}
    _without_examples(complete)
    _correct(complete)
    _allow_null(components["schemas"])
    return complete


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


def _without_examples(value: Any) -> None:
    if isinstance(value, dict):
        for name in ("example", "examples", "externalDocs", "x-github"):
            if not isinstance(value.get(name), dict) or "type" not in value[name]:
                value.pop(name, None)
        for each in value.values():
            _without_examples(each)
    elif isinstance(value, list):
        for each in value:
            _without_examples(each)


def _correct(value: Any) -> None:
    """Undo what keeps GitHub's real answers from fitting: these are slips of the description or of its packaging."""
    if isinstance(value, dict):
        # OpenAPI wants null among an enum's values where it is allowed.
        if value.get("nullable") is True and isinstance(value.get("enum"), list) and None not in value["enum"]:
            value["enum"] = [*value["enum"], None]
        # Where null is allowed besides alternatives, the validator wants it among them.
        if value.get("nullable") is True and isinstance(value.get("oneOf"), list) and "type" not in value:
            value["oneOf"] = [*value["oneOf"], {"type": "object", "nullable": True, "enum": [None]}]
        # The lists of events that an App may have are older than the merge queue.
        if {"check_run", "workflow_run"} <= {*map(str, value.get("enum", ()))}:
            value["enum"] = [*value["enum"], "merge_group"]
        # The package writes "all of" where the original has "any of": an account is a user or an enterprise.
        if [each.get("title") for each in value.get("allOf", ())] == ["Simple User", "Enterprise"]:
            value["anyOf"] = value.pop("allOf")
        # A directory's contents are an array, which has no property to discriminate by.
        if isinstance(value.get("discriminator"), dict):
            del value["discriminator"]
        for each in value.values():
            _correct(each)
    elif isinstance(value, list):
        for each in value:
            _correct(each)


def _allow_null(schemas: Json) -> None:
    for schema, name, _ in SOMETIMES_NULL:
        if schema in schemas:
            where = schemas[schema]["properties"]
            for part in name.split("."):
                where = where[part] if part in where else where["properties"][part]
            if "$ref" in where:
                where |= schemas[where.pop("$ref").rpartition("/")[2]]
            where["nullable"] = True


SOMETIMES_NULL = (
    ("pull-request-review-comment", "line", "outdated, or on the whole file"),
    ("pull-request-review-comment", "position", "outdated"),
    ("pull-request-review-comment", "original_line", "on the whole file"),
    ("review-comment", "line", "outdated, or on the whole file"),
    ("review-comment", "original_line", "on the whole file"),
    ("pull-request", "head.repo", "the fork was deleted"),
    ("pull-request", "head.user", "the fork was deleted"),
    ("pull-request-simple", "head.repo", "the fork was deleted"),
    ("pull-request-simple", "head.user", "the fork was deleted"),
)
"""What GitHub sends as null though the description does not allow it: (schema, property, when)."""
