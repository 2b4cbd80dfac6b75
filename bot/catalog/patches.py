"""`patches.yml`: the vendored engine patches of a repository, and which composes need them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bot.catalog.document import Value
from bot.catalog.model import Attribution, Catalog, Patch, VerifiedOn
from bot.catalog.patch_releases import releases_in
from bot.catalog.patches_keys import VERIFIED, is_retired
from bot.provenance import Position
from bot.references import UPSTREAM, references_in

MARKS = ("load_bearing_when", "delivery_mechanism", "delivery_spec")
"""The keys by which a file of patches, and an entry in it, is recognised."""

MAX_HEADER = 40
"""Lines of a patch in which its header is looked for."""

MIN_NOTE = 20
"""Characters of a text that may be a sentence."""

MAX_NODES = 2_000
"""Values of one entry that are looked at for sentences."""

_PARTS = ("delivery_spec", "drift_guard")
_MADE_FOR = re.compile(r"(?:^|[-_/])v([01]\.\d+\.\d+)(?=[-_/.]|$)")
_STATED = re.compile(
    r"[\s#/*;\"'-]*(?:verified|tested|validated)[ _-](?:on|with|against|releases?)\s*:\s*(?:vllm\b)?(.*)", re.IGNORECASE
)
_GUARD = re.compile(
    r"(?:do|must)[-_ ]not[-_ ](?:be[-_ ])?vendor|never[-_ ]vendor|not[-_ ]to[-_ ]be[-_ ]vendored|inherit[-_ ]only", re.I
)
_NUMBERED = re.compile(r"(?<![A-Za-z0-9])pr[-_]?([1-9][0-9]{3,5})(?![0-9])", re.IGNORECASE)
_OTHER_ENGINES = re.compile(
    r"(?<![a-z])(?:sglang|llama[._-]?cpp|ik-?llama|lmcache|flashinfer|transformers|triton|torch)"
)


def read_patches(root: Value) -> tuple[Patch, ...]:
    """The entries of a file of patches, wherever in the file the list stands."""
    lists = root.fields().values() if root.is_mapping else (root,)
    entries = (entry for values in lists for entry in values.children if entry.is_mapping)
    return tuple(patch for entry in entries if (patch := _patch(entry)) is not None)


def read_notes(root: Value) -> Iterator[Value]:
    """The sentences in the entries of a file of patches, but for those that are deprecated: they are history."""
    lists = root.fields().values() if root.is_mapping else (root,)
    for values in lists:
        for entry in values.children:
            if entry.is_mapping and not is_retired(entry.fields()):
                yield from _sentences(entry, set())


def _sentences(value: Value, seen: set[int]) -> Iterator[Value]:
    """The longer texts in a value; each once, however often an alias repeats it."""
    if id(value.node) in seen or len(seen) > MAX_NODES:
        return
    seen.add(id(value.node))
    if value.text is not None:
        if len(value.text) >= MIN_NOTE:
            yield value
        return
    for part in value.fields().values() if value.is_mapping else value.children:
        yield from _sentences(part, seen)


def load_bearing_for(catalog: Catalog, path: str, slugs: Iterable[str]) -> tuple[tuple[Patch, Attribution], ...]:
    """The patches that the repository says a compose needs, known by its path or by one of its slugs."""
    slugs = tuple(slugs)
    return tuple(
        (patch, row)
        for patch in catalog.patches
        if not patch.deprecated
        for row in patch.load_bearing_when
        if is_named(row.composes, path, slugs)
    )


def is_named(composes: Iterable[str], path: str, slugs: Iterable[str]) -> bool:
    """Whether a list of composes has one that is known by its path or by one of its slugs."""
    names = {path, *slugs}
    return any(compose.removeprefix("./") in names for compose in composes)


def runs_at(patch: Patch) -> tuple[str, ...]:
    """The places in the container that an entry declares: where the patch is mounted, and what is run."""
    run = next((word for word in (patch.invoke or "").split() if word.startswith("/")), None)
    return tuple(place.rstrip("/") for place in (patch.mounted_at, run) if place)


def verified_by_header(text: str, path: str) -> VerifiedOn | None:
    """What the leading lines of a patch say about the releases that it was verified on; None when they say nothing."""
    for number, line in enumerate(text[:100_000].split("\n")[:MAX_HEADER], 1):
        if (stated := _STATED.match(line[:500])) and (releases := releases_in(stated[1])):
            return VerifiedOn(tuple(releases), "header", Position(path, number))
    return None


def made_for(files: Iterable[str], position: Position) -> VerifiedOn | None:
    """The release in the names of a patch's files (`patches/pr42006-v0.22.0`), when they agree on one."""
    named = {
        release for file in files if not _OTHER_ENGINES.search(file.lower()) for release in _MADE_FOR.findall(file)
    }
    return VerifiedOn((named.pop(),), "name", position) if len(named) == 1 else None


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
        deprecated=is_retired(fields),
        position=entry.position,
        script=script.strip("/") if script else None,
        gaps=tuple(name for row in _attributions(fields.get("delivery_gaps")) for name in row.composes),
        baked=_is_baked(fields),
        verified=_verified(fields) or made_for(files, entry.position),
        places=dict(_places(fields)),
        guard=_is_guard(fields, stated),
    )


def _places(fields: dict[str, Value]) -> Iterator[tuple[str, Position]]:
    """Where the files and the composes of an entry are written."""
    for file in reversed(fields["files"].children if "files" in fields else ()):
        yield (file.text or "").strip("/"), file.position
    for key in ("delivery_gaps", "load_bearing_when"):
        rows = fields.get(key)
        for row in rows.children if rows is not None and not rows.is_mapping else ():
            stated = row.fields()
            for compose in stated["composes"].children if "composes" in stated else ():
                yield compose.text or "", compose.position


def _is_guard(fields: dict[str, Value], upstream: dict[str, Value]) -> bool:
    """Whether an entry is there to say that nobody is to vendor the patch."""
    told = (_text(fields, key) or "" for key in ("do_not_vendor", "never_vendor", "not_vendored"))
    stated = [_text(fields, "status"), _text(upstream, "status"), _text(fields, "vendoring"), _text(fields, "policy")]
    return any(text.lower() in ("true", "yes") for text in told) or any(_GUARD.match(text or "") for text in stated)


def _is_baked(fields: dict[str, Value]) -> bool:
    delivery = fields["delivery"].fields() if "delivery" in fields else {}
    bake = (_text(delivery, "dockerfile_bake") or "").lower()
    return _text(fields, "delivery_mechanism") == "dockerfile" or bake in ("true", "yes", "on")


def _verified(fields: dict[str, Value]) -> VerifiedOn | None:
    for part in (fields, *(fields[name].fields() for name in _PARTS if name in fields)):
        for key in VERIFIED:
            stated = [release for text in part[key].texts for release in releases_in(text)] if key in part else []
            if stated:
                return VerifiedOn(tuple(stated), "entry", part[key].position)
    return None


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
