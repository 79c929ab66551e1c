"""Policy: lifecycle states, roster, manifest, waivers, profiles, budgets, versions."""

from __future__ import annotations

from toolroster.policy.budgets import Budget
from toolroster.policy.encoding import Encoding
from toolroster.policy.manifest import Alias, ArgumentAdapter, Manifest, Tombstone, parse_manifest
from toolroster.policy.profiles import Profile, list_builds, list_profiles, list_targets
from toolroster.policy.roster import Policy, Roster, parse_policy
from toolroster.policy.states import LifecycleState
from toolroster.policy.waivers import Waiver, Waivers, parse_waivers

__all__ = [
    "Alias",
    "ArgumentAdapter",
    "Budget",
    "Encoding",
    "LifecycleState",
    "Manifest",
    "Policy",
    "Profile",
    "Roster",
    "Tombstone",
    "Waiver",
    "Waivers",
    "list_builds",
    "list_profiles",
    "list_targets",
    "parse_manifest",
    "parse_policy",
    "parse_waivers",
]
