"""What the words that a pattern finds say: the property, and its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from bot.claims.model import ClaimKind
from bot.claims.subjects import ANY, BATCHED, CACHE, CONTEXT, DEPTH, DRAFTER, EAGER, GRAPHS, MEMORY
from bot.claims.values import cache_format, count

Found = tuple[ClaimKind, str, str | int | float | bool | None]
Reader = Callable[[re.Match[str]], Iterable[Found]]

_METHODS = {"mtp": "mtp", "eagle": "eagle", "eagle3": "eagle3", "eagle-3": "eagle3", "dflash": "dflash"}
_ON = {"on": True, "enabled": True, "true": True, "off": False, "disabled": False, "false": False}
_TAG = re.compile(r"vllm/vllm-openai:v(0\.\d{1,2}\.\d{1,2})")


def drafter(match: re.Match[str]) -> Iterator[Found]:
    """A method and its depth: `MTP n=3`."""
    method = _METHODS.get(match["method"].lower())
    if method is not None:
        yield "property", DRAFTER, method
    yield "property", DEPTH, int(match["depth"])


def method_on(match: re.Match[str]) -> Iterator[Found]:
    """A method that is said to be on or off."""
    on = _ON[match["state"].lower()] if match["state"] else True
    yield "property", DRAFTER, _METHODS.get(match["method"].lower(), ANY) if on else None


def prose_drafter(_: re.Match[str]) -> Iterator[Found]:
    """Some drafter: the words do not say which."""
    yield "property", DRAFTER, ANY


def no_drafter(_: re.Match[str]) -> Iterator[Found]:
    """That nothing drafts."""
    yield "property", DRAFTER, None


def switch(subject: str, off: bool = False) -> Reader:
    """A property that is said to be on; `off` where the words name what it switches off."""

    def read(match: re.Match[str]) -> Iterator[Found]:
        yield "property", subject, _ON[match["state"].lower()] is not off

    return read


def fixed(subject: str, value: str | int | bool) -> Reader:
    """A value that the words themselves mean."""
    return lambda _: (("property", subject, value),)


def context(match: re.Match[str]) -> Iterator[Found]:
    """A context length, within what models have."""
    if (tokens := count(match["number"])) is not None and 1024 <= tokens <= 20_000_000:
        yield "property", CONTEXT, tokens


def cache(match: re.Match[str]) -> Iterator[Found]:
    """A KV cache format that is known."""
    if (stated := cache_format(match["cache"])) is not None:
        yield "property", CACHE, stated


def small(subject: str) -> Reader:
    """A small number of something."""
    return lambda match: (("property", subject, int(match["small"])),)


def share(match: re.Match[str]) -> Iterator[Found]:
    """The share of a card's memory."""
    yield "property", MEMORY, float(match["share"])


def batched(match: re.Match[str]) -> Iterator[Found]:
    """The tokens of one batch."""
    if (tokens := count(match["number"])) is not None and 64 <= tokens <= 1_000_000:
        yield "property", BATCHED, tokens


def nightly(_: re.Match[str]) -> Iterator[Found]:
    """That the image is a nightly build."""
    yield "nightly", "", True


def mode(match: re.Match[str]) -> Iterator[Found]:
    """A CUDA graph mode."""
    yield "property", GRAPHS, match["mode"].upper()


def release(match: re.Match[str]) -> Iterator[Found]:
    """A release of vLLM; `0.24.x` is `0.24`."""
    yield "release", "", match["release"].removesuffix(".x")


def image(match: re.Match[str]) -> Iterator[Found]:
    """An image, or its release where its tag is one."""
    named = match["image"].rstrip(".,;:")
    released = _TAG.fullmatch(named)
    yield ("release", "", released[1]) if released else ("image", "", named)


_OPTIONS: dict[str, tuple[Found, ...]] = {
    "speculative-config": (("property", DRAFTER, None),),
    "enforce-eager": (("property", EAGER, False),),
}


def absent(match: re.Match[str]) -> Iterator[Found]:
    """An option that is not given; where that means a value, this value."""
    option = match["option"]
    yield from _OPTIONS.get(option, (("absent", option.replace("-", "_"), None),))
