"""Edits about vendored patches: the boot ends when one fails, and `patches.yml` names who has it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bot.remedies.case import FIELDS, Case
from bot.remedies.layout import Layout
from bot.remedies.model import Candidate, Meant, NoEdit, TextEdit

_PLAIN = re.compile(r"[A-Za-z][\w./-]*", re.ASCII)
_ALONE = re.compile(r"[\w./$@%+=:,{}\"' -]+", re.ASCII)
"""A command on a line of its own, without another one before or behind it, a comment, or a line that goes on."""

_IGNORED = re.compile(r" *\|\| *(?:true|:) *$")
_KEYWORD = re.compile(r"\s*(?:if|elif|while|until|for|case|then|else|do|exec|!)\b")


def end_the_boot(case: Case) -> Iterator[Candidate]:
    """`|| exit 1` behind a command that runs a patch."""
    places = [(case.finding.path, case.finding.line)]
    places += [(r.path, r.line) for r in case.finding.chain if r.kind == "shell" and r.line is not None]
    tried = "no line runs the patch and nothing else"
    for path, line in dict.fromkeys(places):
        try:
            start, text = case.line(path, line)
        except NoEdit as error:
            tried = str(error)
            continue
        kept = _IGNORED.sub("", text).rstrip()
        if not kept.strip() or not _ALONE.fullmatch(kept) or _KEYWORD.match(kept) or kept.lstrip().startswith("- "):
            continue
        edit = TextEdit(path, start + len(kept), start + len(text), " || exit 1")
        yield Candidate((edit,), f"Ends the boot when `{kept.strip()}` fails", Meant(frozenset(FIELDS)))
        return
    raise NoEdit(tried)


def name_in_list(case: Case) -> Iterator[Candidate]:
    """The compose's name in the list of `load_bearing_when`, where the entry has one list."""
    observed = case.finding.observed
    name, patch = str(observed.get("name", "")), str(observed.get("patch", ""))
    path = str(observed.get("where", "")).rpartition(":")[0]
    if not _PLAIN.fullmatch(name):
        raise NoEdit(f"{name} would need quotes")
    layout = case.layout(path)
    entry = _entry(layout, patch)
    rows = [value for key, value in entry.value if key.value == "load_bearing_when"]
    lists = [
        value
        for row in (rows[0].value if len(rows) == 1 and isinstance(rows[0], SequenceNode) else ())
        if isinstance(row, MappingNode)
        for key, value in row.value
        if key.value == "composes" and isinstance(value, SequenceNode) and value.value
    ]
    if len(lists) != 1:
        raise NoEdit(
            f"`load_bearing_when` of {patch} has {len(lists)} lists of composes: which reason applies is not known"
        )
    if layout.shared_below(entry) or not layout.own(entry):
        raise NoEdit(f"the entry of {patch} is shared with others by an anchor")
    yield Candidate((layout.item(lists[0], name),), f"Names `{name}` in `load_bearing_when` of {patch}", Meant())


def _entry(layout: Layout, patch: str) -> MappingNode:
    """The entry of `patches.yml` with this id."""
    found = [
        item
        for _, value in layout.root.value
        if isinstance(value, SequenceNode)
        for item in value.value
        if isinstance(item, MappingNode) and _value(item, "id") == patch
    ]
    if len(found) != 1:
        raise NoEdit(f"{layout.path} has not exactly one entry {patch}")
    return found[0]


def _value(node: Node, key: str) -> str | None:
    return next((v.value for k, v in node.value if k.value == key and isinstance(v, ScalarNode)), None)
