"""What the names in requests stand for."""

from __future__ import annotations

from bot.sandbox.github.model import Repository


def resolve(repository: Repository, reference: str) -> str | None:
    """The commit that a branch, a tag, a full reference or an id names."""
    if reference in ("", "HEAD"):
        reference = repository.default_branch
    short = reference.removeprefix("refs/")
    if short.startswith("pull/"):
        number = short.split("/")[1]
        pull = repository.pulls.get(int(number)) if number.isdigit() else None
        return pull.head_sha if pull is not None and short.endswith("/head") else None
    for kind, names in (("heads/", repository.branches), ("tags/", repository.tags)):
        if short.startswith(kind) and short.removeprefix(kind) in names:
            return names[short.removeprefix(kind)]
        if reference in names:
            return names[reference]
    return repository.store.full_id(reference)
