"""The comments of a notice: one for each thing that happens after its issue was opened."""

from __future__ import annotations

from collections.abc import Iterator

from bot.notices.notice import Notice
from bot.notices.places import quoted, reference
from bot.notices.standing import Stage
from bot.notices.words import (
    HAS,
    MAX_EVIDENCE,
    MAX_NAMES,
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
    when,
)


def news(notice: Notice, before: Stage, by: str, gained: int, lost: tuple[str, ...]) -> str:
    """The comment for a change, from what was told before. `gained` are users of pins that got the fix, `lost` those
    that lost it, by name.
    """
    stage = notice.standing.stage
    name = reference(notice.reference)
    if stage == before and stage in ("pinned", "released") and notice.standing.by != by:
        text = _lost_on_main(notice, name) if notice.standing.by else f"{name} has landed again upstream."
    elif lost and stage == "pinned":
        text = f"{some(lost)} moved back to a pin that does not have {name}: its caveats are needed again."
    elif before == "pinned" and stage not in ("reverted", "pinned", "not-fixed"):
        text = f"No pin here that waits for {name} has it any more: the pin moved back. The caveats are needed again."
    elif before == "pinned" and stage == "pinned":
        text = f"{gained} more {plural('service', gained)} now run a release that has {name}."
    else:
        text = _news(notice, before, name)
    if stage == "pinned":
        text += f" {_count(notice)}"
    against = list(conflicts(notice))[:3] if stage in ("pinned", "not-fixed") else []
    return "\n\n".join([text, *_why(notice), *against])


def left_comment(name: str) -> str:
    """The comment once nothing in the repository names a fix any more."""
    return (
        f"Nothing on the default branch names {reference(name)} any more, so nothing here waits for it. This issue is "
        "not kept up to date from now on, and can be closed. Should something wait for it again, the text above will "
        "follow it again."
    )


def _lost_on_main(notice: Notice, name: str) -> str:
    return (
        f"{name} was reverted upstream by {named(notice.standing.by)}. The pins above keep what they have; another "
        "release may not have it, and whoever drops a caveat now needs it again when the pin moves there."
    )


def _news(notice: Notice, before: Stage, name: str) -> str:
    first = notice.watched.clock.first_release
    match notice.standing.stage:
        case "relanded":
            return f"{name} has landed again upstream. No release is known to have it as it came back."
        case "merged":
            again = " again" if before == "reverted" else when(notice)
            return f"{name} was merged upstream{again}. No release is known to have it yet."
        case "released":
            where = f": {release_of(notice, first)} is the first that has it" if first else ""
            return f"{name} is released{where}; {not_reached(notice)}."
        case "pinned":
            images = [pin.image for pin, answer in pins(notice) if answer.state == "pinned"]
            return f"{some(images)}, pinned here, {'has' if len(images) == 1 else 'have'} {name}."
        case "reverted":
            by = f" by {named(notice.standing.by)}" if notice.standing.by else ""
            return f"{name} was reverted upstream{by}. What waits for it here has to stay, or to come back."
        case "superseded":
            by = f": {named(notice.standing.by)} takes its place" if notice.standing.by else ""
            return f"{name} is superseded upstream{by}. Nobody has looked whether it does the same."
        case "not-fixed":
            return (
                f"{name} {closed(notice)}, and the defect is still there in the source of {some(denied(notice))}. Keep "
                "what was put here because of it."
            )
        case "closed":
            return f"{name} {closed(notice)}. No probe of the source tells whether the defect is gone: keep what waits."
        case "dead-target":
            return f"The code that {name} is about is gone from a pinned release."
        case _:
            return f"{name} is open again."


def _count(notice: Notice) -> str:
    clear, held = len(notice.clear), sum(caveat.verdict == "held" for caveat in notice.caveats)
    told = f"{clear} of {len(notice.caveats)} {plural('caveat', len(notice.caveats))} may go, as listed above."
    return told + (f" {held} {'need' if held != 1 else 'needs'} another fix first." if held else "")


def _why(notice: Notice) -> Iterator[str]:
    lines = [
        f"- {quoted(pin.image)}: {HAS[answer.state].strip('*')}. "
        + "; ".join(evidence(notice, text) for text in answer.evidence[:MAX_EVIDENCE])
        for pin, answer in pins(notice)[:MAX_NAMES]
    ]
    if lines:
        yield "\n".join(lines)
