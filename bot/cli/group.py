"""A group of commands that helps with a mistyped one."""

from __future__ import annotations

import click

from bot.cli.hints import near


class HelpfulGroup(click.Group):
    """A group that names the nearest command where there is none of the name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but a name that is no command ends with the nearest ones."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            ctx.fail(f"No such command {name!r}: {near(name, self.list_commands(ctx), 'the commands are')}")
        return super().resolve_command(ctx, args)
