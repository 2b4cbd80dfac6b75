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
class Verify:
    """Asks whether a boot log is of what a compose says: the one of this path or slug, or with None the one that it
    fits.
    """

    subject: str | None = None
    service: str | None = None


@dataclass(frozen=True, slots=True)
class Help:
    """Asks what can be asked."""


Request = Recheck | Explain | Verify | Help


class Wrong(Exception):
    """Words after a command that it does not understand; the message says what it takes, and quotes none of them."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command. `usage` is how it is written, `summary` what it does in a few words, `details` the rest of its
    documentation in Markdown, `parse` makes a request of the words behind it and raises `Wrong`. `permissions` are
    those that may use it; `for_author` says that the author of the pull request or issue may, whatever the permission.
    `needs` says of a command that takes a block of code what that is and how it is pasted, in Markdown that goes on
    behind "needs"; empty for the others. `on_issues` is False for one that only a pull request has a use for.
    """

    name: str
    usage: str
    summary: str
    details: str
    parse: Callable[[tuple[str, ...]], Request]
    permissions: frozenset[Permission] = frozenset({"admin", "write"})
    for_author: bool = True
    needs: str = ""
    on_issues: bool = True

    @property
    def who(self) -> str:
        """Who may use it, in words."""
        named = "people with write access"
        author = "the author of the pull request" + (" or issue" if self.on_issues else "")
        return f"{named}, and {author}" if self.for_author else named


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
    subject, service = _place(words[0])
    return Explain(subject, service, words[1] if len(words) == 2 else None)


def _verify(words: tuple[str, ...]) -> Request:
    if len(words) > 1:
        raise Wrong("takes a path or a slug, and the log in a code block below; a path with spaces goes in backquotes")
    return Verify(*_place(words[0])) if words else Verify()


def _place(word: str) -> tuple[str, str | None]:
    """A path or slug, and the service behind a colon."""
    subject, _, service = word.partition(":")
    return subject.removeprefix("./"), service or None


RECHECK = Command(
    "recheck",
    "/recheck",
    "runs the review again",
    "The pull request's head is looked at again, over the tip of its base branch as it is now. Comments that no longer "
    "hold are marked, new ones are added, nothing is said twice.",
    _nothing(Recheck()),
    on_issues=False,
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
VERIFY = Command(
    "verify",
    "/verify [FILE[:SERVICE]]",
    "holds the boot log below it against a compose",
    "The log stands in a code block of the same comment, behind the command; it may be folded away:\n\n"
    "````markdown\n/verify compose/solo.yml\n\n<details><summary>boot log</summary>\n\n```\n"
    "INFO 12-01 00:29:25 [api_utils.py:273] non-default args: {…}\n…\n```\n\n</details>\n````\n\n"
    "Each property is resolved from the files (of the pull request's head; on an issue, of the default branch) and "
    "read from the log: they agree, the log contradicts, or it does not say it. Where it contradicts, a world that it "
    "fits is named. What only a log proves, how the worker ends with the CUDA graphs, is told, with the hazards that "
    "it changes. [boot-logs.md](boot-logs.md) tells what is read, and shows an answer.\n\n"
    "The compose is named by its path or slug, with `:service` where it has several engines. Without a name it is the "
    "one that the log fits, by the names of its model and container, its port and its arguments; where several fit, "
    "they are named to choose from.\n\n"
    "Nothing of the log is repeated or kept but the values of these properties, the names of the model, the port, and "
    "arguments that are numbers: arguments hold keys. The comment itself is as public as any other, so "
    "take out whatever is secret.",
    _verify,
    needs="a boot log in a code block behind it, in the same comment and not quoted: three backquotes on a line of "
    "their own above the log, and three below it. Inside of `<details>` an empty line goes before the first three. "
    "What is wanted is what `docker compose logs` prints from the start of the container on, until the server is up",
)
HELP = Command(
    "help",
    "/help",
    "lists the commands",
    "",
    _nothing(Help()),
)

COMMANDS: Mapping[str, Command] = {command.name: command for command in (RECHECK, EXPLAIN, VERIFY, HELP)}
"""Every command by its name."""
