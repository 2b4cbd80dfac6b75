"""Edits of variables: forwarded, written `$$`, taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bot.remedies.case import FIELDS, Case
from bot.remedies.flow import Entry, taken_out
from bot.remedies.model import Candidate, Meant, NoEdit, TextEdit

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PLAIN = re.compile(r"[\w./-]+", re.ASCII)
_WITH_DEFAULT = re.compile(r"(\w+)=\$\{\1:?-[^{}$]*\}", re.ASCII)


def forward_variable(case: Case) -> Iterator[Candidate]:
    """Names a dead seam below `environment:`, in the form that the list or mapping there has."""
    name = case.finding.cause
    if not _NAME.fullmatch(name):
        raise NoEdit(f"{name} is no name of a variable")
    layout = case.compose
    service = layout.at(*case.field())
    if not isinstance(service, MappingNode):
        raise NoEdit(f"{case.finding.service} is no mapping")
    meant = Meant(variables=frozenset({name}))
    does = f"Names {name} below `environment:` of {case.finding.service}, which passes it on when it is set"
    if not layout.has(*case.field("environment")):
        yield Candidate((layout.key(service, "environment", f"  - {name}"),), does, meant)
        return
    environment = layout.at(*case.field("environment"))
    if isinstance(environment, SequenceNode):
        yield Candidate((layout.item(environment, name),), does, meant)
        if (default := _default(case, name)) is not None and _has_defaults(environment):
            same = f"{name}=${{{name}:-{default}}}"
            does = f"Names `{same}` below `environment:` of {case.finding.service}, with the script's own default"
            yield Candidate((layout.item(environment, same),), does, meant)
    elif isinstance(environment, MappingNode):
        yield Candidate((layout.key(environment, name),), does, meant)


def _default(case: Case, name: str) -> str | None:
    """What a script takes where a variable is not set, if that is one plain word wherever it asks."""
    reads = [read for read in (case.service.survey.dead if case.service else ()) if read.name == name]
    found = {read.argument if read.operator in ("-", ":-") else None for read in reads}
    default = found.pop() if len(found) == 1 else None
    return default if default and _PLAIN.fullmatch(default) else None


def _has_defaults(environment: SequenceNode) -> bool:
    """Whether a list passes other variables on with a default: `A=${A:-1}`."""
    return any(isinstance(item, ScalarNode) and _WITH_DEFAULT.fullmatch(item.value) for item in environment.value)


def double_dollar(case: Case) -> Iterator[Candidate]:
    """Doubles the dollar sign before a variable in the service's script, wherever it is single."""
    name = case.finding.cause
    layout = case.compose
    single = re.compile(rf"(?<!\$)(?:\$\$)*(\$)(?=\{{{re.escape(name)}\b|{re.escape(name)}\b)")
    edits: list[TextEdit] = []
    for key in FIELDS:
        if layout.has(*case.field(key)):
            node = layout.at(*case.field(key))
            if layout.shared_below(node):
                raise NoEdit(f"{key} of {case.finding.service} is shared with others by an anchor")
            found = single.finditer(layout.text, node.start_mark.index, node.end_mark.index)
            edits += (TextEdit(layout.path, match.start(1), match.end(1), "$$") for match in found)
    if not edits:
        raise NoEdit(f"{name} is not written in the script of {case.finding.service} in {layout.path}")
    does = f"Writes `$$` before {name}, so that the shell in the container reads it"
    yield Candidate(tuple(edits), does, Meant(keys=frozenset(FIELDS), words=None, elsewhere=True))


def drop_variable(case: Case) -> Iterator[Candidate]:
    """Takes the line of a variable that the engine does not read out of `environment:`."""
    name = case.finding.cause.partition(":")[2]
    layout = case.compose
    environment = layout.at(*case.field("environment"))
    does = f"Takes {name} out of `environment:` of {case.finding.service}"
    meant = Meant(variables=frozenset({name}))
    if not isinstance(environment, (MappingNode, SequenceNode)) or len(environment.value) < 2:
        raise NoEdit("`environment:` has nothing else")
    if environment.flow_style:
        entries = [Entry(environment, at) for at in range(len(environment.value))]
        named = [one.at for one in entries if _sets(one.first, name)]
        if len(named) != 1:
            raise NoEdit(f"{name} is not set by exactly one entry of `environment:`")
        yield Candidate((taken_out(layout, environment, named[0], named[0]),), does, meant)
        return
    found: list[int] = []
    if isinstance(environment, SequenceNode):
        scalars = (item for item in environment.value if isinstance(item, ScalarNode))
        found += (_only_line(case, item, item) for item in scalars if _sets(item, name))
    elif isinstance(environment, MappingNode):
        found += (_only_line(case, key, value) for key, value in environment.value if key.value == name)
    if len(found) != 1:
        raise NoEdit(f"{name} is not set by exactly one line of `environment:`")
    yield Candidate((layout.without(found[0]),), does, meant)


def _sets(item: Node, name: str) -> bool:
    return isinstance(item, ScalarNode) and item.value.partition("=")[0] == name


def _only_line(case: Case, first: ScalarNode, last: ScalarNode) -> int:
    layout = case.compose
    if first.start_mark.line != last.end_mark.line or not (layout.own(first) and layout.own(last)):
        raise NoEdit(f"{layout.path}:{first.start_mark.line + 1} is not one line")
    if first.anchor or last.anchor:
        raise NoEdit(f"{layout.path}:{first.start_mark.line + 1} has an anchor")
    return int(first.start_mark.line) + 1
