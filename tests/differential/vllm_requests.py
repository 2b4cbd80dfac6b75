"""Make command lines for a release's parser, from its own facts: a script for developers, not run by the tests.

python -m tests.differential.vllm_requests VERSION COUNT SEED > requests.jsonl
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from typing import Any

from bot.engine.facts import Facts, Field, Flag, load

ODD = (
    "", "-1", "-0.5", "1e3", "128k", "128K", "1.5k", "1.5K", "0", "3", "03", "True", "true", "None", "null", "auto",
    "AUTO", "[1,2]", '{"a":1}', "{", "a b", "-x y", "--", "-", "nan", " 7 ", "1_000", "é", "a=b", "x.y", "-1.5.2",
)  # fmt: skip
LEVELS = ("-O3", "-O=2", "-O0", "-O4", "-O.cudagraph_mode=PIECEWISE", "-O.mode", "-Odecode")
STRAY = ("stray", "--nope", "--nope=1", "-z", "--no-max-model-len", "-tp2", "-n2", "-ep=true", "-q=fp8", "-qfp8", "--",
         "-O", "-cc", "--config=f.yaml", "--compilation-config", "-tp=2", "---x", "-5", "-.5", "--port=")  # fmt: skip


TRAPS = (
    ["-O3"], ["-O", "3"], ["-O=2"], ["-O1"], ["-O0"], ["-O"], ["-O4"], ["-Odecode"], ["-O", '{"mode":3}'], ["-O={}"],
    ["-O.cudagraph_mode=PIECEWISE"], ["-O.cudagraph_mode", "PIECEWISE"], ["-O.level=2"], ["-O.mode=2"],
    ["-O3", "-O.mode=1"],
    ["-cc.cudagraph_mode=PIECEWISE"], ["-cc.cudagraph_mode", "FULL"], ["-cc", '{"cudagraph_mode":"none"}'],
    ["-cc.mode=3"],
    ["-cc.level=3"], ["-cc.level=0", "-cc.mode=3"], ["-cc.cudagraph_mode=2"], ["-cc.use_inductor=true"],
    ["--compilation-config.cudagraph_mode=NONE"], ["--compilation_config.cudagraph-mode=NONE"], ["-cc.a=1"],
    ["--compilation-config", '{"level":3}'], ["--compilation-config", '{"mode":3}'], ["--compilation-config", "3"],
    ["--compilation.cudagraph_mode=NONE"], ["-cc.cudagraph_capture_sizes+=1,2"], ["-cc.pass_config.enable_noop=true"],
    ["-cc.cudagraph_mode=FULL", "--compilation-config.mode=0"], ["-cc", '{"mode":0}', "-cc.cudagraph_mode=FULL"],
    ["--speculative-config.num-speculative-tokens=3", "--speculative-config.method=mtp"], ["-sc.method=mtp"],
    ["--speculative-config", '{"method":"mtp","num_speculative_tokens":3}'],
    ["--spec-method", "mtp", "--spec-tokens", "3"],
    ["--speculative_config.num_speculative_tokens", "2", "--speculative_config.model", "a/b"], ["--spec", "3"],
    ["--disable-prefix-caching"], ["--no-enable-prefix-caching"], ["--enable-prefix-caching=false"],
    ["--enable-prefix"],
    ["--enable-prefix-caching", "true"], ["--no-disable-log-stats"], ["--enable-log-stats"],
    ["--disable-log-requests"],
    ["--enforce-eager"], ["--no-enforce-eager"], ["--disable-enforce-eager"], ["--async-scheduling"],
    ["--disable-chunked-prefill"], ["--no-enable-chunked-prefill"], ["--enable_chunked_prefill"],
    ["--kv-cache-dtype", "nvfp4"], ["--kv-cache-dtype", "FP8"], ["--kv-cache-dtype", "fp8_e5m2"],
    ["--kv-cache", "fp8"],
    ["--kv-cache-dtype=turboquant_k8v4"], ["--kv-cache-dtype", "int4_per_token_head"], ["--mamba-cache-mode", "all"],
    ["--mamba-cache-mode=align"], ["--all2all-backend", "passthrough"], ["--all2all-backend", "pplx"], ["--max-num"],
    ["--max-model-len", "128k"], ["--max-model-len=auto"], ["--max-model-len", "-1"], ["--max-model", "1K"], ["-tp2"],
    ["-tp=2"], ["-tp", "2"], ["--gpu-memory-utilization", "1.5"], ["--attention-backend", "flash_attn"],
    ["-q", "fp8"],
    ["--model", "other"], ["--model=other"], ["--served-model-name", "a", "b"], ["--config=f.yaml"],
    ["--swap-space", "4"],
    ["--guided-decoding-backend", "auto"], ["--num-scheduler-steps", "8"], ["--disable-hybrid-kv-cache-manager"],
    ["--enable-expert-parallel"], ["-ep"], ["--language-model-only"], ["--performance-mode", "throughput"],
    ["--structured-outputs-config.backend=xgrammar"], ["--reasoning-parser", "none"], ["--rope-scaling", "{}"],
    ["--hf-overrides", '{"a":1}'], ["--hf-overrides.a.b=1k"], ["--limit-mm-per-prompt", '{"image":1}'],
    ["--limit-mm-per-prompt.image=2"], ["--limit-mm-per-prompt", "image=2"], ["--seed", "1"],
    ["--cpu-offload-gb", "10"],
)  # fmt: skip
"""Spellings whose meaning changed between releases, or that people get wrong."""

FILES = (
    "enable-prefix-caching: false\n", "enable-prefix-caching: true\n", "enable_prefix_caching: null\n", "- a\n", "",
    "compilation-config: {cudagraph_mode: FULL}\n", "compilation-config: '{\"mode\": 3}'\n", "O3: true\n",
    "served-model-name: [a, b]\n", "max-model-len: 128k\nseed: 3\n", "model: m2\n", "no-enable-prefix-caching: true\n",
    "disable-log-stats: false\n", "enforce-eager: 'true'\n",
)  # fmt: skip
"""Configuration files of the same kind."""


def traps() -> list[dict[str, Any]]:
    """The requests of `TRAPS` and `FILES`."""
    asked: list[dict[str, Any]] = [{"argv": ["serve", "m", *words], "files": {}} for words in TRAPS]
    asked += [{"argv": ["--model", "m", *words], "files": {}} for words in TRAPS[:4]]
    asked += [{"argv": ["serve", *words, "m"], "files": {}} for words in TRAPS[:2]]
    for text in FILES:
        asked.append({"argv": ["serve", "m", "--config", "f.yaml"], "files": {"f.yaml": text}})
        asked.append({"argv": ["serve", "--config", "f.yaml"], "files": {"f.yaml": text}})
        asked.append({"argv": ["--config", "f.yaml"], "files": {"f.yaml": text}})
    return asked


class Maker:
    """Random command lines; the same seed makes the same ones."""

    def __init__(self, facts: Facts, seed: int) -> None:
        self.facts = facts
        self.random = random.Random(seed)
        self.flags = [flag for name, flag in facts.flags.items() if name.startswith("-") and name != "--config"]
        self.configs = [flag for flag in self.flags if flag.converter.startswith("config:")]
        self.favourites = [
            facts.flags[name]
            for name in (
                "--compilation-config", "--speculative-config", "--max-model-len", "--kv-cache-dtype", "--max-num-seqs",
                "--enable-prefix-caching", "--enforce-eager", "--tensor-parallel-size", "--optimization-level",
                "--gpu-memory-utilization", "--served-model-name", "--attention-backend", "--async-scheduling",
            )
            if name in facts.flags
        ]  # fmt: skip

    def request(self) -> dict[str, Any]:
        """One request."""
        roll = self.random.random
        argv: list[str] = []
        for _ in range(self.random.choice((0, 1, 1, 2, 2, 3, 5))):
            argv += self.piece()
        files: dict[str, str] = {}
        if roll() < 0.12:
            files["f.yaml"] = self.config_file()
            argv[self.random.randint(0, len(argv)) : 0] = ["--config", "f.yaml"]
        if roll() < 0.8:
            argv = ["serve", *(["m"] if roll() < 0.75 else []), *argv]
        elif roll() < 0.7:
            argv = ["--model", "m", *argv]
        return {"argv": argv, "files": files}

    def piece(self) -> list[str]:
        """A flag with its words, or something odd."""
        roll = self.random.random()
        if roll < 0.06:
            return [self.random.choice(STRAY)]
        if roll < 0.1:
            return [self.random.choice(LEVELS)]
        if roll < 0.13:
            return ["-O", self.random.choice(("0", "3", "4", '{"mode":3}'))]
        if roll < 0.16:
            return ["--model", "other"] if self.random.random() < 0.7 else ["--model=other"]
        if roll < 0.35:
            return self.dotted()
        flag = self.random.choice(self.favourites if roll < 0.6 else self.flags)
        return self.spelt(flag)

    def spelt(self, flag: Flag) -> list[str]:
        """A flag, in one of its spellings, with words."""
        name = self.random.choice((*flag.options, *flag.inverses))
        roll = self.random.random()
        if name.startswith("--") and roll < 0.1:
            name = name.replace("-", "_").replace("__", "--", 1)
        elif name.startswith("--") and roll < 0.25:
            name = name[: self.random.randint(4, len(name))]
        if flag.action in ("boolean", "store_true"):
            if roll > 0.92:
                return [name, self.random.choice(("true", "false"))]
            return [f"{name}={self.random.choice(ODD)}"] if roll > 0.88 else [name]
        count = self.random.choice((1, 1, 2, 3)) if flag.nargs == "+" else 1
        words = [self.word(flag) for _ in range(count)]
        if roll > 0.95:
            return [name]
        return [f"{name}={words[0]}", *words[1:]] if roll > 0.7 else [name, *words]

    def word(self, flag: Flag) -> str:
        """A word for a flag, mostly one that it takes."""
        if self.random.random() < 0.15:
            return self.random.choice(ODD)
        if flag.choices:
            return str(self.random.choice(flag.choices))
        makers: dict[str, Callable[[], str]] = {
            "int": lambda: str(self.random.choice((1, 2, 8, 0, -1, 4096))),
            "human_int": lambda: self.random.choice(("8192", "8k", "8K", "2.5k", "2.5K")),
            "human_int_or_auto": lambda: self.random.choice(("auto", "-1", "128k", "32768", "0")),
            "float": lambda: self.random.choice(("0.9", "1", "1.5", "0", "-0.5", ".5")),
            "json": lambda: json.dumps(self.free_json()),
            "dict": lambda: self.random.choice(('{"a": 1}', "{}", "[1]", "3")),
            "dict_or_str": lambda: self.random.choice(('{"a": 1}', "text", "{bad}")),
        }
        if flag.converter.startswith("config:"):
            return json.dumps(self.config(flag.converter.removeprefix("config:")))
        if flag.name == "--speculative-config":
            return json.dumps(self.config("SpeculativeConfig"))
        if flag.name == "--attention-backend":
            return self.random.choice(("FLASHINFER", "flash_attn", "auto", "nope"))
        if flag.name == "--optimization-level":
            return self.random.choice(("0", "1", "2", "3", "4", "O2"))
        return makers.get(flag.converter, lambda: self.random.choice(("word", "fp8", "a/b", "x.y")))()

    def dotted(self) -> list[str]:
        """A dotted key of a configuration."""
        flag = self.random.choice([*self.configs, *self.favourites[:2] * 8])
        owner = "SpeculativeConfig" if flag.dest == "speculative_config" else flag.converter.removeprefix("config:")
        config = self.facts.config(owner)
        name = self.random.choice(flag.options)
        if config is None:
            return [f"{name}.a", "1"]
        key = self.random.choice(tuple(config.fields))
        roll = self.random.random()
        value = self.value(config.fields[key])
        text = value if isinstance(value, str) else json.dumps(value)
        if roll < 0.1:
            key = key.replace("_", "-")
        if roll > 0.93:
            key += ".x"
        if roll > 0.97:
            key += "+"
        return [f"{name}.{key}={text}"] if self.random.random() < 0.5 else [f"{name}.{key}", text]

    def config(self, name: str) -> Any:
        """JSON for a configuration class, mostly fitting."""
        if self.random.random() < 0.05:
            return self.free_json()
        config = self.facts.config(name)
        if config is None:
            return {}
        keys = self.random.sample(tuple(config.fields), min(len(config.fields), self.random.choice((1, 1, 2, 3))))
        made = {key: self.value(config.fields[key]) for key in keys}
        if self.random.random() < 0.08:
            made[self.random.choice(("level", "bogus", "use_cudagraph"))] = 1
        return made

    def value(self, field: Field) -> Any:
        """A value for a field, mostly fitting."""
        if self.random.random() < 0.2:
            return self.free_json()
        return self.of_type(self.random.choice(field.types))

    def of_type(self, kind: Any) -> Any:
        """A value of a type."""
        word = kind if isinstance(kind, str) else kind[0]
        match word:
            case "literal":
                return self.random.choice(kind[1:])
            case "enum":
                members = self.facts.enum(kind[1])
                return self.random.choice([*members, *(m.lower() for m in members), *range(4)])
            case "config":
                return self.config(kind[1])
            case "list" | "set":
                return [self.of_type(self.random.choice(kind[1])) for _ in range(self.random.randint(0, 2))]
            case "tuple":
                return [self.of_type(self.random.choice(item)) for item in kind[1:] if isinstance(item, list)]
            case "dict" if not isinstance(kind, str):
                return {"a": self.of_type(self.random.choice(kind[2]))}
            case "dict":
                return {"a": 1}
            case "none":
                return None
            case "bool":
                return self.random.choice((True, False, "true", 1, 0))
            case "int":
                return self.random.choice((1, 2, 3, 0, -1, 2.0, "3", True))
            case "float":
                return self.random.choice((0.5, 1, 0, "0.5", True))
            case _:
                return self.random.choice(("text", "fp8"))

    def free_json(self) -> Any:
        """Any JSON."""
        return self.random.choice((1, 0, -1, 2.5, "x", "3", "yes", None, True, [], [1], {}, {"a": 1}, "2.0", "1e3", ""))

    def config_file(self) -> str:
        """A configuration file."""
        lines = []
        for _ in range(self.random.randint(0, 4)):
            flag = self.random.choice([*self.favourites, *self.flags])
            name = flag.options[0].lstrip("-")
            if self.random.random() < 0.2:
                name = name.replace("-", "_")
            if flag.converter.startswith("config:"):
                lines.append(f"{name}: {json.dumps(self.config(flag.converter.removeprefix('config:')))}")
            elif flag.action == "boolean":
                lines.append(f"{name}: {self.random.choice(('true', 'false', 'yes', 'null', '1'))}")
            else:
                lines.append(
                    f"{name}: {self.random.choice(('1', '0.9', 'word', 'null', '[a, b]', '[]', self.word(flag)))}"
                )
        if self.random.random() < 0.3:
            lines.append("model: from-file")
        return "\n".join(lines) + "\n" if self.random.random() < 0.95 else "- a\n"


def main() -> None:
    """Print requests as JSON lines."""
    version, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    facts = load(version)
    fields = {flag.dest: flag.field for flag in facts.flags.values() if flag.field and facts.field(flag.field)}
    maker = Maker(facts, seed)
    for _ in range(count):
        print(json.dumps({"release": version, **maker.request(), "fields": fields}))


if __name__ == "__main__":
    main()
