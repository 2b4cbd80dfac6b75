"""A small repository with a change to review, on a simulated GitHub, for a first look at Seamguard."""

from bot.sandbox.sample import sample_repository

__all__ = ["sample_repository"]
