"""Profiles of models, engines and cards: YAML files that are recognised by their shape, wherever they lie."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import yaml

from bot.catalog.document import Value
from bot.catalog.model import DrafterProfile, EngineProfile, HardwareProfile, ModelProfile
from bot.provenance import Position, Reason
from bot.rules import RULES

TABLE = "families.yml"

_GDN_LAYERS = re.compile(r"(?:n_|num_)?(?:gdn|gated_delta(?:_?net)?|delta_?net)_layers")
_MAMBA_LAYERS = re.compile(r"(?:n_|num_)?(?:mamba2?|ssm)_layers")
_ATTENTION_LAYERS = re.compile(r"(?:n_|num_)?(?:full|global|sliding|local|swa)(?:_attn|_attention)?_layers")
_ALL_ATTENTION_LAYERS = re.compile(r"(?:n_|num_)?(?:attn|attention)_layers")
_ALL_LAYERS = ("num_hidden_layers", "num_layers", "n_layers")
_GDN_GEOMETRY = re.compile(r"linear_(?:conv_kernel_dim|(?:num_)?(?:v|k|value|key)_head(?:s|_dim))")
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "num_routed_experts")
_ARCHITECTURE = re.compile(r"[A-Z][A-Za-z0-9_]*(?:For[A-Z]\w*|Model|_V\d)")
_NOT_SERVED = frozenset({"draft", "drafter", "mmproj"})
_NO_IMAGE = frozenset({"pip", "uv", "conda", "source", "build", "binary"})
_KINDS_OF_LAYERS = {
    "full_attention": "none",
    "sliding_attention": "none",
    "attention": "none",
    "mamba": "mamba",
    "mamba2": "mamba",
    "gdn": "gdn",
    "gated_delta_net": "gdn",
    "gated_deltanet": "gdn",
}

Profile = ModelProfile | EngineProfile | HardwareProfile | DrafterProfile


def read_profile(root: Value) -> Profile | None:
    """The profile that a file holds; None when it is none."""
    fields = root.fields()
    identity = fields["id"].text if "id" in fields else None
    if not identity:
        return None
    if "sm" in fields or "compute_capability" in fields:
        return _hardware(identity, root, fields)
    if "install" in fields and fields["install"].is_mapping:
        return _engine(identity, root, fields["install"])
    if "spec_method" in fields and fields["spec_method"].text:
        return DrafterProfile(identity, fields["spec_method"].text or "", fields["spec_method"].position)
    counted = any(name in fields for name in (*_ALL_LAYERS, "layer_types")) or any(map(_counts_layers, fields))
    described = sum(name in fields for name in ("family", "weights", "architecture", "architectures"))
    return _Model(identity, root, fields).profile() if counted or described >= 2 else None


def capability(text: str | None) -> int | None:
    """A compute capability times ten: "12.0", "sm_120" and "120" are 120, "8.6+" is 86. None for anything else."""
    match = re.fullmatch(r"\s*(?:sm[_ ]?)?(?:(\d{1,2})\.(\d)|(\d{2,3})[a-z]?)\s*\+?\s*", text or "", re.IGNORECASE)
    if match is None:
        return None
    number = int(match[3]) if match[3] else int(match[1]) * 10 + int(match[2])
    return number if 20 <= number < 300 else None


def _hardware(identity: str, root: Value, fields: Mapping[str, Value]) -> HardwareProfile:
    stated = fields.get("sm") or fields["compute_capability"]
    text = stated.text
    if text and re.fullmatch(r"\d{1,2}", text) and int(text) < 20:
        text += ".0"
    names = [identity, fields["display_name"].text if "display_name" in fields else None]
    return HardwareProfile(identity, capability(text), root.position, tuple(name for name in names if name))


def _engine(identity: str, root: Value, install: Value) -> EngineProfile:
    fields = install.fields()
    method = fields["method"].text if "method" in fields else None
    image = fields["spec"].text if "spec" in fields and method not in _NO_IMAGE else None
    position = fields["spec"].position if "spec" in fields else root.position
    return EngineProfile(identity, image, position)


def _counts_layers(name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in (_GDN_LAYERS, _MAMBA_LAYERS, _ALL_ATTENTION_LAYERS))


@dataclass
class _Model:
    identity: str
    root: Value
    fields: Mapping[str, Value]
    because: dict[str, tuple[Reason, ...]] = field(default_factory=dict)
    assumed: set[str] = field(default_factory=set)

    def profile(self) -> ModelProfile:
        family = self._text("family")
        weights, repositories = self._weights()
        places = {**repositories, **weights}
        return ModelProfile(
            id=self.identity,
            family=family,
            recurrent=self._counted() or self._listed() or self._by_family(family),
            moe=self._experts(family),
            architecture=self._architecture(),
            weights=tuple(sorted(weights, key=lambda text: (-len(text), text))),
            because=self.because,
            position=self.root.position,
            repositories=tuple(repositories),
            assumed=frozenset(self.assumed),
            places=places,
        )

    def _counted(self) -> str | None:
        """The kind of recurrent layers, from the numbers of layers of each kind."""
        gdn, mamba = self._numbers(_GDN_LAYERS), self._numbers(_MAMBA_LAYERS)
        attention = self._numbers(_ALL_ATTENTION_LAYERS) or self._numbers(_ATTENTION_LAYERS)
        total = next((number for name in _ALL_LAYERS if (number := self._number(name)) is not None), None)
        every_layer_attends = bool(total) and sum(attention.values()) == total
        kinds = [kind for kind, counts in (("gdn", gdn), ("mamba", mamba)) if any(counts.values())]
        if len(kinds) == 1 and not every_layer_attends:
            counts = gdn if kinds[0] == "gdn" else mamba
            self.because["recurrent"] = tuple(self._reason(name) for name, number in counts.items() if number)
            return kinds[0]
        if not kinds and every_layer_attends:
            names = (*attention, *(name for name in _ALL_LAYERS if name in self.fields))
            self.because["recurrent"] = tuple(self._reason(name) for name in names)
            return "none"
        return None

    def _listed(self) -> str | None:
        """The kind of recurrent layers, from a list of the layers."""
        if "layer_types" not in self.fields:
            return None
        kinds = {_KINDS_OF_LAYERS.get(text) for text in self.fields["layer_types"].texts}
        recurrent = kinds - {"none"}
        if not kinds or None in kinds or len(recurrent) > 1:
            return None
        line = self.fields["layer_types"].position.line
        self.because["recurrent"] = (Reason("catalog", self.root.path, line, "layer_types names every layer's kind"),)
        return recurrent.pop() if recurrent else "none"

    def _by_family(self, family: str | None) -> str | None:
        if any(self._numbers(pattern) for pattern in (_GDN_LAYERS, _MAMBA_LAYERS)):
            return None  # counted, and the counts contradict each other
        geometry = [name for name in self.fields if _GDN_GEOMETRY.fullmatch(name) and self._number(name)]
        recurrent = family_recurrent(family)
        if recurrent is None and geometry:
            self.because["recurrent"] = (
                self._reason(geometry[0]),
                Reason("assumption", "", None, "a model with linear-attention geometry has gated delta-net layers"),
            )
            recurrent = "gdn"
        elif recurrent is not None:
            meaning = "no recurrent layers" if recurrent == "none" else f"{recurrent} layers"
            self.because["recurrent"] = (
                self._reason("family"),
                Reason("assumption", "", None, f"a model of the family {family!r} has {meaning}"),
            )
        if recurrent is not None:
            self.assumed.add("recurrent")
        return recurrent

    def _experts(self, family: str | None) -> bool | None:
        for name in _EXPERTS:
            number = self._number(name)
            if number is not None:
                self.because["moe"] = (self._reason(name),)
                return number > 1
        words = set(re.split(r"[^a-z0-9]+", (family or "").lower()))
        moe = True if "moe" in words else False if "dense" in words else None
        if moe is not None:
            meaning = "has experts" if moe else "has no experts"
            self.because["moe"] = (
                self._reason("family"),
                Reason("assumption", "", None, f"a model of the family {family!r} {meaning}"),
            )
            self.assumed.add("moe")
        return moe

    def _architecture(self) -> str | None:
        for name in ("architecture", "architectures"):
            stated = self.fields[name].texts if name in self.fields else ()
            if len(stated) == 1 and _ARCHITECTURE.fullmatch(stated[0]):
                self.because["architecture"] = (self._reason(name),)
                return stated[0]
        return None

    def _weights(self) -> tuple[dict[str, Position], dict[str, Position]]:
        """The path fragments and the hub names of what is served, and where each is stated first."""
        fragments: dict[str, Position] = {}
        repositories: dict[str, Position] = {}
        weights = self.fields.get("weights")
        variants = (
            [*weights.fields().values()] if weights and weights.is_mapping else weights.children if weights else ()
        )
        for variant in variants:
            stated = variant.fields()
            if "kind" in stated and stated["kind"].text in _NOT_SERVED:
                continue
            for name in ("path", "local_subdir"):
                for value in stated[name].children if name in stated else ():
                    fragments.setdefault((value.text or "").strip("/"), value.position)
            for name in ("hf_repo", "hf_repos", "repo"):
                for value in stated[name].children if name in stated else ():
                    repositories.setdefault(value.text or "", value.position)
        meaningless = {"", ".", "models"}
        return {text: at for text, at in fragments.items() if text not in meaningless}, {
            text: at for text, at in repositories.items() if text
        }

    def _text(self, name: str) -> str | None:
        return self.fields[name].text if name in self.fields else None

    def _number(self, name: str) -> int | None:
        text = self._text(name)
        return int(text) if text and re.fullmatch(r"[0-9]{1,6}", text) else None

    def _numbers(self, pattern: re.Pattern[str]) -> dict[str, int]:
        found = ((name, self._number(name)) for name in self.fields if pattern.fullmatch(name))
        return {name: number for name, number in found if number is not None}

    def _reason(self, name: str) -> Reason:
        value = self.fields[name]
        return Reason("catalog", value.path, value.position.line, f"{name}: {' '.join(value.texts)}"[:160])


def family_recurrent(family: str | None) -> str | None:
    """The kind of recurrent layers that the name of a family means, by the table in `rules/`; None when unsure."""
    name = (family or "").lower()[:100]
    return next((recurrent for pattern, recurrent in _families() if pattern.match(name)), None)


@cache
def _families() -> tuple[tuple[re.Pattern[str], str], ...]:
    data = yaml.load((RULES / TABLE).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return tuple((re.compile(entry["match"]), entry["recurrent"]) for entry in data["families"])
