"""Variables that a compose or a document about it offers, and that nothing reads.

A variable that a compose does not name cannot get into the container, whatever a script there would do with it: only
Docker Compose and the scripts that people start on the host are left to read it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from bot.audit.traps import OFF, drafts
from bot.engine.facts import load as load_facts
from bot.engine.facts import releases
from bot.hazards import Observation
from bot.provenance import Position, Reason
from bot.resolution import Repository, ResolvedService
from bot.tree import Tree, text_of
from bot.worlds.comments import comments

MAX_SCRIPTS = 2_000
"""Scripts of a repository that are searched for the variables that they read."""

MAX_SCRIPT_CHARACTERS = 8_000_000
"""Characters of them: a fifth of a second's work."""

MAX_LINE = 600
"""Characters of a comment that are read."""

_NAME = r"[A-Z][A-Z0-9_]{2,60}"
_OFFER = re.compile(rf"(?<![\w$.{{/-])({_NAME})=([^\s`'\"|;,()\[\]{{}}<>#]*)")
_BEFORE = re.compile(
    r"\b(?:mitigat\w+|work-?arounds?|set(?:ting)?|use|export|overrid(?:e|den|able)|enable|disable|opt[- ](?:in|out)|"
    r"re-enable|restore|via|pass|"
    r"(?:run|boot|start|try|raise|tune|force|turn(?:ed)? o\w+|switch(?:ed)? o\w+)\s(?:it\s)?(?:with|by|via))\b"
    r"[^.;]{0,60}$|\boff\s+[—–-]+\s+$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[`'\"]?\s+(?:in\s+[`\w./]+\s+)?(?:to\s+(?:a/b|disable|drop|enable|force|get|restore|skip|switch|turn)\b|"
    r"(?:disables?|drops?|enables?|forces?|overrides?|re-?enables?|removes?|restores?|skips?|switches|turns)\b|"
    r"(?:→|->|=>)\s*(?:no\b|off\b|disable|enable|skip|drop))",
    re.IGNORECASE,
)
_BELOW = re.compile(
    rf"(?<![\w-])(?i:the\s+)?[Dd]efault\s+`?({_NAME})`?\s+(?:below|here|in\s+this\s+(?:file|compose))\s+"
    r"(?:(?:expects?|wants|finds|has|points|looks|is)\s+(?:(?:it|them|for it)\s+)?)?(?:at|in|to|is)?\s*"
    r"`?([^\s`;,]{1,120})"
)
"""A default that is said to stand in the file: `Default MODEL below expects it at /models/hare`."""

_COMMAND = re.compile(rf"(?:[`'\"]?\s+{_NAME}=\S*+)*+\s+(?:sudo\s+)?(docker[ -]compose\b|(?:bash|sh)\s+(\S+)|(\./\S+))")
_NO_OFFER = re.compile(
    r"\b(?:not|no longer|never|neither|nor|without|instead of|was|were|had|used to|former(?:ly)?|previous(?:ly)?|old|"
    r"until|remov\w+|dropped|replac\w+|deprecated|historical\w*|negative|kept?|keeps?|measured|tested|validated|benched|ran|"
    r"posted|inject\w*|export(?:s|ed)\b|launchers?|if)\b|n't\b|n’t\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"[`'\"]?\s+(?:is|was|does|did|has|had|won)\b|[`'\"]?\s+no longer\b", re.IGNORECASE)
_ENDS = re.compile(r"[.;!?](?=\s)|\s[•·]\s")
_OTHER_FILE = re.compile(r"(?<![\w./-])(?:[\w./-]+\.ya?ml\b|(?:vllm|sglang|llama-?cpp|ik-llama|beellama)/[\w.-]+)")
_TOGETHER = re.compile(r"(?<!\S)-f\s+\S{1,200}\s+-f\s")
_LEFT_OUT = re.compile(rf"\s*(?:-\s*({_NAME})\s*(?:[=:]|$)|({_NAME}):\s)")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
_IDENTIFIER = re.compile(_NAME)
_READ = re.compile(
    rf"\$\{{?[!#]?({_NAME})|(?:environ(?:\.get)?|getenv|env(?:\.get)?|process\.env)\s*(?:[.\[(])\s*[\"']?({_NAME})|\(({_NAME}),"
)
_SCRIPTS = (".sh", ".bash", ".zsh", ".py", ".js", ".ts", ".mk", ".ps1", ".just", ".rb", ".go", ".rs")
_SCRIPT_NAMES = frozenset({"Makefile", "makefile", "justfile", "Justfile", "Taskfile.yml", "Dockerfile"})
_LIBRARIES = (
    "CUDA_", "NCCL_", "HF_", "HUGGING", "TRANSFORMERS_", "PYTORCH_", "TORCH", "OMP_", "MKL_", "TRITON_", "FLASHINFER_",
    "NVIDIA_", "GLOO_", "UCX_", "RAY_", "LMCACHE_", "LD_", "CUBLAS", "CUDNN", "SAFETENSORS_", "TOKENIZERS_", "XDG_",
    "DOCKER_", "COMPOSE_", "HTTP_", "HTTPS_", "NO_PROXY", "ALL_PROXY", "PYTHON", "PATH", "NVSHMEM_", "ROCM_", "HIP_",
    "HSA_", "GGML_", "LLAMA_", "SGLANG_", "SGL_", "DG_", "LANG", "CMAKE_", "PIP_", "UV_", "MAX_JOBS",
)  # fmt: skip
"""Variables of libraries and tools: whoever offers one knows where it has to be put."""

_DRAFTER = re.compile(r"\b(?:drafter|draft model|spec(?:ulative)?|mtp|eagle)\b|^SPEC|DRAFT", re.IGNORECASE)
_DOCUMENTS = ("README.md", "readme.md")


@dataclass(frozen=True, slots=True)
class _Offered:
    """A variable and the value that a sentence offers; `script` is the one that it is to be set for, if it says so."""

    name: str
    value: str
    sentence: str
    position: Position
    script: str = ""


def of_offers(repository: Repository, files: tuple[str, ...], service: ResolvedService) -> Iterator[Observation]:
    """The variables that are offered for a service and read by nothing; one observation for each."""
    described = service.defaults[0].realisation.service
    if service.kind != "vllm" or described is None or described.env_files or described.absent_env_files:
        return
    found = [*_in_comments(repository.tree, files), *_in_documents(repository.tree, service)]
    if not found:
        return
    read = _read_in(repository.tree, (*files, service.path, *service.defaults[0].realisation.project.files))
    unread = [one for one in found if one.name not in read and not _is_known(repository, service, one.name)]
    if not unread:
        return
    scripts = repository.documents.memory.answer("variables that scripts read", repository.tree, _read_by_scripts)
    for name in dict.fromkeys(one.name for one in unread if one.name not in scripts):
        yield _observation(service, [one for one in unread if one.name == name])


def _observation(service: ResolvedService, offers: list[_Offered]) -> Observation:
    first = offers[0]
    at = first.position
    place = at if at.path == service.path else service.position
    stays = drafts(service.defaults)
    switches = [one for one in offers if one.value.lower() in OFF and _DRAFTER.search(f"{one.name} {one.sentence}")]
    shown = switches[0] if switches and stays else first
    because = tuple(Reason("catalog", o.position.path, o.position.line, f"it says: {o.sentence}") for o in offers[:3])
    fields: dict[str, object] = {
        "name": first.name,
        "setting": f"{first.name}={shown.value}",
        "sentence": shown.sentence,
        "where": str(shown.position),
        "drafter": bool(switches and stays),
    }
    return Observation("phantom-seam", first.name, place, because, fields)


def _in_comments(tree: Tree, files: Iterable[str]) -> Iterator[_Offered]:
    """What comments offer, but for what is set for a script that is not in the repository: it may read anything."""
    for path in files:
        for offered in _candidates(path, text_of(tree, path)):
            if not offered.script or text_of(tree, offered.script.removeprefix("./")):
                yield offered


@lru_cache(maxsize=512)
def _candidates(path: str, text: str) -> tuple[_Offered, ...]:
    """What the comments of a compose offer, before anybody asks who reads it."""
    said = {position.line: comment for position, comment in comments(path, text).items()}
    if not any("=" in comment or "efault " in comment for comment in said.values()):
        return ()
    if any(_TOGETHER.search(comment[:MAX_LINE]) for comment in said.values()):
        return ()  # it runs together with another file, which may read anything
    edits = {match[1] or match[2] for comment in said.values() if (match := _LEFT_OUT.match(comment))}
    found = (
        _offer(said, line, match, path)
        for line, comment in said.items()
        if "=" in comment
        for match in _OFFER.finditer(comment[:MAX_LINE])
        if match[1] not in edits
    )
    return (*(offered for offered in found if offered is not None), *_said_below(said, path))


def _said_below(said: dict[int, str], path: str) -> Iterator[_Offered]:
    """The variables whose defaults a comment says to stand below it."""
    for line, comment in said.items():
        match = _BELOW.search(comment[:MAX_LINE]) if "efault " in comment else None
        if match is not None and not _NO_OFFER.search(comment, 0, match.start()):
            yield _Offered(match[1], match[2].rstrip(".…:*)"), comment[:180].strip(), Position(path, line))


def _offer(said: dict[int, str], line: int, match: re.Match[str], path: str) -> _Offered | None:
    """What a sentence offers; None when it is history, a measurement, about another file, or no offer."""
    comment = said[line][:MAX_LINE]
    before = (
        f"{said.get(line - 1, '')[-160:]} {comment[: match.start()]}"
        if match.start() < 60
        else comment[: match.start()]
    )
    before = _ENDS.split(before)[-1]
    after = comment[match.end() :]
    rest = _ENDS.split(f"{after} {said.get(line + 1, '')[:160]}")[0]
    own = posixpath.basename(path)
    about = _OTHER_FILE.findall(f"{before} {rest}")
    if _NO_OFFER.search(before) or _DENIED.match(after) or any(not name.endswith(own) for name in about):
        return None
    command = _COMMAND.match(after)
    if command is None and not _BEFORE.search(before) and not _AFTER.match(after):
        return None
    sentence = " ".join(f"{before}{match[0]}{rest}".split())[:180]
    script = (command[2] or command[3] or "") if command is not None else ""
    return _Offered(match[1], match[2].rstrip(".…:*)"), sentence, Position(path, line), script)


def _in_documents(tree: Tree, service: ResolvedService) -> Iterator[_Offered]:
    """Lines of the documents beside a compose and above it that name it and offer a variable in code marks.

    That of the root is left out: it changes too often for every compose to be looked at anew.
    """
    names = (*service.slugs, "/".join(service.path.split("/")[-2:]))
    folder = posixpath.dirname(service.path)
    while folder:
        for document in _DOCUMENTS:
            path = posixpath.join(folder, document)
            for line, text in _naming(text_of(tree, path), names):
                for match in re.finditer(rf"`({_NAME})=([\w.-]+)`", text):
                    before = text[: match.start()]
                    if not _NO_OFFER.search(before) and (
                        _BEFORE.search(before) or _AFTER.match(text[match.end() - 1 :])
                    ):
                        yield _Offered(match[1], match[2], " ".join(text.split())[:180], Position(path, line))
        folder = posixpath.dirname(folder)


@lru_cache(maxsize=512)
def _naming(text: str, names: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """The lines of a document that name a compose."""
    if not any(name in text for name in names):
        return ()
    lines = ((number, line[:MAX_LINE]) for number, line in enumerate(text.split("\n"), 1))
    return tuple((number, line) for number, line in lines if any(name in line for name in names) and "=" in line)


def _read_in(tree: Tree, files: Iterable[str]) -> frozenset[str]:
    """The names that stand outside of comments in composes."""
    return frozenset().union(*(_names(text_of(tree, path)) for path in dict.fromkeys(files)))


@lru_cache(maxsize=512)
def _names(text: str) -> frozenset[str]:
    return frozenset(_IDENTIFIER.findall(_COMMENT.sub("", text)))


def _is_known(repository: Repository, service: ResolvedService, name: str) -> bool:
    """Whether a library, the engine, or a declared launcher reads a variable."""
    if name.startswith(_LIBRARIES) or name in repository.catalog.configuration.seams:
        return True
    if not name.startswith("VLLM_"):
        return False
    asked = {release for world in service.defaults if world.engine for release in world.engine.releases}
    return any(name in load_facts(release).environment for release in {*asked, releases()[-1]})


def _read_by_scripts(tree: Tree) -> frozenset[str]:
    """The variables that scripts of the repository read."""
    found: set[str] = set()
    room = MAX_SCRIPT_CHARACTERS
    scripts = [path for path in tree.paths() if path.endswith(_SCRIPTS) or posixpath.basename(path) in _SCRIPT_NAMES]
    for path in scripts[:MAX_SCRIPTS]:
        text = text_of(tree, path)
        room -= len(text)
        if room < 0:
            break
        for match in _READ.finditer(text):
            found.add(match[1] or match[2] or match[3])
    return frozenset(found)
