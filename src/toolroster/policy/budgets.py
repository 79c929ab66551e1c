"""Ceilings for a head, and which of several ceilings holds."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from toolroster.policy.models import PolicyModel

_Ceiling = Annotated[int, Field(ge=0)]


class Budget(PolicyModel):
    """The `[budget]` table, and those of modes and providers; a ceiling that is left out does not hold.

    Attributes:
        head_tools: Most tools in a head.
        head_bytes: Most bytes of a head, brackets included.
        tool_bytes: Most bytes of one entry of a head.
    """

    head_tools: _Ceiling | None = None
    head_bytes: _Ceiling | None = None
    tool_bytes: _Ceiling | None = None

    def narrowed_by(self, other: Budget | None) -> Budget:
        """Return this budget with each ceiling that `other` states put in its place."""
        return self if other is None else self.model_copy(update=other.model_dump(exclude_none=True))
