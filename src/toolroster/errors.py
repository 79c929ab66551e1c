"""Exception types: what is raised when toolroster could not do its work.

A finding about a readable repository is never an exception; it is a diagnostic (see `toolroster.diagnostics`).
Types and attributes are public API, message texts are not.
"""

from __future__ import annotations


class ToolrosterError(Exception):
    """Base of every exception that toolroster raises on purpose."""


class WorkspaceError(ToolrosterError):
    """Raised when a workspace is missing, unreadable or can't be written."""


class UnstableValueError(ToolrosterError):
    """Raised when a value has no single stable JSON text.

    Attributes:
        problems: `(json_pointer, reason)` for every place at fault, in document order; never empty.
        json_pointer: RFC 6901 pointer of the first place at fault; `""` is the value itself.
    """

    def __init__(self, problems: tuple[tuple[str, str], ...]) -> None:
        """Keep all problems and say them in one message."""
        self.problems = problems
        self.json_pointer = problems[0][0]
        super().__init__("; ".join(f"{pointer or 'the value'}: {reason}" for pointer, reason in problems))


class UnknownNameError(ToolrosterError, LookupError):
    """Raised when a caller names a profile, target or tool that the workspace does not have."""


class HandlerMissingError(ToolrosterError):
    """Raised when nothing runs a tool.

    Attributes:
        name: Canonical name of the tool.
    """

    def __init__(self, name: str, reason: str) -> None:
        """Say which tool, and why nothing runs it."""
        self.name = name
        super().__init__(f"{name!r} can't run: {reason}")
