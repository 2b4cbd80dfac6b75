"""The top-level sections beside the services: what may be referred to, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping

from bot.compose import nodes
from bot.compose.checks import most_specific
from bot.compose.documents import Documents
from bot.compose.faults import Fault
from bot.compose.fill import reads
from bot.compose.layers import Scopes
from bot.compose.model import VariableRead
from bot.compose.schema import TOP_LEVEL
from bot.compose.structure import SECTIONS, Structure, section, section_line
from bot.compose.values import Value

Faults = list[tuple[Fault, str | None]]
Sections = Mapping[str, frozenset[str] | None]
"""The names that each section declares; None for a section that could not be resolved."""

_SOURCES = {"secrets": ("file", "environment"), "configs": ("file", "environment", "content")}


def resolve_sections(structure: Structure, scopes: Scopes, documents: Documents, faults: Faults) -> Sections:
    """The names in every section. Adds what is wrong to `faults`."""
    found: dict[str, frozenset[str] | None] = {}
    for name in SECTIONS:
        parts = structure.sections.get(name, [])
        try:
            value = section(parts, name, scopes)
            _check(name, value, documents, structure)
            found[name] = frozenset(value)
        except Fault as fault:
            _locate(fault, name, structure)
            faults.append((fault, None))
            found[name] = None
    return found


def reads_of_files(structure: Structure, config: Mapping[str, Value]) -> tuple[VariableRead, ...]:
    """The host variables in the content of the `configs:` that a service is given, in the order of the service."""
    found: list[VariableRead] = []
    for mount in config.get("configs") or ():
        for part in structure.sections.get("configs", ()):
            declared = nodes.entry(part.node, mount["source"])
            content = nodes.entry(declared, "content")
            if content is not None:
                found += reads(content, ("configs", mount["source"], "content"))
    return tuple(found)


def _locate(fault: Fault, name: str, structure: Structure) -> None:
    if not fault.path:
        path = fault.field[1:] if fault.field[:1] == (name,) else ()
        place = section_line(structure.sections.get(name, []), path) if path else None
        part = next((part for part in structure.sections.get(name, []) if part.node is not None), None)
        if place:
            fault.path, fault.line = place
        elif part and part.node:
            fault.path, fault.line = part.node.source.path, part.node.line


def _check(name: str, value: Value, documents: Documents, structure: Structure) -> None:
    failures = TOP_LEVEL[name].failures(value, (name,))
    if failures:
        worst = most_specific(failures)
        last = list(structure.files)[-1] if structure.files else ""
        raise Fault("schema", f"validating {documents.shown(last)}: {worst}", field=worst.path)
    for key, item in value.items():
        if isinstance(item, dict):
            _check_external(name, key, item)
            _check_source(name, key, item)


def _check_external(name: str, key: str, item: dict[str, Value]) -> None:
    if name != "volumes" or not item.get("external"):
        return
    for other in ("driver", "driver_opts", "labels"):
        if other in item:
            message = f'{name}.{key}: conflicting parameters "external" and "{other}" specified'
            raise Fault("invalid", message, field=(name, key, other))


def _check_source(name: str, key: str, item: dict[str, Value]) -> None:
    sources = _SOURCES.get(name)
    if not sources or item.get("external") or item.get("driver"):
        return
    given = [source for source in sources if source in item]
    if not given:
        raise Fault("invalid", f"{name}.{key}: one of {'|'.join(sources)} must be set", field=(name, key))
    if len(given) > 1:
        message = f"{name}.{key}: {'|'.join(sources)} attributes are mutually exclusive"
        raise Fault("invalid", message, field=(name, key))
