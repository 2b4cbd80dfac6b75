"""Where trees come from: a folder, or a revision of a git repository. The only room of the core that does I/O."""

from bot.repositories.changes import Change, changed_paths, diff, last_commit, merge_base, staged_diff, staged_paths
from bot.repositories.directory import DirectoryTree
from bot.repositories.git import InvalidRevision, NotARepository, RepositoryError, UnknownRevision, work_tree
from bot.repositories.objects import BlobCache
from bot.repositories.revision import IndexTree, RevisionTree

__all__ = [
    "BlobCache",
    "Change",
    "DirectoryTree",
    "IndexTree",
    "InvalidRevision",
    "NotARepository",
    "RepositoryError",
    "RevisionTree",
    "UnknownRevision",
    "changed_paths",
    "diff",
    "last_commit",
    "merge_base",
    "staged_diff",
    "staged_paths",
    "work_tree",
]
