"""What a registry states about the composes that it lists, under the names that people give to it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from bot.catalog.document import Value
from bot.catalog.model import Stated
from bot.catalog.registry import entries, is_registry

FIELDS: Mapping[str, tuple[str, ...]] = {
    "max_model_len": (
        "max_model_len", "max_ctx", "ctx", "context", "context_length", "context_len", "ctx_len", "max_context",
        "max_context_length",
    ),
    "gpu_memory_utilization": (
        "gpu_memory_utilization", "mem_util", "gpu_mem_util", "memory_utilization", "gpu_util", "memory_share",
    ),
    "tensor_parallel_size": ("tensor_parallel_size", "tensor_parallel", "tp", "tp_size"),
    "max_num_seqs": ("max_num_seqs", "max_seqs"),
    "kv_cache_dtype": ("kv_cache_dtype", "kv_format", "kv_dtype", "kv_cache", "kv_cache_format", "kv"),
    "spec_decode.method": ("spec_method", "drafter", "spec", "spec_decode", "speculative"),
    "spec_decode.num_speculative_tokens": ("num_speculative_tokens", "spec_n", "n_spec", "draft_tokens"),
    "image": ("image", "docker_image"),
    "engine": ("engine_profile", "engine"),
}  # fmt: skip
"""For each property the names under which an entry states it; the first that is there counts."""

_SECTIONS = ("serving", "runtime", "defaults", "config", "params", "parameters", "settings", "vllm", "resolved")
"""Parts of an entry that state what the entry itself may."""

_SET_BY_A_LAUNCHER = ("env", "environment", "env_overrides", "overrides", "launch_env", "args", "extra_args")
"""Parts of an entry that a launcher puts in the place of the compose's defaults: it states what runs with them."""

MAX_ENTRIES = 2_000
"""Entries of one file that are read: real registries have about a hundred."""


def read_stated(root: Value) -> Mapping[str, tuple[Stated, ...]]:
    """What each compose is said to be, by its path: as written, and as seen from the registry's own folder."""
    found: dict[str, list[Stated]] = {}
    for number, (slug, path, entry) in enumerate(entries(root, is_registry(root.path))):
        if number >= MAX_ENTRIES:
            break
        fields = entry.fields() if entry.is_mapping else {}
        if any(key in fields and (fields[key].children or fields[key].fields()) for key in _SET_BY_A_LAUNCHER):
            continue
        stated = tuple(_of_entry(slug, fields))
        for place in dict.fromkeys((path, posixpath.normpath(posixpath.join(posixpath.dirname(root.path), path)))):
            found.setdefault(place, []).extend(stated)
    return {path: tuple(stated) for path, stated in found.items()}


def _of_entry(slug: str, fields: Mapping[str, Value]) -> Iterator[Stated]:
    parts = [fields, *(fields[name].fields() for name in _SECTIONS if name in fields)]
    for property_, names in FIELDS.items():
        written = [(part, name) for part in parts for name in names if name in part]
        value = next((part[name] for part, name in written if part[name].text), None)
        if value is not None:
            yield Stated(slug, property_, (value.text or "").strip(), value.position)
        elif property_ == "spec_decode.method" and any(name == "drafter" for _, name in written):
            none = next(part[name] for part, name in written if name == "drafter")
            if not none.children:
                yield Stated(slug, property_, None, none.position)
