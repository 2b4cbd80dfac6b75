"""`.github/seamguard.yml`: what a repository tells Seamguard about itself.

```yaml
composes: ["deploy/**/*.yml"]           # default: every file that looks like a compose
ignore: ["**/_archive/**"]
together: [[base.yml, gpu.yml]]         # what runs with several -f
profiles: ["ops/**"]                    # where profiles, registry and patches.yml are; default: anywhere
patches: ["mods/*"]                     # vendored patches whose path does not say so
headers: {engine-profile: stack}        # own words for the keys in the comments at the head of a compose
images:
  ghcr.io/x/y@sha256:…: {release: "0.25.1", contains: ["vllm#46324"], adds: [nvfp4-kv-route]}
seams:                                  # what a launcher sets by itself
  NVLINK_MODE: {values: ["0", "1"], set_by: scripts/launch.sh}
hardware:                               # which GPUs a compose is meant for; the first glob that fits counts
  "deploy/5090/*.yml": RTX 5090
  "deploy/**": [sm_86, sm_89]
accepted:                               # risks that are taken knowingly, until a fix is pinned
  - rule: mtp-prefix-cache-hybrid
    where: deploy/mtp.yml
    world: PREFIX_CACHE=on
    until: vllm#48375
    reason: opt-in, documented as such
policy: {vendoring: inherit-only}       # no new vendored patches: fixes come with the pinned release
```

`docs/configuration.md` explains each key.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from bot.catalog.document import NotYaml, Value, parse
from bot.catalog.model import (
    Acceptance,
    Configuration,
    HardwareDeclaration,
    ImageDeclaration,
    InheritOnly,
    Problem,
    SeamDeclaration,
)
from bot.provenance import Position
from bot.references import normalise
from bot.tree import Tree, UnreadableFile

PATH = ".github/seamguard.yml"

MAX_ENTRIES = 200
"""Accepted risks, and groups of files that run together, that count: each is held against every compose."""

_KEYS = (
    "accepted",
    "composes",
    "hardware",
    "headers",
    "ignore",
    "images",
    "patches",
    "policy",
    "profiles",
    "seams",
    "together",
)
HEADER_KEYS = ("engine-profile", "hardware")
"""The keys of headers for which a repository may have other words."""

_GLOBS = ("ignore", "composes", "profiles", "patches")
_IMAGE_KEYS = ("release", "contains", "adds")
_SEAM_KEYS = ("values", "set_by")
_ACCEPTANCE_KEYS = ("rule", "where", "world", "until", "reason", "by")
_POLICY_KEYS = ("vendoring",)
_VENDORING_KEYS = ("mode", "fixes", "reason")
_VENDORING_MODES = ("allowed", "inherit-only")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def read_configuration(tree: Tree) -> Configuration:
    """The configuration of a repository; what is wrong with it is in `problems`, and the rest of it counts."""
    try:
        text = tree.read(PATH)
    except UnreadableFile as error:
        return Configuration(problems=(Problem(error.message, Position(PATH, 1)),), unreadable=True)
    if text is None:
        return Configuration()
    try:
        root = parse(text, PATH)
    except NotYaml as error:
        problem = Problem(f"not YAML: {error.message}", Position(PATH, error.line))
        return Configuration(problems=(problem,), unreadable=True)
    return _Reader().read(root) if root else Configuration()


def fits(path: str, glob: str) -> bool:
    """Whether a path of the repository fits a glob; `*` takes slashes too, and `**/x` fits a top-level `x`."""
    return fnmatchcase(path, glob) or fnmatchcase(f"/{path}", glob)


def holds(glob: str, path: str) -> bool:
    """Whether a glob of files means this one, or what lies in this folder."""
    return fits(path, glob) or fits(f"{path.rstrip('/')}/", glob) or fits(path, f"{glob.rstrip('/')}/*")


def idle_globs(configuration: Configuration, paths: Iterable[str]) -> Iterator[Problem]:
    """The globs that fit none of the repository's files: they do nothing, and somebody believes that they do."""
    left = dict(configuration.globs)
    for path in paths:
        if not left:
            return
        for glob in [glob for glob in left if fits(path, glob)]:
            del left[glob]
    for glob, position in sorted(left.items(), key=lambda entry: entry[1].line):
        yield Problem(f"the glob {glob[:80]!r} fits no file of the repository", position)


class _Reader:
    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def read(self, root: Value) -> Configuration:
        fields = self._mapping(root, _KEYS, "the configuration")
        hardware = tuple(self._hardware(glob, value) for glob, value in self._entries(fields, "hardware"))
        together, named = self._together(fields)
        globs = named | {glob: place for key in _GLOBS for glob, place in _places(fields, key).items()}
        return Configuration(
            hardware=hardware,
            globs=globs | {item.glob: item.position for item in hardware},
            together=together,
            profiles=self._texts(fields, "profiles"),
            patches=self._texts(fields, "patches"),
            headers=self._headers(fields),
            composes=self._texts(fields, "composes"),
            ignore=self._texts(fields, "ignore"),
            images={image: self._image(image, value) for image, value in self._entries(fields, "images")},
            seams={name: self._seam(value) for name, value in self._entries(fields, "seams")},
            accepted=tuple(self._accepted(fields)),
            inherit_only=self._vendoring(fields),
            problems=tuple(self.problems),
        )

    def _accepted(self, fields: Mapping[str, Value]) -> Iterator[Acceptance]:
        """The entries that say what they must. One that is misread in part might accept too much: it does not count."""
        for value in self._children(fields, "accepted"):
            faults = len(self.problems)
            entry = self._mapping(value, _ACCEPTANCE_KEYS, "an accepted risk")
            rule, where, reason = (self._text(entry, key) for key in ("rule", "where", "reason"))
            acceptance = Acceptance(
                rule=rule or "",
                where=where or "",
                reason=reason or "",
                position=value.position,
                world=self._world(entry),
                until=self._references(entry, "until"),
                by=self._text(entry, "by"),
                ends_at=entry["until"].position if "until" in entry else None,
            )
            lacking = [key for key in ("rule", "where", "reason") if not (getattr(acceptance, key)).strip()]
            if lacking and value.is_mapping:
                self._problem(f"an accepted risk has no {' and no '.join(lacking)}: it does not count", value.position)
            if len(self.problems) == faults:
                yield acceptance

    def _children(self, fields: Mapping[str, Value], key: str) -> tuple[Value, ...]:
        children = fields[key].children if key in fields else ()
        if len(children) > MAX_ENTRIES:
            self._problem(
                f"{key} has more than {MAX_ENTRIES} entries: those do not count", children[MAX_ENTRIES].position
            )
        return children[:MAX_ENTRIES]

    def _world(self, fields: Mapping[str, Value]) -> dict[str, str]:
        world: dict[str, str] = {}
        for text in self._texts(fields, "world"):
            match = _VARIABLE.fullmatch(text)
            if match is None:
                self._problem(f"the world {text[:80]!r} is not written NAME=value", fields["world"].position)
            else:
                world[match[1]] = match[2]
        if "world" in fields and not world and fields["world"].is_mapping:
            self._problem("the world is not written NAME=value, or as a list of these", fields["world"].position)
        return world

    def _vendoring(self, fields: Mapping[str, Value]) -> InheritOnly | None:
        """Whether patches are not to be vendored: `inherit-only`, alone or as `mode:` with more about it."""
        policy = self._mapping(fields["policy"], _POLICY_KEYS, "the policy") if "policy" in fields else {}
        value = policy.get("vendoring")
        if value is None:
            return None
        more = self._mapping(value, _VENDORING_KEYS, "the policy of vendoring") if value.is_mapping else {"mode": value}
        mode = self._text(more, "mode")
        if mode not in _VENDORING_MODES:
            told = f"the policy of vendoring {mode[:80]!r}" if mode else "the policy of vendoring"
            self._problem(f"{told} is neither of {' and '.join(_VENDORING_MODES)}", value.position)
        fixes, reason = self._references(more, "fixes"), self._text(more, "reason")
        return InheritOnly(value.position, reason, fixes) if mode == "inherit-only" else None

    def _together(self, fields: Mapping[str, Value]) -> tuple[tuple[tuple[str, ...], ...], dict[str, Position]]:
        """The files that run together, and where each is written."""
        groups: list[tuple[str, ...]] = []
        places: dict[str, Position] = {}
        for group in self._children(fields, "together"):
            files = tuple(posixpath.normpath(text) for text in group.texts)
            if len(files) < 2 or any(child.text is None for child in group.children):
                self._problem("together wants lists of two files or more, in the order of -f", group.position)
                continue
            groups.append(files)
            places |= {posixpath.normpath(child.text): child.position for child in group.children if child.text}
        return tuple(dict.fromkeys(groups)), places

    def _headers(self, fields: Mapping[str, Value]) -> dict[str, tuple[str, ...]]:
        if "headers" not in fields:
            return {}
        own = self._mapping(fields["headers"], HEADER_KEYS, "headers")
        return {key: tuple(text.lower() for text in self._texts(own, key)) for key in HEADER_KEYS if key in own}

    def _image(self, image: str, value: Value) -> ImageDeclaration:
        fields = self._mapping(value, _IMAGE_KEYS, f"the image {image}")
        release = self._text(fields, "release")
        return ImageDeclaration(
            image=image,
            release=release.removeprefix("v") if release else None,
            contains=self._references(fields, "contains"),
            adds=self._texts(fields, "adds"),
            position=value.position,
        )

    def _hardware(self, glob: str, value: Value) -> HardwareDeclaration:
        cards = value.texts
        if value.is_mapping or not cards:
            self._problem(f"the hardware of {glob[:80]!r} is no card, such as RTX 5090 or sm_120", value.position)
            cards = ()
        return HardwareDeclaration(glob, cards, value.position)

    def _seam(self, value: Value) -> SeamDeclaration:
        if not value.is_mapping:
            return SeamDeclaration(value.texts, None, value.position)
        fields = self._mapping(value, _SEAM_KEYS, "a seam")
        return SeamDeclaration(self._texts(fields, "values"), self._text(fields, "set_by"), value.position)

    def _mapping(self, value: Value, known: tuple[str, ...], what: str) -> dict[str, Value]:
        if not value.is_mapping:
            self._problem(f"{what} is not a mapping", value.position)
            return {}
        for key, position in value.written_keys():
            if key not in (*known, "<<"):
                from difflib import get_close_matches  # only ever needed for an error

                near = get_close_matches(key, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
                self._problem(f"unknown key {key[:80]!r} in {what}: {hint}", position)
        return value.fields()

    def _entries(self, fields: Mapping[str, Value], key: str) -> Iterable[tuple[str, Value]]:
        value = fields.get(key)
        if value is None:
            return ()
        if not value.is_mapping:
            if value.children:
                self._problem(f"{key} is not a mapping", value.position)
            return ()
        return value.fields().items()

    def _texts(self, fields: Mapping[str, Value], key: str) -> tuple[str, ...]:
        value = fields.get(key)
        if value is None:
            return ()
        if any(child.text is None for child in value.children):
            self._problem(f"{key} is not a list of texts", value.position)
        return value.texts

    def _text(self, fields: Mapping[str, Value], key: str) -> str | None:
        value = fields.get(key)
        if value is None:
            return None
        if value.text is None:
            self._problem(f"{key} is not a text", value.position)
        return value.text or None

    def _references(self, fields: Mapping[str, Value], key: str) -> tuple[str, ...]:
        references = []
        for text in self._texts(fields, key):
            reference = normalise(text)
            if reference is None:
                hint = "write it as owner/repository#number"
                self._problem(f"{text[:80]!r} is no upstream reference: {hint}", fields[key].position)
            else:
                references.append(reference)
        return tuple(references)

    def _problem(self, message: str, position: Position) -> None:
        self.problems.append(Problem(message, position))


def _places(fields: Mapping[str, Value], key: str) -> dict[str, Position]:
    """Where each glob of a list stands."""
    children = fields[key].children if key in fields else ()
    return {child.text: child.position for child in children if child.text}
