"""TR117 to TR121: does what a policy says of modes, providers and single tools fit the roster?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolroster.diagnostics import Anchor, Fault, Severity
from toolroster.policy.profiles import DEFAULT_MODE, list_modes
from toolroster.policy.roster import ROSTER_PATH
from toolroster.rules.facts import Facts
from toolroster.rules.registry import rule


@rule("TR117", "unexplained-widening", on_clean_surface=True)
def unexplained_widening(facts: Facts) -> Iterator[Fault]:
    """A mode's head differs from the default mode's, and the mode does not say why.

    Why:
        A switch to that mode pays for the whole prefix again. A mode that only narrows what may be called needs no other
        head: `callable` does it without moving a byte.

    Example:
        [modes.yolo]
        mcp = "active"      # and no widens

    Fix:
        Add `widens = "<the reason>"` to the mode, or drop what makes its head differ.
    """
    for mode, difference in _head_differences(facts):
        if facts.policy is not None and difference is not None and not facts.policy.modes[mode].widens.strip():
            index, name = difference
            message = (
                f"the head of mode {mode!r} differs from mode {DEFAULT_MODE!r} at index {index} ({name!r}), "
                "and it has no 'widens'."
            )
            yield Fault("unexplained-widening", message, Anchor(ROSTER_PATH, ("modes", mode), "key"))


@rule("TR118", "provider-widens-head")
def provider_widens_head(facts: Facts) -> Iterable[Fault]:
    """A provider's `active` has a name that the roster's `active` lacks.

    Why:
        A provider can only narrow the head; otherwise the roster would no longer say which state a name is in.

    Example:
        [roster]
        deferred = ["fetch_url"]

        [providers.small-model]
        target = "openai-chat"
        active = ["fetch_url"]

    Fix:
        Make the name active in the roster, or delete it here.
    """
    return facts.found("provider-widens-head")


@rule("TR119", "unknown-reference")
def unknown_reference(facts: Facts) -> Iterable[Fault]:
    """A table of the policy names a tool or a profile that does not exist or can't be seen.

    Why:
        A rule that matches nothing is a rule that somebody believes in. Modes (`callable`), `[execution]`, `[children]`,
        `[calls.tools]` and `wire_names` name active or deferred tools; `[loading]` names profiles.

    Example:
        [modes.plan]
        callable = ["read_fil"]     # the tool is called read_file

    Fix:
        Correct the name, or delete it.
    """
    return facts.found("unknown-reference")


@rule("TR120", "conflicting-execution")
def conflicting_execution(facts: Facts) -> Iterable[Fault]:
    """A tool is both parallel and exclusive.

    Why:
        Parallel tools run beside others; an exclusive one runs alone.

    Example:
        [execution]
        parallel = ["read_file"]
        exclusive = ["read_file"]

    Fix:
        Delete the name from one of the two lists.
    """
    return facts.found("conflicting-execution")


@rule("TR121", "unused-widens", severity=Severity.WARNING, on_clean_surface=True)
def unused_widens(facts: Facts) -> Iterator[Fault]:
    """A mode explains why its head differs, but it does not differ.

    Why:
        A stale exception hides the next real one.

    Example:
        [modes.yolo]
        callable = ["read_file"]    # moves no byte
        widens = "MCP tools are active here on purpose"

    Fix:
        Delete `widens`.
    """
    for mode, difference in _head_differences(facts):
        if facts.policy is not None and difference is None and facts.policy.modes[mode].widens.strip():
            message = f"mode {mode!r} has 'widens' but its head equals mode {DEFAULT_MODE!r}'s."
            yield Fault("unused-widens", message, Anchor(ROSTER_PATH, ("modes", mode, "widens")))


def _head_differences(facts: Facts) -> Iterator[tuple[str, tuple[int, str] | None]]:
    """Yield `(mode, first difference)` for every mode with a table: `(index, name)`, or None when the heads are equal."""
    if facts.surface is None:
        return
    own = [tool.name for tool in facts.surface.head(DEFAULT_MODE)]
    for mode in list_modes(facts.surface.policy)[1:]:
        other = [tool.name for tool in facts.surface.head(mode)]
        if own == other:
            yield mode, None
        else:
            pairs = enumerate(zip([*own, ""], [*other, ""], strict=False))
            index, (left, right) = next((index, pair) for index, pair in pairs if pair[0] != pair[1])
            yield mode, (index, right or left)
