"""Recorded exceptions to audit findings."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from toolroster.canonical import JsonValue
from toolroster.diagnostics import Anchor, Fault
from toolroster.policy.models import PolicyModel, parse_model


class Waiver(PolicyModel):
    """One accepted audit finding.

    Attributes:
        rule: Code of the audit rule, `TR5nn`.
        name: The tool name that the finding is about.
        release: The release for which the exception holds.
        reason: Why it is accepted.
        link: Where it was decided.
        fingerprint: Accepts this one finding alone; left out, every finding of the rule on the name.
    """

    rule: str
    name: str
    release: str
    reason: Annotated[str, Field(min_length=1)]
    link: str = ""
    fingerprint: str | None = None


class Waivers(PolicyModel):
    """The whole of `policy/waivers.toml`, rows in file order."""

    waivers: Annotated[tuple[Waiver, ...], Field(strict=False, alias="waiver")] = ()


def parse_waivers(value: JsonValue, anchor: Anchor) -> tuple[Waivers | None, tuple[Fault, ...]]:
    """Return the waivers read from a parsed `waivers.toml`, or None and every fault in it."""
    return parse_model(Waivers, value, anchor)
