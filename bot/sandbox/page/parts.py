"""Pieces of the page that come again: who said something when, folded sections, reactions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from html import escape

from bot.sandbox.github.model import App, Reaction, User

_EMOJI = {
    "+1": "👍",
    "-1": "👎",
    "laugh": "😄",
    "confused": "😕",
    "heart": "❤️",
    "hooray": "🎉",
    "rocket": "🚀",
    "eyes": "👀",
}
_HUES = 12


def byline(who: User, when: datetime, verb: str, app: App | None = None) -> str:
    """Who, and when. An App's bot is marked."""
    name = escape(who.login.removesuffix("[bot]"))
    face = f'<span class="face h{sum(map(ord, who.login)) % _HUES}" aria-hidden="true">{name[:1].upper()}</span>'
    bot = "" if app is None else " " + tag("bot")
    time = f'<time datetime="{when.isoformat()}">{when:%H:%M:%S}</time>'
    return f'<div class="by">{face}<b>{name}</b>{bot} {verb} {time}</div>'


def tag(text: str) -> str:
    """A small mark. Its words are its style's name too."""
    return f'<span class="tag {escape(text.replace(" ", "-"))}">{escape(text)}</span>'


def folded(key: str, title: str, content: str, kind: str = "") -> str:
    """A section that opens at a click. The script keeps it open by its key."""
    return f'<details class="folded {kind}" id="{key}"><summary>{title}</summary>{content}</details>'


def reactions(given: Iterable[Reaction]) -> str:
    """Emoji with their counts."""
    names = [each.content for each in given]
    shown = [
        f'<span class="reaction">{emoji} {names.count(name)}</span>' for name, emoji in _EMOJI.items() if name in names
    ]
    return f'<div class="reactions">{"".join(shown)}</div>' if shown else ""


def plural(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def button(action: str, label: str, values: dict[str, str], kind: str = "", *, disabled: bool = False) -> str:
    """A form that is nothing but a button."""
    hidden = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in values.items()
    )
    state = " disabled" if disabled else ""
    return (
        f'<form method="post" action="{action}">{hidden}<button class="{kind}"{state}>{escape(label)}</button></form>'
    )
