from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.handlers.workbench import run
from tests.support import write_tree

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "  d\n", "+e\n", "-f\n", "@@ g\n"]), max_size=25)


@given(old=LINES, new=LINES)
def test_a_patch_of_two_texts_turns_one_into_the_other(tmp_path: Path, old: list[str], new: list[str]) -> None:
    """Whatever `difflib` writes applies exactly."""
    patch = "".join(difflib.unified_diff(old, new, "a/f.txt", "b/f.txt"))
    if patch:
        write_tree(tmp_path, {"f.txt": "".join(old)})
        result = run(tmp_path, "apply_patch", {"patch": patch})
        assert (False, "".join(new)) == (result.is_error, (tmp_path / "f.txt").read_bytes().decode())


def test_a_patch_that_git_wrote_changes_creates_renames_and_deletes(tmp_path: Path) -> None:
    """The four kinds of change in one real patch, a missing last newline included."""
    old = {"keep.txt": "1\n2\n3\n", "gone.txt": "x\n", "name.txt": "a\nb\nc\nd\ne\n", "end.txt": "no newline"}
    write_tree(tmp_path / "one", old)
    write_tree(
        tmp_path / "two",
        {"keep.txt": "1\n2!\n3\n", "new/file.txt": "n\n", "renamed.txt": "a\nb\nC\nd\ne\n", "end.txt": "no newline\nnow\n"},
    )
    work = write_tree(tmp_path / "work", old)
    command = ["git", "diff", "--no-index", "--find-renames=50%", "one", "two"]
    patch = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True).stdout
    patch = patch.replace("one/", "").replace("two/", "")
    result = run(work, "apply_patch", {"patch": patch})
    assert (False, None) == (result.is_error, result.code), result.content
    assert {
        path.relative_to(tmp_path / "two").as_posix(): path.read_bytes()
        for path in (tmp_path / "two").rglob("*")
        if path.is_file()
    } == {path.relative_to(work).as_posix(): path.read_bytes() for path in work.rglob("*") if path.is_file()}


def test_one_hunk_that_does_not_apply_leaves_every_file_as_it_was(tmp_path: Path) -> None:
    """All or nothing, and the answer names the hunk with what stands there."""
    write_tree(tmp_path, {"a.txt": "1\n", "b.txt": "other\n"})
    patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-1\n+2\n"
    result = run(tmp_path, "apply_patch", {"patch": patch})
    assert "tool_error" == result.code
    assert "b.txt: hunk @@ -1 +1 @@ does not apply; there stands:\n    other" in str(result.content)
    assert ("1\n", "other\n") == ((tmp_path / "a.txt").read_text(), (tmp_path / "b.txt").read_text())


def test_a_write_fault_puts_every_file_back(tmp_path: Path) -> None:
    """The second file can't be written, so the first one is as before."""
    write_tree(tmp_path, {"a.txt": "1\n", "blocker": "x"})
    patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n--- /dev/null\n+++ b/blocker/new.txt\n@@ -0,0 +1 @@\n+n\n"
    result = run(tmp_path, "apply_patch", {"patch": patch})
    assert (True, "1\n", "x") == (result.is_error, (tmp_path / "a.txt").read_text(), (tmp_path / "blocker").read_text())


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    """It only says that the patch applies."""
    write_tree(tmp_path, {"a.txt": "1\n"})
    patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n"
    result = run(tmp_path, "apply_patch", {"patch": patch, "dry_run": True})
    assert ("the patch applies:\nchanged a.txt (1 hunks)", "1\n") == (result.content, (tmp_path / "a.txt").read_text())


@pytest.mark.parametrize(
    "patch",
    ["no patch", "@@ -1 +1 @@\n-1\n+2\n", "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1 @@\n-1\n", "--- /dev/null\n+++ /dev/null\n"],
)
def test_a_broken_patch_is_refused_in_words(tmp_path: Path, patch: str) -> None:
    """The tool says what is wrong with the patch and changes nothing."""
    write_tree(tmp_path, {"a.txt": "1\n"})
    result = run(tmp_path, "apply_patch", {"patch": patch})
    assert ("tool_error", "1\n") == (result.code, (tmp_path / "a.txt").read_text())
