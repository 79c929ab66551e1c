from __future__ import annotations

from pathlib import Path

import pytest

from tests.handlers.workbench import run
from tests.support import write_tree
from toolroster.canonical import JsonObject

ESCAPES = ["../outside.txt", "a/../../outside.txt", "/etc/hostname", "link/secret.txt", "file_link"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a workspace beside a secret, with links that lead out of it."""
    write_tree(tmp_path, {"outside.txt": "secret", "away/secret.txt": "secret", "work/a/b.txt": "one\ntwo\nthree\n"})
    work = tmp_path / "work"
    (work / "link").symlink_to(tmp_path / "away", target_is_directory=True)
    (work / "file_link").symlink_to(tmp_path / "outside.txt")
    return work


@pytest.mark.parametrize("path", ESCAPES)
def test_no_path_leads_out_of_the_workspace(root: Path, path: str) -> None:
    """Reading, writing, editing and patching are all confined (issue: traversal and symlink escapes refused)."""
    patch = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-secret\n+changed\n"
    results = [
        run(root, "read_file", {"path": path}),
        run(root, "write_file", {"path": path, "content": "changed"}),
        run(root, "edit_file", {"path": path, "old_text": "secret", "new_text": "changed"}),
        run(root, "list_dir", {"path": path}),
        run(root, "apply_patch", {"patch": patch}),
        run(root, "grep_files", {"pattern": "secret", "path": path}),
    ]
    assert [True] * 6 == [result.is_error for result in results]
    assert ["tool_error"] * 6 == [result.code for result in results]
    assert not any("secret" in str(result.content) and "secret.txt" not in path for result in results)
    assert "secret" == (root.parent / "outside.txt").read_text()
    assert "secret" == (root.parent / "away/secret.txt").read_text()


def test_searches_do_not_follow_links_out_of_the_workspace(root: Path) -> None:
    """A link to a folder outside is no part of the workspace."""
    assert "[no matches]" == run(root, "grep_files", {"pattern": "secret"}).content
    assert "[no file matches]" == run(root, "file_search", {"query": "secret"}).content


def test_read_file_numbers_lines_and_says_what_follows(root: Path) -> None:
    """The schema promises lines with numbers, and word of what was left out."""
    result = run(root, "read_file", {"path": "a/b.txt", "start_line": 2, "max_lines": 1})
    assert "2\ttwo\n[1 more lines; read on with start_line 3]" == result.content


def test_read_file_says_what_it_can_not_read(root: Path) -> None:
    """A missing file, a folder, binary text and a line past the end are the tool's own errors."""
    (root / "binary").write_bytes(b"\xff\xfe\x00")
    asked: list[JsonObject] = [{"path": "none.txt"}, {"path": "a"}, {"path": "binary"}, {"path": "a/b.txt", "start_line": 9}]
    said = [run(root, "read_file", arguments).content for arguments in asked]
    assert [
        "none.txt: No such file or directory.",
        "a: Is a directory.",
        "binary is no UTF-8 text (3 bytes).",
        "a/b.txt has 3 lines; there is no line 9.",
    ] == said


def test_write_file_creates_folders_and_refuses_to_replace_when_asked(root: Path) -> None:
    """`create_only` protects what is there; otherwise the file is replaced as a whole, its mode kept."""
    assert "created new/deep.txt (3 bytes)" == run(root, "write_file", {"path": "new/deep.txt", "content": "é\n"}).content
    (root / "new/deep.txt").chmod(0o755)
    refused = run(root, "write_file", {"path": "new/deep.txt", "content": "x", "create_only": True})
    assert (True, "é\n") == (refused.is_error, (root / "new/deep.txt").read_text(encoding="utf-8"))
    assert "replaced new/deep.txt (1 bytes)" == run(root, "write_file", {"path": "new/deep.txt", "content": "x"}).content
    assert 0o755 == (root / "new/deep.txt").stat().st_mode & 0o777
    assert ["deep.txt"] == [path.name for path in (root / "new").iterdir()]


def test_edit_file_changes_nothing_unless_the_text_occurs_as_often_as_expected(root: Path) -> None:
    """A wrong count means that the model saw another file."""
    refused = run(root, "edit_file", {"path": "a/b.txt", "old_text": "t", "new_text": "T"})
    assert "old_text occurs 2 times in a/b.txt, expected 1; nothing was changed." == refused.content
    assert "one\ntwo\nthree\n" == (root / "a/b.txt").read_text()
    done = run(root, "edit_file", {"path": "a/b.txt", "old_text": "t", "new_text": "T", "expected_count": 2})
    assert (False, "one\nTwo\nThree\n") == (done.is_error, (root / "a/b.txt").read_text())
    shown = run(root, "edit_file", {"path": "a/b.txt", "old_text": "Two", "new_text": "2\n2b"}).content
    assert "2\t2\n3\t2b" == shown


def test_list_dir_shows_folders_first(root: Path) -> None:
    """Kind, size and path, one entry a line; hidden names only when asked."""
    write_tree(root, {"z.txt": "12345", ".hidden": ""})
    lines = [line.split("\t") for line in str(run(root, "list_dir", {}).content).splitlines()]
    assert [("dir", "a/"), ("link", "link"), ("link", "file_link"), ("file", "z.txt")] == [
        (kind, name) for kind, _, name in lines
    ]
    assert "5" == lines[-1][1]
    assert ".hidden" not in str(run(root, "list_dir", {}).content)
    assert ".hidden" in str(run(root, "list_dir", {"include_hidden": True}).content)
    assert "a/b.txt" in str(run(root, "list_dir", {"depth": 2}).content)
