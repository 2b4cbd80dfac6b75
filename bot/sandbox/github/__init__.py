"""A simulated GitHub over real HTTP, for the sandbox and the tests. Stateful, driven by git repositories, as strict as
GitHub itself. What it knows of GitHub is written down in the project's facts about GitHub's API, cited as "facts".
"""

from bot.sandbox.github import pulls, reviews
from bot.sandbox.github.faults import Fault, Faults
from bot.sandbox.github.hooks import Delivery, signature
from bot.sandbox.github.hub import EVENTS, PERMISSIONS, Hub, simulated_github
from bot.sandbox.github.model import App, CheckRun, Installation, IssueComment, Pull, Repository, Review, ReviewComment
from bot.sandbox.github.pull import Conversation, PullHandle, Thread
from bot.sandbox.github.repository import RepositoryHandle

__all__ = [
    "EVENTS",
    "PERMISSIONS",
    "App",
    "CheckRun",
    "Conversation",
    "Delivery",
    "Fault",
    "Faults",
    "Hub",
    "Installation",
    "IssueComment",
    "Pull",
    "PullHandle",
    "Repository",
    "RepositoryHandle",
    "Review",
    "ReviewComment",
    "Thread",
    "pulls",
    "reviews",
    "signature",
    "simulated_github",
]
