"""Words that name a property and a value of it: `MTP n=3`, `fp8 KV`, `262K ctx`. A mention is not yet a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.claims.model import ClaimKind
from bot.claims.readers import (
    Reader,
    absent,
    batched,
    cache,
    context,
    drafter,
    fixed,
    image,
    method_on,
    mode,
    nightly,
    no_drafter,
    prose_drafter,
    release,
    share,
    small,
    switch,
)
from bot.claims.subjects import (
    BATCHED,
    CACHE,
    CONTEXT,
    DEPTH,
    EAGER,
    MEMORY,
    PARALLEL,
    PREFIX,
    SEQUENCES,
)

WORDS = (
    "mtp", "draft", "spec", "eagle", "dflash", "prefix", "ctx", "context", "model-len", "model_len", "model len", "kv",
    "0.1", "0.2", "0.3", "vllm-openai", "tp=", "tp =", "tensor", "seq", "stream", "graph", "piecewise", "eager", "--",
    "default", "topology", "util", "batched", "nightly",
)  # fmt: skip
"""Of these, in small letters, one stands in every statement with a mention: much cheaper to ask than a pattern."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A value of a property in a text. `explicit` mentions say by their own words that they are about the default;
    the others are claims only where nothing else is said with them. `key`: the mention is the value of a key. `spelt`
    is where the value itself stands, as a number or a name; None where the words say it otherwise (`no drafter`).
    """

    start: int
    end: int
    kind: ClaimKind
    subject: str
    value: str | int | float | bool | None
    approximate: bool = False
    explicit: bool = False
    key: bool = False
    spelt: tuple[int, int] | None = None


_METHOD = r"(?P<method>MTP|EAGLE-?3?|DFlash|drafter|draft(?:ing)?|spec(?:ulative)?[- ]?dec(?:ode|oding)?|speculation)"
_STATE = r"(?P<state>ON|OFF|enabled|disabled|true|false)"
_DEFAULT = r"(?:by default|here\b|on this (?:compose|slug|file)|in this (?:compose|slug|file))"
_SHIPS = r"(?:ships?|carries|passes|has|have|gets?|runs?(?: with)?|served?(?: with)?|comes? with)"
_PROSE_DRAFTER = (
    r"(?:drafter(?:\s+speculative-decod\w+)?|draft\s+model|"
    r"(?:speculative|spec)[- ]?dec(?:ode|oding)?(?:\s+draft(?:er)?)?)"
    r"(?![\w/*.-])(?!\s+(?:weights?|graphs?|layers?|cost|overhead|room|headroom|head|support|on\s+disk))"
)
_NUMBER = (
    r"(?P<about>~\s?|≈\s?)?(?P<number>\d{1,3}(?:[,_]\d{3})+|\d{4,8}|\d{1,4}(?:\.\d{1,2})?\s?[KM])"
    r"(?![\w.])(?!\s?[-–]\s?~?\d)"
)
_CACHE = (
    r"(?P<cache>fp8(?:[_/ -]?e[45]m[23])?|nvfp4|int8(?:[-_ ](?:pth|per[-_ ]token[-_ ]head))?|int4|bf16|bfloat16|fp16|"
    r"float16|turboquant\w*|tq[234])"
)
_RELEASE = r"v?(?P<release>0\.\d{1,2}(?:\.(?:\d{1,2}|x))?)(?![\w.-]*\w)"
_SHARE = r"(?P<share>0?\.\d{1,3})(?![\w.])(?!\s?[-–/]\s?0?\.\d)"
_MEMORY = r"(?:gpu[-_ ]?)?mem(?:ory)?[-_ ]?util(?:i[sz]ation)?"
_STOCK = r"(?:stock|stable|vanilla|unmodified)"
_NOT_A_DRAFTER = (
    r"(?![.*]|\s+(?:head|weights?|layers?|tensors?|modules?|models?|support|param|variant|path|arm|run|baseline))"
)


_CAPITAL = re.compile(r"(\\.|\(\?P[<=])|[A-Z]")


def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern for text in small letters: much faster than one that takes capitals for them."""
    return re.compile(_CAPITAL.sub(lambda match: match[1] or match[0].lower(), pattern))


_Rule = tuple[frozenset[str], re.Pattern[str], Reader]
"""A pattern and what it means; of the words, in small letters, one stands in every text that it can match."""

_DRAFTERS = ("mtp", "draft", "spec", "eagle", "dflash")
_RELEASES = ("0.1", "0.2", "0.3")
_MODEL_LEN = ("model-len", "model_len", "model len")

_EXPLICIT: tuple[_Rule, ...] = tuple(
    (frozenset(words), _compiled(pattern), read)
    for words, pattern, read in (
        # "ships no MTP arg", "carries no drafter"
        (
            _DRAFTERS,
            rf"{_SHIPS}\s+(?:no|zero)\s+(?:(?:actual|built-in|external)\s+)?(?:MTP|drafter|speculation|spec(?:ulative)?"
            rf"[- ]?dec\w*){_NOT_A_DRAFTER}(?:\s+(?:arg(?:ument)?s?|flags?|config))?(?!\w)",
            no_drafter,
        ),
        # "Minimal — no spec-decode, no patches", "runs drafter-free"
        (_DRAFTERS, r"(?<=[—–] )no\s+(?:MTP|drafter|spec(?:ulative)?[- ]?dec\w*)(?=\s*,\s*no\s)", no_drafter),
        (_DRAFTERS, r"runs\s+drafter-free(?!\w)", no_drafter),
        (("--",), rf"(?:{_SHIPS}|sets?)\s+(?:no|zero)\s+`?--(?P<option>[a-z][a-z0-9-]+)`?", absent),
        (_DRAFTERS, rf"{_METHOD}\s+(?:is\s+|stays\s+)?{_STATE}\s+{_DEFAULT}", method_on),
        (_DRAFTERS, rf"(?P<state>)injects?\s+{_METHOD}\s+by default", method_on),
        (_DRAFTERS, rf"default\s*(?:=|:|is)\s*{_METHOD}\s+{_STATE}", method_on),
        (("prefix",), rf"prefix[- ]cach(?:ing|e)\s+(?:is\s+|stays\s+)?{_STATE}\s+{_DEFAULT}", switch(PREFIX)),
        (("prefix",), rf"prefix[- ]cach(?:ing|e)\s+defaults?\s+(?:to\s+)?{_STATE}", switch(PREFIX)),
        (("prefix",), rf"prefix(?:[- ]cach(?:ing|e))?[- ]{_STATE}\s+default", switch(PREFIX)),
        # "inert while prefix caching is off": it is now
        (
            ("prefix",),
            rf"(?:inert|unused|idle|harmless)\s+(?:while|as long as)\s+prefix[- ]cach(?:ing|e)\s+(?:is|stays)"
            rf"\s+{_STATE}(?!\w)",
            switch(PREFIX),
        ),
        # "int4 weights + the external assistant drafter", "this is the tp=2 + MTP path"
        (
            _DRAFTERS,
            r"\+\s+(?:the\s+|an?\s+|google(?:'s)?\s+)?(?:(?:external|assistant|built-in|mtp|google|\"assistant\"|small)[\s-]+)"
            rf"{{0,3}}(?P<state>){_PROSE_DRAFTER}",
            prose_drafter,
        ),
        (_DRAFTERS, r"(?:the|an?)\s+(?:[\w\"-]+\s+){0,3}(?P<state>)drafter\s+(?:is\s+)?wired(?!\w)", prose_drafter),
        (
            _DRAFTERS,
            r"this\s+(?:one\s+)?is\s+the\s+(?:[\w=.-]+\s+(?:\+\s+)?){0,3}"
            r"(?P<state>)(?:MTP|EAGLE-?3?|DFlash|"
            r"spec(?:ulative)?[- ]dec\w*|drafter)\s+(?:path|variant|compose|slug|lane)(?!\w)",
            prose_drafter,
        ),
        (("eager",), rf"enforce[-_ ]eager\s+(?:is\s+)?{_STATE}\s+{_DEFAULT}", switch(EAGER)),
        (("graph",), rf"cuda ?graphs?\s+(?:are\s+|is\s+)?{_STATE}\s+{_DEFAULT}", switch(EAGER, off=True)),
        (("eager",), r"runs?\s+(?:in\s+)?eager(?: mode)?\s+by default", fixed(EAGER, True)),
        (
            ("piecewise", "graph"),
            r"(?P<mode>PIECEWISE|FULL_AND_PIECEWISE|FULL_DECODE_ONLY)\s+(?:cuda ?graphs?|mode)\s+by default",
            mode,
        ),
        (
            ("default",),
            r"default(?:s)?(?:\s+is(?:\s+now)?|\s*=|\s+to)\s+n\s?=\s?(?P<small>\d{1,2})(?![\d.])",
            small(DEPTH),
        ),
        (("default",), r"n\s?=\s?(?P<small>\d{1,2})\s+default(?!\w)(?!\s*(?:→|->|to\b))", small(DEPTH)),
        (
            ("default",),
            rf"default\s+`?kv[-_ ](?:cache[-_ ])?(?:d?type|format)`?\s+(?:is|=)\s+`?{_CACHE}(?!\w)",
            cache,
        ),
        (("default",), rf"defaults\s*\(\s*{_NUMBER}[- ]?(?:tokens?\s+)?(?:ctx|context)(?!\w)", context),
        # "pinned to vLLM STABLE v0.24.0"
        (
            _RELEASES,
            rf"pinned\s+(?:to|at|on)\s+(?:the\s+)?(?:an?\s+)?(?:{_STOCK}\s+)?(?:vllm\s+)?(?:{_STOCK}\s+)?{_RELEASE}",
            release,
        ),
        (_RELEASES, rf"{_STOCK}\s+(?:vllm\s+)?image\s*\(\s*{_RELEASE}", release),
        (
            _RELEASES,
            rf"pinned\s+(?:to|at|on)\s+the\s+[\w.-]+\s+(?:engine\s+)?(?:spec|profile|pin|tag|image)\s*\(\s*{_RELEASE}\s*\)",
            release,
        ),
        (_RELEASES, rf"{_RELEASE}\s*\(this pin\)", release),
        (_RELEASES, rf"(?:this|the)\s+pin\s*(?:\(|=|:|is)\s*{_RELEASE}", release),
        (_RELEASES, rf"overlay-free\s+on\s+(?:{_STOCK}\s+)?(?:vllm\s+)?{_RELEASE}(?=\s*(?:$|[.,;()—–]))", release),
        # "the dual on v0.24.0"
        (
            _RELEASES,
            rf"(?:single|dual|quad|multi\d?|slug|compose)\s+on\s+(?:{_STOCK}\s+)?(?:vllm\s+)?{_RELEASE}(?=\s*(?:$|[.,;()—–]))",
            release,
        ),
        (_RELEASES, rf"(?:{_STOCK}\s+vllm|vllm\s+{_STOCK})\s+{_RELEASE}(?=\s*(?:$|[.,;()—–]))", release),
        # "pin uses the post-merge nightly"
        (
            ("nightly",),
            r"(?:pin\s+(?:uses|is)|(?:is\s+|stays\s+)?pinned\s+(?:to|on|at))\s+(?:(?:the|an?|this|that)\s+)?(?:[\w.'+-]+\s+){0,5}nightly",
            nightly,
        ),
        # "65K (mem-util 0.95)", "the safe defaults (48K context, 0.92 mem-util)"
        (("util",), rf"(?<=\()@?\s*{_MEMORY}\s*[=:]?\s*{_SHARE}(?=\s*\))", share),
        (("util",), rf"defaults\s*\((?:[^()]{{0,40}},\s*)?{_SHARE}\s+{_MEMORY}(?!\w)", share),
        (("util",), rf"default\s+`?{_MEMORY}`?\s+(?:is|=)\s+`?{_SHARE}", share),
        (("vllm-openai",), r"runs\s+(?:on\s+)?(?:stock\s+)?(?P<image>vllm/vllm-openai:[\w.-]+)", image),
    )
)

_ITEMS: tuple[_Rule, ...] = tuple(
    (frozenset(words), _compiled(pattern), read)
    for words, pattern, read in (
        (_DRAFTERS, rf"{_METHOD}\s*[,:(]?\s*(?:(?:n|k|depth)\s?=\s?|num_speculative_tokens\s?=\s?)(?P<depth>\d{{1,2}})"
         r"(?![\d.])(?!\s*(?:/|-|–|and|or|\.\.|→|->)\s*(?:n\s?=\s?)?\d)", drafter),
        (_DRAFTERS, rf"no[- ](?:MTP|drafter|spec(?:ulative)?[- ]?dec\w*){_NOT_A_DRAFTER}(?!\w)", no_drafter),
        (("--",), r"no\s+`?--(?P<option>[a-z][a-z0-9-]+)`?", absent),
        (_DRAFTERS, r"drafter-(?:free|less)(?!\w)", no_drafter),
        (_DRAFTERS, r"(?:MTP|spec|drafter)-off(?!\w)", no_drafter),
        (("prefix",), rf"prefix[- ]cach(?:ing|e)\s*(?:is\s+|=\s*|:\s*)?{_STATE}(?!\w)", switch(PREFIX)),
        (("ctx", "context"), rf"{_NUMBER}[- ]?(?:tokens?\s+)?(?:ctx|context)"
         r"(?:\s+target(?=\s*(?:$|[.,;)])))?(?!\s*(?:pool|ceiling|limit|rung|window of|target))(?!\w)", context),
        (("ctx", "context"), rf"max(?:imum)?\.?\s+(?:ctx|context)\s+(?:is\s+|of\s+)?{_NUMBER}", context),
        (_MODEL_LEN, rf"max[-_ ]model[-_ ]len(?:gth)?\s*(?:=|:|\s)\s*{_NUMBER}", context),
        (("kv",), rf"{_CACHE}\s+KV(?:[- ]cache)?"
         r"(?!\s*(?:pool|scale|head|quality|path|fidelity|row|=|:|\())(?!\w)", cache),
        (("kv",), rf"kv(?:[-_ ]cache[-_ ]dtype|\s+format)\s*(?:=|:|\s)\s*{_CACHE}(?!\w)", cache),
        (("tp=", "tp ="), r"TP\s?=\s?(?P<small>\d{1,2})(?![\d.'’])", small(PARALLEL)),
        (("tensor",), r"tensor[-_ ]parallel(?:[-_ ]size)?\s*(?:=|:)\s*(?P<small>\d{1,2})(?![\d.])", small(PARALLEL)),
        (("seq",), r"max[-_ ]num[-_ ]seqs\s*(?:=|:|\s)\s*(?P<small>\d{1,4})(?![\d.])", small(SEQUENCES)),
        (("stream", "seq"),
         r"(?P<small>\d{1,3})(?:-|\s)(?:concurrent\s+)?(?:streams?|seqs|sequences)(?!\w)", small(SEQUENCES)),
        (("util",), rf"(?:{_MEMORY}|util)\s*[=:]?\s*{_SHARE}", share),
        (("batched",), rf"(?:max[-_ ]num[-_ ])?batched[-_ ]tokens\s*(?:=|:|\s)\s*{_NUMBER}", batched),
        (("piecewise", "graph"), r"cudagraph[-_ ]mode\s*(?:=|:|\s)\s*"
         r"(?P<mode>NONE|PIECEWISE|FULL(?:_AND_PIECEWISE|_DECODE_ONLY)?)(?!\w)", mode),
        (("eager",), rf"enforce[-_]eager\s*(?:=|:|is\s)\s*{_STATE}(?!\w)", switch(EAGER)),
    )
)  # fmt: skip

_KEYS: dict[str, tuple[tuple[re.Pattern[str], Reader], ...]] = {
    name: tuple((_compiled(rf"[`*]*(?:{pattern})"), read) for pattern, read in readers)
    for names, readers in (
        (
            ("drafter", "draft", "draft model", "speculation", "spec decode", "spec-decode", "speculative decoding",
             "spec"),
            (
                (r"(?:none|no|off|disabled|n/a)(?![\w/])", no_drafter),
                (rf"{_METHOD}\s*[,:(]?\s*(?:n|k)\s?=\s?(?P<depth>\d{{1,2}})(?![\d.])", drafter),
                (r"[^().;—–]{0,60}?\bn\s?=\s?(?P<small>\d{1,2})(?![\d.])", small(DEPTH)),
            ),
        ),
        (("kv", "kv cache", "kv dtype", "kv cache dtype", "kv format", "kv-cache"), ((rf"{_CACHE}(?!\w)", cache),)),
        (
            ("ctx", "max ctx", "context", "context length", "max context", "max model len", "max-model-len",
             "max_model_len"),
            ((_NUMBER, context),),
        ),
        (("tensor-parallel", "tensor parallel", "tp"), ((r"(?P<small>\d{1,2})(?![\d.x×])", small(PARALLEL)),)),
        (("topology",), ((r"[^().;]{0,60}\(\s*TP\s?=\s?(?P<small>\d{1,2})(?!\d)", small(PARALLEL)),)),
        (("streams", "max seqs", "max num seqs", "max_num_seqs"),
         ((r"(?P<small>\d{1,4})(?![\d.x×])", small(SEQUENCES)),)),
        (("prefix caching", "prefix-caching", "prefix cache"), ((rf"{_STATE}(?!\w)", switch(PREFIX)),)),
        (("cudagraph mode", "cudagraph_mode", "cudagraphs"),
         ((r"(?P<mode>NONE|PIECEWISE|FULL_AND_PIECEWISE|FULL_DECODE_ONLY)(?!\w)", mode),)),
        (
            ("engine", "image", "vllm", "pin", "version"),
            (
                (r"(?:vllm\s*\(?\s*)?(?P<image>vllm/vllm-openai:[\w.-]+)", image),
                (rf"(?:{_STOCK}\s+)?(?:vllm\s+)(?:{_STOCK}\s+)?{_RELEASE}", release),
            ),
        ),
    )
    for name in names
}  # fmt: skip


_SPELT = {
    DEPTH: ("depth", "small"),
    CONTEXT: ("number",),
    CACHE: ("cache",),
    PARALLEL: ("small",),
    SEQUENCES: ("small",),
    MEMORY: ("share",),
    BATCHED: ("number",),
    "release": ("release", "image"),
    "image": ("image",),
}
"""The groups of the patterns that hold a value of a subject, or of a kind that has none."""

_NUMBERED = re.compile(r"0\.\d{1,2}(?:\.(?:\d{1,2}|x))?")


def of_key(key: str, value: str) -> Iterator[Mention]:
    """What the value of a key of the header says first: `Drafter: MTP n=3 (built-in)`. Both in small letters."""
    for pattern, read in _KEYS.get(key, ()):
        if match := pattern.match(value):
            yield from _mentions(match, read, explicit=False, key=True)
            return


def of_text(small: str) -> list[Mention]:
    """Every mention in a text of small letters, in the order of their places; of two that share words, the one that
    says more.
    """
    words = {word for word in WORDS if word in small}
    found = [
        mention
        for rules, explicit in ((_EXPLICIT, True), (_ITEMS, False))
        for needed, pattern, read in rules
        if not needed.isdisjoint(words)
        for match in pattern.finditer(small)
        if not _goes_on(small, match.start())
        for mention in _mentions(match, read, explicit=explicit)
    ]
    kept: list[Mention] = []
    for mention in found:
        covers = (other for other in kept if other.start < mention.end and mention.start < other.end)
        if all(_is_twin(other, mention) for other in covers):
            kept.append(mention)
    return sorted(kept, key=lambda mention: mention.start)


def _goes_on(text: str, start: int) -> bool:
    """Whether a match begins inside a word."""
    return start > 0 and (text[start - 1] in "-_" or text[start - 1].isalnum())


def _is_twin(first: Mention, second: Mention) -> bool:
    """Whether two mentions are what the same words say of two properties."""
    return (first.start, first.end) == (second.start, second.end) and first.subject != second.subject


def _mentions(match: re.Match[str], read: Reader, *, explicit: bool, key: bool = False) -> Iterator[Mention]:
    groups = match.groupdict()
    about = bool(groups.get("about"))
    for kind, subject, value in read(match):
        names = _SPELT.get(subject or kind, ())
        spelt = next((match.span(name) for name in names if groups.get(name)), None)
        if spelt is not None and kind == "release" and (part := _NUMBERED.search(match.string, *spelt)):
            spelt = part.span()
        yield Mention(match.start(), match.end(), kind, subject, value, about, explicit, key, spelt)
