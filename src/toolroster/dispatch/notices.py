"""Deprecation notices: metadata of results, and nothing else."""

from __future__ import annotations

from toolroster.canonical import JsonObject
from toolroster.policy.manifest import Alias
from toolroster.policy.states import LifecycleState
from toolroster.resolution import Resolution


def find_notice(resolution: Resolution) -> JsonObject | None:
    """Return the notice of a call by a deprecated name; None for every other name, retired silently or not.

    Shape: `{"name", "replacement", "first_deprecated_version", "planned_removal_version", "note", "message"}`.
    """
    row = resolution.alias
    if resolution.state is not LifecycleState.DEPRECATED or row is None:
        return None
    return {
        "name": resolution.requested,
        "replacement": row.replacement,
        "first_deprecated_version": row.first_deprecated_version,
        "planned_removal_version": row.planned_removal_version,
        "note": row.note,
        "message": notice_text(row),
    }


def notice_text(row: Alias) -> str:
    """Return the one line that says what to call instead."""
    return f"deprecated: use {row.replacement} instead"
