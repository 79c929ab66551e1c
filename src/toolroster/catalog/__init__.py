"""The catalog: classify, build, targets, goldens."""

from __future__ import annotations

from toolroster.catalog.build import FragmentCounter, build_prefix
from toolroster.catalog.goldens import render_goldens
from toolroster.catalog.prefix import Entry, Prefix
from toolroster.catalog.surface import Surface, classify
from toolroster.catalog.targets import TARGETS, Target

__all__ = [
    "TARGETS",
    "Entry",
    "FragmentCounter",
    "Prefix",
    "Surface",
    "Target",
    "build_prefix",
    "classify",
    "render_goldens",
]
