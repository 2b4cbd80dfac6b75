"""Fetch GitHub's own description of its API and the schema of SARIF, as npm packages hold them, into a cache that
git ignores.

    python -m tests.contract.fetch

The packages are pinned by version and checksum; what is in the cache is not fetched again. Where npm is missing, or
does not answer, this says so and ends well: the tests that need them are then skipped.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "contract"
PATIENCE_SECONDS = 120


@dataclass(frozen=True)
class Package:
    """One file of one npm package."""

    name: str
    version: str
    integrity: str
    member: str
    kept: str
    """The name in the cache; always gzipped."""

    @property
    def file(self) -> Path:
        return CACHE / self.kept


OPENAPI = Package(
    "@octokit/openapi",
    "23.0.2",
    "sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==",
    "package/generated/api.github.com.json",
    "openapi-23.0.2.json.gz",
)
GRAPHQL = Package(
    "@octokit/graphql-schema",
    "15.26.1",
    "sha512-RFDC2MpRBd4AxSRvUeBIVeBU7ojN/SxDfALUd7iVYOSeEK3gZaqR2MGOysj4Zh2xj2RY5fQAUT+Oqq7hWTraMA==",
    "package/schema.graphql",
    "graphql-15.26.1.graphql.gz",
)
EXAMPLES = Package(
    "@octokit/webhooks-examples",
    "7.6.1",
    "sha512-De6U3XB6O3DtCa7bKgCMzTHdeopqqZ6SNivMYJnK65ierKL1AnNIA0tkRYCRS7lwGT792d+Ps1WbfHlso6MynQ==",
    "package/api.github.com/index.json",
    "webhooks-7.6.1.json.gz",
)
SARIF = Package(
    "@microsoft/jest-sarif",
    "1.0.0-beta.0",
    "sha512-A1fOhPd6Ic5iDk4F9YPw1qNB4XF+7+IviR7xl8r2F6QzQkx5cpY9LsGk2rExiFIEcBbjpVnSmwWGBukASkiQ9A==",
    "package/lib/schemas/sarif-2.1.0-rtm.5.json",
    "sarif-2.1.0.json.gz",
)
"""The schema of SARIF, as its authors ship it."""

PACKAGES = (OPENAPI, GRAPHQL, EXAMPLES, SARIF)


class Unavailable(Exception):
    """The package cannot be had now. The message says why."""


def fetch(package: Package) -> None:
    """Put a package's file into the cache, unless it is there. Raises `Unavailable`, and `ValueError` for a package
    that is not the pinned one.
    """
    if package.file.exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            npm,
            "pack",
            "--silent",
            "--ignore-scripts",
            "--fetch-retries=1",
            f"{package.name}@{package.version}",
        ]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            raise Unavailable(f"npm does not give {package.name} {package.version}") from None
        (archive,) = Path(folder).glob("*.tgz")
        _verify(archive, package)
        _keep(archive, package)


def _verify(archive: Path, package: Package) -> None:
    algorithm, _, expected = package.integrity.partition("-")
    found = base64.b64encode(hashlib.new(algorithm, archive.read_bytes()).digest()).decode("ascii")
    if found != expected:
        raise ValueError(f"{package.name} {package.version} is not the package that was pinned: {algorithm}-{found}")


def _keep(archive: Path, package: Package) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        member = tar.extractfile(package.member)
        if member is None:
            raise ValueError(f"{package.name} {package.version} has no {package.member}")
        content = member.read()
    write(package.file, gzip.compress(content, 6, mtime=0))


def write(file: Path, content: bytes) -> None:
    """Write in one step, since several test processes may do so at once."""
    part = file.with_name(f"{file.name}.{os.getpid()}")
    part.write_bytes(content)
    part.replace(file)


def main() -> int:
    """Fetch all. The status is 0 when the cache is full or npm is missing, 1 when a package is not the pinned one."""
    for package in PACKAGES:
        try:
            fetch(package)
        except Unavailable as why:
            print(f"GitHub's description and the schema of SARIF are not checked against: {why}", file=sys.stderr)
            return 0
        except ValueError as wrong:
            print(wrong, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
