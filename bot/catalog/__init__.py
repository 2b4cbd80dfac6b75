"""The repository's own knowledge: configuration, profiles, patches, slugs and the headers of its composes."""

from bot.catalog.configuration import fits, idle_globs, read_configuration
from bot.catalog.hardware import hardware_for
from bot.catalog.header import read_header
from bot.catalog.model import (
    Attribution,
    Catalog,
    Configuration,
    EngineProfile,
    HardwareDeclaration,
    HardwareProfile,
    Header,
    ImageDeclaration,
    ModelProfile,
    Patch,
    Problem,
    SeamDeclaration,
)
from bot.catalog.models import model_for
from bot.catalog.overlays import WiredPatch, overlays_for
from bot.catalog.patches import load_bearing_for
from bot.catalog.reading import read_catalog
from bot.catalog.registry import engine_of, slugs_of

__all__ = [
    "Attribution",
    "Catalog",
    "Configuration",
    "EngineProfile",
    "HardwareDeclaration",
    "HardwareProfile",
    "Header",
    "ImageDeclaration",
    "ModelProfile",
    "Patch",
    "Problem",
    "SeamDeclaration",
    "WiredPatch",
    "engine_of",
    "fits",
    "hardware_for",
    "idle_globs",
    "load_bearing_for",
    "model_for",
    "overlays_for",
    "read_catalog",
    "read_configuration",
    "read_header",
    "slugs_of",
]
