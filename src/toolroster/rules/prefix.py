"""TR3 but sizes: are the built bytes the ones that were accepted, and does any target refuse them?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from toolroster.canonical import JsonValue, digest, encode, write_pointer
from toolroster.catalog.goldens import CHECKSUMS, find_first_difference
from toolroster.catalog.prefix import Prefix
from toolroster.catalog.surface import Surface
from toolroster.diagnostics import Anchor, Fault, Severity
from toolroster.policy.manifest import Alias, Tombstone
from toolroster.rules.facts import Facts
from toolroster.rules.registry import rule
from toolroster.rules.texts import list_texts
from toolroster.schemas import walk_schemas
from toolroster.tools import ToolDefinition


@rule("TR301", "missing-golden", on_clean_surface=True)
def missing_golden(facts: Facts) -> Iterator[Fault]:
    """A profile and target has no committed bytes.

    Why:
        A prefix without a golden can change without anybody seeing it. Each profile has three files a target: the exact
        bytes of its head (`.json`), those of its deferred pool (`.deferred.json`), and a table of the head's tools
        (`.txt`).

    Example:
        [modes.plan]                # a new mode; goldens/plan/ was not committed with it
        callable = ["read_file"]

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
        Every byte from the first change on is paid again by every conversation; such a change is made on purpose or not at
        all. The finding names the first byte that differs and the tool that it belongs to.

    Example:
        catalog/builtin/write_file.json, when goldens/default/anthropic.json was accepted:
          "description": "Write text to one file."
        now:
          "description": "Write text to a file."

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
        goldens/agent/anthropic.json        the mode agent is called plan now

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
        Notices belong in result metadata. In the prefix they teach every model the old name, and moving them costs the
        cache.

    Example:
        [roster]
        active = ["web.run"]
        deprecated = ["shell"]

        [encoding]
        wire_names = { "web.run" = "shell" }

    Fix:
        Take the text out of the definition; give the tool another wire name.
    """
    if facts.manifest is None or facts.surface is None:
        return
    retired = _retired(facts.surface)
    rows: tuple[Alias | Tombstone, ...] = (*facts.manifest.aliases, *facts.manifest.tombstones)
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


@rule("TR306", "duplicate-wire-name")
def duplicate_wire_name(facts: Facts) -> Iterable[Fault]:
    """Two tools would be emitted under one name.

    Why:
        Providers refuse the request, and a call could mean either.

    Example:
        [roster]
        active = ["list.tags", "list_tags"]

        [encoding]
        wire_names = { "list.tags" = "list_tags" }

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
        targets = ["anthropic"]     # takes a-z A-Z 0-9 _ and - only

        [roster]
        active = ["web.run"]

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
        git config core.autocrlf true       # and .gitattributes does not name goldens/

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
        The model learns a name that it should never call. Values that the tool's own arguments may have are fine, even when
        a tool was once called so.

    Example:
        {"name": "exec_shell_wait", "description": "Wait for a command. Formerly `exec_wait`.", "input_schema": {}}

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
