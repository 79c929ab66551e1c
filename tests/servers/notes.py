"""A small MCP server that keeps notes in memory; it speaks over standard input and output.

Run it with `python tests/servers/notes.py`. Its tools stand in `catalog/mcp/notes.json` exactly as it lists them.
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

NOTE_ID: Structured = {"type": "string", "description": "Id of the note, such as n1.", "pattern": "^n[1-9][0-9]*$"}
TAGS: Structured = {
    "type": "array",
    "description": "Tags in lower case; they group notes.",
    "items": {"type": "string", "pattern": "^[a-z0-9-]{1,32}$"},
    "maxItems": 10,
    "uniqueItems": True,
}
TOOLS = (
    types.Tool(
        name="add_note",
        title="Add a note",
        description="Keep a new note. Returns it with its id. To change a note that exists, use update_note.",
        input_schema={
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": "What the note is about.", "minLength": 1, "maxLength": 120},
                "text": {"type": "string", "description": "The note itself."},
                "tags": TAGS,
            },
            "required": ["title", "text"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
        ),
    ),
    types.Tool(
        name="delete_note",
        title="Delete a note",
        description="Delete a note for good. Returns the note as it last was.",
        input_schema={
            "type": "object",
            "properties": {"id": NOTE_ID},
            "required": ["id"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    ),
    types.Tool(
        name="get_note",
        title="Read a note",
        description="Read one whole note by its id. Use search_notes to find the id.",
        input_schema={
            "type": "object",
            "properties": {"id": NOTE_ID},
            "required": ["id"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
    types.Tool(
        name="list_tags",
        title="List tags",
        description="List every tag in use with the number of notes that bear it, in alphabetical order.",
        input_schema={"type": "object", "additionalProperties": False},
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
    types.Tool(
        name="search_notes",
        title="Search notes",
        description="Find notes that hold every word of the query in title or text and bear all the tags given, oldest first.",
        input_schema={
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words to look for, in any case; empty finds every note."},
                "tags": TAGS,
                "limit": {
                    "type": "integer",
                    "description": "Most notes to return.",
                    "minimum": 1,
                    "maximum": 100,
                    "default": 20,
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        output_schema={
            "type": "object",
            "properties": {
                "notes": {
                    "type": "array",
                    "description": "The notes found, without their text.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": NOTE_ID,
                            "title": {"type": "string", "description": "What the note is about."},
                            "tags": TAGS,
                        },
                        "required": ["id", "title", "tags"],
                        "additionalProperties": False,
                    },
                },
                "total": {"type": "integer", "description": "How many notes fit, returned or not.", "minimum": 0},
            },
            "required": ["notes", "total"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
    types.Tool(
        name="update_note",
        title="Change a note",
        description="Replace a note's title, text or tags; what is left out stays. Returns the note as it is now.",
        input_schema={
            "type": "object",
            "properties": {
                "id": NOTE_ID,
                "title": {"type": "string", "description": "The new title.", "minLength": 1, "maxLength": 120},
                "text": {"type": "string", "description": "The new text."},
                "tags": TAGS,
            },
            "required": ["id"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    ),
)


class NoSuchNoteError(Exception):
    """No note has the given id."""


@dataclass(slots=True)
class Notes:
    """All notes by id, in the order in which they were added."""

    by_id: dict[str, Structured] = field(default_factory=dict[str, Structured])
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def add(self, arguments: Arguments) -> Structured:
        """Keep a new note."""
        note = {"id": f"n{next(self.numbers)}", "title": arguments["title"], "text": arguments["text"]}
        note["tags"] = sorted(arguments.get("tags", ()))
        self.by_id[note["id"]] = note
        return note

    def get(self, arguments: Arguments) -> Structured:
        """Return one note."""
        if arguments["id"] not in self.by_id:
            message = f"There is no note {arguments['id']}."
            raise NoSuchNoteError(message)
        return self.by_id[arguments["id"]]

    def update(self, arguments: Arguments) -> Structured:
        """Replace the given members of a note."""
        note = self.get(arguments)
        note.update(arguments)
        note["tags"] = sorted(note["tags"])
        return note

    def delete(self, arguments: Arguments) -> Structured:
        """Take a note out and return it."""
        note = self.get(arguments)
        del self.by_id[note["id"]]
        return note

    def search(self, arguments: Arguments) -> Structured:
        """Return `{"notes", "total"}`, oldest first."""
        words = arguments["query"].casefold().split()
        tags = set(arguments.get("tags", ()))
        found = [
            {"id": note["id"], "title": note["title"], "tags": note["tags"]}
            for note in self.by_id.values()
            if all(word in f"{note['title']}\n{note['text']}".casefold() for word in words) and tags <= set(note["tags"])
        ]
        return {"notes": found[: arguments.get("limit", 20)], "total": len(found)}

    def list_tags(self, _: Arguments) -> Structured:
        """Return `{tag: number of notes}` by tag."""
        tags = sorted(tag for note in self.by_id.values() for tag in note["tags"])
        return {tag: len(list(group)) for tag, group in itertools.groupby(tags)}


def make_server() -> Server[Any]:
    """Return a server with no notes."""
    notes = Notes()
    handlers: dict[str, Callable[[Arguments], Structured]] = {
        "add_note": notes.add,
        "delete_note": notes.delete,
        "get_note": notes.get,
        "list_tags": notes.list_tags,
        "search_notes": notes.search,
        "update_note": notes.update,
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
        except NoSuchNoteError as error:
            return _answer(str(error), is_error=True)
        return _answer(json.dumps(result, ensure_ascii=False), structured=result)

    return Server("notes", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool)


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
