"""Definitions + policy → each name's lifecycle state, and why.

Total: every name gets a state, and what is wrong is returned as faults beside it. A surface with faults emits nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolroster.catalog.synthetic import SYNTHETIC_TOOLS
from toolroster.diagnostics import Anchor, Fault
from toolroster.names import is_glob, matches, suggest
from toolroster.policy.roster import ROSTER_PATH, DefaultState, Policy
from toolroster.policy.states import Classified, LifecycleState
from toolroster.tools import Origin, ToolDefinition


@dataclass(frozen=True, slots=True)
class _Entry:
    state: LifecycleState
    text: str
    anchor: Anchor


def classify_names(
    definitions: Sequence[ToolDefinition], policy: Policy, broken: Sequence[str] = ()
) -> tuple[Mapping[str, Classified], tuple[Fault, ...]]:
    """Return the state of every defined or listed name, by code point, and every fault of the name-sets.

    `broken` are names whose definitions could not be read; they count as known.
    """
    entries = [
        _Entry(state, text, Anchor(ROSTER_PATH, ("roster", state.value, index)))
        for state, index, text in policy.roster.entries()
    ]
    origins = {tool.name: tool.origin for tool in definitions}
    known = {*origins, *broken, *SYNTHETIC_TOOLS}
    faults: list[Fault] = []
    exact: dict[str, _Entry] = {}
    globs = [entry for entry in entries if is_glob(entry.text)]
    for entry in entries:
        if not is_glob(entry.text):
            faults += _place_exact(entry, exact, known)
    faults += _glob_faults(globs, origins)
    classified: dict[str, Classified] = {}
    for name in sorted({*origins, *exact}):
        found, fault = _classify(name, origins.get(name), exact, globs, policy)
        if found is not None:
            classified[name] = found
        if fault is not None:
            faults.append(fault)
    return classified, tuple(faults)


def _place_exact(entry: _Entry, exact: dict[str, _Entry], known: set[str]) -> Iterator[Fault]:
    first = exact.setdefault(entry.text, entry)
    if first is not entry:
        if first.state is entry.state:
            yield _duplicate(entry)
        else:
            message = f"{entry.text!r} is in {first.state.value!r} and in {entry.state.value!r}."
            yield Fault("name-in-two-states", message, entry.anchor)
    elif entry.state.is_visible and entry.text not in known:
        message = f"{entry.text!r} is {entry.state.value} but no tool of this name is defined{suggest(entry.text, known)}."
        yield Fault("state-for-unknown-tool", message, entry.anchor)


def _glob_faults(globs: Sequence[_Entry], origins: Mapping[str, Origin]) -> Iterator[Fault]:
    external = [name for name, origin in origins.items() if origin.is_external]
    seen: set[tuple[LifecycleState, str]] = set()
    for entry in globs:
        if (entry.state, entry.text) in seen:
            yield _duplicate(entry)
            continue
        seen.add((entry.state, entry.text))
        if entry.state.is_retired:
            message = f"{entry.text!r} in {entry.state.value!r} is a glob; a retired name needs a manifest row of its own."
            yield Fault("glob-in-retired-set", message, entry.anchor)
        elif not any(matches(entry.text, name) for name in external):
            prefix = entry.text.partition("*")[0]
            inside = [name for name in origins if matches(entry.text, name)]
            why = " (globs match external tools only)" if inside else suggest(prefix, external)
            message = f"{entry.text!r} in {entry.state.value!r} matches no external tool{why}."
            yield Fault("entry-matches-nothing", message, entry.anchor)


def _duplicate(entry: _Entry) -> Fault:
    return Fault("duplicate-entry", f"{entry.text!r} stands twice in {entry.state.value!r}.", entry.anchor)


def _classify(
    name: str, origin: Origin | None, exact: Mapping[str, _Entry], globs: Sequence[_Entry], policy: Policy
) -> tuple[Classified | None, Fault | None]:
    if name in exact:
        entry = exact[name]
        return Classified(name, entry.state, "entry", entry.anchor), None
    assert origin is not None  # noqa: S101 - a name that no set lists comes from a definition
    if origin.is_external:
        found = [entry for entry in globs if entry.state.is_visible and matches(entry.text, name)]
        states = {entry.state for entry in found}
        if len(states) > 1:
            said = " and ".join(f"{entry.text!r} ({entry.state.value})" for entry in found)
            message = f"{name!r} is matched by {said}."
            return None, Fault("conflicting-globs", message, found[-1].anchor)
        if found:
            return Classified(name, found[0].state, "glob", found[0].anchor), None
    defaults: dict[str, DefaultState] = {"mcp": policy.defaults.mcp, "plugin": policy.defaults.plugin}
    default = defaults.get(origin.kind, policy.defaults.builtin)
    anchor = Anchor(ROSTER_PATH, ("defaults", "builtin" if not origin.is_external else origin.kind))
    if default == "error":
        message = f"{name!r} ({origin}) is in none of the five sets."
        fix = f'Add "{name}" to one set under [roster].'
        return None, Fault("unclassified-tool", message, Anchor(ROSTER_PATH, ("roster",)), fix)
    return Classified(name, LifecycleState(default), "default", anchor), None
