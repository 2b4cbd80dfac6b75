"""How the files of a project hang together: extension, inclusion, and which layers each service is made of."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Container, Iterator

from bot.compose.casts import NO_CAST
from bot.compose.checks import most_specific
from bot.compose.documents import Documents
from bot.compose.faults import Fault
from bot.compose.fill import fill
from bot.compose.inclusion import MAX_CHAIN, Group, IncludeCycle, inclusion
from bot.compose.layers import Declared, Layer, Loaded, Names, Scope, Scopes
from bot.compose.nodes import Document, Mapping, Node, Path, Scalar, Sequence, size
from bot.compose.schema import TOP_LEVEL
from bot.compose.structure import SECTIONS, Part, Structure
from bot.compose.values import MISSING, Value
from bot.provenance import Position

MAX_SERVICES = 1_000
"""Services of a project: a compose with more is generated to hurt."""


MAX_INCLUDES = 200
"""Files that a project includes: files that include others twice over would otherwise multiply without end."""


MAX_VALUES = 200_000
"""Values of all services, with what they extend: twice as many as one file may hold."""


class Builder:
    """Reads the files of one project into a `Structure`."""

    def __init__(self, documents: Documents, scopes: Scopes, directory: str) -> None:
        self._documents = documents
        self._scopes = scopes
        self._directory = directory
        self._main = ""
        self._includes_read = 0
        self._known: dict[tuple[str, int, Group], Declared | Fault] = {}
        self.structure = Structure()

    def build(self, files: tuple[str, ...]) -> Structure:
        """`files` are paths of the tree, the first one first."""
        group = Group(self._directory, Scope(), ())
        self._main = files[0]
        try:
            self._load(files, group, self.structure)
        except IncludeCycle as fault:
            self._report(fault, None, fault.path)
            self.structure.services.clear()
        self._measure()
        return self.structure

    def _measure(self) -> None:
        """Leaves out the services with which the project has more than `MAX_VALUES`: extended ones count each time."""
        sizes: dict[int, int] = {}
        total = 0
        for name, layers in list(self.structure.services.items()):
            fields = ((layer, field) for layer in layers for field in dict.fromkeys(layer.fields()))
            for node in (node for layer, field in fields for node, _ in layer.nodes(field)):
                known = sizes.get(id(node))
                if known is None:
                    known = sizes[id(node)] = size(node)
                total += known
            if total > MAX_VALUES:
                position = self.structure.positions[name]
                message = f"more than {MAX_VALUES} values in all services, with what they extend"
                self._report(Fault("too-large", message, path=position.path, line=position.line), name, position.path)
                del self.structure.services[name]

    # Groups: the files given with -f, or those of one include.

    def _load(self, files: tuple[str, ...], group: Group, into: Structure) -> None:
        count = 0
        for path in files:
            try:
                self.structure.files[path] = None
                documents = self._documents.compose(path)
                count += len(documents)
                for document in documents:
                    self._document(document, path, group, into)
            except IncludeCycle:
                raise
            except Fault as fault:
                if not fault.path and group.stack:
                    raise  # an included file that is not there is a fault of the `include`
                self._report(fault, None, path)
        if not count and not self.structure.faults:
            self._report(Fault("no-services", "empty compose file", line=1), None, files[0])

    def _document(self, document: Document, path: str, group: Group, into: Structure) -> None:
        root = document.root
        if not isinstance(root, Mapping):
            raise Fault("schema", "top-level object must be a mapping", path=path, line=root.line)
        local = Structure()
        self._services(root, document, path, group, local, into.services)
        imported = self._includes(root, path, group, local)
        self._top_level(root, path, group, into)
        for name, layers in local.services.items():
            if ("services", name) in document.cleared:
                self._take_out(name, into)
            into.services.setdefault(name, []).extend(layers)
            into.positions.setdefault(name, local.positions[name])
        for removed in (path for path in document.cleared if path[0] == "services" and len(path) <= 2):
            self._remove(removed, root, into)
        for section in SECTIONS:
            cleared = tuple(path[1:] for path in document.cleared if path[0] == section)
            parts = tuple(tuple(group.sections.get(section, ())) for group in imported)
            if section in root.entries or cleared or any(parts):
                part = Part(root.entries.get(section), group.scope, parts, cleared)
                into.sections.setdefault(section, []).append(part)

    def _remove(self, path: Path, root: Mapping, into: Structure) -> None:
        """A service (or all of them) that `!reset` takes out, unless the document declares it anew."""
        kept = root.entries.get("services")
        declared = kept.entries if isinstance(kept, Mapping) else {}
        for name in [path[1]] if len(path) == 2 else list(into.services):
            if name not in declared:
                self._take_out(name, into)

    def _take_out(self, name: str, into: Structure) -> None:
        layers = into.services.pop(name, None)
        if layers is not None:
            self.structure.removed.append((name, layers, into.positions.pop(name)))

    def _top_level(self, root: Mapping, path: str, group: Group, into: Structure) -> None:
        for name in ("version", "name"):
            node = root.entries.get(name)
            if isinstance(node, Scalar) and not isinstance(node.value, str):
                message = f"validating {self._documents.shown(path)}: {name} must be a string"
                self._report(Fault("schema", message, path=path, line=node.line), None, path)
        if "name" in root.entries:
            into.name = (root.entries["name"], group.scope)
        for name, node in root.entries.items():
            if name.startswith("x-") or name == "version":
                into.extensions.append((name, node, group.scope))
            elif name not in TOP_LEVEL:
                message = f"validating {self._documents.shown(path)}:  additional properties '{name}' not allowed"
                self._report(Fault("schema", message, path=path, line=root.lines[name]), None, path)

    # Services, and what they extend.

    def _services(
        self, root: Mapping, document: Document, path: str, group: Group, into: Structure, before: Container[str]
    ) -> None:
        """The services of a document. One without a value changes nothing in a service that was there `before`."""
        node = root.entries.get("services")
        if node is None:
            return
        if not isinstance(node, Mapping):
            raise Fault("schema", "services must be a mapping", path=path, line=root.lines["services"])
        if len(node.entries) > MAX_SERVICES:
            message = f"more than {MAX_SERVICES} services"
            raise Fault("too-large", message, path=path, line=root.lines["services"])
        for name, service in node.entries.items():
            line = node.lines[name]
            try:
                if _is_null(service) and name in before:
                    continue
                if not isinstance(service, Mapping):
                    where = f"validating {self._documents.shown(path)}: " if _is_null(service) else ""
                    raise Fault("schema", f"{where}services.{name} must be a mapping", path=path, line=line)
                into.services[name] = [self._declared(name, node, document, path, group, ())]
                into.positions[name] = Position(path, line)
            except Fault as fault:
                fault.line = fault.line or line
                self._report(fault, name, path)
        check = TOP_LEVEL["services"].failures(dict.fromkeys(node.entries), ("services",))
        if check:
            worst = most_specific(check)
            message = f"validating {self._documents.shown(path)}: {worst}"
            self._report(Fault("schema", message, path=path, line=node.line), None, path)

    def _declared(
        self, name: str, services: Mapping, document: Document, path: str, group: Group, chain: _Chain
    ) -> Declared:
        node = services.entries[name]
        key = (name, id(node), group)
        known = self._known.get(key)
        if isinstance(known, Fault):
            raise known.again()
        if known is None:
            try:
                known = self._declare(name, node, services, document, path, group, chain)
            except Fault as fault:
                self._known[key] = fault.again()
                raise
            self._known[key] = known
        return known

    def _declare(
        self,
        name: str,
        node: Node,
        services: Mapping,
        document: Document,
        path: str,
        group: Group,
        chain: _Chain,
    ) -> Declared:
        assert isinstance(node, Mapping)
        cleared = tuple(where[2:] for where in document.cleared if where[:2] == ("services", name) and len(where) > 2)
        base = self._base(name, node, path, group, chain, lambda ref, onward: self._sibling(
            name, ref, services, document, path, group, onward
        ))  # fmt: skip
        links = 0 if base is None else base.links + 1
        if links > MAX_CHAIN:
            raise Fault("cycle", f"more than {MAX_CHAIN} services extend one another")
        return Declared(name, node, group.scope, base, cleared, links)

    def _sibling(
        self, name: str, ref: str, services: Mapping, document: Document, path: str, group: Group, chain: _Chain
    ) -> Layer | None:
        target = services.entries.get(ref)
        if target is None:
            where = self._documents.shown(self._main if chain and chain[0][0] != path else path)
            raise Fault("invalid", f'cannot extend service "{name}" in {where}: service "{ref}" not found', path=path)
        if not isinstance(target, Mapping):
            return None
        return self._declared(ref, services, document, path, group, chain)

    def _base(
        self, name: str, node: Mapping, path: str, group: Group, chain: _Chain, sibling: _Sibling
    ) -> Layer | None:
        if "extends" not in node.entries:
            return None
        line = node.lines["extends"]
        try:
            extends = self._fill(node.entries["extends"], group.scope, ("services", name, "extends"))
            return self._extended(name, extends, path, group, chain, sibling)
        except Fault as fault:
            fault.path, fault.line = fault.path or path, fault.line or line
            raise

    def _extended(
        self, name: str, extends: Value, path: str, group: Group, chain: _Chain, sibling: _Sibling
    ) -> Layer | None:
        ref, file = extends, None
        if isinstance(extends, dict):
            ref, file = extends.get("service"), extends.get("file")
            if not isinstance(ref, str):
                raise Fault("schema", f"extends.{name}.service is required")
        if file is None:
            onward = _follow(chain, self._documents.shown(path), name)
            return sibling(ref if isinstance(ref, str) else "", onward)
        if not isinstance(file, str) or not isinstance(ref, str):
            raise Fault("schema", f"services.{name}.extends.file must be a string", path=path)
        return self._from_file(name, ref, file, group, chain)

    def _from_file(self, name: str, ref: str, file: str, group: Group, chain: _Chain) -> Layer | None:
        """The service `ref` of another file; `file` is relative to the directory of the group."""
        target = self._documents.locate(group.directory, file)
        self.structure.files[target] = None
        found: dict[str, list[tuple[Document, Mapping]]] = {}
        has_services = False
        for document in self._documents.compose(target):
            root = document.root
            if not isinstance(root, Mapping):
                raise Fault("schema", "top-level object must be a mapping", path=target, line=root.line)
            services = root.entries.get("services")
            if services is None:
                continue
            has_services = True
            if not isinstance(services, Mapping):
                message = (
                    f'cannot extend service "{name}" in {self._documents.shown(target)}: services must be a mapping'
                )
                raise Fault("schema", message, path=target, line=root.lines["services"])
            for other in services.entries:
                found.setdefault(other, []).append((document, services))
        if not has_services:
            message = f'cannot extend service "{name}" in {self._documents.shown(target)}: no services section'
            raise Fault("invalid", message)
        if ref not in found:
            where = self._documents.shown(self._main)
            raise Fault("invalid", f'cannot extend service "{name}" in {where}: service "{ref}" not found in {file}')
        onward = _follow(chain, file, name)
        directory = posixpath.dirname(file) or "."
        self._note_beside(found, target, group)
        return self._loaded(ref, found, directory, target, group, onward)

    def _loaded(self, name: str, found: _Found, directory: str, path: str, group: Group, chain: _Chain) -> Layer | None:
        """A service of an extended file: its own documents first, then what it extends in its turn."""
        mappings = [(document, services) for document, services in found[name] if not _is_null(services.entries[name])]
        if not mappings:
            return None
        documents: list[Layer] = []
        base: Layer | None = None
        for document, services in mappings:
            node = services.entries[name]
            if not isinstance(node, Mapping):
                raise Fault("schema", f"services.{name} must be a mapping", path=path, line=node.line)
            cleared = tuple(
                where[2:] for where in document.cleared if where[:2] == ("services", name) and len(where) > 2
            )
            documents.append(Declared(name, node, group.scope, None, cleared))
            if "extends" in node.entries:
                base = self._base_of_loaded(name, node, found, directory, path, group, chain)
        return Loaded(name, tuple(documents), directory, base, checked=False)

    def _base_of_loaded(
        self, name: str, node: Mapping, found: _Found, directory: str, path: str, group: Group, chain: _Chain
    ) -> Layer | None:
        extends = self._fill(node.entries["extends"], group.scope, ("services", name, "extends"))
        if isinstance(extends, dict) and isinstance(extends.get("file"), str):
            ref = extends.get("service")
            if not isinstance(ref, str):
                raise Fault("schema", f"extends.{name}.service is required", path=path, line=node.lines["extends"])
            file = extends["file"]
            nearer = file if posixpath.isabs(file) else posixpath.normpath(posixpath.join(directory, file))
            return self._from_file(name, ref, nearer, group, chain)
        ref = extends.get("service") if isinstance(extends, dict) else extends
        if ref not in found:
            where = self._documents.shown(self._main)
            message = f'cannot extend service "{name}" in {where}: service "{ref}" not found'
            raise Fault("invalid", message, path=path, line=node.lines["extends"])
        onward = _follow(chain, self._documents.shown(self._main), name)
        return self._loaded(str(ref), found, directory, path, group, onward)

    def _note_beside(self, found: _Found, path: str, group: Group) -> None:
        for name, mappings in found.items():
            if (path, name) in self.structure.beside:
                continue
            documents = [
                Declared(name, node, group.scope)
                for _, services in mappings
                for node in (services.entries[name],)
                if isinstance(node, Mapping)
            ]
            self.structure.beside[path, name] = Loaded(name, tuple(documents), checked=False)

    # Includes.

    def _includes(self, root: Mapping, path: str, group: Group, into: Structure) -> list[Structure]:
        node = root.entries.get("include")
        if node is None or _is_null(node):
            return []
        line = root.lines["include"]
        if not isinstance(node, Sequence):
            shown = node.value if isinstance(node, Scalar) else "a mapping"
            raise Fault("schema", f"`include` must be a list, got {shown}", path=path, line=line)
        imported: list[Structure] = []
        for index, item in enumerate(node.items):
            try:
                value = self._fill(item, group.scope, ("include", f"[{index}]"))
                included = self._include(value, path, group)
                self._import(included, into, path, item.line)
                imported.append(included)
            except Fault as fault:
                fault.path, fault.line = fault.path or path, fault.line or item.line or line
                if isinstance(fault, IncludeCycle):
                    raise
                self._report(fault, None, path)
        return imported

    def _include(self, value: Value, path: str, group: Group) -> Structure:
        entry = inclusion(self._documents, value, path, group)
        self._includes_read += 1
        if self._includes_read > MAX_INCLUDES:
            raise Fault("too-large", f"more than {MAX_INCLUDES} files are included")
        included = Structure()
        self._load(entry.files, entry.group, included)
        included.services = {
            name: [Loaded(name, tuple(layers), entry.away, included=entry.group.scope)]
            for name, layers in included.services.items()
        }
        return included

    def _import(self, included: Structure, into: Structure, path: str, line: int) -> None:
        for name, layers in included.services.items():
            there = into.services.get(name)
            if there is None:
                into.services[name] = layers
                into.positions[name] = included.positions[name]
            elif not self._same(there[0], layers[0]):
                message = f"services.{name} conflicts with imported resource"
                self._report(Fault("invalid", message, path=path, line=line), name, path)
        into.extensions += included.extensions

    def _same(self, one: Layer, other: Layer) -> bool:
        names = {*one.fields(), *other.fields()}
        for name in names:
            self._decides(one.nodes(name))
            self._decides(other.nodes(name))
        try:
            return all(_equal(one.value(name, self._scopes), other.value(name, self._scopes)) for name in names)
        except Fault:
            return True  # its own fault is reported where it is

    # Odds and ends.

    def _fill(self, node: Node, scope: Scope, path: Path) -> Value:
        self._decides(iter([(node, scope)]))
        return fill(node, NO_CAST, self._scopes.of(scope), path)

    def _decides(self, nodes: Iterator[tuple[Node, Scope]]) -> None:
        for scope, names in Names.of(nodes).by_scope.items():
            self.structure.names.setdefault(scope, {}).update(dict.fromkeys(names))

    def _report(self, fault: Fault, service: str | None, path: str) -> None:
        fault.path = fault.path or path
        self.structure.faults.append((fault, service))


_Chain = tuple[tuple[str, str], ...]
_Found = dict[str, list[tuple[Document, Mapping]]]


_Sibling = Callable[[str, _Chain], Layer | None]


def _follow(chain: _Chain, filename: str, name: str) -> _Chain:
    """The chain with one more link. Raises `Fault` when it closes."""
    if (filename, name) in chain:
        links = [f"{service} in {file}" for file, service in (*chain, (filename, name))]
        raise Fault("cycle", "Circular reference:\n  " + "\n  extends ".join(links))
    if len(chain) >= MAX_CHAIN:
        raise Fault("cycle", f"more than {MAX_CHAIN} services extend one another")
    return (*chain, (filename, name))


def _is_null(node: Node | None) -> bool:
    return isinstance(node, Scalar) and node.value is None


def _equal(one: Value, other: Value) -> bool:
    return (one is MISSING) == (other is MISSING) and (one is MISSING or one == other)
