"""The Compose stage: what Docker Compose would run, with the reasons for every value."""

from __future__ import annotations

from bot.compose.documents import Documents, looks_like_compose
from bot.compose.model import ComposeError, ErrorKind, Mount, Project, Service, VariableRead
from bot.compose.project import load_project

__all__ = [
    "ComposeError",
    "Documents",
    "ErrorKind",
    "Mount",
    "Project",
    "Service",
    "VariableRead",
    "load_project",
    "looks_like_compose",
]
