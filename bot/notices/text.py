"""The words of a notice: the issue's title, its text, and a comment for each thing that happens later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from bot.markdown import cell, code, prose, shortened
from bot.notices.caveats import Caveat
from bot.notices.marks import fingerprint, task
from bot.notices.notice import Notice
from bot.notices.places import Places, compare, quoted, reference
from bot.notices.standing import Stage
from bot.notices.words import (
    HAS,
    MAX_EVIDENCE,
    MAX_PINS,
    about,
    closed,
    conflicts,
    denied,
    evidence,
    named,
    not_reached,
    pins,
    plural,
    release_of,
    some,
    verb,
    when,
)
from bot.printable import printable
from bot.references import UPSTREAM
from bot.upstream.clock import PinAnswer
from bot.upstream.repository_pins import RepositoryPin

MAX_TITLE = 200
_SEPARATORS = 400
"""Bytes for what stands between the parts, and for the line that says what had no room."""

MAX_DONE = 200
"""Ticked tasks whose line is gone that are still shown."""

_HEADS: dict[Stage, str] = {
    "unknown": "not known any more",
    "open": "open again",
    "closed": "closed without a merge",
    "not-fixed": "closed upstream, and not fixed",
    "superseded": "superseded upstream",
    "reverted": "reverted upstream",
    "dead-target": "the code that it fixes is gone",
    "merged": "merged upstream, not released yet",
    "relanded": "merged upstream again, not released yet",
    "released": "released upstream, not pinned here",
    "pinned": "in the pinned release: its caveats may go",
}
_LEFT = "nothing here waits for it any more"
TODO = ("boot", "measure", "default", "rules")
"""What is to be run again before a caveat goes, as far as it applies."""

UNKNOWN = (
    "> [!IMPORTANT]\n> How far this is can't be told any more: {why}. Until it can, nothing below says that a caveat "
    "may go."
)


def title(notice: Notice) -> str:
    """The issue's title. A reference in it would leave a mention upstream, so it is written without its mark."""
    repository, _, number = notice.reference.rpartition("#")
    name = f"vLLM {number}" if repository == UPSTREAM else f"{repository} {number}"
    said = about(notice)
    head = _HEADS[notice.standing.stage]
    if notice.standing.stage == "not-fixed" and notice.watched.clock.state != "closed-unmerged":
        head = "merged upstream, and the defect is still there"
    if notice.standing.stage == "pinned" and not notice.clear:
        head = "in the pinned release, and what waits for it needs more"
    elif notice.standing.stage == "released" and any(answer.state == "pinned" for _, answer in pins(notice)):
        head = "released upstream, and not in every pin that needs it"
    elif notice.standing.stage == "pinned" and notice.standing.by:
        head = "in the pinned release, and reverted upstream since"
    elif notice.standing.stage == "pinned" and len(notice.clear) < len(notice.caveats):
        head = "in a pinned release: some of its caveats may go"
    told = f"Upstream fix {name}{f' ({said})' if said else ''}: {head}"
    return shortened(printable(told.replace("#", " ").replace("@", " ")), MAX_TITLE)


def body(notice: Notice, places: Places, ticked: Mapping[str, str], room: int) -> str:
    """The block of the issue, in at most `room` bytes. Tasks that people ticked stay ticked."""
    lead, foot = _lead(notice), _foot(notice)
    room -= _size(lead) + _size(foot) + _SEPARATORS
    known = "\n\n".join(_known(notice, room // 3))
    against = "\n\n".join(_bounded(conflicts(notice), room // 6, "pin", "pins"))
    lists = _fitting(_lists(notice, places, ticked), room - _size(known) - _size(against))
    return "\n\n".join(part for part in (lead, known, against, lists, foot) if part)


def gist(notice: Notice) -> str:
    """A fingerprint of what the issue says, wherever the lines are that it is about."""
    return fingerprint(title(notice), body(notice, Places(), {}, 1_000_000))


def left_title(title: str) -> str:
    """The title of an issue once nothing here names its fix any more."""
    before = title.rpartition(": ")[0] or title  # before how far it is
    return shortened(f"{before}: {_LEFT}", MAX_TITLE)


def left_note(name: str) -> str:
    """What then stands above its text."""
    return (
        f"> [!NOTE]\n> Nothing on the default branch names {reference(name)} any more. What follows is how it was "
        "last, and is not kept up to date; this can be closed."
    )


# The lead: what happened, and what it means here


def _lead(notice: Notice) -> str:
    watched, stage = notice.watched, notice.standing.stage
    said = about(notice)
    name = reference(notice.reference) + (f" ({prose(said)})" if said else "")
    first = watched.clock.first_release
    where = f" The first release that has it is {release_of(notice, first)}." if first else ""
    match stage:
        case "merged":
            told = (
                f"{name} was merged upstream{when(notice)}. **No release is known to have it yet.** Nothing is to be "
                "done here until one has it and a pin moves there."
            )
        case "relanded":
            told = (
                f"{name} was reverted upstream and **has landed again**. No release is known to have it as it came "
                "back. Nothing is to be done here until one has it and a pin moves there."
            )
        case "released":
            told = f"{name} is **released**, and {not_reached(notice)}.{where} {_to_move(notice)}"
        case "pinned":
            told = f"{name} was merged upstream{when(notice)}. **{_pinned(notice)}**{where}"
        case "reverted":
            by = f" by {named(notice.standing.by)}" if notice.standing.by else ""
            told = (
                f"{name} **was reverted** upstream{by}. What waits for it here has to stay, and to come back where it "
                "was dropped already."
            )
            if first:
                told += f" {release_of(notice, first)} has it, as do those after it that are older than the revert."
        case "superseded":
            by = named(notice.standing.by) if notice.standing.by else "another one"
            told = (
                f"{name} is superseded: **{by} takes its place**, as is said upstream. Nobody has looked whether it "
                "does the same. What waits here should name it instead, and be measured once a pin has it; until then "
                "it stays."
            )
        case "not-fixed":
            told = (
                f"{name} {closed(notice)}, and **the defect is still there** in the source of "
                f"{some(denied(notice))}.{where} Keep what was put here because of it; what it waits for has to be "
                "another fix."
            )
        case "closed":
            told = (
                f"{name} {closed(notice)}. No probe of the source tells whether the defect is gone: keep what waits "
                "for it here until somebody has looked."
            )
        case "dead-target":
            told = (
                f"The code that {name} is about **is gone** from a pinned release. An overlay of it has nothing to "
                "change there; whether the defect is gone too is not known."
            )
        case "open":
            told = f"{name} is **open** again: no release has it, and what waits for it here stays."
        case _:
            why = prose(watched.clock.why or "what decides about it is missing")
            told = f"{name}\n\n{UNKNOWN.format(why=why)}"
    return told + _reverted_on_main(notice)


def _reverted_on_main(notice: Notice) -> str:
    """A pin may have what main has lost: the next move of the pin then loses it too."""
    by = notice.standing.by
    if notice.standing.stage not in ("pinned", "released") or not by:
        return ""
    return (
        f"\n\n> [!WARNING]\n> Upstream has reverted it since, by {named(by)}: another release may not have it. "
        "Whoever drops a caveat now needs it again when the pin moves there."
    )


def _pinned(notice: Notice) -> str:
    images = [pin.image for pin, answer in pins(notice) if answer.state == "pinned"]
    others = [answer for _, answer in pins(notice) if answer.state != "pinned"]
    have = "has" if len(images) == 1 else "have"
    told = f"{some(images)}, pinned here, {have} it"
    if not notice.caveats:
        return f"{told}; nothing here names it any more, so this can be closed."
    if not notice.clear:
        return f"{told}, but what waits for it needs more than this fix."
    if any(caveat.verdict == "held" for caveat in notice.caveats):
        return f"{told}: what waits for it alone may go. Some needs more than this fix, and stays."
    if others:
        return f"{told}; what stands on it may go. Other pins do not have it, or it is not known."
    return f"{told}: what was put here until then may go."


def _to_move(notice: Notice) -> str:
    """What has to happen here for a released fix to count."""
    first = notice.watched.clock.first_release
    to = f"to {release_of(notice, first)}, or a later release that has it" if first else "to a release that has it"
    return f"What waits for it stays until its pin moves {to}."


# How it is known


def _known(notice: Notice, room: int) -> Iterator[str]:
    """The table of pins, in about `room` bytes, and what is said below it."""
    rows = pins(notice)
    if not rows:
        return
    others = len(notice.watched.pins) - len(rows)
    lines: list[str] = []
    for pin, answer in rows[:MAX_PINS]:
        users = some(use.name for use in pin.uses)
        why = "; ".join(evidence(notice, text) for text in answer.evidence[:MAX_EVIDENCE])
        line = "| " + " | ".join(map(cell, (_pin(notice, pin, answer), users, HAS[answer.state], why))) + " |"
        room -= _size(line)
        if room < 0 and lines:
            break
        lines.append(line)
    if len(rows) > len(lines):
        lines.append(f"| and {len(rows) - len(lines)} more | | | |")
    yield "\n".join(("| pin | used by | has it | how that is known |", "|---|---|---|---|", *lines))
    if any(answer.state == "unknown" and not pin.release for pin, answer in rows):
        yield "What nobody can see of an image, the repository can say: `images:` in `.github/seamguard.yml`."
    if others:
        yield f"{others} more {plural('pin', others)} of this repository: no compose that uses them names this fix."


def _bounded(texts: Iterable[str], room: int, one: str, many: str) -> Iterator[str]:
    """The first of some texts, in at most `room` bytes, and of how many more things they would be."""
    every = list(texts)
    for index, text in enumerate(every):
        room -= _size(text)
        if room < 0:
            missing = len(every) - index
            yield f"The same is so of {missing} more {one if missing == 1 else many}: `seamguard clocks` lists them."
            return
        yield text


def _pin(notice: Notice, pin: RepositoryPin, answer: PinAnswer) -> str:
    """A pin, with a link to what lies between the fix and it: "behind" there means that the release has it."""
    pull, repository = notice.watched.pull, notice.reference.rpartition("#")[0]
    at = f"v{pin.release}" if pin.release else pin.commit
    if at is None or pull is None or not pull.merge_commit:
        return quoted(pin.image)
    if answer.state == "pinned" and not any(pull.merge_commit[:12] in text for text in answer.evidence):
        return quoted(pin.image)  # it came in by another commit, of which the comparison knows nothing
    return f"{quoted(pin.image)} ({compare(repository, at, pull.merge_commit)})"


# What waits


def _lists(notice: Notice, places: Places, ticked: Mapping[str, str]) -> Iterator[str]:
    """Lines of the lists, most useful first. A line that begins a list stands with the line after it."""
    clear = notice.clear
    held = [caveat for caveat in notice.caveats if caveat.verdict == "held"]
    later = [caveat for caveat in notice.caveats if caveat.verdict in ("not-yet", "unknown")]
    if held:
        yield "### First look at these"
        yield "The fix is there, and each of these needs more than it. None may go before that is settled."
        yield from _grouped(notice, held, places, ticked, with_tasks=False)
    if clear:
        yield "### What may go"
        yield from _grouped(notice, clear, places, ticked, with_tasks=True)
    if clear:
        yield "### Before dropping them"
        yield from _again(notice, clear, ticked)
    if later:
        if notice.standing.stage == "pinned":
            yield "### Not yet"
            yield "These stand on a pin that does not have the fix, or of which that is not known."
        else:
            yield "### What waits here"
        yield from _grouped(notice, later, places, ticked, with_tasks=False)
    known = {caveat.identity for caveat in notice.caveats} | {_todo(notice, name) for name in TODO}
    gone = {identity: line for identity, line in ticked.items() if identity not in known}
    if gone:
        yield "### Done"
        for identity, line in list(gone.items())[:MAX_DONE]:
            yield task(identity, line, done=True)


def _grouped(
    notice: Notice, found: Iterable[Caveat], places: Places, ticked: Mapping[str, str], *, with_tasks: bool
) -> Iterator[str]:
    for path, group in groupby(found, key=lambda caveat: caveat.site.position.path):
        rows = list(group)
        users = some(dict.fromkeys(name for caveat in rows for name in caveat.users))
        yield f"{places.file(path)}{f' ({users})' if users else ''}"
        for caveat in rows:
            text = _caveat(notice, caveat, places)
            identity = caveat.identity
            done = identity in ticked  # a tick stays, also where the caveat is needed again
            yield task(identity, text, done=done) if with_tasks or done else f"- {text}"
        yield ""


def _caveat(notice: Notice, caveat: Caveat, places: Places) -> str:
    site = caveat.site
    shown = site.patch if caveat.kind == "patch entry" and site.patch else site.text
    what = quoted(shown)
    until = f" until {quoted(site.predicate)}" if site.predicate and site.predicate not in shown else ""
    why = f": {'; '.join(evidence(notice, reason) for reason in caveat.why)}" if caveat.why else ""
    return f"{places.line(site.position)}, {caveat.kind}: {what}{until}{why}"


def _again(notice: Notice, clear: Iterable[Caveat], ticked: Mapping[str, str]) -> Iterator[str]:
    """What to run again: a caveat was put there because somebody measured something."""
    names = list(dict.fromkeys(name for caveat in clear for name in caveat.users))
    overlay = [caveat for caveat in notice.clear if caveat.kind in ("patch entry", "mount", "call", "overlay")]
    todo: list[tuple[str, str]] = []
    if overlay:
        todo.append(
            ("boot", "Start the engine without the overlay, and read its log: nothing that ran before it is missing.")
        )
    if names:
        todo.append(("measure", f"Repeat the measurement that each caveat rests on, on {some(names, 12)}."))
    else:
        todo.append(("measure", "Repeat the measurement that each caveat rests on."))
    if any(caveat.kind == "default" for caveat in clear):
        todo.append(("default", "Let the defaults above go back one by one, each with a measurement of its own."))
    if notice.rules:
        todo.append(
            (
                "rules",
                f"`seamguard audit` finds nothing new: {some(notice.rules)} {verb(notice.rules)} for this fix, too.",
            )
        )
    for name, text in todo:
        identity = _todo(notice, name)
        yield task(identity, text, done=identity in ticked)


def _todo(notice: Notice, name: str) -> str:
    return fingerprint(notice.reference, "before dropping", name)[:12]


def _size(text: str) -> int:
    """Bytes, as GitHub counts them."""
    return len(text.encode("utf-8", "replace"))


def _fitting(lines: Iterable[str], room: int) -> str:
    """As many lines as there is room for, and how many are missing."""
    kept: list[str] = []
    everything = list(lines)
    for index, line in enumerate(everything):
        room -= _size(line) + 2
        if room < 0:
            missing = sum(rest.startswith("- ") for rest in everything[index:])
            kept.append(f"\nand {missing} more {plural('line', missing)}: `seamguard clocks` lists them all.")
            break
        heads = line.startswith("### ")
        kept.append(f"\n{line}\n" if heads else line if line.startswith("- ") or not line else f"{line}\n")
    return "\n".join(kept).replace("\n\n\n", "\n\n").strip()


def _foot(notice: Notice) -> str:
    rules = f" The rules {some(notice.rules)} wait for it, too." if len(notice.rules) > 1 else ""
    if len(notice.rules) == 1:
        rules = f" The rule {code(notice.rules[0])} waits for it, too."
    return (
        "<sub>Seamguard keeps the text between its marks up to date and adds a comment when something happens. Ticks "
        f"stay, and so does what is written above or below. A closed issue stays closed unless the fix is lost.{rules}"
        "</sub>"
    )
