"""From a field's type to the keyword arguments of `add_argument`: the release's `_compute_kwargs`, modelled."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from bot.learn.source import SourceError, SourceTree
from bot.learn.values import Type

ARGUMENTS = "vllm/engine/arg_utils.py"


@dataclass(slots=True)
class Converter:
    """A converter that argparse would call: `name`, and the converter inside for `optional`."""

    name: str
    inner: Converter | None = None

    def written(self) -> Any:
        """As the release file spells it: a word, or `["optional", WORD]`."""
        return self.name if self.inner is None else [self.name, self.inner.written()]


@dataclass(frozen=True, slots=True)
class SpecialFields:
    """What `_compute_kwargs` treats by field name, and its spellings that changed between releases.

    `none_choice`: what stands for None among choices (the string or the value). `optional_value`: whether
    `bool | str | None` is a flag whose value may be left out.
    """

    fields: dict[str, str]
    none_choice: str | None
    optional_value: bool


def special_fields(source: SourceTree) -> SpecialFields:
    """Read from `_compute_kwargs` which integer fields accept `128k` or `auto`."""
    definition = source.resolve(source.at(ARGUMENTS), "_compute_kwargs")
    if definition is None or definition.node is None:
        raise SourceError(f"{ARGUMENTS}: _compute_kwargs is not where it was")
    named_sets: dict[str, ast.expr] = {}
    found: dict[str, str] = {}
    none_choice: str | None = "None"
    optional_value = False
    for node in ast.walk(definition.node):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Set() as value):
                named_sets[name] = value
            case ast.If(test=ast.Compare(left=ast.Name(id="name"), comparators=[compared]), body=body):
                converter = _converter_assigned(body)
                group = named_sets.get(getattr(compared, "id", ""), compared)
                for constant in ast.walk(group):
                    if isinstance(constant, ast.Constant) and isinstance(constant.value, str) and converter:
                        found.setdefault(constant.value, converter)
            case ast.Call(func=ast.Attribute(attr="append"), args=[ast.Constant(value=value)]):
                none_choice = value if value is None or isinstance(value, str) else none_choice
            case ast.Constant(value="?"):
                optional_value = True
    return SpecialFields(found, none_choice, optional_value)


def _converter_assigned(body: list[ast.stmt]) -> str | None:
    for statement in body:
        match statement:
            case ast.Assign(value=ast.Name(id=name)) if name.startswith("human_readable"):
                return converter_name(name)
    return None


def _kind(kind: Any) -> str:
    return kind if isinstance(kind, str) else kind[0]


def _literal(types: Type, kinds: set[str]) -> dict[str, Any]:
    values = [value for kind in types if _kind(kind) == "literal" for value in kind[1:]]
    converter = Converter(type(values[0]).__name__ if values else "str")
    if "str" in kinds:
        return {"type": converter}
    return {"type": converter, "choices": sorted(values)}


def _collection(types: Type, kinds: set[str]) -> dict[str, Any]:
    wanted = next(name for name in ("tuple", "list", "set") if name in kinds)
    kind = next(kind for kind in types if _kind(kind) == wanted)
    if isinstance(kind, str):
        return {"type": Converter("str"), "nargs": "+"}
    element = kind[1] if isinstance(kind[1], list) else ["str"]
    length: Any = "+"
    if wanted == "tuple" and "..." not in kind:
        length = len(kind) - 1
    inner = {_kind(item) for item in element}
    if len(element) == 1 and inner == {"literal"}:
        return {**_literal(element, inner), "nargs": length}
    converter = element[0] if len(element) == 1 and element[0] in ("int", "float", "str") else "str"
    return {"type": Converter(converter), "nargs": length}


def keywords_by_type(name: str, types: Type, special: SpecialFields) -> dict[str, Any]:
    """The release's `_compute_kwargs`, type by type and in its order."""
    kinds = {_kind(kind) for kind in types}
    optional = "none" in kinds
    result: dict[str, Any]
    if "config" in kinds:
        config = next(kind[1] for kind in types if _kind(kind) == "config")
        result = {"type": Converter(f"config:{config}")}
    elif kinds == {"bool", "str", "none"} and special.optional_value:
        return {"type": Converter("str"), "nargs": "?", "const": True}
    elif "bool" in kinds:
        return {"action": "boolean"}
    elif "literal" in kinds:
        result = _literal(types, kinds)
    elif kinds & {"tuple", "list", "set"}:
        result = _collection(types, kinds)
    elif "int" in kinds:
        result = {"type": Converter(special.fields.get(name, "int"))}
    elif "float" in kinds:
        result = {"type": Converter("float")}
    elif "dict" in kinds and ("str" in kinds or kinds & {"class", "any", "enum", "none"} - {"none"}):
        result = {"type": Converter("dict_or_str")}
    elif "dict" in kinds:
        result = {"type": Converter("dict")}
    else:
        result = {"type": Converter("str")}
    if optional:
        result["type"] = Converter("optional", result["type"])
        if result.get("choices"):
            result["choices"] = [*result["choices"], special.none_choice]
    return result


def converter_name(name: str) -> str:
    """The word for one of the release's own converters."""
    return {
        "human_readable_int": "human_int",
        "human_readable_int_or_auto": "human_int_or_auto",
        "union_dict_and_str": "dict_or_str",
        "parse_reasoning_parser": "none_is_empty",
    }.get(name, "opaque")


def lambda_name(node: ast.Lambda) -> str:
    """The word for a converter that is written in place."""
    return "lower_underscore" if ast.unparse(node.body) == "s.lower().replace('-', '_')" else "opaque"
