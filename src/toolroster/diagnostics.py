"""What is a finding, where does it stand, and in which order are findings shown?

Lower layers return a `Fault`: the rule's name, what is wrong and an `Anchor`. The rules layer turns faults into
`Diagnostic` values with a code and a position. Nothing here reads files or prints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from toolroster.errors import ToolrosterError


class Severity(StrEnum):
    """How much a finding weighs: errors fail a check, warnings only with `--strict`."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that toolroster checks.

    Attributes:
        code: `TRnnn`, never reused.
        name: The rule's name in kebab case; it names the bad pattern ("allow <name>" reads well).
        severity: Weight of every finding of this rule.
        since: The release of toolroster that introduced it.
        summary: One sentence: what is wrong when it fires.
        fix: An imperative sentence: what to do about it.
    """

    code: str
    name: str
    severity: Severity
    since: str
    summary: str
    fix: str


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A position: POSIX path relative to the workspace, 1-based line, 1-based column in code points."""

    path: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a fault stands, before its line and column are known.

    Attributes:
        path: POSIX path of the file, relative to the workspace; `""` when the value did not come from a file.
        pointer: Keys and indexes from the document's root to the place.
        part: Whether the place's key or its value is meant.
        offset: Code points from the text's start, for faults in a text that has no structure yet.
        line_column: Position as the parser gave it; beats `offset` and `pointer`.
    """

    path: str
    pointer: tuple[str | int, ...] = ()
    part: Literal["key", "value"] = "value"
    offset: int | None = None
    line_column: tuple[int, int] | None = None

    def at(self, *pointer: str | int, part: Literal["key", "value"] = "value") -> Anchor:
        """Return an anchor further down the same document."""
        return Anchor(self.path, (*self.pointer, *pointer), part)


@dataclass(frozen=True, slots=True)
class Fault:
    """One finding before it has a code and a position.

    Attributes:
        rule: Name of the rule that it breaks.
        message: What is wrong; quotes the value and names both parties to a conflict.
        anchor: Where it stands.
        fix: Overrides the rule's own fix when the fault knows better.
    """

    rule: str
    message: str
    anchor: Anchor
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding, ready to be shown."""

    rule: Rule
    message: str
    span: Span
    fix: str

    @property
    def is_error(self) -> bool:
        """Whether this finding alone makes a check fail."""
        return self.rule.severity is Severity.ERROR


class CatalogError(ToolrosterError):
    """Raised when a catalog can't be built; nothing was emitted.

    Attributes:
        faults: Every fault found, in a stable order; never empty.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        """Keep all faults and say them in one message."""
        self.faults = tuple(dict.fromkeys(faults))
        super().__init__("\n".join(f"{fault.rule}: {fault.message}" for fault in self.faults))


class SurfaceError(ToolrosterError):
    """Raised when a workspace has findings at error level, so that no surface can be trusted.

    Attributes:
        diagnostics: Every finding, warnings included, in total order; never empty.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep all diagnostics and list them in one message."""
        self.diagnostics = tuple(diagnostics)
        lines = (
            f"{d.span.path}:{d.span.line}:{d.span.column}: {d.rule.code} {d.rule.name}: {d.message} {d.fix}"
            for d in self.diagnostics
        )
        super().__init__("\n".join(lines))


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics without repeats, by path, line, column, code, message."""
    keyed = {(d.span, d.rule.code, d.message): d for d in diagnostics}
    return tuple(keyed[key] for key in sorted(keyed))
