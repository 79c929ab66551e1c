"""Every rule against its fixture: `<CODE>_<name>/` with a dirty workspace, the same one mended, and `expected.txt`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.rules.made import MAKERS, Variant, finish_fixture
from toolroster import Workspace
from toolroster.diagnostics import Diagnostic
from toolroster.rules import RULES
from toolroster.workspace.workspace import GOLDEN_RULES

FIXTURES = Path(__file__).parent
CODES = sorted(RULES)

IMPERATIVE = re.compile(
    r"(Add|Choose|Correct|Define|Delete|Fix|Flatten|Give|Install|Keep|List|Make|Move|Name|Rename|Retire|Review|Run|Save|Say|Set"
    r"|Share|Shorten|Take|Turn|Write)\b"
)
"""What a fix begins with."""


def fixture_of(code: str) -> Path:
    """Return the folder of a rule's fixture."""
    return FIXTURES / f"{code}_{RULES[code].rule.name}"


def lay(code: str, variant: Variant, root: Path) -> Workspace:
    """Copy one variant of a rule's fixture to `root`, finish it, and return its workspace."""
    shutil.copytree(fixture_of(code) / variant, root)
    finish_fixture(code, variant, root)
    return Workspace(root)


def find_all(code: str, variant: Variant, root: Path) -> tuple[Diagnostic, ...]:
    """Return a variant's findings; without those on goldens, which fixtures don't keep, unless the rule is about them."""
    found = lay(code, variant, root).check()
    return found if code in GOLDEN_RULES else tuple(one for one in found if one.rule.code not in GOLDEN_RULES)


def write_finding(found: Diagnostic) -> str:
    """Return the finding as a line of `expected.txt`; half of a surrogate pair has no UTF-8 form, and is written escaped."""
    line = f"{found.span.path}:{found.span.line}:{found.span.column} {found.rule.code} {found.message}"
    return line.encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize("code", CODES)
def test_the_dirty_fixture_yields_the_expected_findings(code: str, tmp_path: Path) -> None:
    """Style.md 2.5: positions are asserted, and so is everything else that the dirty workspace makes `check` say."""
    found = find_all(code, "dirty", tmp_path / "workspace")
    expected = (fixture_of(code) / "expected.txt").read_text("utf-8").splitlines()
    assert expected == [write_finding(one) for one in found]
    assert code in {one.rule.code for one in found}


@pytest.mark.parametrize("code", CODES)
def test_the_clean_fixture_yields_nothing(code: str, tmp_path: Path) -> None:
    """The mended workspace has no finding of any rule; once its goldens are accepted, `check` has nothing to say."""
    assert [] == [write_finding(one) for one in find_all(code, "clean", tmp_path / "workspace")]
    workspace = Workspace(tmp_path / "workspace")
    workspace.accept(environment={})
    assert () == workspace.check()


@pytest.mark.parametrize("code", CODES)
def test_every_finding_points_into_a_file(code: str, tmp_path: Path) -> None:
    """Design.md section 9: a POSIX path relative to the workspace, a line and a column, from 1."""
    root = tmp_path / "workspace"
    for found in find_all(code, "dirty", root):
        span = found.span
        if found.rule.name == "missing-golden":
            # The file that is missing is the finding.
            assert not (root / span.path).exists()
            continue
        assert re.fullmatch(r"[^/\\].*", span.path)
        lines = (root / span.path).read_bytes().decode("utf-8", "replace").split("\n")
        assert 1 <= span.line <= len(lines)
        assert 1 <= span.column <= len(lines[span.line - 1]) + 1


@pytest.mark.parametrize("code", CODES)
def test_findings_are_sentences_and_fixes_are_orders(code: str, tmp_path: Path) -> None:
    """Style.md 2.3 and 2.6: a message says what is wrong, a fix what to do, each in one line that ends with a full stop."""
    for found in find_all(code, "dirty", tmp_path / "workspace"):
        assert re.fullmatch(r"\S.*[^.\s]\.", found.message)
        assert re.fullmatch(r"\S.*[^.\s]\.", found.fix)
        assert IMPERATIVE.match(found.fix)


def test_each_fixture_is_a_rules_and_each_rule_has_one() -> None:
    """A folder that names no rule tests nothing, and neither does a maker."""
    folders = {path for path in FIXTURES.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert {fixture_of(code) for code in CODES} == folders
    assert set() == MAKERS.keys() - RULES.keys()
    for folder in sorted(folders):
        assert ["clean", "dirty", "expected.txt"] == sorted(path.name for path in folder.iterdir())
