"""The words of a notice: the issue's title, its text, and a comment for each thing that happens later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from bot.markdown import cell, clipped, code, prose, sentence, shortened
from bot.notices.caveats import Caveat
from bot.notices.marks import fingerprint, task
from bot.notices.notice import Notice
from bot.notices.places import Places, commit, compare, quoted, reference, release
from bot.notices.standing import Stage, relevant_pins
from bot.printable import printable
from bot.references import UPSTREAM
from bot.upstream.clock import PinAnswer
from bot.upstream.repository_pins import RepositoryPin

MAX_TITLE = 200
MAX_PINS = 20
"""Rows of the table of pins."""

MAX_NAMES = 4
MAX_EVIDENCE = 3
MAX_DONE = 200
"""Ticked tasks whose line is gone that are still shown."""

_PIN = {"pinned": "**yes**", "not-pinned": "no", "unknown": "not known"}
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
    about = _about(notice)
    head = _HEADS[notice.standing.stage]
    if notice.standing.stage == "not-fixed" and notice.watched.clock.state != "closed-unmerged":
        head = "merged upstream, and the defect is still there"
    if notice.standing.stage == "pinned" and not notice.clear:
        head = "in the pinned release, and what waits for it needs more"
    elif notice.standing.stage == "pinned" and notice.standing.waiting:
        head = "in a pinned release: some of its caveats may go"
    told = f"Upstream fix {name}{f' ({about})' if about else ''}: {head}"
    return shortened(printable(told.replace("#", " ").replace("@", " ")), MAX_TITLE)


def body(notice: Notice, places: Places, ticked: Mapping[str, str], room: int) -> str:
    """The block of the issue, in at most `room` bytes. Tasks that people ticked stay ticked."""
    parts = [_lead(notice), *_known(notice), *_conflicts(notice)]
    head = "\n\n".join(part for part in parts if part)
    foot = _foot(notice)
    lists = list(_lists(notice, places, ticked))
    left = room - len(head.encode()) - len(foot.encode()) - 400
    return "\n\n".join(part for part in (head, _fitting(lists, left), foot) if part)


def gist(notice: Notice) -> str:
    """A fingerprint of what the issue says, wherever the lines are that it is about."""
    return fingerprint(title(notice), body(notice, Places(), {}, 1_000_000))


# The lead: what happened, and what it means here


def _lead(notice: Notice) -> str:
    watched, stage = notice.watched, notice.standing.stage
    about = _about(notice)
    name = reference(notice.reference) + (f" ({prose(about)})" if about else "")
    first = watched.clock.first_release
    where = f" The first release that has it is {_release(notice, first)}." if first else ""
    match stage:
        case "merged":
            told = (
                f"{name} was merged upstream{_when(notice)}. **No release is known to have it yet**: the next one that "
                "is cut from a branch with it will. Nothing is to be done here until a release has it and a pin moves "
                "there."
            )
        case "relanded":
            told = (
                f"{name} was reverted upstream and **has landed again**{_when(notice)}. No release is known to have it "
                "as it came back. Nothing is to be done here yet."
            )
        case "released":
            told = (
                f"{name} is **released**, and no pin of this repository that waits for it is known to have it.{where}"
            )
        case "pinned":
            told = f"{name} was merged upstream{_when(notice)}. **{_pinned(notice)}**{where}"
        case "reverted":
            by = f" by {_named(notice.standing.by)}" if notice.standing.by else ""
            told = f"{name} **was reverted** upstream{by}. What waits for it here has to stay."
            if first:
                told += f" {_release(notice, first)} and releases before the revert still have it."
        case "superseded":
            by = _named(notice.standing.by) if notice.standing.by else "another one"
            told = (
                f"{name} will not land: **{by} takes its place**, as is said upstream. Nobody has found yet "
                "that it does the same: what waits here should name it, and be measured again once a pin has it."
            )
        case "not-fixed":
            told = (
                f"{name} {_closed(notice)}, and **the defect is still there** in the source that was looked at.{where}"
            )
            told += " What was put here because of it has to stay."
        case "closed":
            told = f"{name} {_closed(notice)}. Whether the defect is gone was not looked at: what waits here stays."
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
        f"\n\n> [!WARNING]\n> Upstream has reverted it since, by {_named(by)}: another release may not have it. "
        "Whoever drops a caveat now needs it again when the pin moves there."
    )


def _pinned(notice: Notice) -> str:
    images = [pin.image for pin, answer in _pins(notice) if answer.state == "pinned"]
    others = [answer for _, answer in _pins(notice) if answer.state != "pinned"]
    have = "has" if len(images) == 1 else "have"
    told = f"{_some(images)}, pinned here, {have} it"
    if not notice.caveats:
        return f"{told}; nothing here names it any more, so this can be closed."
    if not notice.clear:
        return f"{told}, but what waits for it needs more than this fix."
    if others:
        return f"{told}; what stands on it may go. Other pins do not have it, or it is not known."
    return f"{told}: what was put here until then may go."


def _when(notice: Notice) -> str:
    pull, repository = notice.watched.pull, notice.reference.rpartition("#")[0]
    day = f" on {code(pull.merged_at[:10])}" if pull and pull.merged_at else ""
    sha = f" as {commit(repository, pull.merge_commit)}" if pull and pull.merge_commit else ""
    return day + sha


def _closed(notice: Notice) -> str:
    watched = notice.watched
    fact = watched.pull or watched.issue
    day = f" on {code(fact.closed_at[:10])}" if fact and fact.closed_at else ""
    if watched.pull is not None and watched.pull.state == "merged":
        return f"was merged{_when(notice)}"
    return f"was closed{day}{' without a merge' if watched.pull is not None else ''}"


# How it is known


def _known(notice: Notice) -> Iterator[str]:
    rows = _pins(notice)
    if not rows:
        return
    others = len(notice.watched.pins) - len(rows)
    lines = ["| pin | used by | has it | how that is known |", "|---|---|---|---|"]
    for pin, answer in rows[:MAX_PINS]:
        users = _some(use.name for use in pin.uses)
        why = "; ".join(sentence(quiet(text)) for text in answer.evidence[:MAX_EVIDENCE])
        lines.append("| " + " | ".join(map(cell, (_pin(notice, pin), users, _PIN[answer.state], why))) + " |")
    if len(rows) > MAX_PINS:
        lines.append(f"| and {len(rows) - MAX_PINS} more | | | |")
    yield "\n".join(lines)
    if others:
        yield f"{others} more {_plural('pin', others)} of this repository: no compose that uses them names this fix."


def _pin(notice: Notice, pin: RepositoryPin) -> str:
    """A pin, with a link to what lies between the fix and it: "behind" there means that the release has it."""
    pull, repository = notice.watched.pull, notice.reference.rpartition("#")[0]
    at = f"v{pin.release}" if pin.release else pin.commit
    if at is None or pull is None or not pull.merge_commit:
        return quoted(pin.image)
    return f"{quoted(pin.image)} ({compare(repository, at, pull.merge_commit)})"


def _conflicts(notice: Notice) -> Iterator[str]:
    told = dict.fromkeys(answer.conflict for _, answer in _pins(notice) if answer.conflict)
    for conflict in list(told)[:MAX_PINS]:
        yield f"> [!WARNING]\n> {sentence(quiet(conflict))}. The source counts, not the history."


def _pins(notice: Notice) -> list[tuple[RepositoryPin, PinAnswer]]:
    wanted = set(relevant_pins(notice.watched))
    order = {"pinned": 0, "not-pinned": 1, "unknown": 2}
    found = [(pin, answer) for pin, answer in notice.watched.pins if pin in wanted]
    return sorted(found, key=lambda row: (order[row[1].state], row[0].image))


# What waits


def _lists(notice: Notice, places: Places, ticked: Mapping[str, str]) -> Iterator[str]:
    """Lines of the lists, most useful first. A line that begins a list stands with the line after it."""
    clear = notice.clear
    held = [caveat for caveat in notice.caveats if caveat.verdict == "held"]
    later = [caveat for caveat in notice.caveats if caveat.verdict in ("not-yet", "unknown")]
    if held:
        yield "### First look at these"
        yield "The fix is there, and each of these needs more than it. None may go before that is settled."
        yield from _grouped(held, places, ticked, with_tasks=False)
    if clear:
        yield "### What may go"
        yield from _grouped(clear, places, ticked, with_tasks=True)
    if clear:
        yield "### Before dropping them"
        yield from _again(notice, clear, ticked)
    if later:
        if notice.standing.stage == "pinned":
            yield "### Not yet"
            yield "These stand on a pin that does not have the fix, or of which that is not known."
        else:
            yield "### What waits here"
        yield from _grouped(later, places, ticked, with_tasks=False)
    known = {caveat.identity for caveat in notice.caveats} | {_todo(notice, name) for name in TODO}
    gone = {identity: line for identity, line in ticked.items() if identity not in known}
    if gone:
        yield "### Done"
        for identity, line in list(gone.items())[:MAX_DONE]:
            yield task(identity, line, done=True)


def _grouped(found: Iterable[Caveat], places: Places, ticked: Mapping[str, str], *, with_tasks: bool) -> Iterator[str]:
    for path, group in groupby(found, key=lambda caveat: caveat.site.position.path):
        rows = list(group)
        users = _some(dict.fromkeys(name for caveat in rows for name in caveat.users))
        yield f"{places.file(path)}{f' ({users})' if users else ''}"
        for caveat in rows:
            text = _caveat(caveat, places)
            identity = caveat.identity
            done = identity in ticked  # a tick stays, also where the caveat is needed again
            yield task(identity, text, done=done) if with_tasks or done else f"- {text}"
        yield ""


def _caveat(caveat: Caveat, places: Places) -> str:
    site = caveat.site
    shown = site.patch if caveat.kind == "patch entry" and site.patch else site.text
    what = quoted(shown)
    until = f" until {quoted(site.predicate)}" if site.predicate and site.predicate not in shown else ""
    why = f": {'; '.join(sentence(quiet(reason)) for reason in caveat.why)}" if caveat.why else ""
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
        todo.append(("measure", f"Repeat the measurement that each caveat rests on, on {_some(names, 12)}."))
    else:
        todo.append(("measure", "Repeat the measurement that each caveat rests on."))
    if any(caveat.kind == "default" for caveat in clear):
        todo.append(("default", "Let the defaults above go back one by one, each with a measurement of its own."))
    if notice.rules:
        todo.append(
            ("rules", f"`bot audit` finds nothing new: {_some(notice.rules)} {_verb(notice.rules)} for this fix, too.")
        )
    for name, text in todo:
        identity = _todo(notice, name)
        yield task(identity, text, done=identity in ticked)


def _todo(notice: Notice, name: str) -> str:
    return fingerprint(notice.reference, "before dropping", name)[:12]


def _fitting(lines: Iterable[str], room: int) -> str:
    """As many lines as there is room for, and how many are missing."""
    kept: list[str] = []
    everything = list(lines)
    for index, line in enumerate(everything):
        room -= len(line.encode()) + 2
        if room < 0:
            missing = sum(rest.startswith("- ") for rest in everything[index:])
            kept.append(f"\nand {missing} more {_plural('line', missing)}: `bot clocks` lists them all.")
            break
        heads = line.startswith("### ")
        kept.append(f"\n{line}\n" if heads else line if line.startswith("- ") or not line else f"{line}\n")
    return "\n".join(kept).replace("\n\n\n", "\n\n").strip()


def _foot(notice: Notice) -> str:
    rules = f" The rules {_some(notice.rules)} wait for it, too." if len(notice.rules) > 1 else ""
    if len(notice.rules) == 1:
        rules = f" The rule {code(notice.rules[0])} waits for it, too."
    return (
        "<sub>Seamguard keeps the text between its marks up to date and adds a comment when something happens. Ticks "
        f"stay, and so does what is written above or below. A closed issue stays closed unless the fix is lost.{rules}"
        "</sub>"
    )


# Comments


def news(notice: Notice, before: Stage, by: str, gained: int, lost: tuple[str, ...]) -> str:
    """The comment for a change, from what was told before. `gained` are users of pins that got the fix, `lost` those
    that lost it, by name.
    """
    stage = notice.standing.stage
    name = reference(notice.reference)
    if stage == before and stage in ("pinned", "released") and notice.standing.by != by:
        text = (
            _lost_on_main(notice, name) if notice.standing.by else f"{name} has landed again upstream{_when(notice)}."
        )
    elif lost and stage == "pinned":
        text = f"{_some(lost)} moved back to a pin that does not have {name}: its caveats are needed again."
    elif before == "pinned" and stage not in ("reverted", "pinned", "not-fixed"):
        text = f"No pin here that waits for {name} has it any more: the pin moved back. The caveats are needed again."
    elif before == "pinned" and stage == "pinned":
        text = f"{gained} more {_plural('service', gained)} now run a release that has {name}."
    else:
        text = _news(notice, before, name)
    if stage == "pinned":
        text += f" {_count(notice)}"
    conflicts = list(_conflicts(notice))[:3] if stage in ("pinned", "not-fixed") else []
    return "\n\n".join([text, *_why(notice), *conflicts])


def _lost_on_main(notice: Notice, name: str) -> str:
    return (
        f"{name} was reverted upstream by {_named(notice.standing.by)}. The pins above keep what they have; another "
        "release may not have it, and whoever drops a caveat now needs it again when the pin moves there."
    )


def _news(notice: Notice, before: Stage, name: str) -> str:
    first = notice.watched.clock.first_release
    match notice.standing.stage:
        case "merged" | "relanded":
            again = " again" if before in ("reverted", "closed", "not-fixed") else ""
            return f"{name} was merged{again} upstream{_when(notice)}. No release is known to have it yet."
        case "released":
            where = f": {_release(notice, first)} is the first that has it" if first else ""
            return f"{name} is released{where}. No pin here that waits for it is known to have it."
        case "pinned":
            images = [pin.image for pin, answer in _pins(notice) if answer.state == "pinned"]
            return f"{_some(images)}, pinned here, {'has' if len(images) == 1 else 'have'} {name}."
        case "reverted":
            by = f" by {_named(notice.standing.by)}" if notice.standing.by else ""
            return f"{name} was reverted upstream{by}. What waits for it here has to stay, or to come back."
        case "superseded":
            by = f": {_named(notice.standing.by)} takes its place" if notice.standing.by else ""
            return f"{name} is superseded upstream{by}. Nobody has found yet that it does the same."
        case "not-fixed":
            return f"{name} {_closed(notice)}, and the defect is still there in the source that was looked at."
        case "closed":
            return f"{name} {_closed(notice)}. Whether the defect is gone was not looked at."
        case "dead-target":
            return f"The code that {name} is about is gone from a pinned release."
        case _:
            return f"{name} is open again."


def _count(notice: Notice) -> str:
    clear, held = len(notice.clear), sum(caveat.verdict == "held" for caveat in notice.caveats)
    told = f"{clear} of {len(notice.caveats)} {_plural('caveat', len(notice.caveats))} may go, as listed above."
    return told + (f" {held} {'need' if held != 1 else 'needs'} another fix first." if held else "")


def _why(notice: Notice) -> Iterator[str]:
    lines = [
        f"- {quoted(pin.image)}: {_PIN[answer.state].strip('*')}. "
        + "; ".join(sentence(quiet(text)) for text in answer.evidence[:MAX_EVIDENCE])
        for pin, answer in _pins(notice)[:MAX_NAMES]
    ]
    if lines:
        yield "\n".join(lines)


# Small words


def _about(notice: Notice) -> str:
    pull = notice.watched.pull
    told = notice.watched.title or (pull.title if pull else "") or ""
    return shortened(" ".join(told.split()), 100)


def _named(by: str) -> str:
    return reference(by) if "#" in by else code(by[:10])


def _release(notice: Notice, tag: str) -> str:
    return release(notice.reference.rpartition("#")[0], tag)


def quiet(text: str) -> str:
    """A sentence of evidence, without our marks in what it quotes."""
    return clipped(text.replace("<!--", "< !--"), 600)


def _some(names: Iterable[str], most: int = MAX_NAMES) -> str:
    every = list(dict.fromkeys(names))
    shown = ", ".join(quoted(name) for name in every[:most])
    return shown + (f" and {len(every) - most} more" if len(every) > most else "")


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def _verb(names: tuple[str, ...]) -> str:
    return "waits" if len(names) == 1 else "wait"
