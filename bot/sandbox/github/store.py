"""The git side: a bare repository that holds every commit of a network of forks."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.repositories import git
from bot.repositories.objects import ObjectReader
from bot.sandbox.github.clock import stamp
from bot.sandbox.github.diffs import FileDiff, parse_diff

_LARGEST_BLOB = 100 * 1024 * 1024
"""What the blob endpoint serves at most (facts, section 5)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a tree."""

    path: str
    mode: str
    kind: str
    sha: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit's own data."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: str
    email: str
    when: str
    message: str


class GitStore:
    """Commits, trees and blobs. Branch names are the simulator's own business: git holds only objects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # What `git init --bare` makes, without starting a program for it.
        for below in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            (folder / below).mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
        (folder / "config").write_text(
            "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsync = none\n", encoding="ascii"
        )
        self._objects = ObjectReader(folder)
        self._refs = 0
        self._commits: dict[str, Commit] = {}
        self._trees: dict[tuple[str, bool], tuple[Entry, ...]] = {}
        self._diffs: dict[tuple[str, str], tuple[FileDiff, ...]] = {}
        self._bases: dict[tuple[str, str], str | None] = {}
        self._between: dict[tuple[str, str], list[str]] = {}

    def close(self) -> None:
        """End git's process."""
        self._objects.close()

    def load(self, source: Path) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        """Take over the history of another repository; its branches and its tags (peeled), with their commits, and
        the objects of its annotated tags.
        """
        environment = git.environment() | {"GIT_ALLOW_PROTOCOL": "file"}
        self._refs += 1
        space = f"refs/loaded/{self._refs}"
        command = ["git", "-C", str(self.folder), "-c", "safe.directory=*", "fetch", "--quiet", "--no-tags"]
        specs = [f"+refs/heads/*:{space}/heads/*", f"+refs/tags/*:{space}/tags/*"]
        subprocess.run([*command, str(source.resolve()), *specs], check=True, env=environment)
        form = "--format=%(refname) %(objectname) %(*objectname)"
        listing = self._run("for-each-ref", form, f"{space}/").decode("utf-8")
        found: dict[str, dict[str, str]] = {"heads": {}, "tags": {}}
        annotated: dict[str, str] = {}
        for line in listing.splitlines():
            name, *objects = line.split()
            kind, _, short = name.removeprefix(f"{space}/").partition("/")
            found[kind][short] = objects[-1]
            if len(objects) > 1:
                annotated[short] = objects[0]
        return found["heads"], found["tags"], annotated

    def annotate(self, name: str, commit: str, message: str, author: str, when: datetime) -> str:
        """Add the object of an annotated tag."""
        who = f"{author} <{author}@users.noreply.example> {int(when.timestamp())} +0000"
        content = f"object {commit}\ntype commit\ntag {name}\ntagger {who}\n\n{message}\n"
        done = subprocess.run(
            git.command(self.folder, "hash-object", "-t", "tag", "-w", "--stdin"),
            input=content.encode(),
            stdout=subprocess.PIPE,
            check=True,
            env=git.environment(),
        )
        return done.stdout.decode("ascii").strip()

    def commit(
        self,
        files: Mapping[str, str | bytes | None],
        parents: Iterable[str],
        message: str,
        author: str,
        when: datetime,
        modes: Mapping[str, str] | None = None,
    ) -> str:
        """Add a commit on its first parent's tree and give its id. A file that is None is deleted."""
        self._refs += 1
        who = f"{author} <{author}@users.noreply.example> {int(when.timestamp())} +0000"
        lines: list[bytes] = [f"commit refs/made/{self._refs}\nmark :1\ncommitter {who}\n".encode(), _data(message)]
        for word, parent in zip(["from", *["merge"] * 15], parents, strict=False):
            lines.append(f"{word} {parent}\n".encode())
        for path, content in files.items():
            if content is None:
                lines.append(b"D " + _quoted(path) + b"\n")
            else:
                mode = (modes or {}).get(path, "100644")
                lines += [f"M {mode} inline ".encode(), _quoted(path), b"\n", _data(content)]
        lines.append(b"get-mark :1\n")
        done = subprocess.run(
            git.command(self.folder, "fast-import", "--quiet", "--force"),
            input=b"".join(lines),
            stdout=subprocess.PIPE,
            check=True,
            env=git.environment(),
        )
        return done.stdout.decode("ascii").strip()

    def blob(self, sha: str) -> bytes | None:
        """A blob's content; None when there is none of that id."""
        found = self._objects.read(sha, _LARGEST_BLOB)
        return None if found is None or found.kind != "blob" else found.content

    def kind(self, sha: str) -> str | None:
        """What kind of object an id, whole or shortened, names."""
        found = self._objects.read(sha, _LARGEST_BLOB) if _is_hex(sha) else None
        return None if found is None else found.kind

    def full_id(self, sha: str) -> str | None:
        """The commit that an id, whole or shortened, names."""
        if sha in self._commits:
            return sha
        found = self._objects.read(sha, _LARGEST_BLOB) if _is_hex(sha) else None
        return found.id if found is not None and found.kind == "commit" else None

    def read(self, commit: str, path: str) -> bytes | None:
        """The content of a file of a commit, links not followed."""
        found = self._objects.read(f"{commit}:{path}", _LARGEST_BLOB)
        return None if found is None or found.kind != "blob" else found.content

    def named(self, expression: str) -> tuple[str, str, bytes] | None:
        """Kind, id and content of what an expression like `<commit>:folder/file` names."""
        found = None if "\n" in expression else self._objects.read(expression, _LARGEST_BLOB)
        return None if found is None else (found.kind, found.id, found.content or b"")

    def entry(self, commit: str, path: str) -> Entry | None:
        """The entry of one path in a commit's tree."""
        path = path.strip("/")
        return next((entry for entry in self.tree(commit, recursive=True) if entry.path == path), None)

    def describe(self, sha: str) -> Commit:
        """A commit's data."""
        known = self._commits.get(sha)
        if known is None:
            found = self._objects.read(sha, _LARGEST_BLOB)
            if found is None or found.content is None:
                raise KeyError(sha)
            known = self._commits[sha] = _commit(sha, found.content.decode("utf-8", "replace"))
        return known

    def tree(self, tree: str, *, recursive: bool) -> tuple[Entry, ...]:
        """The entries of a tree or of a commit's tree."""
        key = (tree, recursive)
        if key not in self._trees:
            options = ["-r", "-t"] if recursive else []
            listing = self._run("ls-tree", "-z", "-l", *options, tree).decode("utf-8", "replace")
            self._trees[key] = tuple(_entry(record) for record in listing.split("\0") if record)
        return self._trees[key]

    def diff(self, base: str, head: str) -> tuple[FileDiff, ...]:
        """The files that differ between two commits, renames recognised."""
        key = (base, head)
        if key not in self._diffs:
            form = ["-r", "-M", "-l1000", "--full-index"]
            listing = self._run("diff-tree", *form, "--raw", "-z", base, head).decode("utf-8", "replace")
            patches = self._run("diff-tree", *form, "-p", "--no-ext-diff", "--no-color", base, head)
            self._diffs[key] = parse_diff(listing, patches.decode("utf-8", "replace"))
        return self._diffs[key]

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor."""
        key = (one, other)
        if key not in self._bases:
            _, output = git.run(self.folder, "merge-base", one, other, statuses=(0, 1))
            self._bases[key] = output.decode("ascii").split("\n", 1)[0] or None
        return self._bases[key]

    def between(self, base: str, head: str) -> list[str]:
        """The commits of `head` that are not in `base`, oldest first."""
        key = (base, head)
        if key not in self._between:
            listing = self._run("rev-list", "--reverse", "--topo-order", head, f"^{base}")
            self._between[key] = listing.decode("ascii").split()
        return self._between[key]

    def history(self, head: str, path: str = "") -> list[str]:
        """The commits of `head`, newest first; of one path when given."""
        return self._run("rev-list", "--date-order", head, "--", *([path] if path else [])).decode("ascii").split()

    def contains(self, commit: str, ancestor: str) -> bool:
        """Whether `ancestor` is in the history of `commit`."""
        return commit == ancestor or self.merge_base(commit, ancestor) == ancestor

    def archive(self, commit: str, prefix: str) -> bytes:
        """A gzipped tarball of a commit."""
        return self._run("archive", "--format=tar.gz", f"--prefix={prefix}/", commit)

    def _run(self, *arguments: str) -> bytes:
        return git.run(self.folder, *arguments)[1]


def _commit(sha: str, raw: str) -> Commit:
    head, _, message = raw.partition("\n\n")
    parents: list[str] = []
    said: dict[str, str] = {}
    for line in head.split("\n"):
        word, _, value = line.partition(" ")
        if word == "parent":
            parents.append(value)
        else:
            said.setdefault(word, value)
    name, _, rest = said["author"].partition(" <")
    email, _, when = rest.partition("> ")
    moment = stamp(datetime.fromtimestamp(int(when.split(" ")[0]), UTC))
    return Commit(sha, said["tree"], tuple(parents), name, email, moment, message.strip())


def _entry(record: str) -> Entry:
    about, _, path = record.partition("\t")
    mode, kind, sha, size = about.split()
    return Entry(path, mode, kind, sha, int(size) if size.isdigit() else None)


def _is_hex(text: str) -> bool:
    return 4 <= len(text) <= 40 and set(text) <= set("0123456789abcdef")


def _data(content: str | bytes) -> bytes:
    raw = content.encode("utf-8") if isinstance(content, str) else content
    return b"data %d\n%s\n" % (len(raw), raw)


def _quoted(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'.encode()
