"""TR7: does every permission rule match something, and do the rules agree?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolroster.diagnostics import Anchor, Fault, Severity
from toolroster.policy.roster import ROSTER_PATH
from toolroster.rules.facts import Facts
from toolroster.rules.registry import rule


@rule("TR701", "permission-matches-nothing")
def permission_matches_nothing(facts: Facts) -> Iterable[Fault]:
    """A permission rule matches no tool name.

    Why:
        A misspelled deny is a guard that nobody has. Globs may match any name here: built-ins, retired names, tools of
        servers.

    Example:
        [permissions]
        deny = ["run_shel_command"]

    Fix:
        Correct the name or glob, or delete it.
    """
    return facts.found("permission-matches-nothing")


@rule("TR702", "contradictory-permission", severity=Severity.WARNING)
def contradictory_permission(facts: Facts) -> Iterator[Fault]:
    """A name or glob stands in two of `deny`, `ask` and `allow`.

    Why:
        The stricter one holds (deny > ask > allow), so the other does nothing; somebody believes that it does.

    Example:
        [permissions]
        deny = ["exec_shell"]
        allow = ["exec_shell", "read_file"]

    Fix:
        Delete the weaker entry.
    """
    if facts.policy is None:
        return
    permissions = facts.policy.permissions
    stronger: dict[str, str] = {}
    for kind, entries in (("deny", permissions.deny), ("ask", permissions.ask), ("allow", permissions.allow)):
        for index, entry in enumerate(entries):
            first = stronger.setdefault(entry, kind)
            if first != kind:
                message = f"{entry!r} is in {first!r} and in {kind!r}; {first} holds."
                yield Fault("contradictory-permission", message, Anchor(ROSTER_PATH, ("permissions", kind, index)))


@rule("TR703", "denied-tool-in-roster", severity=Severity.WARNING)
def denied_tool_in_roster(facts: Facts) -> Iterator[Fault]:
    """A tool that `active` or `deferred` lists by name is denied, by its own name or by one of its retired names.

    Why:
        A denied tool is never shown and never runs, so its place in the roster says something that is not so. A tool is
        denied by a rule on any of its names, and, where `allow` has entries, by matching none of them. A server's tool that
        only a glob or a default makes visible is fine: denying it is how one of many is left out.

    Example:
        [roster]
        active = ["exec_shell"]

        [permissions]
        deny = ["exec_*"]

    Fix:
        Take the name out of the visible sets, or narrow the rule.
    """
    if facts.surface is None:
        return
    for tool in facts.visible():
        permission = facts.surface.resolver.resolve(tool.name).permission
        listed = facts.surface.classified[tool.name].decided == "entry"
        if permission is not None and permission.decision == "deny" and listed:
            by = f"by {permission.rule!r}" if permission.rule else "since no allow entry matches it"
            yield Fault("denied-tool-in-roster", f"{tool.name!r} is denied {by}, so it is never shown.", permission.anchor)
