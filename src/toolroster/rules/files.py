"""TR0: can the files be read, and do they say only what toolroster knows?"""

from __future__ import annotations

from collections.abc import Iterable

from toolroster.diagnostics import Fault
from toolroster.rules.facts import Facts
from toolroster.rules.registry import rule


@rule("TR001", "invalid-syntax")
def invalid_syntax(facts: Facts) -> Iterable[Fault]:
    """A file is not valid JSON, TOML or UTF-8, or begins with a byte order mark.

    Why:
        Nothing that stands in the file can be trusted. Only the first fault of each file is shown; other files are still
        checked.

    Example:
        active = ["read_file" "write_file"]     # the comma is missing

    Fix:
        Correct the file at the place shown.
    """
    return facts.found("invalid-syntax")


@rule("TR002", "unknown-key")
def unknown_key(facts: Facts) -> Iterable[Fault]:
    """A file has a key that toolroster does not know.

    Why:
        A misspelled key would silently leave a rule out: a `deny` list that nobody reads allows everything.

    Example:
        [permissions]
        denny = ["exec_*"]

    Fix:
        Correct the key or delete it; unknown keys are never ignored.
    """
    return facts.found("unknown-key")


@rule("TR003", "unsupported-schema-version")
def unsupported_schema_version(facts: Facts) -> Iterable[Fault]:
    """A file says a format version that this toolroster does not know.

    Why:
        A newer format may mean something else by the same keys, so nothing else in the file is judged.

    Example:
        schema = 2      # in policy/roster.toml

    Fix:
        Install a toolroster that knows this format, or write `schema = 1`.
    """
    return facts.found("unsupported-schema-version")


@rule("TR004", "duplicate-key")
def duplicate_key(facts: Facts) -> Iterable[Fault]:
    """A key stands twice in one object or table.

    Why:
        Readers disagree on which of the two counts; most take the last without a word.

    Example:
        {"name": "read_file", "description": "Reads.", "name": "write_file"}

    Fix:
        Keep one of the two.
    """
    return facts.found("duplicate-key")


@rule("TR005", "invalid-value")
def invalid_value(facts: Facts) -> Iterable[Fault]:
    """A value has the wrong type, or is none of the values that its key may have.

    Why:
        A policy that is half understood is not enforced; so it is not used at all.

    Example:
        [defaults]
        mcp = "on"      # takes error, deferred or active

    Fix:
        Write a value of the kind that the message names.
    """
    return facts.found("invalid-value")


@rule("TR006", "missing-key")
def missing_key(facts: Facts) -> Iterable[Fault]:
    """A file, table or object lacks a key that it must have.

    Why:
        toolroster guesses nothing that decides which tool runs.

    Example:
        [[alias]]
        name = "exec_wait"      # and no replacement
        first_deprecated_version = "0.9.0"

    Fix:
        Add the key.
    """
    return facts.found("missing-key")


@rule("TR007", "too-deep")
def too_deep(facts: Facts) -> Iterable[Fault]:
    """A document nests arrays and objects deeper than 128 levels.

    Why:
        Deep nesting crashes readers, walkers and validators; the depth is counted before any of them sees the text.

    Example:
        {"a": {"a": {"a": ...}}}

    Fix:
        Flatten the document; schemas can share parts through `$defs` and `$ref`.
    """
    return facts.found("too-deep")


@rule("TR008", "stray-file")
def stray_file(facts: Facts) -> Iterable[Fault]:
    """A file under `catalog/` or `policy/` stands where toolroster reads nothing.

    Why:
        A definition in a folder with a misspelled name would be missing from every prefix without a word. Markdown, Python
        and hidden files may stand anywhere.

    Example:
        catalog/builtins/read_file.json                 the folder is called builtin
        catalog/hosted/web_search.json                  a hosted tool stands in its target's folder
        policy/rosters.toml                             the file is called roster.toml

    Fix:
        Move the file to the folder it belongs in, or out of the workspace.
    """
    return facts.found("stray-file")
