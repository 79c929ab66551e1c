"""The files of a workspace → one `Facts` value.

Everything readable is read, whatever is wrong with the rest. What was parsed once is kept by its bytes, so a second
reading after one change parses one file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from toolroster.canonical import JsonObject, Reading, read_json, read_toml
from toolroster.catalog.build import FragmentCounter
from toolroster.catalog.goldens import RELEASES
from toolroster.catalog.sources import Source, read_builtin, read_hosted, read_plugin, read_server
from toolroster.catalog.surface import Surface
from toolroster.catalog.targets import TARGETS
from toolroster.diagnostics import Anchor, Fault, Span
from toolroster.errors import WorkspaceError
from toolroster.names import suggest
from toolroster.policy.encoding import Encoding
from toolroster.policy.manifest import Manifest, parse_manifest
from toolroster.policy.roster import ROSTER_PATH, Policy, parse_policy
from toolroster.policy.waivers import Waivers, parse_waivers
from toolroster.positions import TextIndex
from toolroster.rules.facts import Facts
from toolroster.workspace.files import list_files, read_bytes

ROSTER, MANIFEST, WAIVERS = ROSTER_PATH, "policy/manifest.toml", "policy/waivers.toml"
_FOLDERS = ("builtin", "hosted", "mcp", "plugin")
_IGNORED_ENDINGS = (".md", ".py", ".pyc")


class Reader:
    """Reads one workspace again and again, keeping what has not changed.

    Attributes:
        root: The workspace's folder.
        counter: Counts the entries that were really encoded.
    """

    def __init__(self, root: Path) -> None:
        """Start with nothing kept."""
        self.root = root
        self.counter = FragmentCounter()
        self._sources: dict[str, tuple[bytes, str, Source, str]] = {}

    def read(self) -> Facts:
        """Return the workspace as it stands now.

        Raises:
            WorkspaceError: There is no workspace, or a file can't be read.
        """
        if not (self.root / ROSTER).is_file():
            raise WorkspaceError(
                f"there is no {ROSTER} in {self.root.as_posix()}. Run `toolroster init` to lay out a workspace."
            )
        texts: dict[str, str] = {}
        faults: list[Fault] = []
        policy, policy_faults = self._read_policy(texts)
        manifest, manifest_faults = self._read_manifest(texts)
        waivers, waiver_faults = self._read_waivers(texts)
        faults += (*policy_faults, *manifest_faults, *waiver_faults, *self._stray_policy_files())
        encoding = policy.encoding if policy is not None else Encoding()
        sources = tuple(self._read_sources(encoding, texts, faults))
        surface = None
        if policy is not None:
            surface = Surface(
                [tool for source in sources for tool in source.definitions],
                policy,
                manifest,
                broken=[name for source in sources for name in source.broken],
                counter=self.counter,
            )
        goldens, releases = self._read_goldens(faults)
        return Facts(
            policy=policy,
            manifest=manifest,
            waivers=waivers,
            sources=sources,
            reading_faults=tuple(faults),
            surface=surface,
            goldens=goldens,
            releases=releases,
            locate=Locator(texts).locate,
        )

    def _read_policy(self, texts: dict[str, str]) -> tuple[Policy | None, tuple[Fault, ...]]:
        reading = self._read_toml(ROSTER, texts)
        if reading.faults:
            return None, reading.faults
        return parse_policy(reading.value, Anchor(ROSTER))

    def _read_manifest(self, texts: dict[str, str]) -> tuple[Manifest | None, tuple[Fault, ...]]:
        if not os.path.lexists(self.root / MANIFEST):
            return Manifest(), ()
        reading = self._read_toml(MANIFEST, texts)
        if reading.faults:
            return None, reading.faults
        return parse_manifest(reading.value, Anchor(MANIFEST))

    def _read_waivers(self, texts: dict[str, str]) -> tuple[Waivers | None, tuple[Fault, ...]]:
        if not os.path.lexists(self.root / WAIVERS):
            return Waivers(), ()
        reading = self._read_toml(WAIVERS, texts)
        if reading.faults:
            return None, reading.faults
        return parse_waivers(reading.value, Anchor(WAIVERS))

    def _read_toml(self, path: str, texts: dict[str, str]) -> Reading:
        reading = read_toml(path, read_bytes(self.root / path))
        texts[path] = reading.text
        return reading

    def _stray_policy_files(self) -> list[Fault]:
        known = (ROSTER, MANIFEST, WAIVERS)
        files = [path.relative_to(self.root).as_posix() for path in list_files(self.root / "policy")]
        return [
            _stray(path, f"policy files are {', '.join(known)}{suggest(path, known)}")
            for path in files
            if path.lower().endswith(".toml") and path not in known
        ]

    def _read_sources(self, encoding: Encoding, texts: dict[str, str], faults: list[Fault]) -> list[Source]:
        sources: list[Source] = []
        for path in list_files(self.root / "catalog"):
            relative = path.relative_to(self.root).as_posix()
            parts = relative.split("/")
            if path.name.startswith(".") or path.suffix.lower() in _IGNORED_ENDINGS or "__pycache__" in parts:
                continue
            if (reason := _explain_stray(parts)) is not None:
                if len(parts) > 2 or path.suffix.lower() in (".json", ".toml"):  # noqa: PLR2004 - catalog/<file>
                    faults.append(_stray(relative, reason))
                continue
            sources.append(self._read_source(relative, parts, encoding, texts))
        kept = {source.anchor.path for source in sources}
        self._sources = {path: known for path, known in self._sources.items() if path in kept}
        return sources

    def _read_source(self, relative: str, parts: list[str], encoding: Encoding, texts: dict[str, str]) -> Source:
        data = read_bytes(self.root / relative)
        known = self._sources.get(relative)
        if known is None or known[:2] != (data, encoding.mcp_name):
            reading = read_json(relative, data)
            source = _interpret(reading, relative, parts, encoding)
            known = (data, encoding.mcp_name, source, reading.text)
            self._sources[relative] = known
        texts[relative] = known[3]
        return known[2]

    def _read_goldens(self, faults: list[Fault]) -> tuple[Mapping[str, bytes], Mapping[str, JsonObject]]:
        goldens: dict[str, bytes] = {}
        releases: dict[str, JsonObject] = {}
        for path in list_files(self.root / "goldens"):
            relative = path.relative_to(self.root / "goldens").as_posix()
            if not relative.startswith(RELEASES):
                goldens[relative] = read_bytes(path)
            elif path.suffix == ".json":
                reading = read_json(f"goldens/{relative}", read_bytes(path))
                faults.extend(reading.faults)
                if isinstance(reading.value, dict):
                    releases[path.stem] = reading.value
                elif not reading.faults:
                    message = f"release {path.stem!r} must be an object."
                    faults.append(Fault("invalid-value", message, Anchor(f"goldens/{relative}")))
        return goldens, releases


class Locator:
    """Turns anchors into spans, reading a text's structure only when somebody asks."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Keep the texts by path."""
        self._texts = texts
        self._indexes: dict[str, TextIndex] = {}

    def locate(self, anchor: Anchor) -> Span:
        """Return the anchor's position; the file's beginning when its text has no such place."""
        if anchor.line_column is not None:
            return Span(anchor.path, *anchor.line_column)
        text = self._texts.get(anchor.path, "")
        if not text:
            return Span(anchor.path)
        if anchor.path not in self._indexes:
            self._indexes[anchor.path] = TextIndex(text, "toml" if anchor.path.endswith(".toml") else "json")
        index = self._indexes[anchor.path]
        if anchor.offset is not None:
            return Span(anchor.path, *index.line_column(anchor.offset))
        return Span(anchor.path, *index.locate(anchor.pointer, anchor.part))


def _interpret(reading: Reading, relative: str, parts: list[str], encoding: Encoding) -> Source:
    anchor = Anchor(relative)
    stem = parts[-1].removesuffix(".json")
    if reading.value is None and reading.faults:
        return Source(faults=reading.faults, broken=(stem,), anchor=anchor)
    match parts[1]:
        case "builtin":
            source = read_builtin(reading.value, anchor, stem)
        case "plugin":
            source = read_plugin(reading.value, anchor, stem)
        case "hosted":
            source = read_hosted(reading.value, anchor, parts[2], stem)
        case _:
            source = read_server(reading.value, anchor, stem, encoding)
    if reading.faults:
        # A duplicate key or an unstable number leaves the meaning open: the file's tools count as unreadable.
        names = (*(tool.name for tool in source.definitions), *source.broken)
        return Source(faults=(*reading.faults, *source.faults), broken=names, anchor=anchor)
    return Source(source.definitions, source.faults, source.broken, source.pins, source.server, anchor)


def _explain_stray(parts: list[str]) -> str | None:
    """Return why nothing is read from `catalog/<parts>`, or None when something is."""
    if len(parts) < 3 or parts[1] not in _FOLDERS:  # noqa: PLR2004 - catalog/<folder>/<file>
        hint = suggest(parts[1], _FOLDERS)
        return f"definitions stand in catalog/{{{','.join(_FOLDERS)}}}/{hint}"
    depth = 4 if parts[1] == "hosted" else 3
    if len(parts) != depth:
        where = "catalog/hosted/<target>/<name>.json" if parts[1] == "hosted" else f"catalog/{parts[1]}/<name>.json"
        return f"its place is {where}"
    if parts[1] == "hosted" and parts[2] not in TARGETS:
        return f"there is no target {parts[2]!r}{suggest(parts[2], TARGETS)}"
    return None if parts[-1].endswith(".json") else "catalog files end in .json"


def _stray(path: str, reason: str) -> Fault:
    return Fault("stray-file", f"nothing reads {path}: {reason}.", Anchor(path))
