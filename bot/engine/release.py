"""From a launch to the engine's properties, in one release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.engine.commandline import UNKNOWN, CommandLine, Setting, parse, unread
from bot.engine.derivations import caching, compilation, model_kind, plain, runner, scheduling, speculation, worker
from bot.engine.derivations.basis import Basis, readings
from bot.engine.derivations.conflicts import conflicts
from bot.engine.derivations.context import Common, Context, Derivation, Release, or_by_name
from bot.engine.doubts import doubts
from bot.engine.facts import Facts
from bot.engine.likeness import Note, unnoted
from bot.engine.model import PROPERTIES, Engine, Launch, Properties, Property
from bot.engine.models import filled, model_from_argv, sure, traits

_DERIVATIONS: Mapping[str, Derivation] = {
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

DERIVATIONS: Mapping[str, Derivation] = {name: or_by_name(derive) for name, derive in _DERIVATIONS.items()}
"""How each property of `PROPERTIES` is found."""


def in_release(launch: Launch, facts: Facts, *, all_files: bool = False, common: Common | None = None) -> Engine:
    """The engine that a launch means in one release. `common` is what was found of it on other cards."""
    line = read_line(launch, facts, all_files=all_files)
    context = context_of(launch, line, basis_of(facts), common)
    return Engine(
        pin=launch.pin,
        releases=(facts.version,),
        parsed=parsed(line),
        properties=Properties(PROPERTIES, lambda name: shaken(name, context[name], line, facts)),
        errors=line.errors or context.once("conflicts", conflicts),
        ineffective=line.ineffective + unread(launch.environment, facts),
        refused=bool(line.errors),
        launch=launch,
    )


def read_line(launch: Launch, facts: Facts, *, all_files: bool, note: Note = unnoted) -> CommandLine:
    """The command line. What the parser refuses is an unknown setting, not one at its default."""
    line = parse(launch.argv, facts, launch.files, all_files=all_files, note=note)
    return replace(line, settings={**line.settings, **_refused(line, facts, note)}) if line.errors else line


def context_of(launch: Launch, line: CommandLine, release: Release, common: Common | None = None) -> Context:
    """What derivations may ask. The model is what the repository says of it, else what its name says."""
    context = Context(
        launch, line, release, launch.model, traits(None), DERIVATIONS, common={} if common is None else common
    )
    stated = sure(launch.model)
    if (stated.recurrent, stated.moe, stated.architecture, stated.hybrid) == (None, None, None, None):
        stated = model_from_argv(model_kind.model_name(context))
    elif None in (stated.recurrent, stated.moe, stated.architecture):
        context.fuller = filled(launch.model, model_kind.model_name(context))
    context.model, context.traits = stated, traits(stated.architecture)
    return context


def shaken(name: str, found: Property, line: CommandLine, facts: Facts) -> Property:
    """A property under the doubts about the launch."""
    for doubt in doubts(line.open, facts):
        found = doubt.shake(name, found)
    return found


def parsed(line: CommandLine) -> Mapping[str, object]:
    """The explicit settings as plain data; an unknown one is absent."""
    return {dest: setting.value for dest, setting in line.settings.items() if setting.value is not UNKNOWN}


_BASES: dict[str, Basis] = {}


def basis_of(facts: Facts) -> Basis:
    """The basis of a release, kept as long as its facts are the same object."""
    kept = _BASES.get(facts.version)
    if kept is None or kept.facts is not facts:
        kept = _BASES[facts.version] = Basis(facts, readings())
    return kept


def _refused(line: CommandLine, facts: Facts, note: Note) -> dict[str, Setting]:
    """Settings that the parser refuses, as unknown ones: they are not at their default."""
    found: dict[str, Setting] = {}
    for error in line.errors:
        written = error.argument.split(" ", 1)[0].split("=", 1)[0]
        option = written.split(".", 1)[0]
        name = option if not option.startswith("--") else option.replace("_", "-")
        note(("word", name))
        flag = facts.flag(name)
        if flag is not None and error.kind in ("invalid-value", "missing-value"):
            found[flag.dest] = Setting(UNKNOWN, error.because, error.argument)
    return found
