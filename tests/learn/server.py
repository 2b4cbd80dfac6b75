"""A package index on this machine, and archives for it."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar


class Index(BaseHTTPRequestHandler):
    """Answers with the pages that a test puts here, and keeps what it was asked.

    `ranges` are those of its pages of which it gives parts, each with what it says of a part instead of the truth.
    """

    pages: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []
    ranges: ClassVar[dict[str, str]] = {}

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body = self.pages.get(self.path)
        wanted = self.headers.get("Range", "")
        if body is not None and wanted and self.path in self.ranges:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            part = body[int(first) : int(last) + 1]
            self.send_response(206)
            said = self.ranges[self.path] or f"bytes {first}-{int(first) + len(part) - 1}/{len(body)}"
            self.send_header("Content-Range", said)
            body = part
        else:
            self.send_response(200 if body is not None else 404)
        self.end_headers()
        with suppress(ConnectionError):  # who asked has heard enough
            self.wfile.write(body or b"")

    def log_message(self, format: str, *args: Any) -> None:
        pass


def publish(**sdists: bytes) -> None:
    """Let the index list these sdists, by version (`_1_2_3`)."""
    entries = []
    for name, archive in sdists.items():
        version = name.strip("_").replace("_", ".")
        file = f"vllm-{version}.tar.gz"
        Index.pages[f"/files/{file}"] = archive
        digest = hashlib.sha256(archive).hexdigest()
        entries.append({"filename": file, "url": f"/files/{file}", "hashes": {"sha256": digest}})
    Index.pages["/simple/vllm/"] = json.dumps({"files": entries}).encode()


def publish_wheel(name: str, data: bytes, *, parts: bool = True, says: str = "", sha: str = "") -> str:
    """Let the index list a wheel besides what it has, and give its path. `says` stands for its Content-Range."""
    listed = json.loads(Index.pages.get("/simple/vllm/", b'{"files": []}'))["files"]
    path = f"/files/{name}"
    entry = {"filename": name, "url": path, "hashes": {"sha256": sha or hashlib.sha256(data).hexdigest()}}
    Index.pages["/simple/vllm/"] = json.dumps({"files": [*listed, entry]}).encode()
    Index.pages[path] = data
    if parts:
        Index.ranges[path] = says
    return path


def archive_of(path: Path, *members: tuple[str, bytes | None]) -> Path:
    """An archive of files, and of links where there is no text."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(text or b"")
            if text is None:
                entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(entry, io.BytesIO(text or b""))
    return path
