"""What is wrong with a file of patches. Real files leave much out, and that is their right: only what says nothing, or
cannot be what was meant, is told.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.catalog.document import Value
from bot.catalog.model import Problem

_MARKS = frozenset({"load_bearing_when", "delivery_mechanism", "delivery_spec"})
_WORDS = ("delivery_mechanism", "status")


def faults(root: Value) -> Iterator[Problem]:
    """The faults of a file of patches, each with its place. `[{composes: null}]` and an empty list are none."""
    lists = [root] if not root.is_mapping else [value for value in root.fields().values() if _holds_patches(value)]
    known: dict[str, Value] = {}
    for entries in lists:
        for entry in entries.children:
            if not entry.is_mapping:
                if _holds_patches(entries):
                    yield _fault(entry, "an entry of a list of patches is a mapping with an `id`")
                continue
            fields = entry.fields()
            if _MARKS.isdisjoint(fields):
                continue
            yield from _of_entry(entry, fields)
            identity = fields["id"].text if "id" in fields else None
            if identity and known.setdefault(identity, entry) is not entry:
                yield _fault(entry, f"a second patch with the id {identity!r}; {known[identity].position} is the first")


def _holds_patches(value: Value) -> bool:
    return not value.is_mapping and any(
        entry.is_mapping and not _MARKS.isdisjoint(entry.fields()) for entry in value.children
    )


def _of_entry(entry: Value, fields: dict[str, Value]) -> Iterator[Problem]:
    if "id" not in fields or not fields["id"].text:
        yield _fault(entry, "a patch without an `id`: it is not read")
    for key in _WORDS:
        if key in fields and fields[key].children and fields[key].text is None:
            yield _fault(fields[key], f"`{key}` is one word")
    if "files" in fields:
        yield from _not_texts(fields["files"], "files", "paths in the repository")
    yield from _of_rows(fields, "load_bearing_when")
    yield from _of_rows(fields, "delivery_gaps")
    yield from _of_delivery(fields)


def _of_rows(fields: dict[str, Value], key: str) -> Iterator[Problem]:
    rows = fields.get(key)
    if rows is None:
        return
    if rows.is_mapping:
        yield _fault(rows, f"`{key}` is a list of rows: each names `composes`")
        return
    for row in rows.children:
        stated = row.fields()
        if row.is_mapping and "composes" not in stated:
            yield _fault(row, f"a row of `{key}` without `composes` names nothing")
        elif row.is_mapping:
            yield from _not_texts(stated["composes"], "composes", "slugs or paths of composes")
        elif row.text is None:
            yield _fault(row, f"a row of `{key}` names composes: `- composes: […]`")


def _of_delivery(fields: dict[str, Value]) -> Iterator[Problem]:
    spec = fields.get("delivery_spec")
    if spec is None or not spec.children:
        return
    if not spec.is_mapping:
        yield _fault(spec, "`delivery_spec` is a mapping: script, mounted_at, invoke…")
        return
    place = spec.fields().get("mounted_at")
    if place is not None and place.children and not (place.text or "").startswith(("/", "$", "~")):
        yield _fault(place, "`mounted_at` is an absolute path in the container")


def _not_texts(value: Value, key: str, meaning: str) -> Iterator[Problem]:
    """Null and a single text are as good as a list."""
    for part in value.children:
        if part.text is None:
            yield _fault(part, f"`{key}` is a list of {meaning}")


def _fault(value: Value, message: str) -> Problem:
    return Problem(message, value.position)
