"""Upstream fixes that a repository waits for: where it says so, how far each has come, and which pins have it.

Everything here is pure: recorded facts and files in, states with their evidence out.
"""
