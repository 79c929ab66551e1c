"""What a model can be shown, profile by profile: the immutable result of definitions and policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from toolroster.catalog.build import FragmentCounter, build_prefix
from toolroster.catalog.classification import classify_names
from toolroster.catalog.prefix import Prefix
from toolroster.catalog.synthetic import SYNTHETIC_TOOLS
from toolroster.catalog.targets import TARGETS
from toolroster.catalog.validation import find_definition_faults, find_policy_faults
from toolroster.diagnostics import CatalogError, Fault
from toolroster.errors import UnknownNameError
from toolroster.names import suggest
from toolroster.policy.manifest import Manifest
from toolroster.policy.profiles import Profile, find_mode, list_profiles
from toolroster.policy.roster import Policy
from toolroster.policy.states import LifecycleState
from toolroster.resolution import Resolver
from toolroster.tools import ToolDefinition


class Surface:
    """Every name's state, and the prefix of every profile and target. Never changes.

    Attributes:
        policy: The policy that it was made by.
        definitions: Every definition by canonical name, by code point; synthetic tools only where the policy lists them.
        classified: Every defined or listed name's state, by code point.
        resolver: What every name means; a denied tool is not shown, whichever of its names the rule denies.
        faults: What is wrong with names, sets and definitions; while there are any, nothing is emitted.
    """

    def __init__(
        self,
        definitions: Sequence[ToolDefinition],
        policy: Policy,
        manifest: Manifest | None = None,
        *,
        broken: Sequence[str] = (),
        counter: FragmentCounter | None = None,
    ) -> None:
        """Classify the definitions, which may come in any order; see `classify` for the usual way in."""
        ordered = sorted(definitions, key=lambda tool: (tool.name, str(tool.origin)))
        listed = {text for state, _, text in policy.roster.entries() if state.is_visible}
        present = [*ordered, *(tool for name, tool in SYNTHETIC_TOOLS.items() if name in listed)]
        classified, faults = classify_names(present, policy, broken)
        # Hosted tools of several targets may share a name, so any of them stands for it here; heads get all of them.
        by_name = {tool.name: tool for tool in present}
        self.policy = policy
        self.resolver = Resolver(classified, policy, manifest or Manifest())
        self.definitions: Mapping[str, ToolDefinition] = MappingProxyType(dict(sorted(by_name.items())))
        self.classified = MappingProxyType(dict(classified))
        self._present = tuple(present)
        self._profiles = {str(profile): profile for profile in list_profiles(policy)}
        self._prefixes: dict[tuple[Profile, str, LifecycleState], Prefix] = {}
        self._counter = counter
        visible = {name for name, found in classified.items() if found.state.is_visible}
        self.faults: tuple[Fault, ...] = (
            *faults,
            *find_definition_faults(present, classified),
            *find_policy_faults(policy, {**dict.fromkeys(broken), **dict.fromkeys(visible)}, classified),
        )

    def profiles(self) -> tuple[str, ...]:
        """Return the names of all profiles, `default` first."""
        return tuple(self._profiles)

    def head(self, profile: str) -> tuple[ToolDefinition, ...]:
        """Return the definitions that a profile's conversations begin with, by name; denied tools are not among them.

        Raises:
            UnknownNameError: The policy has no such profile.
        """
        return tuple(self._select(self.find_profile(profile), LifecycleState.ACTIVE))

    def deferred(self, profile: str) -> tuple[ToolDefinition, ...]:
        """Return a profile's deferred pool, by name.

        Raises:
            UnknownNameError: The policy has no such profile.
        """
        return tuple(self._select(self.find_profile(profile), LifecycleState.DEFERRED))

    def prefix(self, profile: str, target: str) -> Prefix:
        """Return the head of a profile for a target: what stands in `tools` of a conversation's first request.

        Raises:
            CatalogError: The surface has faults, or the target refuses a tool; all of them are listed.
            UnknownNameError: There is no such profile or target.
        """
        return self._build(profile, target, LifecycleState.ACTIVE)

    def deferred_prefix(self, profile: str, target: str) -> Prefix:
        """Return the deferred pool of a profile, encoded as `prefix` encodes the head.

        Raises:
            CatalogError: As `prefix`.
            UnknownNameError: As `prefix`.
        """
        return self._build(profile, target, LifecycleState.DEFERRED)

    def state_in(self, name: str, profile: Profile) -> LifecycleState | None:
        """Return the state of a name in one profile; None for a name that is unknown, or kept from sub-agents there."""
        found = self.classified.get(name)
        if found is None:
            return None
        state = found.state
        if state.is_retired:
            return state
        if profile.child and self.policy.children is not None and name in self.policy.children.exclude:
            return None
        mode = find_mode(self.policy, profile)
        tool = self.definitions.get(name)
        chosen_by_mode = found.decided == "default" or state is LifecycleState.DEFERRED
        if mode.mcp is not None and tool is not None and tool.origin.kind == "mcp" and chosen_by_mode:
            state = LifecycleState(mode.mcp)
        provider = self.policy.providers.get(profile.provider)
        narrowed = provider is not None and provider.active is not None and name not in provider.active
        return LifecycleState.DEFERRED if narrowed and state is LifecycleState.ACTIVE else state

    def find_profile(self, name: str) -> Profile:
        """Return the profile of this name.

        Raises:
            UnknownNameError: The policy has no such profile.
        """
        profile = self._profiles.get(name)
        if profile is None:
            said = f"there is no profile {name!r}{suggest(name, self._profiles)}"
            raise UnknownNameError(f"{said}; the policy has {', '.join(self._profiles)}")
        return profile

    def _select(self, profile: Profile, state: LifecycleState) -> Iterator[ToolDefinition]:
        return (tool for tool in self._present if self.state_in(tool.name, profile) is state and not self._is_denied(tool.name))

    def _is_denied(self, name: str) -> bool:
        permission = self.resolver.resolve(name).permission
        return permission is not None and permission.decision == "deny"

    def _build(self, profile_name: str, target: str, state: LifecycleState) -> Prefix:
        profile = self.find_profile(profile_name)
        if target not in TARGETS:
            raise UnknownNameError(
                f"there is no target {target!r}{suggest(target, TARGETS)}; this version builds {', '.join(TARGETS)}"
            )
        if self.faults:
            raise CatalogError(self.faults)
        key = (profile, target, state)
        if key not in self._prefixes:
            tools = tuple(self._select(profile, state))
            self._prefixes[key] = build_prefix(tools, TARGETS[target], self.policy.encoding, self._counter)
        return self._prefixes[key]


def classify(definitions: Sequence[ToolDefinition], policy: Policy, manifest: Manifest | None = None) -> Surface:
    """Return the surface of these definitions, in any order, under a policy and the manifest of its retired names.

    Raises:
        CatalogError: A name is in two sets or in none, a set names an unknown tool, a definition is unusable, …; every
            fault is listed.
    """
    surface = Surface(definitions, policy, manifest)
    if surface.faults:
        raise CatalogError(surface.faults)
    return surface
