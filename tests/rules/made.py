"""The parts of rule fixtures that are made at run time: what an editor, git or a file system would not keep as it is.

Byte order marks, text that is not UTF-8, goldens, hundreds of levels or tools, and names that only some systems allow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from tests.support import NO_PARAMETERS, builtin, write_tree
from toolroster import Workspace
from toolroster.canonical import JsonValue

Variant: TypeAlias = Literal["clean", "dirty"]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def finish_fixture(code: str, variant: Variant, root: Path) -> None:
    """Add what the committed files of a rule's fixture lack to their copy in `root`; most lack nothing."""
    if code in MAKERS:
        MAKERS[code](root, variant)


def _spoil_encodings(root: Path, variant: Variant) -> None:
    waivers, catalog = root / "policy/waivers.toml", root / "catalog/builtin/grep_files.json"
    if variant == "dirty":
        waivers.write_bytes(BYTE_ORDER_MARK + waivers.read_bytes())
        catalog.write_bytes(catalog.read_bytes().replace(b"match", "m\u00e4tch".encode("latin-1")))


def _nest_documents(root: Path, variant: Variant) -> None:
    levels = {"clean": 128, "dirty": 129}[variant]
    # A definition is an object, and so are its schema and the keyword's value around the nest.
    nest = "[" * (levels - 3) + "]" * (levels - 3)
    schema = f'{{"type": "object", "properties": {{}}, "x-nest": {{"a": {nest}}}}}'
    definition = f'{{\n  "name": "deep_tool",\n  "description": "Reach far down.",\n  "input_schema": {schema}\n}}\n'
    manifest = (root / "policy/manifest.toml").read_text("utf-8")
    adapter = f"[alias.arguments.set]\ndeep = {'[' * levels}{']' * levels}\n"
    if variant == "clean":
        definition = definition.replace(nest, "[]")
        adapter = "[alias.arguments.set]\ndeep = []\n"
    write_tree(
        root,
        {
            "catalog/builtin/deep_tool.json": definition,
            "policy/manifest.toml": f"{manifest}\n{adapter}",
        },
    )


def _nest_schemas(root: Path, variant: Variant) -> None:
    schema: JsonValue = {"type": "string"}
    # Each step is two levels: the object of properties and the schema in it.
    for _ in range({"clean": 31, "dirty": 32}[variant]):
        schema = {"type": "object", "properties": {"inner": schema}}
    definition = builtin("read_file", input_schema=schema, output_schema=schema)
    write_tree(root, {"catalog/builtin/read_file.json": definition})


def _name_like_devices(root: Path, variant: Variant) -> None:
    if variant == "dirty":
        names = ("Read_File", "con")
        write_tree(root, {f"catalog/builtin/{name}.json": builtin(name) for name in names})


def _forget_a_golden(root: Path, variant: Variant) -> None:
    _accept(root)
    if variant == "dirty":
        (root / "goldens/default/mcp.json").unlink()


def _edit_descriptions(root: Path, variant: Variant) -> None:
    _accept(root)
    if variant == "dirty":
        for name in ("fetch_url", "write_file"):
            path = root / f"catalog/builtin/{name}.json"
            path.write_text(path.read_text("utf-8").replace("one", "a single"), encoding="utf-8", newline="\n")


def _leave_goldens(root: Path, variant: Variant) -> None:
    _accept(root)
    if variant == "dirty":
        write_tree(root, {"goldens/agent/anthropic.json": b"[]", "goldens/notes.md": "What is this?\n"})


def _convert_line_endings(root: Path, variant: Variant) -> None:
    _accept(root)
    for path in sorted((root / "goldens").rglob("*")) if variant == "dirty" else ():
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _offer_many_tools(root: Path, variant: Variant) -> None:
    """Write a server's catalog of 128 tools and accept it: with the built-in, one more than several providers take."""
    number = {"clean": 127, "dirty": 128}[variant]
    tools: list[JsonValue] = [
        {"name": f"tool_{index:03}", "description": f"Do job {index}.", "inputSchema": NO_PARAMETERS} for index in range(number)
    ]
    write_tree(root, {"catalog/mcp/bulk.json": {"server": {"name": "bulk"}, "tools": tools}})
    _accept(root)


def _accept(root: Path) -> None:
    Workspace(root).accept(environment={})


MAKERS: Mapping[str, Callable[[Path, Variant], None]] = MappingProxyType(
    {
        "TR001": _spoil_encodings,
        "TR007": _nest_documents,
        "TR107": _name_like_devices,
        "TR208": _nest_schemas,
        "TR301": _forget_a_golden,
        "TR302": _edit_descriptions,
        "TR303": _leave_goldens,
        "TR308": _convert_line_endings,
        "TR312": _offer_many_tools,
    }
)
"""What finishes a fixture, by rule code."""
