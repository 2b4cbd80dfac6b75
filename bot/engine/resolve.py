"""From a launch to the engine's properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.engine import facts as facts_of
from bot.engine.agreement import agree
from bot.engine.commandline import UNKNOWN, CommandLine, Setting, parse, unread
from bot.engine.derivations import caching, compilation, model_kind, plain, runner, scheduling, speculation, worker
from bot.engine.derivations.basis import Basis, readings
from bot.engine.derivations.conflicts import conflicts
from bot.engine.derivations.context import Context, Derivation
from bot.engine.doubts import doubts
from bot.engine.facts import SOURCE_URL, Facts
from bot.engine.model import PROPERTIES, Engine, Launch, Model
from bot.engine.models import FIELDS, filled, model_from_argv, sure, traits

DERIVATIONS: Mapping[str, Derivation] = {
    "model.recurrent": model_kind.recurrent,
    "model.moe": model_kind.moe,
    "model.architecture": model_kind.architecture,
    "spec_decode.method": speculation.method,
    "spec_decode.num_speculative_tokens": speculation.tokens,
    "prefix_caching": caching.prefix_caching,
    "chunked_prefill": caching.chunked_prefill,
    "cudagraph_mode": compilation.cudagraph_mode,
    "cudagraph_mode_effective": worker.cudagraph_mode_effective,
    "optimization_level": compilation.optimization_level,
    "enforce_eager": plain.taken_over("enforce_eager"),
    "kv_cache_dtype": plain.kv_cache_dtype,
    "quantization": plain.quantization,
    "attention_backend": plain.attention_backend,
    "async_scheduling": scheduling.async_scheduling,
    "v2_model_runner": runner.v2_model_runner,
    "mamba_cache_mode": caching.mamba_cache_mode,
    "max_model_len": plain.max_model_len,
    "max_num_seqs": plain.max_num_seqs,
    "tensor_parallel_size": plain.taken_over("tensor_parallel_size"),
    "pipeline_parallel_size": plain.taken_over("pipeline_parallel_size"),
}
"""How each property of `PROPERTIES` is found."""


def resolve(launch: Launch, *, all_files: bool = False) -> Engine:
    """The engine that a launch means.

    A pin without a release that has facts is asked of every release that has (see `agreement`). `all_files` says
    that `launch.files` are all the files there are, so that a missing configuration file is an error.
    """
    release = launch.pin.release
    if release is not None and facts_of.is_known(release):
        return in_release(launch, facts_of.load(release), all_files=all_files)
    return agree(launch.pin, _in_all_releases(launch, all_files=all_files))


def _in_all_releases(launch: Launch, *, all_files: bool) -> list[Engine]:
    """The engine in each release that has facts, oldest first.

    Only what the newest refuses can be refused by all, so where it refuses nothing, the others' configurations are
    not asked what they refuse.
    """
    found: list[Engine] = []
    for name in reversed(facts_of.releases()):
        checked = not found or bool(found[0].errors)
        found.append(in_release(launch, facts_of.load(name), all_files=all_files, checked=checked))
    return found[::-1]


def source_link(release: str, path: str, line: int | None) -> str:
    """The address of a line of a release's source, whether the release has facts or not."""
    link = SOURCE_URL.format(version=release, path=path, line=line)
    return link if line else link.partition("#")[0]


def in_release(launch: Launch, facts: Facts, *, all_files: bool = False, checked: bool = True) -> Engine:
    """The engine that a launch means in one release; `checked` says to look for what its configuration refuses."""
    line = parse(launch.argv, facts, launch.files, all_files=all_files)
    if line.errors:
        line = replace(line, settings={**line.settings, **_refused(line, facts)})
    context = _context(launch, line, facts)
    properties = {name: context[name] for name in PROPERTIES}
    for doubt in doubts(line.open, facts):
        properties = {name: doubt.shake(name, found) for name, found in properties.items()}
    errors = line.errors or (conflicts(context.fuller or context) if checked else ())
    return Engine(
        pin=launch.pin,
        releases=(facts.version,),
        parsed=_parsed(line),
        properties=properties,
        errors=errors,
        ineffective=line.ineffective + unread(launch.environment, facts),
        refused=bool(line.errors),
        launch=launch,
    )


_BASES: dict[str, tuple[Facts, Basis]] = {}


def _basis(version: str, facts: Facts) -> Basis:
    """The basis of a release, kept as long as its facts are the same object."""
    kept = _BASES.get(version)
    if kept is None or kept[0] is not facts:
        kept = _BASES[version] = (facts, Basis(facts, readings()))
    return kept[1]


def _refused(line: CommandLine, facts: Facts) -> dict[str, Setting]:
    """Settings that the parser refuses, as unknown ones: they are not at their default."""
    found: dict[str, Setting] = {}
    for error in line.errors:
        written = error.argument.split(" ", 1)[0].split("=", 1)[0]
        option = written.split(".", 1)[0]
        flag = facts.flag(option if not option.startswith("--") else option.replace("_", "-"))
        if flag is not None and error.kind in ("invalid-value", "missing-value"):
            found[flag.dest] = Setting(UNKNOWN, error.because, error.argument)
    return found


def _context(launch: Launch, line: CommandLine, facts: Facts) -> Context:
    """The context with what the repository says of the model, and behind it one with what the name says besides."""
    basis = _basis(facts.version, facts)
    context = Context(launch, line, basis, Model(), traits(None), DERIVATIONS)
    stated, name = sure(launch.model), plain.model_name(context)
    if (stated.recurrent, stated.moe, stated.architecture, stated.hybrid) == (None, None, None, None):
        stated = model_from_argv(name)
    fuller = filled(launch.model, name)
    context.model, context.traits = stated, traits(stated.architecture)
    if any(getattr(fuller, field) != getattr(stated, field) for field in FIELDS):
        context.fuller = Context(launch, line, basis, fuller, traits(fuller.architecture), DERIVATIONS)
    return context


def _parsed(line: CommandLine) -> Mapping[str, object]:
    """The explicit settings as plain data; an unknown one is absent."""
    return {dest: setting.value for dest, setting in line.settings.items() if setting.value is not UNKNOWN}
