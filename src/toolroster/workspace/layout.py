"""A new workspace: its folders, its first policy, and tools imported from lists that exist already."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolroster.canonical import JsonObject, read_json, write_line, write_pretty
from toolroster.catalog.imported import Imported
from toolroster.diagnostics import Anchor, CatalogError, Fault
from toolroster.errors import WorkspaceError
from toolroster.names import explain_invalid_name, is_windows_device
from toolroster.policy.encoding import Encoding
from toolroster.policy.roster import DEFAULT_TARGETS
from toolroster.workspace.files import make_folder, read_bytes, write_bytes
from toolroster.workspace.snapshot import MANIFEST, ROSTER, WAIVERS, Locator

_FIRST_VERSION = "0.1.0"
_ATTRIBUTES_LINE = "goldens/** -text"
_CI_STEP = """\
# Checks the tool surface: policy, definitions and the committed bytes of every prefix.
name: toolroster
on: [push, pull_request]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.x"
      - run: python -m pip install toolroster
      - run: toolroster check
"""
_WAIVERS_TEXT = """\
# Accepted audit findings, one [[waiver]] each: rule, name, release, reason, link, fingerprint (optional).
"""


@dataclass(frozen=True, slots=True)
class Layout:
    """What `init` wrote.

    Attributes:
        written: POSIX paths relative to the workspace, by code point.
        active: How many tools are active.
        deferred: How many tools are deferred.
        aliases: How many retired names still dispatch.
        notes: What was left out of imported tools, one sentence each.
    """

    written: tuple[str, ...]
    active: int
    deferred: int
    aliases: int
    notes: tuple[str, ...]


def lay_out(root: Path, sources: Sequence[Path] = (), server: str = "") -> Layout:
    """Write a new workspace into `root`; nothing that exists is overwritten, and on any fault nothing is written.

    Args:
        root: The folder; made when it is missing.
        sources: Tool lists and alias maps to import.
        server: Import the tools as those of this MCP server instead of as built-ins.

    Raises:
        CatalogError: A source is not valid JSON or holds something that is no tool; every fault is listed.
        WorkspaceError: A file exists already, or can't be read or written.
    """
    if server and (reason := explain_invalid_name(server)) is not None:
        raise WorkspaceError(f"{server!r} is no server name: {reason}.")
    if is_windows_device(server):
        raise WorkspaceError(f"{server!r} is no server name: it is a device name on Windows.")
    imported = _read_sources(sources, server)
    files = _files_of(imported, server)
    files.update({WAIVERS: _WAIVERS_TEXT.encode(), ".github/workflows/toolroster.yml": _CI_STEP.encode()})
    taken = [path for path in files if (root / path).exists()]
    if taken:
        raise WorkspaceError(
            f"{root.as_posix()} already has {', '.join(taken)}. Nothing was written; move them away or choose another folder."
        )
    attributes = _attributes(root)
    if attributes is not None:
        files[".gitattributes"] = attributes
    _write_all(root, files)
    # What an MCP server's file keeps whole was not left out.
    lost = [name for name in imported.left_out if not (server and imported.is_mcp(name))]
    deferred = len(imported.definitions) if server else len(imported.deferred)
    active = 0 if server else len(imported.definitions) - deferred
    return Layout(
        tuple(sorted(files)),
        active + len({name for _, name in imported.hosted}),
        deferred,
        len(imported.aliases),
        (*imported.notes, *(imported.describe_left_out(name) for name in lost)),
    )


def _write_all(root: Path, files: Mapping[str, bytes]) -> None:
    """Write every file, and the folders that a workspace has; when one can't be written, take the others back."""
    paths = [root / path for path in sorted(files)]
    folders = [root / folder for folder in ("catalog/builtin", "goldens")]
    before = {path: read_bytes(path) for path in paths if path.is_file()}
    made = [folder for path in (*paths, *folders) for folder in (path, *path.parents) if not folder.exists()]
    try:
        for folder in folders:
            make_folder(folder)
        for path in paths:
            write_bytes(path, files[path.relative_to(root).as_posix()])
    except WorkspaceError:
        for path, data in before.items():
            write_bytes(path, data)
        # The deepest first: a folder that holds something else by now stays.
        for path in sorted(made, key=lambda path: len(path.parts), reverse=True):
            with contextlib.suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        raise


def _read_sources(sources: Sequence[Path], server: str) -> Imported:
    imported = Imported()
    texts: dict[str, str] = {}
    for source in sources:
        path = source.as_posix()
        reading = read_json(path, read_bytes(source))
        texts[path] = reading.text
        imported.faults += reading.faults
        # The document `null` is a value too, and no list of tools.
        if reading.value is not None or not reading.faults:
            imported.add(reading.value, path)
    imported.faults += _unwritable(imported, server)
    if imported.faults:
        raise CatalogError(_place(fault, Locator(texts)) for fault in imported.faults)
    return imported


def _place(fault: Fault, locator: Locator) -> Fault:
    """Put the position into the message, since no diagnostic will carry it."""
    span = locator.locate(fault.anchor)
    return Fault(fault.rule, f"{span.path}:{span.line}:{span.column}: {fault.message}", fault.anchor, fault.fix)


def _unwritable(imported: Imported, server: str) -> list[Fault]:
    """Return faults of names that are no tool names, or no file names where each tool has a file of its own."""
    faults: list[Fault] = []
    spellings: dict[tuple[str, str], str] = {}
    own_file = "" if server else "builtin"
    named = [(name, own_file, anchor) for name, anchor in imported.anchors.items()]
    named += [(name, f"hosted/{target}", anchor) for (target, name), anchor in imported.hosted_anchors.items()]
    for old, anchor in imported.alias_anchors.items():
        named += [(old, "", anchor), (imported.aliases[old], "", Anchor(anchor.path, anchor.pointer))]
    for name, folder, anchor in named:
        if (reason := explain_invalid_name(name)) is not None:
            faults.append(Fault("invalid-name", f"{name!r} is no tool name: {reason}.", anchor))
        elif folder and is_windows_device(name):
            faults.append(Fault("unportable-name", f"{name!r} is a device name on Windows.", anchor))
        elif folder and (other := spellings.setdefault((folder, name.casefold()), name)) != name:
            faults.append(Fault("unportable-name", f"{other!r} and {name!r} differ only in case.", anchor))
        elif folder.startswith("hosted/") and own_file and name in imported.definitions:
            message = f"{name!r} is a tool of the list, and one that the provider runs."
            faults.append(Fault("duplicate-tool-name", message, anchor, "Keep one of the two."))
    return faults


def _files_of(imported: Imported, server: str) -> dict[str, bytes]:
    files = {f"catalog/hosted/{target}/{name}.json": write_pretty(entry) for (target, name), entry in imported.hosted.items()}
    aliases = imported.aliases
    if server:
        names = {name: Encoding().name_external(server, name) for name in imported.definitions}
        aliases = {Encoding().name_external(server, old): names.get(new, new) for old, new in aliases.items()}
        tools = [imported.mcp_tool(name) for name in sorted(imported.definitions)]
        document: JsonObject = {
            "server": {"name": server, "transport": "stdio"},
            "tools": [*tools],
            "pins": {},
        }
        files[f"catalog/mcp/{server}.json"] = write_pretty(document)
        active: list[str] = []
        deferred: list[str] = []
    else:
        files |= {f"catalog/builtin/{name}.json": write_pretty(tool) for name, tool in imported.definitions.items()}
        active = [name for name in imported.definitions if name not in imported.deferred]
        deferred = imported.deferred
    active = [*active, *dict.fromkeys(name for _, name in imported.hosted)]
    extra = sorted({target for target, _ in imported.hosted} - {*DEFAULT_TARGETS})
    files[ROSTER] = _roster_text([*DEFAULT_TARGETS, *extra], active, deferred, aliases).encode()
    files[MANIFEST] = _manifest_text(aliases).encode()
    return files


def _roster_text(targets: Sequence[str], active: Sequence[str], deferred: Sequence[str], aliases: Mapping[str, str]) -> str:
    return (
        "# Which state each tool name is in. `toolroster check` says what is wrong, `toolroster accept` writes the goldens.\n"
        "schema = 1\n"
        f'version = "{_FIRST_VERSION}"    # the release that this policy describes\n'
        f"targets = [{', '.join(_quote(target) for target in targets)}]\n"
        "\n"
        "[roster]\n"
        f"active = {_list_text(active)}    # in the head of every request\n"
        f"deferred = {_list_text(deferred)}    # found by search, loaded on demand\n"
        f"hidden-compatibility = {_list_text(sorted(aliases))}    # retired, runs as its replacement, silently\n"
        "deprecated = []    # retired, runs as its replacement, with a notice in result metadata\n"
        "removed = []    # retired, answers with its tombstone\n"
        "\n"
        "[defaults]    # a name in no set: error, deferred or active\n"
        'builtin = "error"\n'
        'mcp = "deferred"\n'
        'plugin = "deferred"\n'
    )


def _list_text(names: Sequence[str]) -> str:
    if not names:
        return "[]"
    return "[\n" + "".join(f"    {_quote(name)},\n" for name in sorted(names)) + "]"


def _manifest_text(aliases: Mapping[str, str]) -> str:
    rows = [
        "[[alias]]\n"
        f"name = {_quote(old)}\n"
        f"replacement = {_quote(new)}\n"
        f'first_deprecated_version = "{_FIRST_VERSION}"\n'
        'planned_removal_version = "TBD"\n'
        "replay_supported = true\n"
        for old, new in sorted(aliases.items())
    ]
    head = "# One row for each retired name: [[alias]] while it dispatches, [[tombstone]] once it is removed.\n"
    return head + "".join(f"\n{row}" for row in rows)


def _quote(text: str) -> str:
    # A JSON string without unusual escapes is a TOML basic string too.
    return write_line({"": text})[4:-1]


def _attributes(root: Path) -> bytes | None:
    """Return the new bytes of `.gitattributes`, or None when it needs no change."""
    path = root / ".gitattributes"
    current = read_bytes(path) if path.is_file() else b""
    if _ATTRIBUTES_LINE.encode() in current.splitlines():
        return None
    separator = b"" if not current or current.endswith(b"\n") else b"\n"
    note = "# Goldens are exact bytes: no checkout may convert their line endings.\n"
    return b"".join((current, separator, f"{note}{_ATTRIBUTES_LINE}\n".encode()))
