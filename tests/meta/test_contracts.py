from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.support import ROOT

LINT_IMPORTS = Path(sysconfig.get_path("scripts")) / "lint-imports"


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run lint-imports on `folder`/src by `folder`/pyproject.toml; an installed toolroster stands behind it in the path."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "NO_COLOR": "1", "COLUMNS": "200"}
    command = [str(LINT_IMPORTS), "--no-logo", "--no-cache", "--config", "pyproject.toml"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, check=False, text=True, encoding="utf-8", timeout=120
    )


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Return a folder with a copy of the project's source and configuration."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_project_keeps_its_import_contracts() -> None:
    """Design.md section 4: import-linter holds the house, exhaustively."""
    done = lint_imports(ROOT)
    assert (0, True) == (done.returncode, "0 broken" in done.stdout), done.stdout


def test_an_unchanged_copy_keeps_them_too(house: Path) -> None:
    """What turns a copy red below is the line that was added, not the copying."""
    done = lint_imports(house)
    assert (0, True) == (done.returncode, "0 broken" in done.stdout), done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("catalog/build.py", "from toolroster.policy.manifest import Manifest", "a notice can't reach the prefix"),
        ("catalog/prefix.py", "import toolroster.resolution", "a notice can't reach the prefix"),
        ("catalog/targets/mcp.py", "import toolroster.catalog.surface", "a notice can't reach the prefix"),
        ("policy/roster.py", "import toolroster.catalog.prefix", "layers"),
        ("unheard.py", "import toolroster.errors", "layers"),
        ("names.py", "import pathlib", "inputs arrive as arguments"),
        ("rules/files.py", "import json", "one writer of JSON"),
        ("catalog/sources.py", "import jsonschema", "one place for validators"),
        ("catalog/semantics.py", "import toolroster.catalog.build", "no cycles between siblings"),
    ],
)
def test_a_forbidden_import_breaks_the_contract_that_forbids_it(house: Path, module: str, line: str, contract: str) -> None:
    """Issue 2: a contract that can't go red proves nothing."""
    path = house / "src" / "toolroster" / module
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(f"{text}\n{line}\n", encoding="utf-8")
    done = lint_imports(house)
    verdicts = dict(row.rsplit(" ", 1) for row in done.stdout.splitlines() if row.endswith((" KEPT", " BROKEN")))
    assert (1, "BROKEN") == (done.returncode, verdicts.get(contract)), done.stdout + done.stderr
