"""`demo`: a review of the sample history."""

from __future__ import annotations

import click

from bot.cli.review import review_revisions
from bot.hazards import load_rules
from bot.sandbox import sample_repository


@click.command("demo")
def demo_command() -> None:
    """Review a change to a small sample repository."""
    with sample_repository() as root:
        click.echo("A sample change: one compose turns prefix caching back on, another moves its vLLM release.\n")
        from bot.cli import text

        text.print_review(review_revisions(root, "before", "after", load_rules()))
