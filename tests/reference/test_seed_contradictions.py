"""A manifest that no program read, as a workspace: what it contradicts itself in, and what became of its promises.

The seed is a design note of another project. It keeps two lists by hand, the name-set of hidden names and the table of
deprecations, and remarks elsewhere that most of the names were taken out later. `planned` holds both lists as the note has
them; `shipped` holds the table beside the name-sets that its remarks describe. Names are the seed's, all words are ours.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from toolroster import Workspace

FIXTURES = Path(__file__).parent / "seed_contradictions"

PLANNED = [
    # The table names a canonical tool as its own replacement, and as retired.
    ("TR104", "todo_write"),
    ("TR105", "todo_write"),
    # In the name-set only.
    ("TR401", "TodoWrite"),
    ("TR401", "todo"),
    ("TR401", "work_update"),
    # In the table only: replay is promised, and nothing would run.
    ("TR402", "checklist_add"),
    ("TR402", "checklist_list"),
    ("TR402", "todo_add"),
    ("TR402", "todo_list"),
    ("TR402", "todo_update"),
]
SHIPPED = [
    ("TR104", "todo_write"),
    ("TR105", "todo_write"),
    # Taken out without a word in the table.
    ("TR401", "TodoWrite"),
    ("TR401", "todo"),
    ("TR401", "work_update"),
    # Taken out, and the table still promises replay; `tts` alone keeps its promise.
    ("TR406", "checklist_add"),
    ("TR406", "checklist_list"),
    ("TR406", "checklist_update"),
    ("TR406", "checklist_write"),
    ("TR406", "exec_interact"),
    ("TR406", "exec_wait"),
    ("TR406", "todo_add"),
    ("TR406", "todo_list"),
    ("TR406", "todo_update"),
]


@pytest.mark.parametrize(("fixture", "expected"), [("planned", PLANNED), ("shipped", SHIPPED)], ids=["planned", "shipped"])
def test_check_reports_exactly_the_seeds_contradictions(fixture: str, expected: list[tuple[str, str]]) -> None:
    """Issue 3, item 5: by name, and nothing else. A message begins with the name that it is about."""
    found = Workspace(FIXTURES / fixture).check()
    assert expected == sorted((one.rule.code, one.message.split("'")[1]) for one in found)
    assert all(one.message.startswith("'") for one in found)


def test_each_name_is_reported_once_for_each_thing_that_is_wrong_with_it() -> None:
    """Every message of the planned lists, whole: a reader must see what contradicts what."""
    found = Workspace(FIXTURES / "planned").check()
    expected = [
        "'checklist_add' has a row as alias but is in none of the five sets (did you mean 'checklist_update'?).",
        "'checklist_list' has a row as alias but is in none of the five sets (did you mean 'checklist_write'?).",
        "'todo_write' has a row as alias but is active.",
        "'todo_write' is its own replacement.",
        "'todo_add' has a row as alias but is in none of the five sets (did you mean 'todo'?).",
        "'todo_update' has a row as alias but is in none of the five sets (did you mean 'work_update'?).",
        "'todo_list' has a row as alias but is in none of the five sets (did you mean 'todo_write'?).",
        "'work_update' is hidden-compatibility but has no [[alias]] row (did you mean 'todo_update'?).",
        "'TodoWrite' is hidden-compatibility but has no [[alias]] row (did you mean 'todo_write'?).",
        "'todo' is hidden-compatibility but has no [[alias]] row (did you mean 'todo_add'?).",
    ]
    assert expected == [one.message for one in found]


def test_a_promise_of_replay_that_cant_be_kept_is_named() -> None:
    """Nine removed names keep a row that says old transcripts run; each finding says that this is the promise."""
    found = Workspace(FIXTURES / "shipped").check()
    promises = [one.message for one in found if one.rule.name == "wrong-entry-kind"]
    assert 9 == len(promises)
    wanted = " is removed but its row is a [[alias]] that promises replay; it needs a [[tombstone]]."
    assert [] == [message for message in promises if not message.endswith(wanted)]


def test_one_list_instead_of_two_has_no_contradiction(tmp_path: Path) -> None:
    """The same names and replacements under one roster, each with its row: nothing is left to report but new goldens."""
    root = tmp_path / "workspace"
    shutil.copytree(FIXTURES / "planned", root)
    _mend_manifest(root / "policy/manifest.toml")
    _mend_roster(root / "policy/roster.toml")
    workspace = Workspace(root)
    workspace.accept(environment={})
    assert () == workspace.check()
    resolver = workspace.surface().resolver
    assert "todo_write" == resolver.resolve("checklist_add").canonical == resolver.resolve("TodoWrite").canonical


def _mend_manifest(path: Path) -> None:
    """Take the row of the canonical tool out, and add rows for the names that have none."""
    comment, *rows = path.read_text("utf-8").split("[[alias]]\n")
    kept = [row for row in rows if 'name = "todo_write"\n' not in row]
    model = next(row for row in kept if 'name = "todo_add"' in row)
    kept += [model.replace("todo_add", name) for name in ("work_update", "TodoWrite", "todo")]
    path.write_text("[[alias]]\n".join([comment, *kept]), encoding="utf-8", newline="\n")


def _mend_roster(path: Path) -> None:
    """Add the names of the table to the name-set."""
    text = path.read_text("utf-8")
    missing = ("checklist_add", "checklist_list", "todo_add", "todo_update", "todo_list")
    added = "".join(f'    "{name}",\n' for name in missing)
    path.write_text(text.replace('    "todo",\n', f'    "todo",\n{added}'), encoding="utf-8", newline="\n")
