from __future__ import annotations

from pathlib import Path

import pytest

from tests.handlers.workbench import run
from tests.support import write_tree

FILES = {
    "src/router.py": (
        "import os\n\nclass Router:\n    def prepare(self):\n        pass\n\ndef make_router():\n    return Router()\n"
    ),
    "src/deep/er/util.rs": "pub fn helper() {}\nstruct Inner;\n",
    "tests/test_router.py": "def test_router():\n    assert Router\n",
    "README.md": "The Router decides.\n",
    ".git/config": "Router\n",
    "node_modules/x.js": "Router\n",
    "binary.bin": b"Router\x00",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a small code base."""
    return write_tree(tmp_path, FILES)


def test_grep_finds_lines_by_path_and_skips_what_is_no_source(root: Path) -> None:
    """Version control, installed packages and binary files are passed over."""
    found = str(run(root, "grep_files", {"pattern": r"class Rout\w+|The Router"}).content)
    assert "README.md:1:The Router decides.\nsrc/router.py:3:class Router:" == found


def test_grep_modes_globs_case_and_limits(root: Path) -> None:
    """Each argument of the schema does what it says."""
    assert (
        "src/router.py\ntests/test_router.py"
        == run(root, "grep_files", {"pattern": "router", "ignore_case": True, "glob": "*.py", "mode": "files"}).content
    )
    assert "src/router.py: 2" in str(run(root, "grep_files", {"pattern": "Router", "mode": "count"}).content)
    assert "[no matches]" == run(root, "grep_files", {"pattern": "Router()", "glob": "*.md", "literal": True}).content
    limited = str(run(root, "grep_files", {"pattern": "outer", "limit": 2}).content).splitlines()
    assert (3, "more; narrow the search or raise limit]") == (len(limited), limited[-1].split(maxsplit=1)[1])
    around = str(run(root, "grep_files", {"pattern": "class Router", "context_lines": 1}).content)
    assert "src/router.py-2-\nsrc/router.py:3:class Router:\nsrc/router.py-4-    def prepare(self):" == around


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "(a+)+b", "x" * 600])
def test_a_pattern_that_can_not_be_used_is_an_answer_and_no_crash(root: Path, pattern: str) -> None:
    """The model writes patterns, so they will be wrong at times."""
    result = run(root, "grep_files", {"pattern": pattern})
    assert "tool_error" == result.code


def test_file_search_ranks_names_over_folders(root: Path) -> None:
    """The shortest path whose name holds the query comes first; the structured result meets its schema."""
    result = run(root, "file_search", {"query": "router"})
    assert "src/router.py\ntests/test_router.py" == result.content
    assert {} == result.metadata
    assert "[no file matches]" == run(root, "file_search", {"query": "router", "extensions": ["rs"]}).content


def test_project_map_shows_files_with_their_symbols(root: Path) -> None:
    """Top-level names only, folder by folder."""
    assert (
        "src/\n  router.py: Router, make_router\nsrc/deep/er/\n  util.rs: helper, Inner\ntests/\n  test_router.py: test_router"
        == run(root, "project_map", {}).content
    )
    assert "src/\n  router.py\ntests/\n  test_router.py" == run(root, "project_map", {"symbols": False, "depth": 2}).content


def test_project_map_shortens_the_largest_folders_first(tmp_path: Path) -> None:
    """A folder of hundreds of files does not push the others out."""
    write_tree(tmp_path, {f"big/f{number:02}.py": "" for number in range(40)} | {"small/a.py": "", "small/b.py": ""})
    shown = str(run(tmp_path, "project_map", {"max_files": 12}).content).splitlines()
    assert ["  [30 more files]", "small/", "  a.py", "  b.py"] == shown[-4:]
