"""The only reader and writer of `catalog/`, `policy/` and `goldens/`, behind one class."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolroster.catalog.goldens import head_path
from toolroster.catalog.surface import Surface
from toolroster.diagnostics import Diagnostic, SurfaceError
from toolroster.errors import WorkspaceError
from toolroster.policy.profiles import list_builds
from toolroster.rules.facts import Facts
from toolroster.rules.registry import run_rules
from toolroster.workspace.accepting import Acceptance, accept_goldens, check_selection, pin_definitions, write_pins
from toolroster.workspace.snapshot import ROSTER, Reader

if TYPE_CHECKING:
    from toolroster.runtime import Executor, Handlers

GOLDEN_RULES = frozenset({"TR301", "TR302", "TR303", "TR308"})
"""Rules about committed bytes; they say nothing about whether the surface can be trusted."""


@dataclass(frozen=True, slots=True)
class Build:
    """One built head.

    Attributes:
        profile: `<mode>` or `<mode>@<provider>`, with `+child` for a sub-agent's catalog.
        target: The wire format.
        tools: How many tools stand in the head.
        bytes: Its length.
        sha256: Digest of the exact bytes.
        semantic_sha256: Digest that no reorder of keys changes.
        golden: Whether the committed bytes match, are stale, or are missing.
    """

    profile: str
    target: str
    tools: int
    bytes: int
    sha256: str
    semantic_sha256: str
    golden: Literal["match", "stale", "missing"]


class Workspace:
    """A folder with `catalog/`, `policy/` and `goldens/`.

    Every method reads the files as they stand then; what has not changed is not parsed or encoded again.

    Attributes:
        root: The workspace's folder.
    """

    def __init__(self, root: str | os.PathLike[str] = ".") -> None:
        """Name the folder that holds `policy/roster.toml`; nothing is read yet."""
        self.root = Path(root)
        self._reader = Reader(self.root)

    @classmethod
    def discover(cls, start: str | os.PathLike[str] = ".") -> Workspace:
        """Return the workspace of the nearest folder, from `start` upwards, that has `policy/roster.toml`.

        Raises:
            WorkspaceError: No such folder exists.
        """
        folder = Path(start).resolve()
        for candidate in (folder, *folder.parents):
            if (candidate / ROSTER).is_file():
                return cls(candidate)
        raise WorkspaceError(
            f"no folder from {Path(start).as_posix()!r} upwards has {ROSTER}. Run `toolroster init` to lay out a workspace."
        )

    @property
    def encoded(self) -> int:
        """How many entries this object has really encoded; unchanged tools are encoded once."""
        return self._reader.counter.encoded

    def read(self) -> Facts:
        """Return everything that rules judge.

        Raises:
            WorkspaceError: There is no workspace, or a file can't be read.
        """
        return self._reader.read()

    def check(self) -> tuple[Diagnostic, ...]:
        """Return every finding, in total order; writes nothing.

        Raises:
            WorkspaceError: As `read`.
        """
        return run_rules(self.read())

    def surface(self) -> Surface:
        """Return the surface: every tool's state, and the prefix of every profile and target.

        Stale goldens don't matter here; they are a matter of review.

        Raises:
            SurfaceError: There are findings at error level; all findings are listed.
            WorkspaceError: As `read`.
        """
        return self._sound_surface(self.read())

    def build(self) -> tuple[Build, ...]:
        """Return every head, by profile and target, with the state of its golden.

        Raises:
            SurfaceError: As `surface`.
            WorkspaceError: As `read`.
        """
        facts = self.read()
        surface = self._sound_surface(facts)
        builds: list[Build] = []
        for profile, target in list_builds(surface.policy):
            prefix = surface.prefix(str(profile), target)
            golden = facts.goldens.get(head_path(str(profile), target))
            state: Literal["match", "stale", "missing"] = (
                "missing" if golden is None else "match" if golden == prefix.data else "stale"
            )
            builds.append(
                Build(
                    str(profile),
                    target,
                    len(prefix.entries),
                    len(prefix.data),
                    prefix.sha256,
                    prefix.semantic_sha256,
                    state,
                )
            )
        return tuple(builds)

    def executor(self, handlers: Handlers | None = None, root: str | os.PathLike[str] | None = None) -> Executor:
        """Return what runs calls of this workspace's tools: the router's gates around its handlers.

        Args:
            handlers: Registered handlers; left out, those that `implementation` names, from `catalog/<module>.py`.
            root: The folder that tools may work in; the workspace itself when left out.

        Raises:
            SurfaceError: As `surface`.
            WorkspaceError: As `read`.
        """
        # Only programs that run tools pay for the import of an event loop.
        from toolroster.dispatch import Router  # noqa: PLC0415
        from toolroster.runtime import Executor, Handlers  # noqa: PLC0415

        found = handlers if handlers is not None else Handlers(self.root / "catalog")
        return Executor(Router(self.surface()), found, Path(self.root if root is None else root))

    def accept(self, selection: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> tuple[Acceptance, ...]:
        """Write the goldens that differ from the build, and missing pins; return what changed.

        Args:
            selection: `<profile>` or `<profile>/<target>` to accept alone; empty accepts all and deletes unused goldens.
            environment: Where `CI` is looked up; the process's own environment when left out.

        Raises:
            SurfaceError: Findings at error level stand that accepting would not clear; nothing was written.
            UnknownNameError: The selection names no profile and target; nothing was written.
            WorkspaceError: `CI` is set, or a file can't be read or written.
        """
        setting = (os.environ if environment is None else environment).get("CI", "")
        if setting.lower() not in ("", "0", "false"):
            raise WorkspaceError(
                f"accept writes nothing while CI is set (CI={setting}). Accept on your own machine and commit the goldens."
            )
        # Everything is judged as it will stand, pins included, before the first byte is written.
        facts = pin_definitions(self.read())
        surface = self._sound_surface(facts)
        check_selection(surface, selection)
        write_pins(self.root, facts)
        return accept_goldens(self.root, facts, surface, selection)

    def _sound_surface(self, facts: Facts) -> Surface:
        diagnostics = run_rules(facts)
        errors = [found for found in diagnostics if found.is_error and found.rule.code not in GOLDEN_RULES]
        if errors or facts.surface is None:
            raise SurfaceError(found for found in diagnostics if found.rule.code not in GOLDEN_RULES)
        return facts.surface
