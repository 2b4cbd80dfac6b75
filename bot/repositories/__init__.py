"""Where trees come from: a folder, or a revision of a git repository. The only room of the core that does I/O."""

from bot.repositories.changes import Change, changed_paths, diff, merge_base
from bot.repositories.directory import DirectoryTree
from bot.repositories.git import InvalidRevision, NotARepository, RepositoryError, UnknownRevision, work_tree
from bot.repositories.objects import BlobCache
from bot.repositories.revision import RevisionTree

__all__ = [
    "BlobCache",
    "Change",
    "DirectoryTree",
    "InvalidRevision",
    "NotARepository",
    "RepositoryError",
    "RevisionTree",
    "UnknownRevision",
    "changed_paths",
    "diff",
    "merge_base",
    "work_tree",
]
