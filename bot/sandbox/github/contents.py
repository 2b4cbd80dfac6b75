"""Files: contents, trees, blobs and tarballs (facts, section 5)."""

from __future__ import annotations

import posixpath
from base64 import encodebytes
from urllib.parse import quote

from bot.sandbox.github import revisions
from bot.sandbox.github.call import Answer, Call, Refused, Routes, not_found
from bot.sandbox.github.model import Json, Repository, node_id
from bot.sandbox.github.store import Entry

ROUTES = Routes()

MAX_INLINE_BYTES = 1024 * 1024
"""Contents come with the file up to this size; above only in the raw media type."""

MAX_DIRECTORY = 1_000
MAX_TREE_ENTRIES = 100_000

_LINK = "120000"


@ROUTES.add("GET", "/repos/{owner}/{repo}/contents/{path:*}", "contents:read")
def get_contents(call: Call) -> Answer:
    """A file, or the list of a directory. A symbolic link to a file is that file."""
    repository = call.repository
    reference = call.query.get("ref", "")
    sha = revisions.resolve(repository, reference)
    if sha is None:
        raise Refused(404, f"No commit found for the ref {reference}")
    entry = repository.store.entry(sha, call.parts["path"])
    if entry is not None and entry.mode == _LINK:
        entry = _followed(repository, sha, entry)
    if entry is None:
        raise not_found()
    name = reference or repository.default_branch
    if entry.kind == "tree":
        below = repository.store.tree(entry.sha, recursive=False)[:MAX_DIRECTORY]
        return Answer([_listed(call, repository, name, f"{entry.path}/{each.path}", each) for each in below])
    content = repository.store.blob(entry.sha) or b""
    if "raw" in call.headers.get("Accept", ""):
        return Answer(content, content_type="application/vnd.github.raw; charset=utf-8")
    answer = _listed(call, repository, name, entry.path, entry)
    if len(content) > MAX_INLINE_BYTES:
        if "object" not in call.headers.get("Accept", ""):
            errors = [{"resource": "Blob", "field": "data", "code": "too_large"}]
            raise Refused(403, "This API returns blobs up to 1 MB in size.", errors)
        return Answer({**answer, "content": "", "encoding": "none"})
    return Answer({**answer, "content": encodebytes(content).decode("ascii"), "encoding": "base64"})


def _followed(repository: Repository, commit: str, entry: Entry) -> Entry:
    target = (repository.store.blob(entry.sha) or b"").decode("utf-8", "replace")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), target))
    found = None if path.startswith("..") else repository.store.entry(commit, path)
    return found if found is not None and found.kind == "blob" else entry


def _listed(call: Call, repository: Repository, reference: str, path: str, entry: Entry) -> Json:
    url = f"{call.hub.url}/repos/{repository.full_name}"
    own = f"{url}/contents/{quote(path)}?ref={quote(reference)}"
    kind = {"tree": "dir", "commit": "submodule"}.get(entry.kind, "symlink" if entry.mode == _LINK else "file")
    git = f"{url}/git/{'trees' if entry.kind == 'tree' else 'blobs'}/{entry.sha}"
    page = f"{call.hub.web_url}/{repository.full_name}/blob/{reference}/{quote(path)}"
    raw = f"{call.hub.web_url}/{repository.full_name}/raw/{reference}/{quote(path)}"
    return {
        "name": posixpath.basename(path),
        "path": path,
        "sha": entry.sha,
        "size": entry.size or 0,
        "url": own,
        "html_url": page,
        "git_url": git,
        "download_url": None if entry.kind == "tree" else raw,
        "type": kind,
        "_links": {"self": own, "git": git, "html": page},
    }


@ROUTES.add("GET", "/repos/{owner}/{repo}/git/trees/{tree_sha:*}", "contents:read")
def get_tree(call: Call) -> Answer:
    """A tree. Any value of `recursive` means recursive, "0" and "false" too; cut at a limit, and marked so."""
    repository = call.repository
    if not repository.branches:
        raise Refused(409, "Git Repository is empty.")
    name = call.parts["tree_sha"]
    sha = revisions.resolve(repository, name)
    if sha is None and repository.store.kind(name) == "tree":
        sha = name
    if sha is None:
        raise not_found()
    entries = repository.store.tree(sha, recursive="recursive" in call.query)
    most = call.hub.max_tree_entries
    url = f"{call.hub.url}/repos/{repository.full_name}/git"
    tree = sha if repository.store.kind(sha) == "tree" else repository.store.describe(sha).tree
    listed = [_tree_entry(url, each) for each in entries[:most]]
    return Answer({"sha": tree, "url": f"{url}/trees/{tree}", "tree": listed, "truncated": len(entries) > most})


def _tree_entry(url: str, entry: Entry) -> Json:
    answer: Json = {"path": entry.path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
    if entry.kind == "blob":
        answer["size"] = entry.size
    if entry.kind != "commit":
        answer["url"] = f"{url}/{entry.kind}s/{entry.sha}"
    return answer


@ROUTES.add("GET", "/repos/{owner}/{repo}/git/blobs/{file_sha}", "contents:read")
def get_blob(call: Call) -> Answer:
    """A blob, in base64 or raw."""
    repository, sha = call.repository, call.parts["file_sha"]
    content = repository.store.blob(sha) if len(sha) == 40 else None
    if content is None:
        raise not_found()
    if "raw" in call.headers.get("Accept", ""):
        return Answer(content, content_type="application/vnd.github.raw; charset=utf-8")
    return Answer(
        {
            "sha": sha,
            "node_id": node_id("B", int(sha[:12], 16)),
            "size": len(content),
            "url": f"{call.hub.url}/repos/{repository.full_name}/git/blobs/{sha}",
            "content": encodebytes(content).decode("ascii"),
            "encoding": "base64",
        }
    )


@ROUTES.add("GET", "/repos/{owner}/{repo}/tarball/{ref:*}", "contents:read")
def get_tarball(call: Call) -> Answer:
    """302 to another host, where the token must not be sent."""
    repository = call.repository
    sha = revisions.resolve(repository, call.parts["ref"])
    if sha is None:
        raise not_found()
    ticket = f"?token={call.hub.archive_ticket()}" if repository.private else ""
    where = f"{call.hub.archive_url}/{repository.full_name}/legacy.tar.gz/{sha}{ticket}"
    return Answer(None, 302, {"Location": where})
