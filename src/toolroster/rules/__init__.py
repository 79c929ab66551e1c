"""The rule book: every rule, one family a module."""

from __future__ import annotations

from toolroster.rules import (
    budgets,
    definitions,
    files,
    manifest,
    name_sets,
    permissions,
    prefix,
    profiles,
    schedules,
    security,
    waivers,
)
from toolroster.rules.facts import Facts
from toolroster.rules.registry import RULES, RegisteredRule, find_rule, run_rules

__all__ = [
    "RULES",
    "Facts",
    "RegisteredRule",
    "budgets",
    "definitions",
    "files",
    "find_rule",
    "manifest",
    "name_sets",
    "permissions",
    "prefix",
    "profiles",
    "run_rules",
    "schedules",
    "security",
    "waivers",
]
