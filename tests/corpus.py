"""The real data that some tests read when it lies beside the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).parent.parent
_PLACES = (os.environ.get("SEAMGUARD_CORPUS"), str(_ROOT.parent / "shared" / "corpus"))
CORPUS = next((Path(place) for place in _PLACES if place and Path(place).is_dir()), Path("corpus-not-here"))
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real data is not here")
