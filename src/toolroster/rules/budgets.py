"""TR305 and TR310 to TR312: how large is each head, and how large may it be?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from packaging.version import Version

from toolroster.canonical import JsonValue
from toolroster.diagnostics import Anchor, Fault, Severity
from toolroster.policy.profiles import Profile, find_budget, find_mode
from toolroster.policy.roster import ROSTER_PATH, Policy
from toolroster.policy.versions import parse_version
from toolroster.rules.facts import Facts
from toolroster.rules.registry import rule

PORTABLE_TOOLS = 128
"""Source: OpenAI Chat Completions, `array_above_max_length`, and DeepSeek's documentation; read 2026-11."""
GROWTH = 1.1
"""How many times its bytes in the last release a head may have before it counts as grown."""
HEADROOM = 0.95
"""Share of a ceiling from which on a head is said to have little room left."""


@rule("TR305", "prefix-over-budget", on_clean_surface=True)
def prefix_over_budget(facts: Facts) -> Iterator[Fault]:
    """A head has more tools or bytes than its budget, or one tool has more bytes.

    Why:
        Every request pays for the head. Growth is a decision: something else is retired, or the ceiling is raised in
        review. `head_tools` counts a head's tools, `head_bytes` its bytes, `tool_bytes` the bytes of each tool in it. A
        provider's own ceilings beat its mode's, which beat those of `[budget]`.

    Example:
        [roster]
        active = ["edit_file", "read_file", "write_file"]

        [budget]
        head_tools = 2

    Fix:
        Move a tool to `deferred`, shorten the largest definitions, or raise the ceiling on purpose.
    """
    for name, used, ceiling, where, anchor in _measures(facts):
        if used > ceiling:
            message = f"{where}: {name} is {ceiling:,}, found {used:,} ({used - ceiling:,} over)."
            yield Fault("prefix-over-budget", message, anchor)


@rule("TR310", "little-headroom", severity=Severity.WARNING, on_clean_surface=True)
def little_headroom(facts: Facts) -> Iterator[Fault]:
    """A head uses more than 95 % of its budget in bytes.

    Why:
        The next harmless edit will fail the check; better to decide now what gives way.

    Example:
        [budget]
        head_bytes = 24_000     # and the head has 23,900

    Fix:
        Shorten the largest definitions or move a tool to `deferred`.
    """
    for name, used, ceiling, where, anchor in _measures(facts):
        if name == "head_bytes" and HEADROOM * ceiling < used <= ceiling:
            message = f"{where}: {name} is {ceiling:,}, found {used:,} ({ceiling - used:,} left)."
            yield Fault("little-headroom", message, anchor)


@rule("TR311", "head-growth", on_clean_surface=True)
def head_growth(facts: Facts) -> Iterator[Fault]:
    """A head has more tools, or over a tenth more bytes, than in the last release, and no ceiling of its budget was raised.

    Why:
        A head grows one harmless tool at a time. Growth is a decision: something else is retired, or the ceiling is raised in
        review. Releases that had no budget promise nothing here.

    Example:
        goldens/releases/1.0.0.json     the head had 20 tools and the ceiling head_tools = 24
        now                             the head has 21 tools and the ceiling is the same

    Fix:
        Move a tool to `deferred`, or raise a ceiling of the budget on purpose.
    """
    if facts.surface is None or not (versions := [v for v in facts.releases if parse_version(v) is not None]):
        return
    last = max(versions, key=lambda version: parse_version(version) or Version("0"))
    heads, budgets = facts.releases[last].get("heads"), facts.releases[last].get("budgets")
    for profile, target, prefix in facts.heads():
        then = _numbers(heads, f"{profile}/{target}")
        ceilings = _numbers(budgets, profile)
        policy, found = facts.surface.policy, facts.surface.find_profile(profile)
        now = find_budget(policy, found).model_dump(exclude_none=True)
        if not then or not ceilings or any(now.get(name, math.inf) > ceiling for name, ceiling in ceilings.items()):
            continue
        tools, size = len(prefix.entries), len(prefix.data)
        if tools > then.get("tools", tools) or size > then.get("bytes", size) * GROWTH:
            message = (
                f"{profile}/{target} has {tools} tools and {size:,} bytes; "
                f"release {last} had {then.get('tools')} and {then.get('bytes', 0):,}, with the same ceilings."
            )
            yield Fault("head-growth", message, _budget_anchor(policy, found, min(ceilings)))


@rule("TR312", "crowded-head", severity=Severity.WARNING, on_clean_surface=True)
def crowded_head(facts: Facts) -> Iterator[Fault]:
    """A head has more than 128 tools.

    Why:
        Several providers refuse a longer list, and models choose worse from long lists everywhere. Nothing is ever cut off
        silently.

    Example:
        [roster]
        active = ["mcp__github__*"]     # a server of 125 tools, beside a dozen built-ins

    Fix:
        Move tools to `deferred` and let the model search for them.
    """
    for profile, target, prefix in facts.heads():
        if len(prefix.entries) > PORTABLE_TOOLS:
            message = f"{profile}/{target} has {len(prefix.entries)} tools; several providers take {PORTABLE_TOOLS}."
            yield Fault("crowded-head", message, Anchor(ROSTER_PATH, ("roster", "active")))


def _numbers(value: JsonValue, key: str) -> dict[str, int]:
    """Return the whole numbers of one table of a release file; a file of another form has none."""
    table = value.get(key) if isinstance(value, dict) else None
    members = table.items() if isinstance(table, dict) else ()
    return {name: number for name, number in members if isinstance(number, int) and not isinstance(number, bool)}


def _measures(facts: Facts) -> Iterator[tuple[str, int, int, str, Anchor]]:
    """Yield `(ceiling's name, used, ceiling, profile/target, anchor)` of every ceiling that holds."""
    if facts.surface is None:
        return
    policy = facts.surface.policy
    for profile, target, prefix in facts.heads():
        found = facts.surface.find_profile(profile)
        budget = find_budget(policy, found)
        where = f"{profile}/{target}"
        for name, used, ceiling in (
            ("head_tools", len(prefix.entries), budget.head_tools),
            ("head_bytes", len(prefix.data), budget.head_bytes),
        ):
            if ceiling is not None:
                yield name, used, ceiling, where, _budget_anchor(policy, found, name).at(name)
        for entry in prefix.entries if budget.tool_bytes is not None else ():
            place = facts.surface.definitions[entry.name].anchor
            yield "tool_bytes", entry.length, budget.tool_bytes or 0, f"{where}, {entry.name!r}", place


def _budget_anchor(policy: Policy, profile: Profile, name: str) -> Anchor:
    """Return the table whose ceiling of this name holds for a profile's head; see `find_budget`."""
    provider = policy.providers.get(profile.provider)
    tables = (
        (("providers", profile.provider, "budget"), provider.budget if provider is not None else None),
        (("modes", profile.mode, "budget"), find_mode(policy, profile).budget),
    )
    for pointer, budget in tables:
        if budget is not None and name in budget.model_dump(exclude_none=True):
            return Anchor(ROSTER_PATH, pointer)
    return Anchor(ROSTER_PATH, ("budget",))
