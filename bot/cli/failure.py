"""Input that no command can work with."""


class Failure(Exception):
    """Ends the program with status 2. The message says what is wrong, where, and what to do."""
