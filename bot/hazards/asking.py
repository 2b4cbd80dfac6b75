"""How a person can tell what an undecided finding lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.hazards.logic import Predicate, View
from bot.hazards.questions import FieldTest, ImageTest, PropertyTest, SmTest

GPU = (
    "Say which GPU it is for: a line such as `# GPU: RTX 5090` in the comments at the head of the file, or `hardware:` "
    "in `.github/seamguard.yml`."
)
MODEL = "Say what the model is: a model profile that names its weights and counts its layers."
RELEASE = "Pin a release, or say under `images:` in `.github/seamguard.yml` which one the image is."
IMAGE = "Say under `images:` in `.github/seamguard.yml` what the image is."


def ways_to_tell(predicate: Predicate, view: View) -> tuple[str, ...]:
    """Sentences on where the repository can say what an unknown answer needs; none where only a run can tell."""
    return tuple(dict.fromkeys(_ways(predicate.leaves, view)))


def _ways(leaves: Iterable[Predicate], view: View) -> Iterator[str]:
    pin = view.situation.pin
    for leaf in leaves:
        if isinstance(leaf, FieldTest) or leaf.decide(view) is not None:
            continue  # what a stage could not see in the files, nothing that is said of the image or the card can tell
        if isinstance(leaf, SmTest):
            yield GPU
        elif isinstance(leaf, PropertyTest) and leaf.names[0].startswith("model."):
            yield MODEL if pin.release is not None else RELEASE
        elif isinstance(leaf, ImageTest):
            yield IMAGE
        elif pin.release is None:
            yield RELEASE
