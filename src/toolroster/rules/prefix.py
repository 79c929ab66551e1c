"""TR3: are the built bytes the ones that were accepted, and within their bounds?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from packaging.version import Version

from toolroster.canonical import JsonValue, digest, encode, write_pointer
from toolroster.catalog.goldens import CHECKSUMS, find_first_difference
from toolroster.catalog.prefix import Prefix
from toolroster.catalog.surface import Surface
from toolroster.diagnostics import Anchor, Fault, Severity
from toolroster.policy.profiles import Profile, find_budget, find_mode
from toolroster.policy.roster import ROSTER_PATH, Policy
from toolroster.policy.versions import parse_version
from toolroster.rules.facts import Facts
from toolroster.rules.registry import rule
from toolroster.rules.texts import list_texts
from toolroster.schemas import walk_schemas
from toolroster.tools import ToolDefinition

PORTABLE_TOOLS = 128
"""Source: OpenAI Chat Completions, `array_above_max_length`, and DeepSeek's documentation; read 2026-11."""
GROWTH = 1.1
"""How many times its bytes in the last release a head may have before it counts as grown."""
HEADROOM = 0.95
"""Share of a ceiling from which on a head is said to have little room left."""


@rule("TR301", "missing-golden", on_clean_surface=True)
def missing_golden(facts: Facts) -> Iterator[Fault]:
    """A profile and target has no committed bytes.

    Why:
        A prefix without a golden can change without anybody seeing it.

    Example:
        goldens/plan/anthropic.json does not exist

    Fix:
        Run `toolroster accept`, review the files and commit them.
    """
    for path in facts.expected_goldens:
        if path not in facts.goldens and (not _is_derived(path) or not _differing(facts)):
            yield Fault("missing-golden", f"goldens/{path} does not exist.", Anchor(f"goldens/{path}"))


@rule("TR302", "changed-golden", on_clean_surface=True)
def changed_golden(facts: Facts) -> Iterator[Fault]:
    """The built bytes differ from the committed ones.

    Why:
        Every byte from the first change on is paid again by every conversation; such a change is made on purpose or not at all.

    Example:
        one character of a description was edited

    Fix:
        Run `toolroster accept` if the change is meant, and commit the golden with it.
    """
    differing = _differing(facts)
    for path, expected in facts.expected_goldens.items():
        actual = facts.goldens.get(path)
        if actual is None or actual == expected or _is_converted(actual, expected):
            continue
        # The table and the checksums follow from the bytes; while bytes differ they would only repeat it.
        if not _is_derived(path) or not differing:
            yield _changed(facts, path, actual, expected)


@rule("TR303", "unused-golden", on_clean_surface=True)
def unused_golden(facts: Facts) -> Iterator[Fault]:
    """A file under `goldens/` belongs to no profile and target.

    Why:
        A leftover looks like a promise that is still kept.

    Example:
        goldens/agent/anthropic.json, after the mode agent was renamed

    Fix:
        Run `toolroster accept`, which deletes unused goldens, or move a file that is no golden elsewhere.
    """
    expected = facts.expected_goldens
    for path in facts.goldens:
        if path not in expected:
            yield Fault(
                "unused-golden",
                f"goldens/{path} belongs to no profile and target.",
                Anchor(f"goldens/{path}"),
            )


@rule("TR304", "lifecycle-text-in-prefix", on_clean_surface=True)
def lifecycle_text_in_prefix(facts: Facts) -> Iterator[Fault]:
    """A retired name is emitted as a tool, or a manifest note stands in the emitted bytes.

    Why:
        Notices belong in result metadata. In the prefix they teach every model the old name, and moving them costs the cache.

    Example:
        wire_names = { "web.run" = "shell" }       # shell is deprecated

    Fix:
        Take the text out of the definition; give the tool another wire name.
    """
    if facts.manifest is None or facts.surface is None:
        return
    retired = _retired(facts.surface)
    rows = (*facts.manifest.aliases, *facts.manifest.tombstones)
    # As they would stand in the bytes: quotes and backslashes are escaped there.
    notes = {row.name: encode(row.note)[1:-1] for row in rows if row.note.strip()}
    seen: set[str] = set()
    for _, target, prefix in (*facts.heads(), *_pools(facts.surface)):
        for entry in prefix.entries:
            tool = facts.surface.definitions[entry.name]
            data = prefix.data[entry.offset : entry.end]
            problems = [f"it is emitted as {entry.wire_name!r}, a retired name"] if entry.wire_name in retired else []
            problems += [f"it holds the manifest's note on {name!r}" for name, note in notes.items() if note in data]
            for problem in problems:
                message = f"{entry.name!r} ({target}): {problem}."
                if (key := f"{entry.name} {problem}") not in seen:
                    seen.add(key)
                    yield Fault("lifecycle-text-in-prefix", message, tool.anchor)


@rule("TR305", "prefix-over-budget", on_clean_surface=True)
def prefix_over_budget(facts: Facts) -> Iterator[Fault]:
    """A head has more tools or bytes than its budget, or one tool has more bytes.

    Why:
        Every request pays for the head. Growth is a decision: something else is retired, or the ceiling is raised in review.

    Example:
        [budget]
        head_tools = 20     # and 21 active names

    Fix:
        Move a tool to `deferred`, shorten the largest definitions, or raise the ceiling on purpose.
    """
    for name, used, ceiling, where, anchor in _measures(facts):
        if used > ceiling:
            message = f"{where}: {name} is {ceiling:,}, found {used:,} ({used - ceiling:,} over)."
            yield Fault("prefix-over-budget", message, anchor)


@rule("TR306", "duplicate-wire-name")
def duplicate_wire_name(facts: Facts) -> Iterable[Fault]:
    """Two tools would be emitted under one name.

    Why:
        Providers refuse the request, and a call could mean either.

    Example:
        wire_names = { "list.tags" = "list_tags" }      # and a tool called list_tags

    Fix:
        Choose another wire name for one of them.
    """
    return facts.found("duplicate-wire-name")


@rule("TR307", "name-refused-by-target")
def name_refused_by_target(facts: Facts) -> Iterable[Fault]:
    """A target does not take a tool's name.

    Why:
        The provider would refuse the whole request for one such tool. toolroster renames nothing silently.

    Example:
        web.run, for the target anthropic

    Fix:
        Add a wire name under [encoding] wire_names.
    """
    return facts.found("name-refused-by-target")


@rule("TR308", "converted-line-endings", on_clean_surface=True)
def converted_line_endings(facts: Facts) -> Iterator[Fault]:
    """A golden differs only in line endings: something turned LF into CRLF.

    Why:
        The bytes are no longer those that are sent. Usually git did it on checkout.

    Example:
        git config core.autocrlf true, and no .gitattributes

    Fix:
        Add `goldens/** -text` to .gitattributes, then delete the goldens and check them out again.
    """
    for path, expected in facts.expected_goldens.items():
        actual = facts.goldens.get(path)
        if actual is not None and actual != expected and _is_converted(actual, expected):
            extra = actual.count(b"\r") - expected.count(b"\r")
            message = (
                f"goldens/{path} differs only in line endings: {extra} CR bytes too many, "
                f"the first at byte {find_first_difference(actual, expected)}."
            )
            yield Fault("converted-line-endings", message, Anchor(f"goldens/{path}"))


@rule("TR309", "retired-name-in-description", severity=Severity.WARNING, on_clean_surface=True)
def retired_name_in_description(facts: Facts) -> Iterator[Fault]:
    """A visible description mentions a retired name in quotes or backticks.

    Why:
        The model learns a name that it should never call.

    Example:
        "description": "Wait for a command. Formerly `exec_wait`."

    Fix:
        Name the replacement, or leave the sentence out.
    """
    retired = _retired(facts.surface) if facts.surface is not None else []
    if not retired:
        return
    quoted = re.compile(r"""[`'"](""" + "|".join(re.escape(name) for name in retired) + r""")[`'"]""")
    for tool in facts.visible():
        values = _argument_values(tool)
        for pointer, text in list_texts(tool):
            said = [name for name in dict.fromkeys(quoted.findall(text)) if name not in values]
            if said:
                listed = ", ".join(repr(name) for name in said)
                message = f"{tool.name!r} mentions {listed} at {write_pointer(pointer)}: retired names."
                yield Fault("retired-name-in-description", message, tool.anchor.at(*pointer))


@rule("TR310", "little-headroom", severity=Severity.WARNING, on_clean_surface=True)
def little_headroom(facts: Facts) -> Iterator[Fault]:
    """A head uses more than 95 % of its budget in bytes.

    Why:
        The next harmless edit will fail the check; better to decide now what gives way.

    Example:
        head_bytes = 24_000     # and a head of 23,900 bytes

    Fix:
        Shorten the largest definitions or move a tool to `deferred`.
    """
    for name, used, ceiling, where, anchor in _measures(facts):
        if name == "head_bytes" and HEADROOM * ceiling < used <= ceiling:
            message = f"{where}: {name} is {ceiling:,}, found {used:,} ({ceiling - used:,} left)."
            yield Fault("little-headroom", message, anchor)


@rule("TR311", "head-growth", on_clean_surface=True)
def head_growth(facts: Facts) -> Iterator[Fault]:
    """A head has more tools, or over a tenth more bytes, than in the last release, and no ceiling of its budget was raised.

    Why:
        A head grows one harmless tool at a time. Growth is a decision: something else is retired, or the ceiling is raised in
        review. Releases that had no budget promise nothing here.

    Example:
        goldens/releases/1.0.0.json says 20 tools and head_tools = 24; now there are 21 and head_tools is still 24

    Fix:
        Move a tool to `deferred`, or raise a ceiling of the budget on purpose.
    """
    if facts.surface is None or not (versions := [v for v in facts.releases if parse_version(v) is not None]):
        return
    last = max(versions, key=lambda version: parse_version(version) or Version("0"))
    heads, budgets = facts.releases[last].get("heads"), facts.releases[last].get("budgets")
    for profile, target, prefix in facts.heads():
        then = _numbers(heads, f"{profile}/{target}")
        ceilings = _numbers(budgets, profile)
        policy, found = facts.surface.policy, facts.surface.find_profile(profile)
        now = find_budget(policy, found).model_dump(exclude_none=True)
        if not then or not ceilings or any(now.get(name, math.inf) > ceiling for name, ceiling in ceilings.items()):
            continue
        tools, size = len(prefix.entries), len(prefix.data)
        if tools > then.get("tools", tools) or size > then.get("bytes", size) * GROWTH:
            message = (
                f"{profile}/{target} has {tools} tools and {size:,} bytes; "
                f"release {last} had {then.get('tools')} and {then.get('bytes', 0):,}, with the same ceilings."
            )
            yield Fault("head-growth", message, _budget_anchor(policy, found, min(ceilings)))


@rule("TR312", "crowded-head", severity=Severity.WARNING, on_clean_surface=True)
def crowded_head(facts: Facts) -> Iterator[Fault]:
    """A head has more than 128 tools.

    Why:
        Several providers refuse a longer list, and models choose worse from long lists everywhere. Nothing is ever cut off
        silently.

    Example:
        [defaults]
        mcp = "active"      # with a server of 125 tools

    Fix:
        Move tools to `deferred` and let the model search for them.
    """
    for profile, target, prefix in facts.heads():
        if len(prefix.entries) > PORTABLE_TOOLS:
            message = f"{profile}/{target} has {len(prefix.entries)} tools; several providers take {PORTABLE_TOOLS}."
            yield Fault("crowded-head", message, Anchor(ROSTER_PATH, ("roster", "active")))


def _numbers(value: JsonValue, key: str) -> dict[str, int]:
    """Return the whole numbers of one table of a release file; a file of another form has none."""
    table = value.get(key) if isinstance(value, dict) else None
    members = table.items() if isinstance(table, dict) else ()
    return {name: number for name, number in members if isinstance(number, int) and not isinstance(number, bool)}


def _argument_values(tool: ToolDefinition) -> set[JsonValue]:
    """Return the texts that the tool's own arguments may have: a mention of those is no mention of a tool."""
    found: set[JsonValue] = set()
    for _, schema in walk_schemas(tool.input_schema):
        values = schema.get("enum")
        found.update(value for value in (values if isinstance(values, list) else []) if isinstance(value, str))
        if isinstance(value := schema.get("const"), str):
            found.add(value)
    return found


def _is_derived(path: str) -> bool:
    return path == CHECKSUMS or path.endswith(".txt")


def _differing(facts: Facts) -> bool:
    """Whether any golden of exact bytes is missing or differs."""
    return any(facts.goldens.get(path) != data for path, data in facts.expected_goldens.items() if not _is_derived(path))


def _is_converted(actual: bytes, expected: bytes) -> bool:
    return b"\r" in actual and actual.replace(b"\r\n", b"\n") == expected.replace(b"\r\n", b"\n")


def _changed(facts: Facts, path: str, actual: bytes, expected: bytes) -> Fault:
    offset = find_first_difference(actual, expected)
    message = f"goldens/{path} differs from the build from byte {offset} on"
    if not _is_derived(path) and facts.surface is not None:
        profile, _, name = path.partition("/")
        target = name.removesuffix(".json")
        deferred = target.endswith(".deferred")
        build = facts.surface.deferred_prefix if deferred else facts.surface.prefix
        prefix = build(profile, target.removesuffix(".deferred"))
        entry = prefix.entry_at(offset)
        if entry is not None:
            source = facts.surface.definitions[entry.name].anchor.path
            message += f", in {entry.name!r}" + (f" ({source})" if source else "")
        message += f"; golden {digest(actual)[:12]}, build {prefix.sha256[:12]}"
    column = len(actual[:offset].rsplit(b"\n", 1)[-1].decode("utf-8", "replace")) + 1
    place = (actual.count(b"\n", 0, offset) + 1, column)
    return Fault("changed-golden", f"{message}.", Anchor(f"goldens/{path}", line_column=place))


def _retired(surface: Surface) -> list[str]:
    return [name for name, found in surface.classified.items() if found.state.is_retired]


def _pools(surface: Surface) -> Iterator[tuple[str, str, Prefix]]:
    for profile in surface.profiles():
        for target in surface.policy.targets:
            if "@" not in profile:
                yield profile, target, surface.deferred_prefix(profile, target)


def _measures(facts: Facts) -> Iterator[tuple[str, int, int, str, Anchor]]:
    """Yield `(ceiling's name, used, ceiling, profile/target, anchor)` of every ceiling that holds."""
    if facts.surface is None:
        return
    policy = facts.surface.policy
    for profile, target, prefix in facts.heads():
        found = facts.surface.find_profile(profile)
        budget = find_budget(policy, found)
        where = f"{profile}/{target}"
        for name, used, ceiling in (
            ("head_tools", len(prefix.entries), budget.head_tools),
            ("head_bytes", len(prefix.data), budget.head_bytes),
        ):
            if ceiling is not None:
                yield name, used, ceiling, where, _budget_anchor(policy, found, name).at(name)
        for entry in prefix.entries if budget.tool_bytes is not None else ():
            place = facts.surface.definitions[entry.name].anchor
            yield "tool_bytes", entry.length, budget.tool_bytes or 0, f"{where}, {entry.name!r}", place


def _budget_anchor(policy: Policy, profile: Profile, name: str) -> Anchor:
    """Return the table whose ceiling of this name holds for a profile's head; see `find_budget`."""
    provider = policy.providers.get(profile.provider)
    tables = (
        (("providers", profile.provider, "budget"), provider.budget if provider is not None else None),
        (("modes", profile.mode, "budget"), find_mode(policy, profile).budget),
    )
    for pointer, budget in tables:
        if budget is not None and name in budget.model_dump(exclude_none=True):
            return Anchor(ROSTER_PATH, pointer)
    return Anchor(ROSTER_PATH, ("budget",))
