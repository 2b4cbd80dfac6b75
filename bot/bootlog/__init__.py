"""Boot logs: what an engine itself said that it runs, held against what a compose resolves to."""

from bot.bootlog.comparison import Comparison, Row, Shift, compare, effects
from bot.bootlog.identify import Match, candidates, matches, other_numbers
from bot.bootlog.model import BootLog, Said
from bot.bootlog.reading import MAX_BYTES, read

__all__ = [
    "MAX_BYTES",
    "BootLog",
    "Comparison",
    "Match",
    "Row",
    "Said",
    "Shift",
    "candidates",
    "compare",
    "effects",
    "matches",
    "other_numbers",
    "read",
]
