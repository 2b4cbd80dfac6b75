"""What a repository's own words claim about the engines that it ships: pure text, read for statements."""

from bot.claims.model import Claim
from bot.claims.notes import ComposeNames, claims_of_note
from bot.claims.reading import claims_of_comments
from bot.claims.spelling import respelt, says
from bot.claims.subjects import ANY, BATCHED, CACHE, CONTEXT, DEPTH, DRAFTER, GRAPHS, MEMORY, SEQUENCES
from bot.claims.values import count, same_cache, same_count, same_release

__all__ = [
    "ANY",
    "BATCHED",
    "CACHE",
    "CONTEXT",
    "DEPTH",
    "DRAFTER",
    "GRAPHS",
    "MEMORY",
    "SEQUENCES",
    "Claim",
    "ComposeNames",
    "claims_of_comments",
    "claims_of_note",
    "count",
    "respelt",
    "same_cache",
    "same_count",
    "same_release",
    "says",
]
