"""Boot logs: what an engine itself said that it runs, held against what a compose resolves to."""

from bot.bootlog.comparison import Comparison, Row, Shift, compare, effects
from bot.bootlog.identify import candidates
from bot.bootlog.model import BootLog, Said
from bot.bootlog.reading import MAX_BYTES, read

__all__ = [
    "MAX_BYTES",
    "BootLog",
    "Comparison",
    "Row",
    "Said",
    "Shift",
    "candidates",
    "compare",
    "effects",
    "read",
]
