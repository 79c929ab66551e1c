"""TR105, TR106 and TR4: does every retired name have a row that holds, and does every row have a name that is retired?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolroster.diagnostics import Anchor, Fault, Severity
from toolroster.names import suggest
from toolroster.policy.manifest import Alias
from toolroster.policy.states import LifecycleState
from toolroster.policy.versions import parse_plan, parse_version
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
            yield Fault("alias-cycle", f"{' -> '.join(path)}.", row.anchor.at("replacement"))


@rule("TR106", "alias-to-retired-tool")
def alias_to_retired_tool(facts: Facts) -> Iterator[Fault]:
    """A row's replacement is itself retired.

    Why:
        Callers are sent to a name that they are not shown; a chain of aliases hides what really runs.

    Example:
        nova_ask -> vega_ask -> lyra_ask

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
        hidden-compatibility = ["exec_wait"]        # and no [[alias]] with this name

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

    Fix:
        Add the name to the retired set that fits the row.
    """
    states = _states(facts)
    for row in _rows(facts):
        if row.name not in states and facts.surface is not None:
            message = f"{row.name!r} has a row as {row.kind} but is in none of the five sets{suggest(row.name, states)}."
            yield Fault("entry-without-state", message, row.anchor.at("name"))


@rule("TR403", "removal-before-deprecation")
def removal_before_deprecation(facts: Facts) -> Iterator[Fault]:
    """A row's removal, done or planned, is earlier than its deprecation.

    Why:
        Callers would lose the name before they were told.

    Example:
        first_deprecated_version = "0.9.0"
        planned_removal_version = "0.8.0"

    Fix:
        Correct the release numbers.
    """
    if facts.manifest is None:
        return
    for index, row in enumerate(facts.manifest.aliases):
        planned, first = parse_plan(row.planned_removal_version), parse_version(row.first_deprecated_version)
        if planned is not None and first is not None and planned < first:
            message = f"{row.name!r}: removal planned for {row.planned_removal_version}, deprecated in {first}."
            anchor = Anchor(MANIFEST_PATH, ("alias", index, "planned_removal_version"))
            yield Fault("removal-before-deprecation", message, anchor)
    for index, stone in enumerate(facts.manifest.tombstones):
        removed, first = (
            parse_version(stone.removed_version),
            parse_version(stone.first_deprecated_version or ""),
        )
        if removed is not None and first is not None and removed < first:
            message = f"{stone.name!r}: removed in {removed}, deprecated in {first}."
            yield Fault("removal-before-deprecation", message, Anchor(MANIFEST_PATH, ("tombstone", index)))


@rule("TR404", "missing-replacement")
def missing_replacement(facts: Facts) -> Iterator[Fault]:
    """A row's replacement is no tool of this catalog.

    Why:
        Calls by the old name would fail, and advice to callers would lead nowhere.

    Example:
        [[alias]]
        name = "t"
        replacement = "nowhere"

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


@rule("TR405", "overdue-removal", severity=Severity.WARNING)
def overdue_removal(facts: Facts) -> Iterator[Fault]:
    """A name still dispatches although its planned removal has come.

    Why:
        A plan that nobody carries out teaches callers to ignore plans.

    Example:
        version = "0.9.1"
        planned_removal_version = "0.9.0"

    Fix:
        Move the name to `removed` with a tombstone, or set a later planned_removal_version.
    """
    now = parse_version(facts.policy.version) if facts.policy is not None else None
    if facts.manifest is None or now is None:
        return
    for index, row in enumerate(facts.manifest.aliases):
        planned = parse_version(row.planned_removal_version)
        if planned is not None and planned <= now and _dispatches(facts, row.name):
            message = f"{row.name!r} was to be removed in {planned}; this is {now}."
            anchor = Anchor(MANIFEST_PATH, ("alias", index, "planned_removal_version"))
            yield Fault("overdue-removal", message, anchor)


@rule("TR406", "wrong-entry-kind")
def wrong_entry_kind(facts: Facts) -> Iterator[Fault]:
    """A removed name has an alias row, or a name that dispatches has a tombstone.

    Why:
        The row says that the name runs and the set says that it does not, or the other way round.

    Example:
        removed = ["agent_spawn"]
        [[alias]]
        name = "agent_spawn"

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
        two [[alias]] rows with name = "exec_wait"

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
        hidden-compatibility = ["exec_wait"]
        replay_supported = false

    Fix:
        Set replay_supported = true, or move the name to `removed` with a tombstone.
    """
    for index, row in enumerate(facts.manifest.aliases if facts.manifest is not None else ()):
        if not row.replay_supported and _dispatches(facts, row.name):
            message = f"{row.name!r} dispatches but replay_supported is false."
            yield Fault("replay-not-promised", message, Anchor(MANIFEST_PATH, ("alias", index, "replay_supported")))


@rule("TR409", "adapter-to-unknown-argument")
def adapter_to_unknown_argument(facts: Facts) -> Iterator[Fault]:
    """An alias's adapter makes an argument that its replacement refuses.

    Why:
        Every call by the old name would fail validation.

    Example:
        [alias.arguments]
        set = { acton = "read" }        # the replacement's argument is called action

    Fix:
        Correct the argument's name.
    """
    for index, row in enumerate(facts.manifest.aliases if facts.manifest is not None else ()):
        known = _closed_arguments(facts, row)
        if known is None or row.arguments is None:
            continue
        for key, made in (
            ("rename", list(row.arguments.rename.values())),
            ("default", list(row.arguments.default)),
            ("set", list(row.arguments.set)),
        ):
            for name in made:
                if name not in known:
                    hint = suggest(name, known)
                    message = f"{row.name!r} makes the argument {name!r}, which {row.replacement!r} does not take{hint}."
                    anchor = Anchor(MANIFEST_PATH, ("alias", index, "arguments", key))
                    yield Fault("adapter-to-unknown-argument", message, anchor)


@rule("TR410", "future-version")
def future_version(facts: Facts) -> Iterator[Fault]:
    """A row says that something happened in a release later than the policy's own.

    Why:
        What has not been released can't have been promised to anybody.

    Example:
        version = "0.9.1"
        first_deprecated_version = "1.0.0"

    Fix:
        Correct the release number, or raise `version`.
    """
    now = parse_version(facts.policy.version) if facts.policy is not None else None
    if facts.manifest is None or now is None:
        return
    said = [
        ("alias", i, "first_deprecated_version", row.name, row.first_deprecated_version)
        for i, row in enumerate(facts.manifest.aliases)
    ]
    said += [
        ("tombstone", i, "removed_version", row.name, row.removed_version) for i, row in enumerate(facts.manifest.tombstones)
    ]
    for kind, index, key, name, text in said:
        version = parse_version(text)
        if version is not None and version > now:
            message = f"{name!r}: {key} is {text}, but this is {now}."
            yield Fault("future-version", message, Anchor(MANIFEST_PATH, (kind, index, key)))


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


def _dispatches(facts: Facts, name: str) -> bool:
    state = _states(facts).get(name)
    return state is not None and state.is_retired and state.dispatches


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
