"""Everything that rules judge: a workspace as it was read, as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from toolroster.canonical import JsonObject
from toolroster.catalog.goldens import render_goldens
from toolroster.catalog.prefix import Prefix
from toolroster.catalog.sources import Source
from toolroster.catalog.surface import Surface
from toolroster.diagnostics import Anchor, CatalogError, Fault, Span
from toolroster.policy.manifest import Manifest
from toolroster.policy.profiles import list_builds
from toolroster.policy.roster import Policy
from toolroster.policy.waivers import Waivers
from toolroster.tools import ToolDefinition


def _no_place(anchor: Anchor) -> Span:
    return Span(anchor.path)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """A workspace as it was read.

    Attributes:
        policy: The roster file; None when it could not be read.
        manifest: The manifest; empty when there is no file, None when it could not be read.
        waivers: The waivers; empty when there is no file, None when they could not be read.
        sources: Every catalog file, by path.
        reading_faults: What is wrong with the files themselves.
        surface: Definitions under the policy; None while the policy can't be read.
        goldens: Bytes of every file under `goldens/` but releases, by path relative to it.
        releases: Frozen releases by version.
        locate: Gives an anchor's line and column.
    """

    policy: Policy | None = None
    manifest: Manifest | None = None
    waivers: Waivers | None = None
    sources: tuple[Source, ...] = ()
    reading_faults: tuple[Fault, ...] = ()
    surface: Surface | None = None
    goldens: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    releases: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    locate: Callable[[Anchor], Span] = _no_place

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Every definition that could be read, file by file."""
        return tuple(tool for source in self.sources for tool in source.definitions)

    def visible(self) -> tuple[ToolDefinition, ...]:
        """Return the active and deferred definitions, by name."""
        if self.surface is None:
            return ()
        classified = self.surface.classified
        return tuple(
            tool for name, tool in self.surface.definitions.items() if name in classified and classified[name].state.is_visible
        )

    def dispatches(self, name: str) -> bool:
        """Return whether a name is retired and a call by it still runs its replacement."""
        found = self.surface.classified.get(name) if self.surface is not None else None
        return found is not None and found.state.is_retired and found.state.dispatches

    @cached_property
    def gathered(self) -> tuple[Fault, ...]:
        """The faults that reading, classifying and encoding found."""
        source_faults = tuple(fault for source in self.sources for fault in source.faults)
        surface_faults = self.surface.faults if self.surface is not None else ()
        return (*self.reading_faults, *source_faults, *surface_faults, *self._build_faults())

    def found(self, rule: str) -> Iterator[Fault]:
        """Yield the gathered faults of one rule."""
        return (fault for fault in self.gathered if fault.rule == rule)

    @cached_property
    def expected_goldens(self) -> Mapping[str, bytes]:
        """What should stand under `goldens/`, by path; only for rules that run on a surface without errors."""
        return render_goldens(self.surface) if self.surface is not None else {}

    def heads(self) -> Iterator[tuple[str, str, Prefix]]:
        """Yield `(profile, target, prefix)` of every head; only for rules that run on a surface without errors."""
        if self.surface is not None:
            for profile, target in list_builds(self.surface.policy):
                yield str(profile), target, self.surface.prefix(str(profile), target)

    def _build_faults(self) -> tuple[Fault, ...]:
        if self.surface is None or self.surface.faults:
            return ()
        faults: list[Fault] = []
        for profile, target in list_builds(self.surface.policy):
            for build in (self.surface.prefix, self.surface.deferred_prefix):
                try:
                    build(str(profile), target)
                except CatalogError as error:
                    faults += error.faults
        return tuple(faults)
