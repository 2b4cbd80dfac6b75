"""What a derivation may ask: the launch, the command line, the model, and the properties derived so far."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Protocol, TypeVar

from bot.engine.commandline import UNKNOWN, CommandLine, Setting
from bot.engine.facts import Fact, Field
from bot.engine.model import Certainty, EngineError, Launch, Model, Property, Value, may_read
from bot.engine.models import Traits, traits
from bot.provenance import Reason, Word

Derivation = Callable[["Context"], Property]

CUDA_ONLY: Final = frozenset(
    {
        "cudagraph_mode",
        "cudagraph_mode_effective",
        "v2_model_runner",
        "attention_backend",
        "async_scheduling",
        "conflicts",
    }
)
"""Subjects whose derivation was read for NVIDIA GPUs; other platforms have rules of their own."""

_PLATFORM = re.compile(r"rocm|gfx\d|(?<![a-z0-9])(?:cpu|xpu|hpu|tpu|npu)(?![a-z0-9])|gaudi|ascend|^intel/")

TRUE_WORDS: Final = frozenset({"1", "true"})


Found = TypeVar("Found")

Common = dict[str, Any]
"""What was found of a launch whatever the card."""


class Tables(Protocol):
    """What a derivation may look up in a release's facts. `version` is for words only."""

    @property
    def version(self) -> str:
        """The release's name, for words only."""

    @property
    def environment(self) -> Mapping[str, Fact]:
        """The variables that the release reads."""

    @property
    def constants(self) -> Mapping[str, Any]:
        """The values of constants, by definition."""

    def choices(self, name: str) -> tuple[Any, ...]:
        """The values of a named list."""

    def default(self, dest: str) -> Fact | None:
        """What the parser sets when a flag is absent."""

    def field(self, qualified: str) -> Field | None:
        """A field of a configuration class."""


class Release(Protocol):
    """All that a derivation may ask of a release: `Basis`, or what stands in for one and takes notes.

    Where a definition is (`place`) and what has changed in it (`changed`) are for words only: nothing is decided by it.
    """

    @property
    def facts(self) -> Tables:
        """The release's tables."""

    def literal(self, dest: str) -> Property:
        """The parser's own default, as a property."""

    def behaviour(self, subject: str) -> Mapping[str, Any] | None:
        """What was read of the release about a property."""

    def graph_mode(self, level: int) -> Fact | None:
        """The CUDA graph mode that an optimisation level sets."""

    def changed(self, subject: str) -> Reason:
        """Why a property is not derived, for words only."""

    def place(self, definition: str) -> tuple[str, int | None]:
        """Where a definition is, for words only."""


@dataclass(slots=True)
class Context:
    """One launch in one release.

    `model` is what is known of the model, `traits` what its architecture adds (None for each that is not known).
    `derivations` are asked by name and once; `errors` are what the configuration would refuse. `fuller` is the model
    with what is only assumed of it, where that is more: it is asked where `model` gives no certain answer.
    What was found goes into `memo` where it depends on the cards that the launch is meant for, else into `common`,
    which contexts of the same launch on other cards may share. `asks_card` says that what is being found depends on
    them.
    """

    launch: Launch
    line: CommandLine
    basis: Release
    model: Model
    traits: Traits
    derivations: Mapping[str, Derivation]
    errors: list[EngineError] = field(default_factory=list, kw_only=True)
    memo: dict[str, Any] = field(default_factory=dict, kw_only=True)
    fuller: Model | None = field(default=None, kw_only=True)
    common: Common = field(default_factory=dict, kw_only=True)
    asks_card: bool = field(default=False, kw_only=True)
    named: Context | None = field(default=None, kw_only=True)

    @property
    def release(self) -> str:
        """The release that is asked."""
        return self.basis.facts.version

    def __getitem__(self, name: str) -> Property:
        """A property by name; derived when it is first asked for."""
        return self.once(name, self.derivations[name])

    def once(self, name: str, find: Callable[[Context], Found]) -> Found:
        """What is found under a name, worked out when it is first asked for."""
        found: Found
        if name in self.common:
            found = self.common[name]
        elif name in self.memo:
            found = self.memo[name]
            self.asks_card = True
        else:
            before, self.asks_card = self.asks_card, False
            found = find(self)
            (self.memo if self.asks_card else self.common)[name] = found
            self.asks_card |= before
        return found

    def by_name(self, derive: Derivation) -> Property:
        """What a derivation finds of the model that `fuller` describes."""
        if self.named is None:
            assert self.fuller is not None
            self.named = self.with_model(self.fuller)
        self.named.asks_card = False
        found = derive(self.named)
        self.asks_card |= self.named.asks_card
        return found

    def with_model(self, model: Model) -> Context:
        """The same launch of another model."""
        common = self.common.setdefault("by name", {})
        return Context(
            self.launch, self.line, self.basis, model, traits(model.architecture), self.derivations, common=common
        )

    @property
    def sm(self) -> tuple[int, ...]:
        """The compute capabilities that the launch is meant for; empty when that is not known."""
        self.asks_card = True
        return self.launch.sm

    def setting(self, dest: str) -> Setting | None:
        """What the command line sets explicitly. An explicit None (`"auto"`, an empty word) counts as not set."""
        found = self.line.settings.get(dest)
        return None if found is None or found.value is None else found

    def key(self, dest: str, name: str) -> Setting | None:
        """A key of a JSON setting; of unknown value where the setting itself is unknown. JSON null is "not set"."""
        whole = self.line.settings.get(dest)
        if whole is None:
            return None
        if whole.value is UNKNOWN:
            return whole
        found = self.line.nested.get(f"{dest}.{name}")
        return None if found is None or found.value is None else found

    def variable(self, name: str) -> Word | None:
        """An environment variable of the process."""
        assert may_read(name), f"{name} is not among the variables that a launch is told apart by"
        return self.launch.environment.get(name)

    def behaviour(self, subject: str) -> Mapping[str, Any] | None:
        """What was read of the release about a property; None where it is not verified, or not for this platform."""
        if subject in CUDA_ONLY and self.platform:
            return None
        return self.basis.behaviour(subject)

    @property
    def platform(self) -> str:
        """The platform that the image is built for, where its name says that it is not CUDA; else empty."""
        return other_platform(self.launch.pin.image)

    def unverified(self, subject: str) -> Property:
        """The answer where a derivation may not be applied."""
        if subject in CUDA_ONLY and self.platform:
            return missing(f"what is known of vLLM's defaults holds for CUDA, and the image is for {self.platform}")
        return unknown(self.basis.changed(subject))

    def because(self, definition: str, text: str, *elsewhere: str) -> Reason:
        """A reason that names the place in the release's source where the engine decides; `elsewhere` is where releases
        do so that lack the definition.
        """
        places = [self.basis.place(name) for name in (definition, *elsewhere)]
        path, line = next((place for place in places if place[1]), places[0])
        return Reason("engine-default", path, line, f"vLLM {self.release}: {text}")

    def untested(self, subject: str, held: Property) -> Property:
        """An explicit value in a release whose further rules for it are not verified."""
        if not held.known:
            return held
        why = " ".join(reason.text for reason in self.unverified(subject).because)
        return assumed(held.value, *held.because, assumption(f"no rule of the release changes it ({why})"))

    def literal(self, dest: str) -> Property:
        """The parser's own default of a setting."""
        return self.basis.literal(dest)

    def refuse(self, setting: Setting, message: str) -> None:
        """Record that the configuration refuses a combination of settings."""
        self.errors.append(EngineError("conflict", setting.argument, message, setting.because))

    def model_reasons(self, *names: str) -> tuple[Reason, ...]:
        """Why the model is what it is held to be."""
        return tuple(dict.fromkeys(reason for name in names for reason in self.model.because.get(name, ())))

    @property
    def model_certainty(self) -> Certainty:
        """How sure the model is."""
        return self.model.certainty


def or_by_name(derive: Derivation) -> Derivation:
    """A derivation that falls back on what is only assumed of the model; its answer is then assumed at best."""

    def found(context: Context) -> Property:
        first = derive(context)
        if first.certainty == "certain" or context.fuller is None:
            return first
        second = context.by_name(derive)
        return replace(second, certainty="assumed") if second.known else second

    return found


@lru_cache(maxsize=1024)
def other_platform(image: str) -> str:
    """The word in an image's name that says that it is not built for CUDA; empty without one."""
    found = _PLATFORM.search(image.lower())
    return found.group().rstrip("/") if found else ""


def certain(value: Value, *because: Reason) -> Property:
    """A value that holds whatever else is true."""
    return Property(value, "certain", because)


def assumed(value: Value, *because: Reason) -> Property:
    """A value that rests on an assumption, which the reasons name."""
    return Property(value, "assumed", because)


def unknown(*because: Reason) -> Property:
    """No value; the reasons say what is missing."""
    return Property(None, "unknown", because)


def missing(text: str) -> Property:
    """No value, for want of what `text` says."""
    return unknown(Reason("assumption", "", None, text))


def assumption(text: str) -> Reason:
    """What an `assumed` value rests on."""
    return Reason("assumption", "", None, text)


def explicit(setting: Setting) -> Property:
    """The value of a setting as it stands."""
    if setting.value is UNKNOWN:
        return unknown(*setting.because)
    value = setting.value
    if isinstance(value, str | int | float | bool):
        return Property(value, "certain", setting.because)
    return unknown(*setting.because)


def resting_on(certainty: Certainty, value: Value, *because: Reason) -> Property:
    """A value as sure as what it rests on, which is known."""
    return Property(value, "assumed" if certainty == "assumed" else "certain", because)


def is_true(word: Word) -> bool:
    """Whether a known variable holds a word that vLLM reads as true."""
    return word.text.strip().lower() in TRUE_WORDS
