"""Names and permissions: the one decision function."""

from __future__ import annotations

from toolroster.resolution.permissions import Permission, judge
from toolroster.resolution.resolution import Resolution, Resolver

__all__ = ["Permission", "Resolution", "Resolver", "judge"]
