"""The repository's own knowledge: configuration, profiles, patches, slugs and the headers of its composes."""

from bot.catalog.configuration import fits, idle_globs, read_configuration
from bot.catalog.hardware import hardware_for
from bot.catalog.header import in_other_words, read_header
from bot.catalog.model import (
    Acceptance,
    Attribution,
    Catalog,
    Configuration,
    EngineProfile,
    Fault,
    Guard,
    HardwareDeclaration,
    HardwareProfile,
    Header,
    ImageDeclaration,
    InheritOnly,
    ModelProfile,
    Patch,
    Problem,
    SeamDeclaration,
    Stated,
    VerifiedOn,
)
from bot.catalog.models import model_for
from bot.catalog.overlays import WiredPatch, is_patch, overlays_for
from bot.catalog.patches import is_named, load_bearing_for, made_for, references_in_path, runs_at
from bot.catalog.reading import read_catalog
from bot.catalog.registry import engine_of, slugs_of
from bot.catalog.running import files_run

__all__ = [
    "Acceptance",
    "Attribution",
    "Catalog",
    "Configuration",
    "EngineProfile",
    "Fault",
    "Guard",
    "HardwareDeclaration",
    "HardwareProfile",
    "Header",
    "ImageDeclaration",
    "InheritOnly",
    "ModelProfile",
    "Patch",
    "Problem",
    "SeamDeclaration",
    "Stated",
    "VerifiedOn",
    "WiredPatch",
    "engine_of",
    "files_run",
    "fits",
    "hardware_for",
    "idle_globs",
    "in_other_words",
    "is_named",
    "is_patch",
    "load_bearing_for",
    "made_for",
    "model_for",
    "overlays_for",
    "read_catalog",
    "read_configuration",
    "read_header",
    "references_in_path",
    "runs_at",
    "slugs_of",
]
