"""Rules as Markdown pages, from their own documentation, so that a page can't say something else than the rule.

Pure: `docs/generate.py` writes the pages, and a test compares the committed ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from toolroster.canonical import read_json, read_toml
from toolroster.rules import RegisteredRule

FAMILIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "TR0": "Files",
        "TR1": "Names, sets and profiles",
        "TR2": "Definitions and schemas",
        "TR3": "Prefix, goldens, budgets and targets",
        "TR4": "Manifest",
        "TR5": "Release audit",
        "TR6": "Search",
        "TR7": "Permissions",
        "TR8": "Pinned sources and security",
        "TR9": "Waivers",
    }
)
"""What each family of rules is about, by the beginning of its codes."""

WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "definition": "a tool's name, description and schemas, in a file under `catalog/`",
        "roster": "the five name-sets in `policy/roster.toml`, which say which state each name is in",
        "active": "a name in the head of every request",
        "deferred": "a name that is found by search and loaded into a conversation when it is needed",
        "visible": "active or deferred",
        "retired": (
            "hidden-compatibility (still runs, as its replacement, silently), deprecated (the same, with a notice in the "
            "result's metadata) or removed (runs no more)"
        ),
        "manifest": (
            "`policy/manifest.toml`: a row for each retired name, an `[[alias]]` while calls by it run, and a `[[tombstone]]` "
            "once it is removed"
        ),
        "replacement": "the tool that runs when a retired name is called",
        "head": "the tools that a profile's conversations begin with, and their bytes",
        "deferred pool": "the deferred tools of a profile",
        "profile": "a mode, at one provider where several are named: `plan`, `plan@small-model`",
        "target": "a provider's wire format: `anthropic`, `openai-chat`, …",
        "wire name": "the name under which a tool is emitted, where it is not its own",
        "external": "of a server or a plugin: somebody else writes the definition",
        "golden": "a committed file under `goldens/` with the exact bytes that are sent",
        "pin": "the digest of a server's tool as somebody reviewed it",
        "glob": "an entry with `*`, which stands for any characters",
    }
)
"""What the pages' words mean."""

_NOTE = "<!-- Written by `make docs` from the docstrings in src/toolroster/rules/. Edit those, not this page. -->"


def render_rule_page(registered: RegisteredRule) -> str:
    """Return a rule's page: what it finds, why, an example and what to do about it."""
    rule = registered.rule
    when = "It judges built bytes: it runs once everything else is free of errors." if registered.on_clean_surface else ""
    parts = [
        f"# {rule.code} {rule.name}",
        _NOTE,
        f"Severity: {rule.severity.value}. Since toolroster {rule.since}. [All rules](index.md), [words](index.md#words).",
        "## What it finds",
        rule.summary,
        *([when] if when else []),
        "## Why",
        registered.why,
        "## Example",
        f"```{_find_language(registered.example)}\n{registered.example}\n```",
        "## Fix",
        rule.fix,
    ]
    return "\n\n".join(parts) + "\n"


def render_rule_index(rules: Iterable[RegisteredRule]) -> str:
    """Return the page that lists the rules: a table a family, rules by code."""
    ordered = sorted(rules, key=lambda registered: registered.rule.code)
    parts = [
        "# Rules",
        _NOTE,
        (
            "What `toolroster check` looks for. Errors make it exit with 1; warnings do so with `--strict`. "
            "`toolroster explain TRnnn` shows a rule's page in the terminal. Codes are never reused."
        ),
    ]
    for family, title in FAMILIES.items():
        rows = [_render_row(registered) for registered in ordered if registered.rule.code.startswith(family)]
        if rows:
            head = "| code | name | severity | finds |\n|---|---|---|---|"
            parts += [f"## {family} {title}", "\n".join([head, *rows])]
    words = [f"| {word} | {meaning} |" for word, meaning in WORDS.items()]
    parts += ["## Words", "\n".join(["| word | meaning |\n|---|---|", *words])]
    return "\n\n".join(parts) + "\n"


def _render_row(registered: RegisteredRule) -> str:
    rule = registered.rule
    summary = rule.summary.replace("|", "\\|")
    return f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity.value} | {summary} |"


def _find_language(example: str) -> str:
    """Return the language that the example is written in, for highlighting; what else it does wrong is no matter here."""
    data = example.encode()
    # The last form is that of a single member.
    readings = (("toml", read_toml("", data)), ("json", read_json("", data)), ("json", read_json("", b"{" + data + b"}")))
    for language, reading in readings:
        if not any(fault.rule == "invalid-syntax" for fault in reading.faults):
            return language
    return "text"
