"""A package index on this machine, and archives for it."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar


class Index(BaseHTTPRequestHandler):
    """Answers with the pages that a test puts here, and keeps what it was asked."""

    pages: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body = self.pages.get(self.path)
        self.send_response(200 if body is not None else 404)
        self.end_headers()
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
