"""The workspace: a folder with a catalog, a policy and goldens."""

from __future__ import annotations

from toolroster.workspace.accepting import Acceptance
from toolroster.workspace.layout import Layout, lay_out
from toolroster.workspace.workspace import Build, Workspace

__all__ = ["Acceptance", "Build", "Layout", "Workspace", "lay_out"]
