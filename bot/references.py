"""Upstream references in one normal form: `vllm-project/vllm#46324`.

People write them as `vllm#46324`, `#46324`, `PR 46324`, a URL of the pull request or the issue, or in full.
"""

from __future__ import annotations

import re

UPSTREAM = "vllm-project/vllm"
"""The repository that a reference without one means."""

OWNERS = {"vllm": UPSTREAM}
"""Short names whose owner everybody leaves out."""

REDIRECT = "https://redirect.github.com"
"""The host for links to other repositories. One to github.com itself would leave a "mentioned this" in the issue that
it leads to, for every text posted.
"""

_NUMBER = r"[1-9][0-9]{0,8}"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_URL = rf"(?:https?://)?(?:www\.)?github\.com/(?P<url_repo>{_NAME}/{_NAME})/(?:pull|pulls|issues)/(?P<url_number>{_NUMBER})"
_SHORT = rf"(?P<repo>(?:{_NAME}/)?{_NAME})?#(?P<number>{_NUMBER})"
_ONE = re.compile(
    rf"(?:{_URL}(?:[/?#]\S*)?|{_SHORT}|(?:PR|pull|issue)?[ \t#-]{{0,3}}(?P<bare>{_NUMBER}))", re.IGNORECASE
)
_MANY = re.compile(rf"{_URL}|(?<![\w/#&.-]){_SHORT}(?!\w)", re.IGNORECASE)


def normalise(text: str | int, repository: str = UPSTREAM) -> str | None:
    """The normal form of one reference, or None when `text` is none.

    `repository` is what a reference without a repository (`#46324`, `46324`) means.
    """
    match = _ONE.fullmatch(str(text).strip())
    return _normal(match, repository) if match else None


def references_in(text: str, repository: str = UPSTREAM) -> tuple[str, ...]:
    """Every reference that a text names, in normal form, each once, in the order of the text.

    A bare number is not one: prose is full of them.
    """
    found = (_normal(match, repository) for match in _MANY.finditer(text))
    return tuple(dict.fromkeys(reference for reference in found if reference))


def address(reference: str) -> str:
    """Where a reference in normal form can be read, without a trace there."""
    repository, _, number = reference.rpartition("#")
    return f"{REDIRECT}/{repository}/issues/{number}"


def _normal(match: re.Match[str], repository: str) -> str | None:
    groups = match.groupdict()
    if groups["url_number"]:
        return f"{_owned(groups['url_repo'])}#{groups['url_number']}"
    if groups.get("bare"):
        return f"{repository}#{groups['bare']}"
    name = _owned(groups["repo"]) if groups["repo"] else repository
    return f"{name}#{groups['number']}" if name else None


def _owned(name: str) -> str | None:
    """`owner/name`, or None for a short name that could be anybody's."""
    if "/" not in name:
        return OWNERS.get(name.lower())
    return UPSTREAM if name.lower() == UPSTREAM else name
