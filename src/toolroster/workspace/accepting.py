"""The only writer of goldens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolroster.canonical import JsonObject, digest, read_json, write_pretty
from toolroster.catalog.goldens import (
    CHECKSUMS,
    GOLDEN_PATH,
    ToolChange,
    compare_tools,
    deferred_path,
    find_first_difference,
    head_path,
    render_checksums,
    render_goldens,
    table_path,
)
from toolroster.catalog.semantics import encode_meaning
from toolroster.catalog.sources import Source
from toolroster.catalog.surface import Surface
from toolroster.errors import UnknownNameError
from toolroster.names import suggest
from toolroster.policy.profiles import list_builds
from toolroster.rules.facts import Facts
from toolroster.workspace.files import delete_file, read_bytes, write_bytes


@dataclass(frozen=True, slots=True)
class Acceptance:
    """One golden that was written or deleted.

    Attributes:
        path: POSIX path relative to `goldens/`.
        profile: The profile; empty for `SHA256SUMS`.
        target: The target, with `.deferred` for a deferred pool; empty for `SHA256SUMS`.
        old_sha256: Digest before; empty for a new file.
        new_sha256: Digest after; empty for a deleted file.
        first_changed_byte: Offset of the first byte that changed; 0 for a new or deleted file.
        tool: Canonical name of the tool at that byte; empty where there is none.
        changes: What happened to each tool.
    """

    path: str
    profile: str
    target: str
    old_sha256: str
    new_sha256: str
    first_changed_byte: int
    tool: str
    changes: tuple[ToolChange, ...]


def accept_goldens(root: Path, facts: Facts, surface: Surface, selection: Sequence[str]) -> tuple[Acceptance, ...]:
    """Write the selected goldens that differ, by path; with no selection, also delete those that belong to nothing.

    Raises:
        UnknownNameError: The selection names no profile and target; nothing was written.
        WorkspaceError: A file can't be written.
    """
    expected = dict(render_goldens(surface))
    chosen = set(_select(surface, selection)) if selection else {*expected}
    unused = [path for path in facts.goldens if path not in expected and GOLDEN_PATH.fullmatch(path) and not selection]
    result = {path: data for path, data in facts.goldens.items() if path in expected}
    result.update({path: data for path, data in expected.items() if path in chosen})
    # The checksums are over what stands on disk afterwards, also when only a part was accepted.
    result[CHECKSUMS] = render_checksums(result)
    accepted: list[Acceptance] = []
    for path in sorted(result):
        old = facts.goldens.get(path)
        if old != result[path] and write_bytes(root / "goldens" / path, result[path]):
            accepted.append(_describe(surface, path, old, result[path]))
    for path in unused:
        delete_file(root / "goldens" / path)
        accepted.append(_describe(surface, path, facts.goldens[path], None))
    return tuple(accepted)


def pin_definitions(facts: Facts) -> Facts:
    """Return the facts as they are once every server tool without a pin has one; nothing is written.

    Pins that exist are kept as they are, so a changed definition stays an error.
    """
    return replace(facts, sources=tuple(replace(source, pins=_pins(source)) for source in facts.sources))


def write_pins(root: Path, facts: Facts) -> None:
    """Write the pins of `pin_definitions` into the servers' files, where they are missing; other files stay untouched.

    Raises:
        WorkspaceError: A file can't be written.
    """
    for source in facts.sources:
        path = root / source.anchor.path
        document = read_json(source.anchor.path, read_bytes(path)).value if source.server else None
        if isinstance(document, dict) and document.get("pins", {}) != source.pins:
            ordered: JsonObject = {name: source.pins[name] for name in sorted(source.pins)}
            write_bytes(path, write_pretty({**document, "pins": ordered}))


def check_selection(surface: Surface, selection: Sequence[str]) -> None:
    """Refuse a selection that names no profile and target.

    Raises:
        UnknownNameError: It does.
    """
    tuple(_select(surface, selection))


def _pins(source: Source) -> dict[str, str]:
    found = {tool.raw_name: f"sha256:{encode_meaning(tool).sha256}" for tool in source.definitions if source.server}
    return found | source.pins


def _select(surface: Surface, selection: Sequence[str]) -> Iterator[str]:
    builds = [(str(profile), target) for profile, target in list_builds(surface.policy)]
    names = [
        *dict.fromkeys(profile for profile, _ in builds),
        *(f"{profile}/{target}" for profile, target in builds),
    ]
    for wanted in selection:
        if wanted not in names:
            raise UnknownNameError(
                f"there is no profile or profile/target {wanted!r}{suggest(wanted, names)}; there are {', '.join(names)}"
            )
    for profile, target in builds:
        if profile in selection or f"{profile}/{target}" in selection:
            yield from (
                head_path(profile, target),
                deferred_path(profile, target),
                table_path(profile, target),
            )


def _describe(surface: Surface, path: str, old: bytes | None, new: bytes | None) -> Acceptance:
    profile, _, name = path.rpartition("/")
    target = name.removesuffix(".json").removesuffix(".txt") if profile else ""
    first = find_first_difference(old, new) if old is not None and new is not None else 0
    exact = path.endswith(".json")
    tool = ""
    if exact and new is not None:
        build = surface.deferred_prefix if target.endswith(".deferred") else surface.prefix
        entry = build(profile, target.removesuffix(".deferred")).entry_at(first)
        tool = entry.name if entry is not None else ""
    return Acceptance(
        path,
        profile,
        target,
        digest(old) if old is not None else "",
        digest(new) if new is not None else "",
        first,
        tool,
        compare_tools(old or b"", new or b"") if exact else (),
    )
