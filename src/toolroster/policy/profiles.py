"""Which profiles does a policy have, and what does each change?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from toolroster.policy.budgets import Budget
from toolroster.policy.roster import Loading, Mode, Policy, TargetName

DEFAULT_MODE = "default"
CHILD_SUFFIX = "+child"


@dataclass(frozen=True, slots=True, order=True)
class Profile:
    """One mode at one provider, for the agent itself or for its sub-agents.

    Attributes:
        mode: The mode's name; `default` always exists.
        provider: The provider's name; empty for the unnamed one.
        child: Whether this is the catalog of a sub-agent.
    """

    mode: str = DEFAULT_MODE
    provider: str = ""
    child: bool = False

    def __str__(self) -> str:
        """Return `<mode>` or `<mode>@<provider>`, with `+child` for a sub-agent's catalog."""
        provider = f"@{self.provider}" if self.provider else ""
        return f"{self.mode}{provider}{CHILD_SUFFIX if self.child else ''}"


def list_modes(policy: Policy) -> tuple[str, ...]:
    """Return the mode names: `default` first, then the others by code point."""
    return (DEFAULT_MODE, *sorted(policy.modes.keys() - {DEFAULT_MODE}))


def list_profiles(policy: Policy) -> tuple[Profile, ...]:
    """Return every profile: each mode at the unnamed provider and at each named one, then sub-agents' catalogs."""
    providers = ("", *sorted(policy.providers))
    own = tuple(Profile(mode, provider) for mode in list_modes(policy) for provider in providers)
    return own if policy.children is None else (*own, *(replace(profile, child=True) for profile in own))


def find_profile(policy: Policy, text: str) -> Profile | None:
    """Return the policy's profile of this name, or None."""
    return next((profile for profile in list_profiles(policy) if str(profile) == text), None)


def list_targets(policy: Policy, profile: Profile) -> tuple[TargetName, ...]:
    """Return the targets for which the profile has goldens, by code point: a named provider has its own only."""
    if profile.provider:
        return (policy.providers[profile.provider].target,)
    return tuple(sorted(set(policy.targets)))


def list_builds(policy: Policy) -> Iterator[tuple[Profile, TargetName]]:
    """Yield every profile with each of its targets, in the order of `list_profiles`."""
    for profile in list_profiles(policy):
        for target in list_targets(policy, profile):
            yield profile, target


def find_mode(policy: Policy, profile: Profile) -> Mode:
    """Return the profile's mode; a mode without a table changes nothing."""
    return policy.modes.get(profile.mode, Mode())


def find_budget(policy: Policy, profile: Profile) -> Budget:
    """Return the ceilings that hold for the profile's head: the provider's beat the mode's, which beat `[budget]`."""
    provider = policy.providers.get(profile.provider)
    return policy.budget.narrowed_by(find_mode(policy, profile).budget).narrowed_by(
        provider.budget if provider is not None else None
    )


def find_loading(policy: Policy, profile: Profile) -> Loading:
    """Return how deferred tools reach the model in the profile: its own choice, else `default`'s, else `append`."""
    return policy.loading.get(str(profile), policy.loading.get(DEFAULT_MODE, "append"))
