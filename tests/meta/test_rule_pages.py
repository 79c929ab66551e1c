"""Rule, fixture, page and the verb `rules` are the same list, and the pages say what the rules say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support import ROOT
from toolroster.cli.main import main
from toolroster.report import render_rule_index, render_rule_page
from toolroster.rules import RULES

CODES = sorted(RULES)
PAGES = ROOT / "docs/rules"


def test_codes_and_names_are_unique() -> None:
    """Style.md 2.3: a code is `TRnnn` and a name is in kebab case; waivers, reports and pages lean on both."""
    assert CODES == [registered.rule.code for registered in (RULES[code] for code in CODES)]
    names = [RULES[code].rule.name for code in CODES]
    assert len(names) == len(set(names))
    assert [] == [code for code in CODES if not re.fullmatch(r"TR[0-9]{3}", code)]
    assert [] == [name for name in names if not re.fullmatch(r"[a-z]+(-[a-z]+)*", name)]


def test_each_rule_has_a_fixture_and_each_fixture_a_rule() -> None:
    """Issue 3: rule and fixture are a bijection."""
    folders = sorted(path.name for path in (ROOT / "tests/rules").iterdir() if path.is_dir() and path.name != "__pycache__")
    assert [f"{code}_{RULES[code].rule.name}" for code in CODES] == folders


def test_each_rule_has_a_page_and_each_page_a_rule() -> None:
    """Issue 3: rule and page are a bijection."""
    assert sorted([*(f"{code}.md" for code in CODES), "index.md"]) == sorted(path.name for path in PAGES.iterdir())


def test_the_verb_lists_each_rule(capsys: pytest.CaptureFixture[str]) -> None:
    """Issue 3: rule and `toolroster rules` are a bijection, in text and in JSON."""
    assert 0 == main(["rules", "--format", "json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(code, RULES[code].rule.name) for code in CODES] == [(row["code"], row["name"]) for row in rows]
    assert 0 == main(["rules"])
    _, *lines = capsys.readouterr().out.splitlines()
    assert [(code, RULES[code].rule.name) for code in CODES] == [tuple(line.split()[:2]) for line in lines]


@pytest.mark.parametrize("code", CODES)
def test_a_page_is_what_the_rule_says(code: str) -> None:
    """Design.md section 9: pages are generated from docstrings; one that drifted fails here. Write them with `make docs`."""
    assert render_rule_page(RULES[code]) == read_page(PAGES / f"{code}.md")


def test_the_index_is_what_the_rules_say() -> None:
    """The table of all rules is generated too, and no rule is missing from it."""
    index = read_page(PAGES / "index.md")
    assert render_rule_index(RULES.values()) == index
    assert CODES == sorted(re.findall(r"^\| \[(TR\d{3})\]\(\1\.md\) \|", index, re.MULTILINE))


def test_the_index_does_not_depend_on_the_order_of_the_rules() -> None:
    """A rule that moves to another module moves no line of the index."""
    assert render_rule_index(RULES.values()) == render_rule_index([RULES[code] for code in reversed(CODES)])


@pytest.mark.parametrize("code", CODES)
def test_a_rules_documentation_is_whole(code: str) -> None:
    """Issue 3: a reader of docs/rules/ needs no source; each part is there, and prose is made of sentences."""
    registered = RULES[code]
    for text in (registered.rule.summary, registered.why, registered.rule.fix):
        assert re.fullmatch(r"[a-zA-Z`].*\.", text)
    assert registered.example.strip() == registered.example
    assert "" != registered.example


@pytest.mark.parametrize("code", CODES)
def test_explain_says_what_the_page_says(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The index promises that `toolroster explain TRnnn` shows the page in the terminal."""
    assert 0 == main(["explain", code])
    said = capsys.readouterr().out
    registered = RULES[code]
    for text in (registered.rule.name, registered.rule.summary, registered.why, registered.rule.fix):
        assert text in said
    for line in registered.example.splitlines():
        assert line in said


def read_page(path: Path) -> str:
    """Return a page as it was committed, line endings included."""
    return path.read_bytes().decode("utf-8")
