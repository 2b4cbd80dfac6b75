"""Which composes `patches.yml` names for a patch, held against those that have it or need it; and on which releases a
patch was verified, against the one that runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.audit.wiring import Surroundings, carried, is_needless
from bot.catalog import Catalog, Patch, VerifiedOn, WiredPatch, load_bearing_for, made_for
from bot.hazards import Finding, Observation, ReleaseRange
from bot.provenance import Position, Reason
from bot.resolution import EngineWorld, ResolvedService

_COMPOSE = (".yml", ".yaml")
_PREFIX = re.compile(r"v?(\d+)\.(\d+)(?:\.x)?")


def of_attribution(service: ResolvedService, world: EngineWorld, around: Surroundings) -> Iterator[Observation]:
    """Composes that have or need a patch and are not named for it, and those that are named and have nothing of it."""
    if not around.catalog.patches or world.kind is None:
        return
    declared = {patch.id: patch for patch, _ in load_bearing_for(around.catalog, service.path, service.slugs)}
    present = {wired.id for wired in world.patches}
    for wired in world.patches:
        if wired.patch is not None and _is_unnamed(wired, wired.patch, declared):
            yield _observation(service, around, wired.patch, "unlisted", because=wired.because)
    for patch in around.catalog.patches:
        if patch.deprecated or patch.mechanism == "none":
            continue
        if patch.id in declared:
            if patch.id not in present and patch.id not in around.elsewhere:
                twin = not (carried(patch, world, around.rules) or is_needless(patch, around))
                yield _observation(service, around, patch, "named-only", twin=twin)
        elif patch.upstream and patch.id not in present and patch.files:
            hazards = _helped(patch, around)
            if hazards and not _may_be_named(around.catalog, service, patch):
                yield _observation(service, around, patch, "needed", hazards=hazards)


def _helped(patch: Patch, around: Surroundings) -> tuple[Finding, ...]:
    """The hazards that the patch would end: those that stand by default, else those that a seam leads to."""
    known = [(around.hazards or {}).get(rule) for rule in sorted(around.rules.helped_by(patch.upstream))]
    found = [finding for finding in known if finding is not None and finding.status in ("active", "reachable")]
    return tuple(finding for finding in found if finding.status == "active") or tuple(found)


def _is_unnamed(wired: WiredPatch, patch: Patch, declared: dict[str, Patch]) -> bool:
    """Whether the service has a patch for which it is not named, by this entry or by one that shares its files."""
    if patch.deprecated or patch.id in declared or not wired.invoked or wired.mounted is False:
        return False
    return all(set(patch.files).isdisjoint(other.files) for other in declared.values())


def _observation(
    service: ResolvedService,
    around: Surroundings,
    patch: Patch,
    problem: str,
    *,
    because: tuple[Reason, ...] = (),
    twin: bool = False,
    hazards: tuple[Finding, ...] = (),
) -> Observation:
    """`twin`: that the patch is missing is told by another rule already. Whether list and compose disagree is not known
    when the compose has no name and the list has names that nothing here explains.
    """
    row = next((row for row in patch.load_bearing_when if row.composes), None)
    where = row.position if row else patch.position
    entry = Reason("catalog", where.path, where.line, f"load_bearing_when of {patch.id}")
    name = service.slugs[0] if service.slugs else service.path
    fields: dict[str, object] = {
        "patch": patch.id,
        "problem": problem,
        "name": name,
        "where": str(where),
        "twin": twin,
        "status": hazards[0].status if hazards else "active",
        "hazards": tuple(finding.rule for finding in hazards),
    }
    if problem == "named-only" or not _may_be_named(around.catalog, service, patch):
        fields["disagrees"] = True
    else:
        fields["lacking"] = {"disagrees": "by which of the names in the list this compose goes: it has none of its own"}
    place = next((_at(reason) for reason in because if reason.path == service.path and reason.line), service.position)
    if hazards:
        place = Position(service.path, hazards[0].line)
    return Observation("attribution", patch.id, place, (*because, entry), fields)


def _at(reason: Reason) -> Position:
    return Position(reason.path, reason.line or 1)


def _may_be_named(catalog: Catalog, service: ResolvedService, patch: Patch) -> bool:
    """Whether one of the names in the list could be this compose, whose own name is not known."""
    if service.slugs:
        return False
    names = (name for row in patch.load_bearing_when for name in row.composes)
    return any(name not in catalog.slugs and not name.endswith(_COMPOSE) for name in names)


def of_releases(service: ResolvedService, world: EngineWorld, around: Surroundings) -> Iterator[Observation]:
    """Patches on a release for which they were not verified, or on which they are known to do harm."""
    release = world.pin.release
    upstream = around.rules.upstream
    for wired in world.patches:
        if wired.mounted is False or not wired.invoked:
            continue
        for reference in wired.upstream:
            unfit = upstream.unfit(reference, (release,)) if release else None
            if unfit is not None:
                fields = {
                    "outside": True,
                    "basis": "upstream",
                    "why": unfit.how,
                    "verified": "",
                    "reference": reference,
                }
                yield _guard(service, wired.id, release, wired.because, fields)
                break
        else:
            verified = _stated(wired)
            if verified is None or (release is None and verified.basis == "name"):
                continue
            inside = None if release is None else covers(verified, release)
            if inside is not True:
                fields = {"basis": verified.basis, "why": "", "verified": ", ".join(verified.releases), "reference": ""}
                if inside is False:
                    fields["outside"] = True
                at = verified.position
                reason = Reason("catalog", at.path, at.line, f"verified on {', '.join(verified.releases)}")
                yield _guard(service, wired.id, release, (*wired.because, reason), fields)
    for reference in world.pin.contains:
        unfit = upstream.unfit(reference, (release,)) if release else None
        if unfit is not None:
            fields = {"outside": True, "basis": "upstream", "why": unfit.how, "verified": "", "reference": reference}
            yield _guard(service, reference, release, world.pin.because, fields)


def _stated(wired: WiredPatch) -> VerifiedOn | None:
    if wired.patch is not None:
        return wired.patch.verified
    places = [_at(reason) for reason in wired.because if reason.line]
    return made_for((wired.id,), places[0]) if places else None


def _guard(
    service: ResolvedService, identity: str, release: str | None, because: tuple[Reason, ...], fields: dict[str, object]
) -> Observation:
    place = next((_at(reason) for reason in because if reason.path == service.path and reason.line), service.position)
    return Observation(
        "overlay-release", identity, place, because, {"patch": identity, "runs": release or "unknown", **fields}
    )


def covers(verified: VerifiedOn, release: str) -> bool | None:
    """Whether a release is among those that a patch was verified on; None when one of them cannot be read."""
    answers = [_covers(stated, release) for stated in verified.releases]
    return True if True in answers else None if None in answers else False


def _covers(stated: str, release: str) -> bool | None:
    """`0.25` and `0.25.x` stand for every release that begins so."""
    text = stated.replace(" ", "")
    prefix = _PREFIX.fullmatch(text)
    try:
        if prefix is not None:
            first, second = int(prefix[1]), int(prefix[2])
            return ReleaseRange(f">={first}.{second},<{first}.{second + 1}").holds(release)
        exact = text if text[0] in "<>=" else f"=={text}"
        return ReleaseRange(exact).holds(release)
    except ValueError:
        return None
