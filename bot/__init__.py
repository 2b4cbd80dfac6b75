"""Seamguard: reviews what a change does to a vLLM engine, not what its text looks like."""

__version__ = "0.1.0"
