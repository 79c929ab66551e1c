"""TR9: do the recorded exceptions make sense?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolroster.diagnostics import Anchor, Fault
from toolroster.rules.facts import Facts
from toolroster.rules.registry import rule

_AUDIT_RULE = re.compile(r"TR5\d\d")


@rule("TR902", "duplicate-waiver")
def duplicate_waiver(facts: Facts) -> Iterator[Fault]:
    """Two waivers accept the same finding.

    Why:
        Whoever deletes one believes that the exception is over. Two waivers are the same when rule, name, release and
        fingerprint are.

    Example:
        [[waiver]]
        rule = "TR501"
        name = "old_tool"
        release = "0.9.0"
        reason = "Published by mistake."

        [[waiver]]
        rule = "TR501"
        name = "old_tool"
        release = "0.9.0"
        reason = "Nobody called it."

    Fix:
        Delete one of the two.
    """
    seen: set[tuple[str, str, str, str | None]] = set()
    for index, row in enumerate(facts.waivers.waivers if facts.waivers is not None else ()):
        key = (row.rule, row.name, row.release, row.fingerprint)
        if key in seen:
            message = f"{row.rule} on {row.name!r} for release {row.release} is waived twice."
            yield Fault("duplicate-waiver", message, Anchor("policy/waivers.toml", ("waiver", index)))
        seen.add(key)


@rule("TR903", "waiver-for-other-rule")
def waiver_for_other_rule(facts: Facts) -> Iterator[Fault]:
    """A waiver names a rule that is no audit rule.

    Why:
        Only findings about past releases can be accepted as they are; anything else is fixed where it stands.

    Example:
        [[waiver]]
        rule = "TR302"
        name = "read_file"
        release = "0.9.0"
        reason = "The description was better."

    Fix:
        Fix the finding and delete the waiver.
    """
    for index, row in enumerate(facts.waivers.waivers if facts.waivers is not None else ()):
        if not _AUDIT_RULE.fullmatch(row.rule):
            message = f"the waiver for {row.name!r} names {row.rule!r}; only audit rules (TR5nn) can be waived."
            yield Fault("waiver-for-other-rule", message, Anchor("policy/waivers.toml", ("waiver", index, "rule")))
