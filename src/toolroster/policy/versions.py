"""How are release numbers compared? As versions, never as text, and never against a clock."""

from __future__ import annotations

from packaging.version import InvalidVersion, Version

TO_BE_DECIDED = "TBD"
"""A planned removal that has no release yet."""


def parse_version(text: str) -> Version | None:
    """Return the version that `text` (such as `0.9.1`) says, or None when it says none."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


def parse_plan(text: str) -> Version | None:
    """Return the earliest release at which a planned removal may happen; None for `TBD` or text that says none.

    `text` is a version, or `>=` and a version.
    """
    return parse_version(text.removeprefix(">=").strip())


def is_plan(text: str) -> bool:
    """Return whether `text` is a version, `>=` and a version, or `TBD`."""
    return text == TO_BE_DECIDED or parse_plan(text) is not None
