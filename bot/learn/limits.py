"""How much of an archive is read: it may be a stranger's."""

from __future__ import annotations

MAX_FILE_BYTES = 4 * 1024 * 1024
"""A file over this size is no module that decides a default."""

MAX_TOTAL_BYTES = 256 * 1024 * 1024
"""Python text of an archive that is kept; a release has about 40 MB."""

MAX_MEMBERS = 100_000
"""Files and folders of an archive that are looked at; the repository at a tag has about 6,000."""

TOO_MUCH = "more files, or more Python, than a release has"
