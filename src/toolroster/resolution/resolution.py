"""What does a requested name mean? The one function that search, listing, bridge, dispatch, export and CLI ask.

Exact: names are never folded, trimmed or guessed. Pure: the answer depends on policy and manifest alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolroster.diagnostics import Anchor
from toolroster.policy.manifest import Alias, Manifest, Tombstone
from toolroster.policy.roster import Policy
from toolroster.policy.states import Classified, LifecycleState
from toolroster.resolution.permissions import Permission, judge


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a requested name means.

    Attributes:
        requested: The name as it was asked for.
        canonical: The tool that would run; None when none would.
        state: State of the requested name; None for an unknown name.
        permission: Whether a call by this name may go ahead; None when nothing would run.
        alias: The manifest row of a retired name that dispatches.
        tombstone: The manifest row of a removed name.
        decided_by: The roster's entry (or default) that decided the state; None for an unknown name.
    """

    requested: str
    canonical: str | None
    state: LifecycleState | None
    permission: Permission | None
    alias: Alias | None = None
    tombstone: Tombstone | None = None
    decided_by: Anchor | None = None


class Resolver:
    """Resolves names under one policy and manifest; immutable, and safe to share between threads."""

    def __init__(self, classified: Mapping[str, Classified], policy: Policy, manifest: Manifest) -> None:
        """Flatten aliases and wire names, and judge every name once, so that a call is one look-up."""
        aliases = {row.name: row for row in manifest.aliases}
        tombstones = {row.name: row for row in manifest.tombstones}
        retired: dict[str, list[str]] = {}
        for name, found in classified.items():
            if found.state.is_retired and found.state.dispatches and name in aliases:
                retired.setdefault(aliases[name].replacement, []).append(name)
        self._retired = {name: tuple(names) for name, names in retired.items()}
        self._policy = policy
        self._resolutions: dict[str, Resolution] = {}
        for name, found in classified.items():
            self._resolutions[name] = self._resolve(found, classified, aliases.get(name), tombstones.get(name))
        for canonical, wire_name in policy.encoding.wire_names.items():
            if canonical in classified and wire_name not in self._resolutions:
                self._resolutions[wire_name] = replace(self._resolutions[canonical], requested=wire_name)

    def resolve(self, name: str) -> Resolution:
        """Return what `name` means; an unknown name resolves to nothing."""
        return self._resolutions.get(name) or Resolution(name, None, None, None)

    def retired_names(self, canonical: str) -> tuple[str, ...]:
        """Return the retired names that dispatch to a tool, by code point."""
        return self._retired.get(canonical, ())

    def names(self) -> tuple[str, ...]:
        """Return every name that resolves, wire names included, by code point."""
        return tuple(sorted(self._resolutions))

    def _resolve(
        self,
        found: Classified,
        classified: Mapping[str, Classified],
        alias: Alias | None,
        tombstone: Tombstone | None,
    ) -> Resolution:
        name, state = found.name, found.state
        if state is LifecycleState.REMOVED:
            return Resolution(name, None, state, None, tombstone=tombstone, decided_by=found.anchor)
        canonical = name
        if state.is_retired:
            target = classified.get(alias.replacement) if alias is not None else None
            if alias is None or target is None or not target.state.is_visible:
                # The rules report it; until it is mended, nothing runs.
                return Resolution(name, None, state, None, alias, decided_by=found.anchor)
            canonical = alias.replacement
        permission = judge(self._policy.permissions, canonical, name, self._retired.get(canonical, ()))
        return Resolution(name, canonical, state, permission, alias, decided_by=found.anchor)
