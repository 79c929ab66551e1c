"""The servers' catalogs are what the servers really list."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from tests.support import ROOT


async def _list_tools(name: str) -> list[dict[str, Any]]:
    from mcp import ClientSession, StdioServerParameters  # noqa: PLC0415 - slow to import
    from mcp.client.stdio import stdio_client  # noqa: PLC0415 - slow to import

    parameters = StdioServerParameters(command=sys.executable, args=[str(ROOT / f"tests/servers/{name}.py")])
    async with stdio_client(parameters) as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        listed = await session.list_tools()
        return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]


@pytest.mark.parametrize("name", ["notes", "tracker"])
def test_the_catalog_of_a_server_is_what_the_server_lists(name: str) -> None:
    """Asked live with the official client, sorted by name."""
    listed = asyncio.run(asyncio.wait_for(_list_tools(name), 60))
    committed = json.loads((ROOT / f"catalog/mcp/{name}.json").read_bytes())["tools"]
    assert committed == sorted(listed, key=lambda tool: str(tool["name"]))
