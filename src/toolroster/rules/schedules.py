"""TR403, TR405 and TR410: do the release numbers of the manifest's rows make sense, one after the other and now?"""

from __future__ import annotations

from collections.abc import Iterator

from toolroster.diagnostics import Anchor, Fault, Severity
from toolroster.policy.versions import parse_plan, parse_version
from toolroster.rules.facts import Facts
from toolroster.rules.manifest import MANIFEST_PATH
from toolroster.rules.registry import rule


@rule("TR403", "removal-before-deprecation")
def removal_before_deprecation(facts: Facts) -> Iterator[Fault]:
    """A row's removal, done or planned, is earlier than its deprecation.

    Why:
        Callers would lose the name before they were told.

    Example:
        [[alias]]
        name = "exec_wait"
        replacement = "exec_shell_wait"
        first_deprecated_version = "0.9.0"
        planned_removal_version = "0.8.0"

    Fix:
        Correct the release numbers.
    """
    if facts.manifest is None:
        return
    for index, row in enumerate(facts.manifest.aliases):
        planned, first = parse_plan(row.planned_removal_version), parse_version(row.first_deprecated_version)
        if planned is not None and first is not None and planned < first:
            message = f"{row.name!r}: removal planned for {row.planned_removal_version}, deprecated in {first}."
            anchor = Anchor(MANIFEST_PATH, ("alias", index, "planned_removal_version"))
            yield Fault("removal-before-deprecation", message, anchor)
    for index, stone in enumerate(facts.manifest.tombstones):
        removed, first = (
            parse_version(stone.removed_version),
            parse_version(stone.first_deprecated_version or ""),
        )
        if removed is not None and first is not None and removed < first:
            message = f"{stone.name!r}: removed in {removed}, deprecated in {first}."
            yield Fault("removal-before-deprecation", message, Anchor(MANIFEST_PATH, ("tombstone", index)))


@rule("TR405", "overdue-removal", severity=Severity.WARNING)
def overdue_removal(facts: Facts) -> Iterator[Fault]:
    """A name still dispatches although its planned removal has come.

    Why:
        A plan that nobody carries out teaches callers to ignore plans. `TBD` and a plan that begins with `>=` are never
        overdue.

    Example:
        # policy/roster.toml
        version = "0.9.1"

        # policy/manifest.toml
        [[alias]]
        name = "exec_wait"
        planned_removal_version = "0.9.0"

    Fix:
        Move the name to `removed` with a tombstone, or set a later planned_removal_version.
    """
    now = parse_version(facts.policy.version) if facts.policy is not None else None
    if facts.manifest is None or now is None:
        return
    for index, row in enumerate(facts.manifest.aliases):
        planned = parse_version(row.planned_removal_version)
        if planned is not None and planned <= now and facts.dispatches(row.name):
            message = f"{row.name!r} was to be removed in {planned}; this is {now}."
            anchor = Anchor(MANIFEST_PATH, ("alias", index, "planned_removal_version"))
            yield Fault("overdue-removal", message, anchor)


@rule("TR410", "future-version")
def future_version(facts: Facts) -> Iterator[Fault]:
    """A row says that something happened in a release later than the policy's own.

    Why:
        What has not been released can't have been promised to anybody.

    Example:
        # policy/roster.toml
        version = "0.9.1"

        # policy/manifest.toml
        [[alias]]
        name = "exec_wait"
        first_deprecated_version = "1.0.0"

    Fix:
        Correct the release number, or raise `version`.
    """
    now = parse_version(facts.policy.version) if facts.policy is not None else None
    if facts.manifest is None or now is None:
        return
    said = [
        ("alias", i, "first_deprecated_version", row.name, row.first_deprecated_version)
        for i, row in enumerate(facts.manifest.aliases)
    ]
    said += [
        ("tombstone", i, "removed_version", row.name, row.removed_version) for i, row in enumerate(facts.manifest.tombstones)
    ]
    for kind, index, key, name, text in said:
        version = parse_version(text)
        if version is not None and version > now:
            message = f"{name!r}: {key} is {text}, but this is {now}."
            yield Fault("future-version", message, Anchor(MANIFEST_PATH, (kind, index, key)))
