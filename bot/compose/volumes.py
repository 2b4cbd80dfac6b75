"""The short forms of `volumes:` and `devices:`."""

from __future__ import annotations

import posixpath

from bot.compose.faults import Fault
from bot.compose.values import Value, text_like

_PROPAGATION = frozenset({"rprivate", "private", "rshared", "shared", "rslave", "slave"})
_SELINUX = frozenset({"z", "Z"})


def parse_volume(spec: str) -> dict[str, Value]:
    """The mount that `[source:]target[:options]` means. Raises `Fault`."""
    if not spec:
        raise Fault("invalid", "invalid empty volume spec")
    if len(spec.encode()) <= 2:
        return {"type": "volume", "target": text_like(spec, spec)}
    sections = _sections(spec)
    if not all(sections):
        raise Fault("invalid", f"invalid spec: {spec}: empty section between colons")
    if len(sections) > 3:
        raise Fault("invalid", f"invalid spec: {spec}: too many colons")
    source, target = ("", sections[0]) if len(sections) == 1 else (sections[0], sections[1])
    bind: dict[str, Value] = {}
    volume: dict[str, Value] = {}
    mount: dict[str, Value] = {"type": "bind" if _is_path(source) else "volume"}
    for option in sections[2].split(",") if len(sections) == 3 else ():
        if option == "ro":
            mount["read_only"] = True
        elif option == "rw":
            mount.pop("read_only", None)
        elif option == "nocopy":
            volume["nocopy"] = True
        elif option in _PROPAGATION:
            bind["propagation"] = option
        elif option in _SELINUX:
            bind["selinux"] = option
    if source:
        mount["source"] = text_like(source, spec)
    mount["target"] = text_like(target, spec)
    if mount["type"] == "bind":
        bind["create_host_path"] = True
        mount["bind"] = bind
        if volume:
            mount["volume"] = volume
    else:
        mount["volume"] = volume
        if bind:
            mount["bind"] = bind
    return mount


def _sections(spec: str) -> list[str]:
    """The parts between colons; one letter and a colon begin a path of Windows."""
    sections: list[str] = []
    start = 0
    for index, character in enumerate(spec):
        if character == ":" and not (index - start == 1 and spec[start].isalpha()):
            sections.append(spec[start:index])
            start = index + 1
    return [*sections, spec[start:]]


def _is_path(source: str) -> bool:
    return (source[:1] in (".", "/", "~") and bool(source)) or source.startswith("\\\\") or _has_drive(source)


def _has_drive(source: str) -> bool:
    return source[1:2] == ":" and source[:1].isalpha()


def is_windows_path(path: str) -> bool:
    """Whether a path begins with a drive letter and a separator."""
    return path[1:3] in (":/", ":\\") and path[:1].isalpha()


def canonical_volume(value: Value) -> Value:
    """A mount in its long form; only the target of a short one is cleaned already. Raises `Fault`."""
    if not isinstance(value, str):
        return value
    mount = parse_volume(value)
    return {**mount, "target": clean_target(mount["target"])}


def clean_target(target: str) -> str:
    """A path in the container without superfluous parts."""
    cleaned = posixpath.normpath(target)
    return text_like(cleaned[1:] if cleaned.startswith("//") else cleaned, target)


def volume_target(value: Value, path: str) -> object:
    """What makes a mount the same mount in another file: its target. Raises `Fault`."""
    if isinstance(value, dict):
        target = value.get("target")
        if not isinstance(target, str):
            message = f"service volume {path} is missing a mount target"
            raise Fault("invalid", message, field=tuple(path.split(".")))
        return target
    return str(parse_volume(value)["target"]) if isinstance(value, str) else ""


def canonical_device(value: Value) -> Value:
    """A device in its long form. Raises `Fault`."""
    if not isinstance(value, str):
        return value
    parts = value.split(":")
    if len(parts) > 3:
        raise Fault("invalid", f"confusing device mapping, please use long syntax: {value}")
    return {
        "source": text_like(parts[0], value),
        "target": text_like(parts[1] if len(parts) > 1 else parts[0], value),
        "permissions": parts[2] if len(parts) > 2 else "rwm",
    }


def device_target(value: Value, path: str) -> object:
    """What makes a device the same in another file. Raises `Fault`."""
    if isinstance(value, dict):
        target = value.get("target")
        if not isinstance(target, str):
            message = f"service device {path} is missing a mount target"
            raise Fault("invalid", message, field=tuple(path.split(".")))
        return target
    if not isinstance(value, str):
        return ""
    parts = value.split(":")
    return parts[1] if len(parts) > 1 else parts[0]
