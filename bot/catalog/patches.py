"""`patches.yml`: the vendored engine patches of a repository, and which composes need them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.catalog.document import Value
from bot.catalog.model import Attribution, Catalog, Patch
from bot.references import UPSTREAM, references_in

MARKS = ("load_bearing_when", "delivery_mechanism", "delivery_spec")
"""The keys by which a file of patches, and an entry in it, is recognised."""

_NUMBERED = re.compile(r"(?<![A-Za-z0-9])pr[-_]?([1-9][0-9]{3,5})(?![0-9])", re.IGNORECASE)
_OTHER_ENGINES = re.compile(
    r"(?<![a-z])(?:sglang|llama[._-]?cpp|ik-?llama|lmcache|flashinfer|transformers|triton|torch)"
)


def read_patches(root: Value) -> tuple[Patch, ...]:
    """The entries of a file of patches, wherever in the file the list stands."""
    lists = root.fields().values() if root.is_mapping else (root,)
    entries = (entry for values in lists for entry in values.children if entry.is_mapping)
    return tuple(patch for entry in entries if (patch := _patch(entry)) is not None)


def load_bearing_for(catalog: Catalog, path: str, slugs: Iterable[str]) -> tuple[tuple[Patch, Attribution], ...]:
    """The patches that the repository says a compose needs, known by its path or by one of its slugs."""
    names = {path, *slugs}
    return tuple(
        (patch, row)
        for patch in catalog.patches
        if not patch.deprecated
        for row in patch.load_bearing_when
        if not names.isdisjoint(row.composes)
    )


def references_in_path(path: str) -> tuple[str, ...]:
    """The upstream references that a path's name gives (`patches/vllm-pr48375-…`), in normal form.

    A number is taken for one of vLLM, unless the path names another project.
    """
    if _OTHER_ENGINES.search(path.lower()):
        return ()
    return tuple(dict.fromkeys(f"{UPSTREAM}#{number}" for number in _NUMBERED.findall(path)))


def _patch(entry: Value) -> Patch | None:
    fields = entry.fields()
    identity = fields["id"].text if "id" in fields else None
    if not identity or not any(mark in fields for mark in ("files", *MARKS)):
        return None
    spec = fields["delivery_spec"].fields() if "delivery_spec" in fields else {}
    upstream = fields.get("upstream")
    stated = upstream.fields() if upstream else {}
    reference = (stated["ref"].texts if "ref" in stated else ()) if stated else upstream.texts if upstream else ()
    files = fields["files"].texts if "files" in fields else ()
    script = next((spec[name].text for name in ("script", "sidecar", "jinja", "file") if name in spec), None)
    deprecated = fields["deprecated_on"].text if "deprecated_on" in fields else None
    return Patch(
        id=identity,
        files=tuple(file.strip("/") for file in dict.fromkeys((*files, *((script,) if script and not files else ())))),
        load_bearing_when=tuple(_attributions(fields.get("load_bearing_when"))),
        mechanism=_text(fields, "delivery_mechanism"),
        mounted_at=_text(spec, "mounted_at"),
        invoke=_text(spec, "invoke"),
        upstream=_upstream((*reference, identity, *files)),
        status=_text(stated, "status") or _text(fields, "status"),
        drop_when=_text(stated, "drop_when"),
        deprecated=bool(deprecated) and deprecated != "false",
        position=entry.position,
        script=script.strip("/") if script else None,
    )


def _attributions(rows: Value | None) -> Iterable[Attribution]:
    for row in rows.children if rows else ():
        if row.is_mapping:
            fields = row.fields()
            composes = fields["composes"].texts if "composes" in fields else ()
            yield Attribution(composes, _text(fields, "reason") or "", row.position)
        elif row.text:
            yield Attribution((row.text,), "", row.position)


def _upstream(texts: Iterable[str]) -> tuple[str, ...]:
    found = (reference for text in texts for reference in (*references_in(text), *references_in_path(text)))
    return tuple(dict.fromkeys(found))


def _text(fields: dict[str, Value], name: str) -> str | None:
    return fields[name].text if name in fields else None
