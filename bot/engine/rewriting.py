"""What a release does to its command line before argparse reads it.

The steps and their order are those of `FlexibleArgumentParser.parse_args`: the model is moved to the front, a
configuration file is written in, underscores become dashes, `-O3` becomes a level, and dotted keys are gathered
into one JSON argument for each spelling of their flag, at the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.engine.configfile import ConfigFileError, read_config_file
from bot.engine.conversion import MAX_DEPTH, human_integer, read_json
from bot.engine.facts import Facts
from bot.engine.likeness import Note
from bot.engine.model import EngineError, ErrorKind, Ineffective
from bot.engine.unknown import UNKNOWN
from bot.provenance import Reason, Word

MAX_WORDS = 5000
"""Arguments that are read; the longest real command line has about a hundred."""

_MODEL = re.compile(r"--model(=.+|$)", re.DOTALL)
_CONFIG = re.compile(r"--config(=.+|$)", re.DOTALL)
_SERVED_NAME = re.compile(r"--served[-_]model[-_]name(=.+|$)", re.DOTALL)
_LEVELS = ("0", "1", "2", "3")


@dataclass(slots=True)
class Leaf:
    """One dotted argument: its value, and where it came from."""

    keys: tuple[str, ...]
    value: object
    because: tuple[Reason, ...]
    argument: str


@dataclass(slots=True)
class Token:
    """A word as argparse sees it.

    `written` is the argument as the user wrote it. `group` is set for the JSON that dotted keys were gathered into:
    then `value` is what that JSON says. `open` marks a place where any number of words may stand. `said` keeps what
    the word says together with the value behind it: the same in all releases, and not cheap to put together.
    """

    text: str
    because: tuple[Reason, ...]
    written: str
    symbols: tuple[str, ...] = ()
    open: bool = False
    value: object = None
    group: tuple[Leaf, ...] = ()
    said: tuple[Token, tuple[Reason, ...], str] | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True)
class Rewritten:
    """The words for argparse, and what was found on the way. `stopped`: the parser would not get further."""

    tokens: list[Token]
    errors: list[EngineError]
    ineffective: list[Ineffective]
    stopped: bool = False


class StopError(Exception):
    """The rewriting itself raises: the server ends with a traceback or a message."""

    def __init__(self, kind: ErrorKind, token: Token | None, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.token = token
        self.message = message


def tokens_of(argv: Sequence[Word]) -> list[Token]:
    """Words as tokens. An unquoted unknown leaves an open place behind it."""
    tokens = []
    for word in argv:
        text = word.text
        if not word.symbols and not word.splits:
            tokens.append(Token(text, word.because, text))
            continue
        whole = _all_unknown(word)
        tokens.append(Token(text, word.because, text, word.symbols, word.splits and whole))
        if word.splits and not whole:
            tokens.append(Token("", word.because, text, word.symbols, open=True))
    return tokens


def _all_unknown(word: Word) -> bool:
    """Whether nothing is known of a word before its first symbol."""
    return bool(word.symbols) and word.text.startswith("${")


def rewrite(
    argv: Sequence[Word],
    tokens: list[Token],
    rules: Mapping[str, Any],
    facts: Facts,
    files: Mapping[str, str],
    all_files: bool,
    note: Note,
) -> Rewritten:
    """The words that argparse gets, the subcommand left out.

    `tokens` are those of the first `MAX_WORDS` arguments; every release gets the same, and none changes them. `rules`
    are the release's, each looked up only where it matters: `note` may be told of it.
    """
    done = Rewritten([], [], [])
    serve = bool(tokens) and tokens[0].text == "serve"
    try:
        if len(argv) > MAX_WORDS:
            raise StopError("invalid-value", tokens[-1], f"more than {MAX_WORDS} arguments")
        if serve:
            tokens = _place_model(tokens, rules)
        if any(token.text == "--config" for token in tokens):
            note(("release",))
            tokens = _write_in_config(tokens, facts, files, all_files, serve)
        if serve:
            tokens = tokens[1:]
        tokens = _spell(tokens, rules, done)
        done.tokens = _gather(tokens, rules)
    except StopError as stop:
        token = stop.token
        done.errors.append(
            EngineError(
                kind=stop.kind,
                argument=token.written if token else "",
                message=stop.message,
                because=token.because if token else (),
            )
        )
        done.stopped = True
    return done


def _place_model(tokens: list[Token], rules: Mapping[str, Any]) -> list[Token]:
    """`serve … --model X` becomes `serve X …`, for the first `--model`."""
    at = next((i for i, token in enumerate(tokens) if token.text.startswith("--model") and _MODEL.match(token.text)), 0)
    if at and rules["model_option"] == "refused":
        if tokens[at].text == "--model":
            raise StopError("conflict", tokens[at], "the model must be a positional argument of `vllm serve`")
        at = 0
    if at:
        option = tokens[at]
        if option.text == "--model":
            if at + 1 >= len(tokens):
                raise StopError("missing-value", option, "argument --model: expected one argument")
            value, rest = tokens[at + 1], at + 2
            model = Token(
                value.text,
                _joined(option.because, value.because),
                f"--model {value.written}",
                value.symbols,
                value.open,
            )
        else:
            text, rest = option.text.removeprefix("--model="), at + 1
            model = Token(text, option.because, option.written, option.symbols)
        tokens = [tokens[0], model, *tokens[1:at], *tokens[rest:]]
    if (
        len(tokens) > 1
        and tokens[1].text.startswith("-")
        and rules["served_name_needs_model"]
        and not any(_CONFIG.match(token.text) for token in tokens)
    ):
        named = next((token for token in tokens if _SERVED_NAME.match(token.text)), None)
        if named is not None:
            raise StopError("conflict", named, "`model` should be the first positional argument of `vllm serve`")
    return tokens


def _write_in_config(
    tokens: list[Token],
    facts: Facts,
    files: Mapping[str, str],
    all_files: bool,
    serve: bool,
) -> list[Token]:
    """Put the arguments of `--config FILE` behind the model, and drop the option."""
    places = [i for i, token in enumerate(tokens) if token.text == "--config"]
    option = tokens[places[0]]
    if len(places) > 1:
        raise StopError("conflict", tokens[places[1]], "more than one config file specified")
    at = places[0]
    if at == len(tokens) - 1:
        raise StopError("missing-value", option, "no config file specified")
    name = tokens[at + 1]
    written = _config_tokens(option, name, facts, files, all_files, serve)
    first = tokens[0]
    if not serve and first.text.startswith("-"):
        return written + tokens[:at] + tokens[at + 2 :]
    head = 1
    if serve:
        model_first = len(tokens) > 1 and not tokens[1].text.startswith("-")
        if not model_first and not any(token.text == "--model" or token.open for token in written):
            raise StopError(
                "missing-value", option, "no model specified, neither as an argument nor in the config file"
            )
        head = 2 if model_first else 1
    return tokens[:head] + written + tokens[head:at] + tokens[at + 2 :]


def _config_tokens(
    option: Token, name: Token, facts: Facts, files: Mapping[str, str], all_files: bool, serve: bool
) -> list[Token]:
    argument = f"--config {name.written}"
    because = _joined(option.because, name.because)
    anything = [Token("", because, argument, (name.text,), open=True)]
    if name.symbols:
        return anything
    if name.text.rpartition(".")[2] not in ("yaml", "yml"):
        raise StopError("invalid-value", name, f"config file must be of a yaml/yml type: {name.text}")
    text = files.get(name.text)
    if text is None:
        if all_files:
            raise StopError("invalid-value", name, f"no such config file: {name.text}")
        return anything
    # The server's own command line has a parser for subcommands in front, which knows no flag that could be negated.
    negatable = facts.spellings if facts.rules["config_false"] == "negated" and not serve else {}
    try:
        words = read_config_file(text, negatable, facts.rules["config_mapping"] == "json")
    except ConfigFileError as error:
        raise StopError("invalid-value", name, f"{name.text}: {error}") from None
    return [
        Token(
            word,
            (*because, Reason("shell", name.text, line, shown)),
            shown,
        )
        for word, line, shown in words
    ]


def _spell(tokens: list[Token], rules: Mapping[str, Any], done: Rewritten) -> list[Token]:
    """Underscores to dashes in option names, and the short spellings of the level."""
    level = dotted = ""
    if any(token.text[:2] == "-O" for token in tokens):
        level, dotted = str(rules["level"]), str(rules["level_dotted"])
    spelt: list[Token] = []
    for index, token in enumerate(tokens):
        text = token.text
        if not text or text[0] != "-":
            spelt.append(token)
        elif text.startswith("--"):
            if text.startswith("--help="):
                spelt.append(_renamed(token, "--help"))
                continue
            if "_" in text:
                token = _dashed(token)
            spelt.append(token)
        elif dotted and text.startswith("-O."):
            spelt.append(token if dotted == "-O" else _renamed(token, f"{dotted}{text[2:]}"))
        elif level and text.startswith("-O") and text != "-O":
            value = text[3:] if text[2] == "=" else text[2:]
            if not dotted and text[2] == ".":
                done.ineffective.append(_reinterpreted(token, level))
            if "." in level:
                spelt.append(_renamed(token, f"{level}={value}"))
            else:
                spelt.append(_renamed(token, level))
                spelt.append(_renamed(token, value))
        elif level and text == "-O" and index + 1 < len(tokens) and tokens[index + 1].text in _LEVELS:
            spelt.append(_renamed(token, level))
        else:
            spelt.append(token)
    return spelt


def _reinterpreted(token: Token, level: str) -> Ineffective:
    key = token.text[3:].partition("=")[0]
    return Ineffective(
        kind="reinterpreted",
        argument=token.written,
        setting=f"compilation_config.{key}",
        message=f"`{token.written}` is read as `{level} {token.text[2:]}`, not as a compilation option",
        because=token.because,
    )


def _renamed(token: Token, text: str) -> Token:
    return Token(text, token.because, token.written, token.symbols, token.open)


def _dashed(token: Token) -> Token:
    """`--max_model_len=x_y` with dashes in the name, up to the first dot."""
    name, equals, value = token.text.partition("=")
    head, dot, rest = name.partition(".")
    text = f"--{head[2:].replace('_', '-')}{dot}{rest}{equals}{value}"
    return token if text == token.text else _renamed(token, text)


def _gather(tokens: list[Token], rules: Mapping[str, Any]) -> list[Token]:
    """Take dotted arguments out, and put one JSON argument for each spelling of a flag at the end."""
    kept: list[Token] = []
    groups: dict[str, tuple[dict[str, object], list[Leaf]]] = {}
    skip = False
    for index, token in enumerate(tokens):
        if skip:
            skip = False
            continue
        text = token.text
        if not text or text[0] != "-" or "." not in text or token.open:
            kept.append(token)
            continue
        name, equals, value_text = text.partition("=")
        if "." not in name:
            kept.append(token)
            continue
        value = token
        argument = token.written
        because = token.because
        if not equals:
            if index + 1 >= len(tokens):
                raise StopError("missing-value", token, f"{name} needs a value")
            value = tokens[index + 1]
            value_text = value.text
            argument = f"{token.written} {value.written}"
            because = _joined(token.because, value.because)
            skip = True
        if "${" in name and token.symbols:
            kept.append(Token("", because, argument, token.symbols, open=True))
            continue
        listed = name.endswith("+")
        key, *keys = name.removesuffix("+").split(".")
        if len(keys) > MAX_DEPTH // 2:
            raise StopError("invalid-value", token, f"{name[:60]}… is nested too deeply")
        read = _dotted_value(value_text, value.symbols, listed, rules)
        if value.open:
            read = UNKNOWN
        whole, leaves = groups.setdefault(key, ({}, []))
        _merge(whole, _nested(keys, read))
        leaves.append(Leaf(tuple(keys), read, because, argument))
    for key, (whole, leaves) in groups.items():
        because = _joined(*(leaf.because for leaf in leaves))
        argument = " ".join(leaf.argument for leaf in leaves)
        kept.append(Token(key, because, argument))
        kept.append(Token(_dumped(whole), because, argument, value=whole, group=tuple(leaves)))
    return kept


def _dotted_value(text: str, symbols: tuple[str, ...], listed: bool, rules: Mapping[str, Any]) -> object:
    if symbols and "${" in text:
        return UNKNOWN
    if listed:
        return list(text.split(","))
    try:
        read: object = read_json(text)
        return read
    except ValueError:
        pass
    if "dotted" in rules["human_integers"]:
        try:
            return human_integer(text)
        except ValueError:
            pass
    return text


def _nested(keys: list[str], value: object) -> dict[str, object]:
    nested: object = value
    for key in reversed(keys):
        nested = {key: nested}
    assert isinstance(nested, dict)
    return nested


def _merge(original: dict[str, object], update: dict[str, object]) -> None:
    """Merge as the release does: mappings key by key, lists end to end, else the later value."""
    for key, value in update.items():
        before = original.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            _merge(before, value)
        elif isinstance(value, list) and isinstance(before, list):
            original[key] = before + value
        else:
            original[key] = value


def _dumped(value: object) -> str:
    try:
        return json.dumps(value, default=repr)
    except (ValueError, RecursionError):
        return "{}"


def _joined(*parts: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Reasons in order, without repetition."""
    first = parts[0]
    if all(part is first or part == first for part in parts):
        return first
    return tuple(dict.fromkeys(reason for part in parts for reason in part))
