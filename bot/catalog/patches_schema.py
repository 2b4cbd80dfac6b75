"""What is wrong with a list of patches, by its text alone. Real lists leave much out, and that is their right: only
what says nothing, or cannot be what was meant, is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.catalog.document import Value
from bot.catalog.model import Fault, FaultKind
from bot.catalog.patch_releases import is_empty, is_unread, releases_in
from bot.catalog.patches_keys import READ, VERIFIED, is_retired, is_slip, key_faults, name_of, parts_of

_MARKS = frozenset({"load_bearing_when", "delivery_mechanism", "delivery_spec"})
_MECHANISMS = ("python_sidecar", "site_package_overlay", "install_script", "chat_template", "dockerfile", "none")
_WORDS = ("delivery_mechanism", "status")
_TEXTS = {
    "delivery_spec": ("script", "sidecar", "jinja", "file", "mounted_at", "invoke"),
    "upstream": ("status", "drop_when"),
}
"""Keys of a part that hold one text."""

_PLACE = ("/", "$", "~")

_REFERENCE = re.compile(r"[ \t]+#[1-9][0-9]*\b")

MAX_FAULTS = 200
"""Faults of one list that are told."""


def faults(root: Value, text: str = "") -> Iterator[Fault]:
    """The faults of a list of patches, each with its place. `[{composes: null}]` and an empty list are none. `text` is
    the whole of the file.
    """
    lists = [root] if not root.is_mapping else [value for value in root.fields().values() if _holds_patches(value)]
    for number, fault in enumerate(_of_lists(lists, text)):
        if number >= MAX_FAULTS:
            return
        yield fault


def _of_lists(lists: list[Value], text: str) -> Iterator[Fault]:
    known: dict[str, Value] = {}
    found: list[Value] = []
    for entries in lists:
        for entry in entries.children:
            if not entry.is_mapping:
                if _holds_patches(entries):
                    yield Fault("not-an-entry", (entry.text or "item")[:40], entry.position)
                continue
            fields = entry.fields()
            if _MARKS.isdisjoint(fields):
                continue
            found.append(entry)
            yield from _of_entry(entry, fields)
            name = fields["id"].text if "id" in fields else None
            if name and known.setdefault(name, entry) is not entry:
                yield Fault("second-id", name, entry.position, name, also=str(known[name].position))
    yield from key_faults(found)
    yield from _cut_by_comments(found, text)


def _cut_by_comments(entries: list[Value], text: str) -> Iterator[Fault]:
    """Values without quotes that end where a reference begins: to YAML, ` #150` is a comment."""
    nodes: set[int] = set()
    for entry in entries:
        name = name_of(entry)
        for part, mapping in parts_of(entry):
            for key, value in mapping.fields().items():
                if id(value.node) in nodes or value.style is not None or not value.text:
                    continue
                nodes.add(id(value.node))
                end = value.extent[1]
                rest = text[end : end + 200].split("\n", 1)[0]
                if _REFERENCE.match(rest):
                    lost = " ".join(rest.split())[:60]
                    about = f"{name}:{part}.{key}"
                    yield Fault("cut-by-comment", about, value.position, name, part, key, lost)


def _holds_patches(value: Value) -> bool:
    return not value.is_mapping and any(
        entry.is_mapping and not _MARKS.isdisjoint(entry.fields()) for entry in value.children
    )


def _of_entry(entry: Value, fields: dict[str, Value]) -> Iterator[Fault]:
    name = fields["id"].text if "id" in fields else None
    if not name:
        yield Fault("no-id", _files_of(fields), entry.position)
        name = ""
    for key in _WORDS:
        if key in fields and fields[key].children and fields[key].text is None:
            yield _wrong(fields[key], name, "", key, "one word")
    yield from _of_mechanism(fields, name)
    if "files" in fields:
        yield from _not_texts(fields["files"], name, "", "files", "a list of paths in the repository")
    for key in ("load_bearing_when", "delivery_gaps"):
        yield from _of_rows(fields, name, key)
    yield from _of_delivery(fields, name)
    yield from _of_upstream(fields, name)
    yield from _of_releases(entry, name)
    yield from _contradictions(fields, name)


def _of_mechanism(fields: dict[str, Value], name: str) -> Iterator[Fault]:
    value = fields.get("delivery_mechanism")
    word = value.text if value is not None else None
    if value is None or not word or word in _MECHANISMS:
        return
    meant = next((known for known in _MECHANISMS if is_slip(word, known)), None)
    if meant is not None:
        about = f"{name}:delivery_mechanism"
        yield Fault("unknown-value", about, value.position, name, key=f"delivery_mechanism: {word}", meant=meant)


def _of_rows(fields: dict[str, Value], name: str, key: str) -> Iterator[Fault]:
    rows = fields.get(key)
    if rows is None:
        return
    if rows.is_mapping:
        yield _wrong(rows, name, "", key, "a list of rows, each of which names composes")
        return
    for row in rows.children:
        stated = row.fields()
        if row.is_mapping and "composes" not in stated:
            if not any(is_slip(word, "composes") for word in stated):
                yield Fault("nameless-row", f"{name}:{key}", row.position, name, key)
        elif row.is_mapping:
            yield from _not_texts(stated["composes"], name, key, "composes", "a list of slugs or paths of composes")
            yield from _named_twice(stated["composes"], name, key)
        elif row.text is None:
            yield _wrong(row, name, "", key, "a list of rows, each of which names composes")


def _named_twice(composes: Value, name: str, key: str) -> Iterator[Fault]:
    seen: set[str] = set()
    for item in composes.children:
        compose = (item.text or "").removeprefix("./")
        if compose and compose in seen:
            yield Fault("named-twice", f"{name}:{key}:{compose}", item.position, name, key, compose, minor=True)
        seen.add(compose)


def _of_delivery(fields: dict[str, Value], name: str) -> Iterator[Fault]:
    spec = fields.get("delivery_spec")
    if spec is None or not spec.children:
        return
    if not spec.is_mapping:
        yield _wrong(spec, name, "", "delivery_spec", "a mapping: script, mounted_at, invoke")
        return
    stated = spec.fields()
    yield from _several(stated, name, "delivery_spec")
    place = stated.get("mounted_at")
    if place is not None and place.text and not place.text.startswith(_PLACE):
        yield _wrong(place, name, "delivery_spec", "mounted_at", "an absolute path in the container")


def _of_upstream(fields: dict[str, Value], name: str) -> Iterator[Fault]:
    upstream = fields.get("upstream")
    if upstream is not None and upstream.is_mapping:
        stated = upstream.fields()
        yield from _several(stated, name, "upstream")
        if "ref" in stated:
            yield from _not_texts(stated["ref"], name, "upstream", "ref", "references, such as vllm#48375")


def _several(stated: dict[str, Value], name: str, part: str) -> Iterator[Fault]:
    for key in _TEXTS[part]:
        if key in stated and stated[key].children and stated[key].text is None:
            yield _wrong(stated[key], name, part, key, "one text")


def _of_releases(entry: Value, name: str) -> Iterator[Fault]:
    """Releases that cannot be read as such, and ranges in which none lies."""
    for part, value in parts_of(entry):
        stated = value.fields()
        for key in (key for key in VERIFIED if key in stated and key in READ[part]):
            for item in stated[key].children:
                text = item.text or ""
                kind: FaultKind = "unread-release" if is_unread(text) else "empty-range"
                if kind == "unread-release" or any(map(is_empty, releases_in(text))):
                    yield Fault(kind, f"{name}:{key}", item.position, name, part, f"{key}: {text[:60]}")


def _contradictions(fields: dict[str, Value], name: str) -> Iterator[Fault]:
    """Composes that are said to need what is delivered nowhere, or is wanted no more."""
    rows = fields.get("load_bearing_when")
    named = [
        compose
        for row in (rows.children if rows is not None and not rows.is_mapping else ())
        for compose in (row.fields()["composes"].children if "composes" in row.fields() else ())
        if compose.text
    ]
    if not named:
        return
    first, count = named[0], str(len(named))
    mechanism = fields["delivery_mechanism"].text if "delivery_mechanism" in fields else None
    if is_retired(fields):
        yield Fault("retired-named", name, first.position, name, also=count, minor=True)
    elif mechanism == "none":
        yield Fault("undelivered", name, first.position, name, also=count, minor=True)


def _not_texts(value: Value, name: str, part: str, key: str, meaning: str) -> Iterator[Fault]:
    """Null and a single text are as good as a list."""
    for item in value.children:
        if item.text is None:
            yield _wrong(item, name, part, key, meaning)


def _files_of(fields: dict[str, Value]) -> str:
    return " ".join(fields["files"].texts)[:80] if "files" in fields else ""


def _wrong(value: Value, name: str, part: str, key: str, meaning: str) -> Fault:
    return Fault("wrong-type", f"{name}:{part}.{key}", value.position, name, part, key, meaning)
