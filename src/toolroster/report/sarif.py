"""Findings as one SARIF 2.1.0 log, for code-scanning services.

Source: OASIS SARIF 2.1.0, sections 3.14 (run), 3.27 (result), 3.49 (reportingDescriptor).
"""

from __future__ import annotations

from collections.abc import Sequence

from toolroster.canonical import JsonObject, JsonValue
from toolroster.diagnostics import Diagnostic, Rule
from toolroster.report.lines import make_encodable

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def render_sarif(diagnostics: Sequence[Diagnostic], rules: Sequence[Rule], version: str) -> JsonObject:
    """Return the log: one run with every rule of `rules`, and one result a finding."""
    indexes = {rule.code: index for index, rule in enumerate(rules)}
    driver: JsonObject = {
        "name": "toolroster",
        "version": version,
        "rules": [_descriptor(rule) for rule in rules],
    }
    results: list[JsonValue] = [_result(diagnostic, indexes[diagnostic.rule.code]) for diagnostic in diagnostics]
    # Columns are counted in code points everywhere in toolroster.
    run: JsonObject = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _descriptor(rule: Rule) -> JsonObject:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": rule.severity.value},
    }


def _result(diagnostic: Diagnostic, index: int) -> JsonObject:
    span = diagnostic.span
    return {
        "ruleId": diagnostic.rule.code,
        "ruleIndex": index,
        "level": diagnostic.rule.severity.value,
        "message": {"text": make_encodable(f"{diagnostic.message} {diagnostic.fix}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(span.path)},
                    "region": {"startLine": span.line, "startColumn": span.column},
                }
            }
        ],
    }


def _uri(path: str) -> str:
    """Return a relative URI reference; paths may hold any character that a file system allows."""
    safe = "-._~!$&'()*+,;=@/"
    return "".join(
        character if character.isascii() and (character.isalnum() or character in safe) else _percent(character)
        for character in path
    )


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
