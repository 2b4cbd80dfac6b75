"""The commands. One object per command is all there is: parser, permission, help and documentation come from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.engine import PROPERTIES

Permission = Literal["admin", "write", "read", "none"]
"""What GitHub says of a user's rights in a repository ("maintain" counts as write, "triage" as read)."""


@dataclass(frozen=True, slots=True)
class Recheck:
    """Asks for the review again."""


@dataclass(frozen=True, slots=True)
class Explain:
    """Asks where a property of a compose comes from, or with `property` None which variables change it; or about a
    hazard, by its id alone.
    """

    subject: str
    service: str | None = None
    property: str | None = None

    # The field `property` hides the built-in name in this class.
    def hazard(self) -> str | None:
        """The hazard that is asked about, if there is one of this name."""
        return self.subject if self.service is None and self.property is None else None


@dataclass(frozen=True, slots=True)
class Help:
    """Asks what can be asked."""


Request = Recheck | Explain | Help


class Wrong(Exception):
    """Words after a command that it does not understand; the message says what it takes, and quotes none of them."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command. `usage` is how it is written, `summary` what it does in a few words, `details` the rest of its
    documentation in Markdown, `parse` makes a request of the words behind it and raises `Wrong`. `permissions` are
    those that may use it; `for_author` says that the author of the pull request may, whatever the permission.
    """

    name: str
    usage: str
    summary: str
    details: str
    parse: Callable[[tuple[str, ...]], Request]
    permissions: frozenset[Permission] = frozenset({"admin", "write"})
    for_author: bool = True

    @property
    def who(self) -> str:
        """Who may use it, in words."""
        named = "people with write access"
        return f"{named}, and the author of the pull request" if self.for_author else named


def may(command: Command, permission: Permission, is_author: bool, is_bot: bool) -> bool:
    """Whether somebody may use a command. A bot never may: two of them would answer each other."""
    return not is_bot and (permission in command.permissions or (is_author and command.for_author))


def _nothing(request: Request) -> Callable[[tuple[str, ...]], Request]:
    def parse(words: tuple[str, ...]) -> Request:
        if words:
            raise Wrong("takes nothing behind it")
        return request

    return parse


def _explain(words: tuple[str, ...]) -> Request:
    if not words:
        raise Wrong("needs the path of a compose, its slug, or the id of a hazard")
    if len(words) > 2:
        raise Wrong("takes a path or a slug, and a property; a path with spaces goes in backquotes")
    subject, _, service = words[0].partition(":")
    return Explain(subject.removeprefix("./"), service or None, words[1] if len(words) == 2 else None)


RECHECK = Command(
    "recheck",
    "/recheck",
    "runs the review again",
    "The pull request's head is looked at again, over the tip of its base branch as it is now. Comments that no longer "
    "hold are marked, new ones are added, nothing is said twice.",
    _nothing(Recheck()),
)
EXPLAIN = Command(
    "explain",
    "/explain <path, slug or hazard> [property]",
    "tells where a property of a compose comes from, or what a hazard is",
    "With a property, the answer is the chain of reasons: from the line of the compose, through the entrypoint, to the "
    "engine's own default. Without one, it lists the variables that can be set on the host (the *seams*), and what "
    "each of their values changes.\n\n"
    "A path or slug names a compose of this repository, by its path or by the name that the registry gives it. Where a "
    "compose has several services, `path:service` picks one. A path with spaces goes in backquotes.\n\n"
    "With the id of a hazard, which every comment names (`/explain mtp-prefix-cache-hybrid`), the answer is what it is "
    "about and how sure that is.\n\n"
    f"The properties are {', '.join(f'`{name}`' for name in PROPERTIES)}.",
    _explain,
)
HELP = Command(
    "help",
    "/help",
    "lists the commands",
    "",
    _nothing(Help()),
)

COMMANDS: Mapping[str, Command] = {command.name: command for command in (RECHECK, EXPLAIN, HELP)}
"""Every command by its name."""
