"""Which targets can this version build?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from toolroster.catalog.targets.anthropic import ANTHROPIC
from toolroster.catalog.targets.mcp import MCP
from toolroster.catalog.targets.openai_chat import OPENAI_CHAT
from toolroster.catalog.targets.openai_responses import OPENAI_RESPONSES
from toolroster.catalog.targets.target import Target

TARGETS: Mapping[str, Target] = MappingProxyType(
    {target.name: target for target in (ANTHROPIC, MCP, OPENAI_CHAT, OPENAI_RESPONSES)}
)
"""Every target by name, names by code point."""
