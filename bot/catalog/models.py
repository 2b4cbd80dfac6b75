"""Which of the repository's model profiles a server loads."""

from __future__ import annotations

import re

from bot.catalog.model import Catalog, ModelProfile
from bot.engine.model import Model
from bot.provenance import Reason

_HUB_CACHE = re.compile(r"models--([^/]+?)--([^/]+)")


def model_for(catalog: Catalog, path: str, argument: str | None) -> Model:
    """What the profiles say about the model of a compose; every field None when none of them is meant.

    `argument` is the server's own word for the model, None when it is not known. A profile is found by the folder of
    its weights in `argument`, then by its hub name, then by the folder of the compose (`models/<id>/…`), if `argument`
    does not name something else. The model is `certain` when the profile counts layers, with what it only suggests
    among `assumed`; else all of it is `assumed`.
    """
    known = argument if argument and "${" not in argument else None
    if known:
        profiles, stated, how = _by_weights(catalog, known)
        if not profiles:
            profiles, stated, how = _by_repository(catalog, known)
        if profiles:
            return _agreed(profiles, how, stated)
    profiles = tuple(
        profile
        for profile in catalog.models
        if profile.id in path.split("/")[:-1] and (known is None or _plain(profile.id) in _plain(known))
    )
    return _agreed(profiles, f"the compose lies in the folder of the model {{id}}: {path}", None)


def _by_weights(catalog: Catalog, argument: str) -> tuple[tuple[ModelProfile, ...], str, str]:
    slashed = f"/{argument.strip('/')}/"
    found: dict[str, list[ModelProfile]] = {}
    for profile in catalog.models:
        fragment = next((fragment for fragment in profile.weights if f"/{fragment}/" in slashed), None)
        if fragment:
            found.setdefault(fragment, []).append(profile)
    if not found:
        return (), "", ""
    longest = max(found, key=len)
    return tuple(found[longest]), longest, f"{longest} is a folder of the weights of {{id}}"


def _by_repository(catalog: Catalog, argument: str) -> tuple[tuple[ModelProfile, ...], str, str]:
    cached = _HUB_CACHE.search(argument)
    name = (f"{cached[1]}/{cached[2]}" if cached else argument).lower().rstrip("/")
    found = tuple(
        profile for profile in catalog.models if any(name == repository.lower() for repository in profile.repositories)
    )
    stated = next((one for profile in found for one in profile.repositories if one.lower() == name), "")
    return found, stated, f"{name} is a repository of the weights of {{id}}"


def _agreed(profiles: tuple[ModelProfile, ...], how: str, stated: str | None) -> Model:
    """The model of a profile; of several, only if they say the same. `stated` is the folder or the name by which the
    profile was found, None when it was only guessed.
    """
    if not profiles:
        return Model()
    first = profiles[0]
    if any((other.recurrent, other.moe, other.architecture) != _facts(first) for other in profiles[1:]):
        return Model()
    guessed = stated is None
    certain = not guessed and first.recurrent is not None and "recurrent" not in first.assumed
    place = first.places.get(stated or "", first.position)
    found = Reason("assumption" if guessed else "catalog", place.path, place.line, how.format(id=first.id))
    because = {name: (found, *reasons) for name, reasons in first.because.items()}
    recurrent, moe, architecture = _facts(first)
    return Model(
        recurrent=recurrent,
        moe=moe,
        architecture=architecture,
        certainty="certain" if certain or not because else "assumed",
        because=because,
        hybrid=recurrent != "none" if recurrent else None,
        assumed=first.assumed if certain else frozenset(),
    )


def _facts(profile: ModelProfile) -> tuple[str | None, bool | None, str | None]:
    return profile.recurrent, profile.moe, profile.architecture


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
