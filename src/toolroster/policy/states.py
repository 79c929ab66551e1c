"""The five lifecycle states, and what each means for visibility and execution."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from toolroster.diagnostics import Anchor


class LifecycleState(StrEnum):
    """The state that a tool name is in; every name is in exactly one.

    | state | in the head | in search | executes |
    |---|---|---|---|
    | active | yes | no need | yes |
    | deferred | no | yes | yes |
    | hidden-compatibility | no | no | yes, silently, as its replacement |
    | deprecated | no | no | yes, as its replacement; a notice in result metadata |
    | removed | no | no | no: a structured error with the tombstone |
    """

    ACTIVE = "active"
    """Canonical, in the head that every request begins with."""
    DEFERRED = "deferred"
    """Found by search and loaded into a conversation on demand."""
    HIDDEN_COMPATIBILITY = "hidden-compatibility"
    """A retired name that still dispatches, without a word."""
    DEPRECATED = "deprecated"
    """A retired name that still dispatches, with a notice in result metadata."""
    REMOVED = "removed"
    """A retired name that no longer dispatches; its tombstone reserves it for ever."""

    @property
    def is_visible(self) -> bool:
        """Whether a model can come to see the name: active or deferred."""
        return self in (LifecycleState.ACTIVE, LifecycleState.DEFERRED)

    @property
    def is_retired(self) -> bool:
        """Whether the name is in one of the three retired sets."""
        return not self.is_visible

    @property
    def dispatches(self) -> bool:
        """Whether a call by the name runs a tool."""
        return self is not LifecycleState.REMOVED


@dataclass(frozen=True, slots=True)
class Classified:
    """One name's state in the roster, before modes and providers.

    Attributes:
        name: Canonical name.
        state: Its lifecycle state.
        decided: Whether an exact entry, a glob or `[defaults]` decided it.
        anchor: The deciding entry.
    """

    name: str
    state: LifecycleState
    decided: Literal["entry", "glob", "default"]
    anchor: Anchor
