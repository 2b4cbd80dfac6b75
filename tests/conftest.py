"""No test uses the network, or what was learnt on the machine that it runs on."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

os.environ["SEAMGUARD_OFFLINE"] = "1"
os.environ.setdefault("SEAMGUARD_CACHE", str(Path(tempfile.gettempdir()) / "seamguard-no-such-folder"))
