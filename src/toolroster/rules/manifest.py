"""TR105, TR106 and TR4 but versions: does every retired name have a row that holds, and every row a retired name?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolroster.diagnostics import Anchor, Fault, Severity
from toolroster.names import suggest
from toolroster.policy.manifest import Alias
from toolroster.policy.states import LifecycleState
from toolroster.rules.facts import Facts
from toolroster.rules.registry import rule

MANIFEST_PATH = "policy/manifest.toml"


@dataclass(frozen=True, slots=True)
class _Row:
    """One manifest row of either kind, with where it stands."""

    kind: str
    name: str
    replacement: str | None
    promises_replay: bool
    anchor: Anchor


@rule("TR105", "alias-cycle")
def alias_cycle(facts: Facts) -> Iterator[Fault]:
    """An alias is its own replacement, directly or through others.

    Why:
        A call by that name would never reach a tool.

    Example:
        [[alias]]
        name = "todo_write"
        replacement = "todo_write"

    Fix:
        Name the canonical tool as the replacement.
    """
    replacements = {row.name: row for row in _rows(facts) if row.replacement is not None}
    reported: set[str] = set()
    for name, row in replacements.items():
        path = _follow(name, replacements)
        if path[-1] == name and name not in reported:
            reported.update(path)
            through = f": {' -> '.join(path)}" if len(path) > 2 else ""  # noqa: PLR2004 - the name, and the name again
            yield Fault("alias-cycle", f"{name!r} is its own replacement{through}.", row.anchor.at("replacement"))


@rule("TR106", "alias-to-retired-tool")
def alias_to_retired_tool(facts: Facts) -> Iterator[Fault]:
    """A row's replacement is itself retired.

    Why:
        Callers are sent to a name that they are not shown; a chain of aliases hides what really runs. Tombstones count too:
        advice must lead to a tool that exists.

    Example:
        [[alias]]
        name = "list_files"
        replacement = "ls"          # itself an alias

        [[alias]]
        name = "ls"
        replacement = "list_dir"

    Fix:
        Name the tool at the end of the chain as the replacement.
    """
    states = _states(facts)
    replacements = {row.name: row for row in _rows(facts) if row.replacement is not None}
    for row in replacements.values():
        path = _follow(row.name, replacements)
        state = states.get(row.replacement or "")
        if state is not None and state.is_retired and path[-1] != row.name and row.replacement != row.name:
            message = f"{row.name!r} has the replacement {row.replacement!r}, which is {state.value}: {' -> '.join(path)}."
            yield Fault("alias-to-retired-tool", message, row.anchor.at("replacement"))


@rule("TR401", "deprecated-without-entry")
def deprecated_without_entry(facts: Facts) -> Iterator[Fault]:
    """A name is in a retired set but has no manifest row.

    Why:
        Without a row nobody knows what runs instead, since when, and for how long.

    Example:
        [roster]
        hidden-compatibility = ["exec_wait"]        # and no [[alias]] has this name

    Fix:
        Add the row to policy/manifest.toml.
    """
    rows = {row.name for row in _rows(facts)}
    for name, state in _states(facts).items():
        if state.is_retired and name not in rows and facts.surface is not None and facts.manifest is not None:
            kind = "tombstone" if state is LifecycleState.REMOVED else "alias"
            message = f"{name!r} is {state.value} but has no [[{kind}]] row{suggest(name, rows)}."
            fix = f'Add a [[{kind}]] with name = "{name}" to {MANIFEST_PATH}.'
            yield Fault("deprecated-without-entry", message, facts.surface.classified[name].anchor, fix)


@rule("TR402", "entry-without-state")
def entry_without_state(facts: Facts) -> Iterator[Fault]:
    """A manifest row's name is in none of the five sets.

    Why:
        The row promises something that nothing carries out.

    Example:
        [[alias]]
        name = "checklist_add"      # and no set lists it
        replacement = "todo_write"
        first_deprecated_version = "0.9.0"

    Fix:
        Add the name to the retired set that fits the row.
    """
    states = _states(facts)
    for row in _rows(facts):
        if row.name not in states and facts.surface is not None:
            message = f"{row.name!r} has a row as {row.kind} but is in none of the five sets{suggest(row.name, states)}."
            yield Fault("entry-without-state", message, row.anchor.at("name"))


@rule("TR404", "missing-replacement")
def missing_replacement(facts: Facts) -> Iterator[Fault]:
    """A row's replacement is no tool of this catalog.

    Why:
        Calls by the old name would fail, and advice to callers would lead nowhere.

    Example:
        [[alias]]
        name = "exec_wait"
        replacement = "exec_shel_wait"      # no set lists it
        first_deprecated_version = "0.9.0"

    Fix:
        Name an active or deferred tool.
    """
    states = _states(facts)
    visible = [name for name, state in states.items() if state.is_visible]
    for row in _rows(facts):
        if row.replacement is not None and row.replacement not in states and facts.surface is not None:
            message = (
                f"{row.name!r} has the replacement {row.replacement!r}, which no set lists{suggest(row.replacement, visible)}."
            )
            yield Fault("missing-replacement", message, row.anchor.at("replacement"))


@rule("TR406", "wrong-entry-kind")
def wrong_entry_kind(facts: Facts) -> Iterator[Fault]:
    """A removed name has an alias row, or a name that dispatches has a tombstone.

    Why:
        The row says that the name runs and the set says that it does not, or the other way round. An alias row of a removed
        name still promises that old transcripts run, unless it says otherwise.

    Example:
        # policy/roster.toml
        removed = ["agent_spawn"]

        # policy/manifest.toml
        [[alias]]
        name = "agent_spawn"
        replacement = "agent"

    Fix:
        Turn the row into the kind that its set needs.
    """
    for row in _rows(facts):
        state = _states(facts).get(row.name)
        if state is not None and state.is_retired and state.dispatches is (row.kind == "tombstone"):
            needed = "alias" if state.dispatches else "tombstone"
            promise = " that promises replay" if row.promises_replay else ""
            message = f"{row.name!r} is {state.value} but its row is a [[{row.kind}]]{promise}; it needs a [[{needed}]]."
            yield Fault("wrong-entry-kind", message, row.anchor.at("name"))


@rule("TR407", "duplicate-manifest-entry")
def duplicate_manifest_entry(facts: Facts) -> Iterator[Fault]:
    """A name has two manifest rows.

    Why:
        Which of the two holds would hang on their order.

    Example:
        [[alias]]
        name = "exec_wait"
        replacement = "exec_shell_wait"
        first_deprecated_version = "0.9.0"

        [[tombstone]]
        name = "exec_wait"
        removed_version = "1.0.0"

    Fix:
        Keep one of the two.
    """
    seen: dict[str, _Row] = {}
    for row in _rows(facts):
        if seen.setdefault(row.name, row) is not row:
            message = f"{row.name!r} has a row as {seen[row.name].kind} and another as {row.kind}."
            yield Fault("duplicate-manifest-entry", message, row.anchor.at("name"))


@rule("TR408", "replay-not-promised", severity=Severity.WARNING)
def replay_not_promised(facts: Facts) -> Iterator[Fault]:
    """A name still dispatches, but its row does not promise that old transcripts run.

    Why:
        Either the promise holds and should be said, or the name should be removed.

    Example:
        # policy/roster.toml
        hidden-compatibility = ["exec_wait"]

        # policy/manifest.toml
        [[alias]]
        name = "exec_wait"
        replay_supported = false

    Fix:
        Set replay_supported = true, or move the name to `removed` with a tombstone.
    """
    for index, row in enumerate(facts.manifest.aliases if facts.manifest is not None else ()):
        if not row.replay_supported and facts.dispatches(row.name):
            message = f"{row.name!r} dispatches but replay_supported is false."
            yield Fault("replay-not-promised", message, Anchor(MANIFEST_PATH, ("alias", index, "replay_supported")))


@rule("TR409", "adapter-to-unknown-argument")
def adapter_to_unknown_argument(facts: Facts) -> Iterator[Fault]:
    """An alias's adapter makes an argument that its replacement refuses.

    Why:
        Every call by the old name would fail validation. Judged are replacements whose schema says `"additionalProperties":
        false`; others take any argument.

    Example:
        [[alias]]
        name = "exec_wait"
        replacement = "exec_shell"

        [alias.arguments]
        set = { acton = "read" }        # the replacement's argument is called action

    Fix:
        Correct the argument's name.
    """
    for index, row in enumerate(facts.manifest.aliases if facts.manifest is not None else ()):
        known = _closed_arguments(facts, row)
        if known is None or row.arguments is None:
            continue
        # Where each argument that the adapter makes stands, and its name.
        made = [("rename", old, new) for old, new in row.arguments.rename.items()]
        made += [("default", name, name) for name in row.arguments.default]
        made += [("set", name, name) for name in row.arguments.set]
        for table, key, name in made:
            if name not in known:
                hint = suggest(name, known)
                message = f"{row.name!r} makes the argument {name!r}, which {row.replacement!r} does not take{hint}."
                anchor = Anchor(MANIFEST_PATH, ("alias", index, "arguments", table, key))
                yield Fault("adapter-to-unknown-argument", message, anchor.at(part="value" if table == "rename" else "key"))


def _rows(facts: Facts) -> Iterator[_Row]:
    if facts.manifest is None:
        return
    for index, row in enumerate(facts.manifest.aliases):
        anchor = Anchor(MANIFEST_PATH, ("alias", index))
        yield _Row("alias", row.name, row.replacement, row.replay_supported, anchor)
    for index, stone in enumerate(facts.manifest.tombstones):
        anchor = Anchor(MANIFEST_PATH, ("tombstone", index))
        yield _Row("tombstone", stone.name, stone.replacement, promises_replay=False, anchor=anchor)


def _states(facts: Facts) -> Mapping[str, LifecycleState]:
    if facts.surface is None:
        return {}
    return {name: found.state for name, found in facts.surface.classified.items()}


def _follow(name: str, replacements: Mapping[str, _Row]) -> list[str]:
    """Return the names from `name` through replacement after replacement, to the end or to the first repeat."""
    path = [name]
    while path[-1] in replacements and (following := replacements[path[-1]].replacement) is not None:
        path.append(following)
        if following in path[:-1]:
            break
    return path


def _closed_arguments(facts: Facts, row: Alias) -> list[str] | None:
    """Return the replacement's argument names, or None when it takes others too or is unknown."""
    tool = facts.surface.definitions.get(row.replacement) if facts.surface is not None else None
    if tool is None or tool.input_schema.get("additionalProperties") is not False:
        return None
    properties = tool.input_schema.get("properties")
    return sorted(properties) if isinstance(properties, dict) else []
