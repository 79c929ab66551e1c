"""May a tool be called? deny > ask > allow > default, judged over a tool and all its retired names together.

A deny or ask on any name of a tool holds for all its names, so that no rename opens a hole. An allow on the canonical name
holds for all of them; an allow on a retired name admits only calls by that name. A non-empty `allow` makes the default deny.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolroster.diagnostics import Anchor
from toolroster.names import matches
from toolroster.policy.roster import ROSTER_PATH, Permissions

Decision: TypeAlias = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a call may go ahead, and which entry says so.

    Attributes:
        decision: `allow`, `ask` (somebody must confirm) or `deny`.
        rule: The deciding entry; empty when the default decided.
        anchor: Where the entry stands; the `[permissions]` table when the default decided.
    """

    decision: Decision
    rule: str
    anchor: Anchor


def judge(permissions: Permissions, canonical: str, requested: str, retired: Sequence[str] = ()) -> Permission:
    """Return the permission of one call.

    Args:
        permissions: The policy's rules.
        canonical: The tool that would run.
        requested: The name that was called.
        retired: All retired names of the tool, whether requested or not.
    """
    names = (canonical, requested, *retired)
    strict: tuple[tuple[Decision, tuple[str, ...]], ...] = (("deny", permissions.deny), ("ask", permissions.ask))
    for decision, entries in strict:
        for index, entry in enumerate(entries):
            if any(matches(entry, name) for name in names):
                return Permission(decision, entry, Anchor(ROSTER_PATH, ("permissions", decision, index)))
    for index, entry in enumerate(permissions.allow):
        if matches(entry, canonical) or matches(entry, requested):
            return Permission("allow", entry, Anchor(ROSTER_PATH, ("permissions", "allow", index)))
    return Permission("deny" if permissions.allow else "allow", "", Anchor(ROSTER_PATH, ("permissions",)))
