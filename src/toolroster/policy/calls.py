"""How calls are judged and repaired."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from toolroster.policy.models import Names, PolicyModel

Repair: TypeAlias = Literal["strings", "nulls"]
OutputValidation: TypeAlias = Literal["warning", "error"]
_Repairs = Annotated[tuple[Repair, ...], Field(strict=False)]


class ToolCalls(PolicyModel):
    """One `[calls.tools.<name>]` table: what holds for one tool instead of `[calls]`; left out, `[calls]` holds."""

    repair: _Repairs | None = None
    strip: Names | None = None
    output_validation: OutputValidation | None = None


class Calls(PolicyModel):
    """The `[calls]` table.

    Attributes:
        cold_call: What happens to a call of a deferred tool that the conversation has not loaded: `run` runs valid arguments
            and answers invalid ones with the schema, `schema` always answers with the schema, `refuse` refuses.
        repair: `strings` reads JSON text where the schema takes no string; `nulls` drops a null where the schema takes none
            and the argument is optional. Both are recorded in metadata.
        strip: Arguments of the host's own that are dropped before validation.
        output_validation: Whether a result that fails its output schema is an error or a result with a warning.
        notice_in_content: Adds one text line with the deprecation notice to what the model reads.
        tools: What holds for single tools instead.
    """

    cold_call: Literal["run", "schema", "refuse"] = "run"
    repair: _Repairs = ()
    strip: Names = ()
    output_validation: OutputValidation = "warning"
    notice_in_content: bool = False
    tools: dict[str, ToolCalls] = Field(default_factory=dict[str, ToolCalls])

    def repairs_of(self, tool: str) -> tuple[Repair, ...]:
        """Return the repairs that hold for a tool."""
        own = self.tools.get(tool)
        return self.repair if own is None or own.repair is None else own.repair

    def strip_of(self, tool: str) -> tuple[str, ...]:
        """Return the host's arguments that are dropped from calls of a tool."""
        own = self.tools.get(tool)
        return self.strip if own is None or own.strip is None else own.strip

    def output_validation_of(self, tool: str) -> OutputValidation:
        """Return how a tool's results are validated."""
        own = self.tools.get(tool)
        return self.output_validation if own is None or own.output_validation is None else own.output_validation
