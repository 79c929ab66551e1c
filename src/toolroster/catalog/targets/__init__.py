"""Wire formats, one module each."""

from __future__ import annotations

from toolroster.catalog.targets.registry import TARGETS
from toolroster.catalog.targets.target import Target

__all__ = ["TARGETS", "Target"]
