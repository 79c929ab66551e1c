"""What is a target: a wire format that takes a list of tools?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from toolroster.canonical import JsonObject
from toolroster.schemas import PropertyOrder
from toolroster.tools import ToolDefinition

EntryEncoder = Callable[[ToolDefinition, str, PropertyOrder], JsonObject]
"""`(definition, wire name, property order) -> entry`, its keys in emitted order. Pure; never changes the definition."""


@dataclass(frozen=True, slots=True)
class Target:
    """One wire format.

    Attributes:
        name: The target's name in policies and goldens.
        opening: Bytes before the first entry.
        closing: Bytes after the last entry.
        encode_entry: Makes one entry.
        name_pattern: What a wire name must match in full.
        name_rule: `name_pattern` in words.
        source: Where the provider says so, with its date.
    """

    name: str
    opening: bytes
    closing: bytes
    encode_entry: EntryEncoder
    name_pattern: re.Pattern[str]
    name_rule: str
    source: str
