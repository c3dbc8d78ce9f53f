"""What commands say about their parameters, as plain data: read by `arguments`, and by typer where that is loaded.

def command(policy: Annotated[Path | None, Option("--policy", metavar="FILE", help="The policy.")] = None) -> int: ...
"""

from __future__ import annotations


class Option:
    """A parameter with a name: a value, or a flag if its type is bool."""

    __slots__ = ("help", "max", "metavar", "min", "names")

    def __init__(
        self,
        *names: str,
        metavar: str | None = None,
        help: str | None = None,
        min: float | None = None,
        max: float | None = None,
    ) -> None:
        self.names, self.metavar, self.help, self.min, self.max = names, metavar, help, min, max


class Argument:
    """A parameter by its place."""

    __slots__ = ("help", "max", "metavar", "min")

    def __init__(
        self,
        *,
        metavar: str | None = None,
        help: str | None = None,
        min: float | None = None,
        max: float | None = None,
    ) -> None:
        self.metavar, self.help, self.min, self.max = metavar, help, min, max
