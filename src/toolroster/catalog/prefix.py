"""What is emitted: the exact bytes of one list of tools, and where each tool stands in them.

Gets definitions already selected; it knows nothing of states, retired names or notices.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from toolroster.canonical import JsonObject, JsonValue, digest, parse_json
from toolroster.catalog.semantics import encode_meaning
from toolroster.tools import Origin, ToolDefinition


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool's place in a prefix.

    Attributes:
        name: Canonical name.
        wire_name: The name as emitted.
        origin: Where the definition comes from.
        offset: Bytes from the prefix's start to the entry's `{`.
        length: Bytes of the entry, without the comma after it.
        sha256: Digest of the entry's bytes.
    """

    name: str
    wire_name: str
    origin: Origin
    offset: int
    length: int
    sha256: str

    @property
    def end(self) -> int:
        """Offset just after the entry."""
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class Prefix:
    """The bytes for one profile and target; immutable.

    Attributes:
        target: The wire format.
        data: The exact bytes.
        entries: Every tool, in the order of the bytes.
        definitions: The definitions behind the entries, in the same order.
    """

    target: str
    data: bytes
    entries: tuple[Entry, ...]
    definitions: tuple[ToolDefinition, ...] = field(repr=False)

    @property
    def sha256(self) -> str:
        """Digest of `data`; any change of a byte, a pure reorder included, changes it."""
        return digest(self.data)

    @property
    def semantic_sha256(self) -> str:
        """Digest over the digests of the whole definitions in the `sorted` form; no pure reorder of keys changes it."""
        return digest("".join(encode_meaning(tool).sha256 for tool in self.definitions).encode())

    @property
    def tools(self) -> list[JsonObject]:
        """The list of tools to put into a request, in the order of the bytes; a new list each time, yours to keep."""
        value: JsonValue = parse_json(self.data)
        listed = value["tools"] if isinstance(value, dict) else value
        return [tool for tool in listed if isinstance(tool, dict)] if isinstance(listed, list) else []

    @property
    def native_head(self) -> bytes:
        """The bytes from the start through the last built-in or synthetic entry, without the comma or bracket after it."""
        own = [entry.end for entry in self.entries if entry.origin.kind in ("builtin", "synthetic")]
        first = self.entries[0].offset if self.entries else self.data.find(b"[") + 1
        return self.data[: max(own, default=first)]

    def entry_at(self, offset: int) -> Entry | None:
        """Return the entry that holds the byte at `offset`; a comma or bracket belongs to the entry before it."""
        before = [entry for entry in self.entries if entry.offset <= offset]
        return before[-1] if before else next(iter(self.entries), None)
