"""How the parts of this stage report that Docker Compose refuses something."""

from __future__ import annotations

from bot.compose.model import ErrorKind


class Fault(Exception):
    """A reason for which Docker Compose refuses the files.

    `message` is in Docker Compose's words. `line` is where it is, when the raiser knows; `field` is the path of the
    value (`services.web.command.1`), from which the line can be found.
    """

    def __init__(
        self, kind: ErrorKind, message: str, *, path: str = "", line: int | None = None, field: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.message = message
        self.path = path
        self.line = line
        self.field = field

    def again(self) -> Fault:
        """The same fault, to be raised and located once more."""
        return Fault(self.kind, self.message, path=self.path, line=self.line, field=self.field)
