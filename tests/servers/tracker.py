"""A small MCP server that tracks issues in memory; it speaks over standard input and output.

Run it with `python tests/servers/tracker.py`. Its tools stand in `catalog/mcp/tracker.json` exactly as it lists them.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import mcp_types as types
from jsonschema.validators import validator_for
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

# JSON of any shape, as the SDK types it.
Arguments: TypeAlias = Mapping[str, Any]
Structured: TypeAlias = dict[str, Any]

WORKFLOW: Mapping[str, tuple[str, ...]] = {
    "open": ("in_progress", "closed"),
    "in_progress": ("open", "resolved"),
    "resolved": ("open", "closed"),
    "closed": ("open",),
}
"""Status → the statuses that may follow it."""

KEY: Structured = {"type": "string", "description": "Key of the issue, such as TR-1.", "pattern": "^TR-[1-9][0-9]*$"}
STATUS: Structured = {"type": "string", "description": "Where the issue stands.", "enum": list(WORKFLOW)}
PRIORITY: Structured = {"type": "string", "description": "How urgent it is.", "enum": ["low", "normal", "high", "urgent"]}
TOOLS = (
    types.Tool(
        name="add_comment",
        title="Comment on an issue",
        description="Add a comment to an issue. Comments can't be changed afterwards. Returns the issue with all its comments.",
        input_schema={
            "type": "object",
            "properties": {
                "key": KEY,
                "text": {"type": "string", "description": "The comment.", "minLength": 1, "maxLength": 10000},
            },
            "required": ["key", "text"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
        ),
    ),
    types.Tool(
        name="assign_issue",
        title="Assign an issue",
        description="Give an issue to a person, or to nobody. Whoever had it before no longer has it.",
        input_schema={
            "type": "object",
            "properties": {
                "key": KEY,
                "assignee": {
                    "type": ["string", "null"],
                    "description": "Name of the person; null takes the issue away from everybody.",
                    "minLength": 1,
                },
            },
            "required": ["key", "assignee"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    ),
    types.Tool(
        name="create_issue",
        title="Create an issue",
        description="File a new issue; it begins as open and unassigned. Search first, so that nothing is filed twice.",
        input_schema={
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": "The problem in one line.", "minLength": 1, "maxLength": 200},
                "body": {"type": "string", "description": "What happens, what should happen, how to see it."},
                "priority": {**PRIORITY, "default": "normal"},
            },
            "required": ["title"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
        ),
    ),
    types.Tool(
        name="get_issue",
        title="Read an issue",
        description="Read one issue with its body, status, assignee and comments.",
        input_schema={
            "type": "object",
            "properties": {"key": KEY},
            "required": ["key"],
            "additionalProperties": False,
        },
        output_schema={
            "type": "object",
            "properties": {
                "key": KEY,
                "title": {"type": "string", "description": "The problem in one line."},
                "body": {"type": "string", "description": "What happens, what should happen, how to see it."},
                "priority": PRIORITY,
                "status": STATUS,
                "assignee": {"type": ["string", "null"], "description": "Who has the issue; null is nobody."},
                "comments": {
                    "type": "array",
                    "description": "Comments, oldest first.",
                    "items": {"type": "string"},
                },
            },
            "required": ["key", "title", "body", "priority", "status", "assignee", "comments"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
    types.Tool(
        name="list_transitions",
        title="List transitions",
        description="List the statuses to which an issue may go from where it stands. Ask before transition_issue.",
        input_schema={
            "type": "object",
            "properties": {"key": KEY},
            "required": ["key"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
    types.Tool(
        name="search_issues",
        title="Search issues",
        description="Find issues by words in title and body, by status and by assignee, newest first; all must hold.",
        input_schema={
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "Words that the issue must hold, in any case."},
                "status": STATUS,
                "assignee": {"type": "string", "description": "Who has the issue."},
                "limit": {
                    "type": "integer",
                    "description": "Most issues to return.",
                    "minimum": 1,
                    "maximum": 100,
                    "default": 20,
                },
            },
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
    types.Tool(
        name="transition_issue",
        title="Move an issue",
        description="Move an issue to another status. Only the statuses that list_transitions names are allowed.",
        input_schema={
            "type": "object",
            "properties": {
                "key": KEY,
                "status": {**STATUS, "description": "The new status."},
                "comment": {"type": "string", "description": "Why; it is added as a comment.", "minLength": 1},
            },
            "required": ["key", "status"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
        ),
    ),
)


class RefusedError(Exception):
    """The tracker can't do what was asked."""


@dataclass(slots=True)
class Tracker:
    """All issues by key, in the order in which they were created."""

    by_key: dict[str, Structured] = field(default_factory=dict[str, Structured])
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def create(self, arguments: Arguments) -> Structured:
        """File a new issue."""
        key = f"TR-{next(self.numbers)}"
        self.by_key[key] = {
            "key": key,
            "title": arguments["title"],
            "body": arguments.get("body", ""),
            "priority": arguments.get("priority", "normal"),
            "status": "open",
            "assignee": None,
            "comments": [],
        }
        return self.by_key[key]

    def get(self, arguments: Arguments) -> Structured:
        """Return one issue."""
        if arguments["key"] not in self.by_key:
            message = f"There is no issue {arguments['key']}."
            raise RefusedError(message)
        return self.by_key[arguments["key"]]

    def comment(self, arguments: Arguments) -> Structured:
        """Add a comment."""
        issue = self.get(arguments)
        issue["comments"].append(arguments["text"])
        return issue

    def assign(self, arguments: Arguments) -> Structured:
        """Set or clear the assignee."""
        issue = self.get(arguments)
        issue["assignee"] = arguments["assignee"]
        return issue

    def list_transitions(self, arguments: Arguments) -> Structured:
        """Return `{"status", "next"}`."""
        status = self.get(arguments)["status"]
        return {"status": status, "next": list(WORKFLOW[status])}

    def transition(self, arguments: Arguments) -> Structured:
        """Move an issue along the workflow."""
        issue = self.get(arguments)
        allowed = WORKFLOW[issue["status"]]
        if arguments["status"] not in allowed:
            message = f"{issue['key']} is {issue['status']}; it may go to {' or '.join(allowed)}."
            raise RefusedError(message)
        issue["status"] = arguments["status"]
        if "comment" in arguments:
            issue["comments"].append(arguments["comment"])
        return issue

    def search(self, arguments: Arguments) -> Structured:
        """Return `{"issues", "total"}`, newest first, each with key, title and status."""
        words = arguments.get("text", "").casefold().split()
        found = [
            {"key": issue["key"], "title": issue["title"], "status": issue["status"]}
            for issue in reversed(self.by_key.values())
            if all(word in f"{issue['title']}\n{issue['body']}".casefold() for word in words)
            and arguments.get("status", issue["status"]) == issue["status"]
            and arguments.get("assignee", issue["assignee"]) == issue["assignee"]
        ]
        return {"issues": found[: arguments.get("limit", 20)], "total": len(found)}


def make_server() -> Server[Any]:
    """Return a server with no issues."""
    tracker = Tracker()
    handlers: dict[str, Callable[[Arguments], Structured]] = {
        "add_comment": tracker.comment,
        "assign_issue": tracker.assign,
        "create_issue": tracker.create,
        "get_issue": tracker.get,
        "list_transitions": tracker.list_transitions,
        "search_issues": tracker.search,
        "transition_issue": tracker.transition,
    }
    schemas = {tool.name: tool.input_schema for tool in TOOLS}

    async def list_tools(_context: object, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(TOOLS))

    async def call_tool(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in handlers:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        arguments = params.arguments or {}
        schema = schemas[params.name]
        faults = [error.message for error in validator_for(schema)(schema).iter_errors(arguments)]
        try:
            if faults:
                return _answer("; ".join(faults), is_error=True)
            result = handlers[params.name](arguments)
        except RefusedError as error:
            return _answer(str(error), is_error=True)
        return _answer(json.dumps(result, ensure_ascii=False), structured=result)

    return Server("tracker", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool)


def _answer(text: str, *, structured: Structured | None = None, is_error: bool = False) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(text=text)]
    return types.CallToolResult(content=content, structured_content=structured, is_error=is_error)


async def main() -> None:
    """Serve one client until it closes standard input."""
    server = make_server()
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
