"""The short form of `ports:`."""

from __future__ import annotations

import ipaddress
import re

from bot.compose.faults import Fault
from bot.compose.values import Value

_PORT = re.compile("[0-9]{1,20}")
_PROTOCOLS = frozenset({"tcp", "udp", "sctp"})
_MOST = 65535

MAX_PORTS = 2 * 65_536
"""Ports of one service: every port of two protocols. Ranges make many of few characters."""


def parse_port(spec: str) -> list[dict[str, Value]]:
    """The ports that `[ip:][host:]container[/protocol]` publishes, in the order of their names. Raises `Fault`."""
    address, host, container = _split(spec)
    container, slash, protocol = container.partition("/")
    if not container:
        raise Fault("invalid", f"invalid proto: {protocol}")
    protocol = (protocol if slash and protocol else "tcp").lower()
    if protocol not in _PROTOCOLS:
        raise Fault("invalid", f"invalid proto: {protocol}")
    address = _address(address)
    first, last = _range(container, "containerPort")
    host_first, host_last = _range(host, "hostPort") if host else (0, 0)
    if host and last - first != host_last - host_first and last != first:
        raise Fault("invalid", f"invalid ranges specified for container and host Ports: {container} and {host}")
    ports: list[dict[str, Value]] = []
    for offset in sorted(range(last - first + 1), key=lambda offset: str(first + offset)):
        published = str(host_first + offset) if host else ""
        if first == last and host_first != host_last:
            published = f"{host_first}-{host_last}"
        port: dict[str, Value] = {"mode": "ingress", "target": first + offset, "protocol": protocol}
        if address:
            port["host_ip"] = address
        if published:
            port["published"] = published
        ports.append(port)
    return ports


def _split(spec: str) -> tuple[str, str, str]:
    parts = spec.split(":")
    if len(parts) == 1:
        return "", "", spec
    if len(parts) == 2:
        return "", parts[0], parts[1]
    return ":".join(parts[:-2]), parts[-2], parts[-1]


def _address(address: str) -> str:
    if address.startswith("["):
        address = address[1:].removesuffix("]")
    if address:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            raise Fault("invalid", f"invalid IP address: {address}") from None
    return address


def _range(text: str, name: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if _PORT.fullmatch(first) and (not dash or _PORT.fullmatch(last)):
        low, high = int(first), int(last) if dash else int(first)
        if low <= high <= _MOST:
            return low, high
    raise Fault("invalid", f"invalid {name}: {text}")


def canonical_ports(value: Value, path: str) -> Value:
    """Every port in its long form. Raises `Fault`."""
    if not isinstance(value, list):
        return value
    ports: list[Value] = []
    for item in value:
        if len(ports) > MAX_PORTS:
            raise Fault("too-large", f"{path}: more than {MAX_PORTS} ports", field=tuple(path.split(".")))
        if isinstance(item, str):
            ports += parse_port(item)
        elif isinstance(item, dict):
            ports.append(item)
        elif isinstance(item, int) and not isinstance(item, bool):
            ports += parse_port(str(item))
        else:
            raise Fault(
                "invalid", f"{path}: invalid type {type(item).__name__}64 for port", field=tuple(path.split("."))
            )
    return ports


def port_key(value: Value, path: str) -> object:
    """What makes a port the same port in another file. Raises `Fault` without a target."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else str(value)
    if not value.get("target"):
        raise Fault("invalid", f"service ports {path} is missing a target port", field=tuple(path.split(".")))
    # As Compose builds the key, 8080 and "8080" are not the same port until they are printed.
    published = value.get("published")
    shown = published if isinstance(published, str) else (type(published).__name__, published)
    host, protocol = value.get("host_ip", "0.0.0.0"), value.get("protocol", "tcp")  # noqa: S104
    return host, shown, value["target"], protocol
