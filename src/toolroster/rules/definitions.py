"""TR2: is every definition complete, stable and honest about itself?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from toolroster.canonical import JsonObject, write_pointer
from toolroster.diagnostics import Fault, Severity
from toolroster.policy.states import LifecycleState
from toolroster.rules.facts import Facts
from toolroster.rules.registry import rule
from toolroster.rules.texts import list_texts
from toolroster.schemas import MAX_SCHEMA_DEPTH, find_dialect, find_schema_faults, measure_depth, walk_schemas
from toolroster.tools import ToolDefinition

MAX_DESCRIPTION = 1024
"""Characters. Source: OpenAI Chat Completions refused longer ones in 2025-01; since then undocumented."""

_VOLATILE = (
    ("a date and time", re.compile(r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")),
    ("a date", re.compile(r"\b(?:19|20)\d{2}-\d{2}-\d{2}\b(?![T ]\d{2}:)")),
    (
        "an absolute path",
        re.compile(r"(?<![\w.:/])(?:/(?:home|Users|root|tmp|var|private|mnt)/[\w.-]+|[A-Za-z]:\\\w+)"),
    ),
    ("a UUID", re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")),
    ("an epoch time", re.compile(r"(?<![\w.])1\d{9}(?:\d{3})?(?!\w|\.\d)")),
    (
        "a placeholder",
        re.compile(
            r"\{\{?\s*(?:date|time|now|today|cwd|pwd|home|user|username|hostname|git_sha|commit|pid|uuid|version)\s*\}?\}"
        ),
    ),
)


@rule("TR201", "file-name-mismatch")
def file_name_mismatch(facts: Facts) -> Iterable[Fault]:
    """A catalog file's name is not the name that it defines.

    Why:
        Whoever looks for a tool's file finds it by the tool's name. A server's file has the server's name.

    Example:
        catalog/builtin/reader.json    {"name": "read_file", ...}
        catalog/mcp/note.json          {"server": {"name": "notes"}, ...}

    Fix:
        Rename the file or the tool.
    """
    return facts.found("file-name-mismatch")


@rule("TR202", "unstable-number")
def unstable_number(facts: Facts) -> Iterable[Fault]:
    """A document has NaN, an infinity, a number too large for a float, or an integer past 64 bits.

    Why:
        Such numbers are not JSON, or JSON libraries write them differently; some turn them into null without a word.

    Example:
        {"type": "number", "maximum": 1e400}

    Fix:
        Write a finite number within 64 bits, or leave the bound out.
    """
    return facts.found("unstable-number")


@rule("TR203", "oversized-description", severity=Severity.WARNING)
def oversized_description(facts: Facts) -> Iterator[Fault]:
    """A visible tool's description is longer than 1,024 characters.

    Why:
        Every request pays for it, and at least one provider has refused longer ones.

    Example:
        "description": "<a page of prose>"

    Fix:
        Say what the tool does, when to choose it and what it returns; move the rest to documentation.
    """
    for tool in facts.visible():
        if len(tool.description) > MAX_DESCRIPTION:
            message = f"{tool.name!r} has a description of {len(tool.description)} characters; over {MAX_DESCRIPTION} is risky."
            yield Fault("oversized-description", message, tool.anchor.at("description"))


@rule("TR205", "missing-description")
def missing_description(facts: Facts) -> Iterable[Fault]:
    """A tool of your own has an empty description.

    Why:
        The model chooses tools by what they say of themselves.

    Example:
        "description": ""

    Fix:
        Say what the tool does, when to choose it and what it returns.
    """
    return facts.found("missing-description")


@rule("TR206", "missing-input-schema")
def missing_input_schema(facts: Facts) -> Iterable[Fault]:
    """A tool has no input schema, or null in its place.

    Why:
        Providers refuse the whole request for one such tool.

    Example:
        {"name": "ping", "description": "Ping.", "input_schema": null}

    Fix:
        Add one; a tool without parameters has {"type": "object", "properties": {}}.
    """
    return facts.found("missing-input-schema")


@rule("TR207", "root-not-object")
def root_not_object(facts: Facts) -> Iterable[Fault]:
    """A schema's root does not describe an object.

    Why:
        Arguments are always an object; providers refuse the whole request for one tool that says otherwise. A root that
        says no type is refused too; an empty schema is fine and means that there are no arguments.

    Example:
        {"name": "echo", "description": "Say it again.", "input_schema": {"type": "string"}}

    Fix:
        Make the root {"type": "object"} and put the value into a property.
    """
    return facts.found("root-not-object")


@rule("TR208", "schema-too-deep")
def schema_too_deep(facts: Facts) -> Iterable[Fault]:
    """A schema nests arrays and objects deeper than 64 levels.

    Why:
        Deep schemas crash validators and cost every request.

    Example:
        {"properties": {"a": {"properties": {"a": ...}}}}

    Fix:
        Share parts through `$defs` and `$ref`.
    """
    return facts.found("schema-too-deep")


@rule("TR209", "volatile-text", severity=Severity.WARNING)
def volatile_text(facts: Facts) -> Iterator[Fault]:
    """A visible definition holds text that tends to change by itself: a date, an absolute path, a UUID, an epoch time.

    Why:
        Whatever changes between two builds moves every byte after it, for every conversation. Looked for are dates,
        absolute paths (home and system folders, drive letters), UUIDs, epoch times of ten or thirteen digits, and
        placeholders such as `{cwd}` that nobody has filled in.

    Example:
        {"name": "add_note", "description": "Append a note. Files are under /home/ana/notes.", "input_schema": {}}

    Fix:
        Say it without the value; give the model the value in a message or a result.
    """
    for tool in facts.visible():
        for pointer, text in list_texts(tool):
            for kind, pattern in _VOLATILE:
                if found := dict.fromkeys(match[0] for match in pattern.finditer(text)):
                    listed = ", ".join(repr(word) for word in found)
                    message = f"{tool.name!r} holds {kind} at {write_pointer(pointer)}: {listed}."
                    yield Fault("volatile-text", message, tool.anchor.at(*pointer))


@rule("TR210", "required-not-defined", severity=Severity.WARNING)
def required_not_defined(facts: Facts) -> Iterator[Fault]:
    """A schema requires a property that it does not define.

    Why:
        The model must send what it was told nothing about; some providers refuse such a schema.

    Example:
        {"required": ["id", "ghost"], "properties": {"id": {}}}

    Fix:
        Define the property, or take its name out of `required`.
    """
    for tool in facts.visible():
        key = "inputSchema" if tool.origin.kind == "mcp" else "input_schema"
        for pointer, schema in walk_schemas(tool.input_schema):
            required, properties = schema.get("required"), schema.get("properties")
            if not isinstance(required, list) or not isinstance(properties, dict):
                continue
            for index, name in enumerate(required):
                if isinstance(name, str) and name not in properties:
                    place = (*pointer, "required", index)
                    message = f"{tool.name!r} requires {name!r} at {write_pointer((key, *place))} but does not define it."
                    yield Fault("required-not-defined", message, tool.anchor.at(key, *place))


@rule("TR211", "definition-of-removed-name", severity=Severity.WARNING)
def definition_of_removed_name(facts: Facts) -> Iterator[Fault]:
    """A removed name still has a built-in definition.

    Why:
        Nothing can ever show or run it.

    Example:
        [roster]
        removed = ["agent_spawn"]       # and catalog/builtin/agent_spawn.json is still there

    Fix:
        Delete the file; the tombstone keeps the name reserved.
    """
    for tool in facts.definitions:
        found = facts.surface.classified.get(tool.name) if facts.surface is not None else None
        if found is not None and found.state is LifecycleState.REMOVED and not tool.origin.is_external:
            yield Fault("definition-of-removed-name", f"{tool.name!r} is removed but still defined.", tool.anchor)


@rule("TR212", "lone-surrogate")
def lone_surrogate(facts: Facts) -> Iterable[Fault]:
    r"""A text holds half of a surrogate pair.

    Why:
        It has no UTF-8 form, so no encoder can write it.

    Example:
        "description": "\ud83d"

    Fix:
        Write the whole character.
    """
    return facts.found("lone-surrogate")


@rule("TR213", "unknown-dialect")
def unknown_dialect(facts: Facts) -> Iterator[Fault]:
    """A schema's `$schema` names a dialect that toolroster does not know.

    Why:
        Arguments could not be judged, and a guard that is skipped is no guard.

    Example:
        "$schema": "https://example.test/draft-99"

    Fix:
        Name a draft from 04 to 2020-12, or leave `$schema` out (then it is 2020-12).
    """
    for tool in facts.definitions:
        for key, schema in _schemas(tool):
            if find_dialect(schema) is None:
                message = f"{tool.name!r}: the dialect {schema.get('$schema')!r} is not known."
                yield Fault("unknown-dialect", message, tool.anchor.at(key, "$schema"))


@rule("TR214", "invalid-schema")
def invalid_schema(facts: Facts) -> Iterator[Fault]:
    """A schema is not valid in its dialect, or a `$ref` leads out of it or nowhere.

    Why:
        A validator would crash on it, pass everything, or fetch from the network; toolroster never fetches.

    Example:
        {"properties": {"p": {"type": "array", "items": [{"type": "number"}]}}}     # a list of items is draft-07

    Fix:
        Correct the schema, or name the dialect that it is written in with `$schema`.
    """
    for tool in facts.definitions:
        for key, schema in _schemas(tool):
            if find_dialect(schema) is None or measure_depth(schema) > MAX_SCHEMA_DEPTH:
                continue
            for found in find_schema_faults(schema):
                message = f"{tool.name!r} at /{key}{found.pointer}: {found.expectation} ({found.keyword})."
                pointer = [_unescape(part) for part in found.pointer.split("/")[1:]]
                yield Fault("invalid-schema", message, tool.anchor.at(key, *pointer))


def _schemas(tool: ToolDefinition) -> Iterator[tuple[str, JsonObject]]:
    """Yield `(key in the file, schema)` of a definition; hosted tools have none."""
    mcp = tool.origin.kind == "mcp"
    if tool.origin.kind != "hosted":
        yield ("inputSchema" if mcp else "input_schema"), tool.input_schema
        if tool.output_schema is not None:
            yield ("outputSchema" if mcp else "output_schema"), tool.output_schema


def _unescape(part: str) -> str | int:
    return int(part) if part.isdecimal() else part.replace("~1", "/").replace("~0", "~")
