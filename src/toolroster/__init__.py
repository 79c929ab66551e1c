"""toolroster: the policy engine for the list of tools that an agent sends with every model call."""

from __future__ import annotations

from toolroster.catalog import Prefix, Surface, build_prefix, classify
from toolroster.diagnostics import CatalogError, Diagnostic, SurfaceError
from toolroster.errors import ToolrosterError, UnknownNameError, UnstableValueError, WorkspaceError
from toolroster.policy import LifecycleState, Policy
from toolroster.tools import Capability, Origin, ToolDefinition
from toolroster.workspace import Workspace

__all__ = [
    "Capability",
    "CatalogError",
    "Diagnostic",
    "LifecycleState",
    "Origin",
    "Policy",
    "Prefix",
    "Surface",
    "SurfaceError",
    "ToolDefinition",
    "ToolrosterError",
    "UnknownNameError",
    "UnstableValueError",
    "Workspace",
    "WorkspaceError",
    "build_prefix",
    "classify",
]
