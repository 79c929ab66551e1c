from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support import builtin, run_cli, small_workspace, write_tree
from toolroster import Workspace
from toolroster.rules import RULES

VERBS = ("init", "build", "check", "accept", "explain", "call", "rules", "schema")
PLAIN = {"COLUMNS": "80", "FORCE_COLOR": "", "NO_COLOR": "", "TTY_COMPATIBLE": ""}
"""What the environment of the test run must not change."""

FIVE_STATES = (
    'schema = 1\nversion = "1.0.0"\ntargets = ["anthropic", "openai-chat"]\n\n[roster]\n'
    'active = ["read_file", "write_file"]\ndeferred = ["fetch_url"]\nhidden-compatibility = ["cat_file"]\n'
    'deprecated = ["put_file"]\nremoved = ["old_tool"]\n\n[permissions]\nask = ["write_file"]\ndeny = ["put_file"]\n'
)
FIVE_STATES_MANIFEST = (
    '[[alias]]\nname = "cat_file"\nreplacement = "read_file"\nfirst_deprecated_version = "0.9.0"\n\n'
    '[[alias]]\nname = "put_file"\nreplacement = "fetch_url"\nfirst_deprecated_version = "0.9.0"\n\n'
    '[[tombstone]]\nname = "old_tool"\nremoved_version = "1.0.0"\nreplacement = "read_file"\n'
)
OnTerminal = Callable[..., str]
Shown = Callable[..., subprocess.CompletedProcess[bytes]]
CHECK_KEYS = ["code", "name", "severity", "path", "line", "column", "message", "fix"]


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    """Return the folder of a clean workspace."""
    small_workspace(tmp_path / "agent")
    return tmp_path / "agent"


@pytest.fixture
def edited(clean: Path) -> Path:
    """Return the folder of a workspace in which one character of an active description was edited after accepting."""
    return write_tree(clean, {"catalog/builtin/write_file.json": builtin("write_file", description="Does write_filf.")})


@pytest.fixture
def broken(clean: Path) -> Path:
    """Return the folder of a workspace with an unknown key, a file that is no JSON, and a name that nobody defined."""
    return break_workspace(clean)


def break_workspace(root: Path) -> Path:
    """Write one fault of policy and two of definitions into a clean workspace, and return it."""
    roster = (root / "policy/roster.toml").read_text(encoding="utf-8")
    return write_tree(
        root,
        {
            "policy/roster.toml": roster.replace('"fetch_url"]', '"fetch_url", "fetch_ulr"]'),
            "catalog/builtin/read_file.json": '{\n  "name": "read_file",\n  "description" "Reads."\n}\n',
            "catalog/builtin/write_file.json": builtin("write_file", größe=1),
        },
    )


@pytest.fixture
def warned(clean: Path) -> Path:
    """Return the folder of an accepted workspace that has a warning and no error."""
    write_tree(clean, {"catalog/builtin/read_file.json": builtin("read_file", description="r" * 1025)})
    Workspace(clean).accept(environment={})
    return clean


def run(cwd: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run `toolroster` in a folder, in an environment that is the same on every machine."""
    return run_cli(*arguments, cwd=cwd, env={**PLAIN, **(env or {})})


def transcript(cwd: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Return what a person sees who runs the command: both streams, each under its name, and the exit code."""
    done = run(cwd, *arguments, env=env)
    streams = (("stdout", done.stdout), ("stderr", done.stderr))
    said = "".join(f"--- {name}\n{data.decode()}" for name, data in streams if data)
    return f"$ toolroster {' '.join(arguments)}\n{said}--- exit {done.returncode}\n"


def rows(data: bytes) -> list[dict[str, Any]]:
    """Return the objects of json output; every line is one."""
    # Any: the tests say what each member holds.
    text = data.decode()
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


# ---------------------------------------------------------------------------------------------------------- help


def test_help_names_every_verb_the_first_steps_and_the_exit_codes(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """`--help` is the first page that a user reads (design.md section 10)."""
    assert snapshot == transcript(tmp_path, "--help")


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_explains_itself(verb: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """`VERB --help` says what it does, what it writes and which formats it has (design.md section 10)."""
    assert snapshot == transcript(tmp_path, verb, "--help")


def test_version_is_the_installed_one(tmp_path: Path) -> None:
    """`--version` names the program and its version on standard output, as command lines do."""
    done = run(tmp_path, "--version")
    assert (0, b"") == (done.returncode, done.stderr)
    assert done.stdout.startswith(b"toolroster ")


# --------------------------------------------------------------------------------------------------------- build


def test_build_prints_a_table(clean: Path, snapshot: SnapshotAssertion) -> None:
    """The table has a row for each profile and target, and says how each stands to its golden (design.md section 10)."""
    assert snapshot == transcript(clean, "build")


def test_build_says_stale_and_missing_without_failing(edited: Path, snapshot: SnapshotAssertion) -> None:
    """`build` fails only on errors, not on stale goldens (design.md section 10)."""
    (edited / "goldens/default/openai-chat.json").unlink()
    assert snapshot == transcript(edited, "build")


def test_build_as_json_has_the_keys_of_the_design_in_order(clean: Path) -> None:
    """One object for each profile and target with the promised keys in their order (design.md section 10)."""
    done = run(clean, "build", "--format", "json")
    keys = ["profile", "target", "tools", "bytes", "sha256", "semantic_sha256", "golden"]
    assert [keys, keys] == [list(row) for row in rows(done.stdout)]
    golden = (clean / "goldens/default/anthropic.json").read_bytes()
    first = rows(done.stdout)[0]
    assert ("default", "anthropic", 2, len(golden), hashlib.sha256(golden).hexdigest(), "match") == (
        first["profile"],
        first["target"],
        first["tools"],
        first["bytes"],
        first["sha256"],
        first["golden"],
    )


def test_build_shows_only_the_profile_and_target_asked_for(clean: Path) -> None:
    """`--profile` and `--target` narrow the table (design.md section 10)."""
    done = run(clean, "build", "--profile", "default", "--target", "openai-chat", "--format", "json")
    assert ["openai-chat"] == [row["target"] for row in rows(done.stdout)]


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "openai-responses", "mcp"])
def test_build_to_stdout_writes_the_exact_bytes_and_nothing_else(target: str, clean: Path) -> None:
    """`--stdout` writes the head's bytes, without a newline, for every target that can be built (design.md section 10)."""
    done = run(clean, "build", "--profile", "default", "--target", target, "--stdout")
    expected = Workspace(clean).surface().prefix("default", target=target).data
    assert (0, expected, b"") == (done.returncode, done.stdout, done.stderr)


def test_build_to_stdout_keeps_bytes_that_are_not_ascii(clean: Path) -> None:
    """No encoding of the terminal and no newline rule touches the bytes (design.md section 7)."""
    write_tree(clean, {"catalog/builtin/read_file.json": builtin("read_file", description="Größe\n\u2028 😀.")})
    command = ("build", "--profile", "default", "--target", "anthropic", "--stdout")
    done = run(clean, *command, env={"LC_ALL": "C", "PYTHONIOENCODING": "latin-1"})
    assert Workspace(clean).surface().prefix("default", target="anthropic").data == done.stdout
    assert "Größe\\n\u2028 😀.".encode() in done.stdout


def test_build_to_stdout_writes_no_finding_among_the_bytes(broken: Path) -> None:
    """What reads the bytes gets bytes or nothing; the findings go to standard error (design.md section 10)."""
    done = run(broken, "build", "--profile", "default", "--target", "anthropic", "--stdout")
    assert (1, b"", run(broken, "check").stdout) == (done.returncode, done.stdout, done.stderr)


def test_build_into_a_folder_writes_what_goldens_would_hold(clean: Path) -> None:
    """`-o DIR` writes every golden into DIR, byte for byte, and touches nothing else (design.md section 10)."""
    before = contents(clean)
    done = run(clean, "build", "-o", "../out")
    assert (0, b"wrote 7 files to ../out\n") == (done.returncode, done.stderr)
    assert contents(clean / "goldens") == contents(clean.parent / "out")
    assert before == contents(clean)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--stdout",), b"--profile and --target"),
        (("--profile", "plna"), b"there is no profile 'plna'"),
        (("--target", "gemini"), b"no profile is built for target 'gemini'"),
        (("--profile", "default", "--target", "antropic", "--stdout"), b"did you mean 'anthropic'?"),
        (("-o", "policy/roster.toml"), b"can't write policy/roster.toml/"),
    ],
)
def test_build_that_cannot_do_what_it_is_asked_says_so(arguments: tuple[str, ...], said: bytes, clean: Path) -> None:
    """What can't be built is no empty table: exit 2 and a sentence on standard error (design.md section 10)."""
    done = run(clean, "build", *arguments)
    assert (2, b"") == (done.returncode, done.stdout)
    assert said in done.stderr


# --------------------------------------------------------------------------------------------------------- check


def test_check_of_a_clean_workspace_says_so(clean: Path, snapshot: SnapshotAssertion) -> None:
    """A clean workspace is one line and exit 0 (design.md section 10)."""
    assert snapshot == transcript(clean, "check")


def test_check_shows_every_finding_with_place_rule_and_fix(broken: Path, snapshot: SnapshotAssertion) -> None:
    """All files are read whatever is wrong with the others, and findings stand in total order (design.md section 9)."""
    assert snapshot == transcript(broken, "check")


def test_check_names_file_tool_first_changed_byte_and_fix_of_an_edit(edited: Path, snapshot: SnapshotAssertion) -> None:
    """One edited character is named by golden, tool, source file, byte and fix (issue 2)."""
    assert snapshot == transcript(edited, "check")


def test_check_of_a_workspace_with_warnings_exits_0_and_with_strict_1(warned: Path, snapshot: SnapshotAssertion) -> None:
    """Warnings fail only with `--strict` (design.md section 10)."""
    assert snapshot == transcript(warned, "check") + transcript(warned, "check", "--strict")


def test_check_as_json_has_the_keys_of_the_design_in_order(broken: Path, snapshot: SnapshotAssertion) -> None:
    """One object a line with the promised keys in their order (design.md section 10)."""
    done = run(broken, "check", "--format", "json")
    found = rows(done.stdout)
    assert (1, b"") == (done.returncode, done.stderr)
    assert [CHECK_KEYS] * len(found) == [list(row) for row in found]
    assert snapshot == done.stdout.decode()


@pytest.mark.parametrize("output_format", ["json", "github"])
def test_check_of_a_clean_workspace_prints_nothing_for_machines(output_format: str, clean: Path) -> None:
    """Clean is empty output in formats that list findings (design.md section 10)."""
    done = run(clean, "check", "--format", output_format)
    assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)


def test_check_for_github_is_one_workflow_command_a_finding(broken: Path, snapshot: SnapshotAssertion) -> None:
    """GitHub shows the findings in the pull request, at their lines (design.md section 10)."""
    assert snapshot == transcript(broken, "check", "--format", "github")


def test_check_as_sarif_is_one_object_with_every_rule_and_finding(broken: Path) -> None:
    """A SARIF log is one object, says its version and counts columns in code points (design.md section 10)."""
    done = run(broken, "check", "--format", "sarif")
    (log,) = rows(done.stdout)
    found = rows(run(broken, "check", "--format", "json").stdout)
    result = log["runs"][0]
    assert (1, b"", "2.1.0") == (done.returncode, done.stderr, log["version"])
    assert [row["code"] for row in found] == [item["ruleId"] for item in result["results"]]
    assert sorted(RULES) == [rule["id"] for rule in result["tool"]["driver"]["rules"]]
    assert "unicodeCodePoints" == result["columnKind"]


def test_check_as_sarif_of_a_clean_workspace_is_still_a_log(clean: Path) -> None:
    """Code-scanning services close findings only when a log without results arrives (SARIF 2.1.0, 3.14.23)."""
    done = run(clean, "check", "--format", "sarif")
    (log,) = rows(done.stdout)
    assert (0, []) == (done.returncode, log["runs"][0]["results"])


def test_check_never_writes(edited: Path) -> None:
    """`check` leaves every file as it is, bytes and time of change (design.md section 10)."""
    before = stamps(edited)
    run(edited, "check")
    assert before == stamps(edited)


# -------------------------------------------------------------------------------------------------------- accept


def test_accept_of_a_new_workspace_lists_every_file(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A new golden is named with its digest (design.md section 10)."""
    small_workspace(tmp_path)
    for path in (tmp_path / "goldens").rglob("*.*"):
        path.unlink()
    (tmp_path / "goldens/SHA256SUMS").unlink()
    assert snapshot == transcript(tmp_path, "accept")


@pytest.mark.case("TC-053")
def test_accept_says_the_first_changed_byte_the_tool_and_its_fields(edited: Path, snapshot: SnapshotAssertion) -> None:
    """A change is told for each file and tool, and then `check` is clean (design.md section 10, TC-053)."""
    assert snapshot == transcript(edited, "accept")
    assert 0 == run(edited, "check").returncode


def test_accept_tells_of_added_removed_and_moved_goldens(clean: Path, snapshot: SnapshotAssertion) -> None:
    """A diet moves a name between two lines; `accept` shows which tools moved and which files go (design.md section 6)."""
    roster = (clean / "policy/roster.toml").read_text(encoding="utf-8")
    moved = roster.replace('active = ["read_file", "write_file"]', 'active = ["fetch_url", "read_file"]').replace(
        'deferred = ["fetch_url"]', 'deferred = ["write_file"]'
    )
    write_tree(clean, {"policy/roster.toml": moved.replace(', "openai-chat"]', "]")})
    assert snapshot == transcript(clean, "accept")
    assert 0 == run(clean, "check").returncode


def test_accept_with_nothing_to_do_says_so(clean: Path, snapshot: SnapshotAssertion) -> None:
    """A second `accept` writes nothing (design.md section 10)."""
    assert snapshot == transcript(clean, "accept")


def test_accept_as_json_has_the_keys_of_the_design_in_order(edited: Path) -> None:
    """One object for each changed golden of exact bytes, with the promised keys in their order (design.md section 10)."""
    old = hashlib.sha256((edited / "goldens/default/anthropic.json").read_bytes()).hexdigest()
    done = run(edited, "accept", "--format", "json")
    keys = ["profile", "target", "old_sha256", "new_sha256", "first_changed_byte", "tool"]
    found = rows(done.stdout)
    new = (edited / "goldens/default/anthropic.json").read_bytes()
    assert [keys, keys] == [list(row) for row in found]
    assert {
        "profile": "default",
        "target": "anthropic",
        "old_sha256": old,
        "new_sha256": hashlib.sha256(new).hexdigest(),
        "first_changed_byte": new.index(b"write_filf") + len("write_fil"),
        "tool": "write_file",
    } == found[0]


def test_accept_as_json_with_nothing_to_do_prints_nothing(clean: Path) -> None:
    """Clean is empty output (design.md section 10)."""
    done = run(clean, "accept", "--format", "json")
    assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.case("TC-053")
@pytest.mark.parametrize("setting", ["true", "1", "yes"])
def test_accept_refuses_in_ci(setting: str, edited: Path, snapshot: SnapshotAssertion) -> None:
    """Under CI nothing is written and the exit code is 2 (design.md section 10, TC-053)."""
    before = stamps(edited)
    assert snapshot == transcript(edited, "accept", env={"CI": setting})
    assert before == stamps(edited)


@pytest.mark.case("TC-053")
@pytest.mark.parametrize("setting", ["", "0", "false", "False"])
def test_accept_writes_where_ci_is_off(setting: str, edited: Path) -> None:
    """A variable that says "no" is no CI, whoever set it (design.md section 10, TC-053)."""
    assert 0 == run(edited, "accept", env={"CI": setting}).returncode
    assert 0 == run(edited, "check", env={"CI": setting}).returncode


def test_accept_refuses_while_other_errors_stand(broken: Path) -> None:
    """The findings are shown as `check` shows them, and no file is touched (design.md section 10)."""
    before = stamps(broken)
    done = run(broken, "accept")
    assert (1, run(broken, "check").stdout) == (done.returncode, done.stdout)
    assert before == stamps(broken)


def test_accept_of_an_unknown_profile_writes_nothing(edited: Path, snapshot: SnapshotAssertion) -> None:
    """A selection that names nothing is bad usage, and says which profiles there are (design.md section 10)."""
    before = stamps(edited)
    assert snapshot == transcript(edited, "accept", "default/antropic")
    assert before == stamps(edited)


# ---------------------------------------------------------------------------------------------------------- init


def test_init_says_what_it_wrote_and_what_comes_next(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A new user is told the next two commands (design.md section 10)."""
    assert snapshot == transcript(tmp_path, "-C", "agent", "init")


def test_init_names_on_stderr_what_it_left_out(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Members that a built-in's file has no place for are named, tool by tool (issue 2)."""
    tools: list[dict[str, object]] = [
        {"name": "read_file", "description": "Reads.", "inputSchema": {"type": "object"}, "icons": [], "_meta": {"a": 1}},
        {"name": "write_file", "description": "Writes.", "inputSchema": {"type": "object"}},
    ]
    write_tree(tmp_path, {"tools.json": {"tools": tools}, "aliases.json": {"cat_file": "read_file"}})
    assert snapshot == transcript(tmp_path, "-C", "agent", "init", "--from", "tools.json", "aliases.json")


def test_init_as_json_counts_what_it_wrote(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """One object: the files, and how many tools and aliases (design.md section 10)."""
    assert snapshot == transcript(tmp_path, "-C", "agent", "init", "--format", "json")


# ------------------------------------------------------------------------------------------------------- explain


@pytest.mark.parametrize("name", ["read_file", "write_file", "fetch_url", "cat_file", "put_file", "old_tool"])
def test_explain_tells_a_name_of_each_state(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """The rows are the cells of the table of states, and the line that decided (design.md sections 2 and 10)."""
    small_workspace(tmp_path, **{"policy/roster.toml": FIVE_STATES, "policy/manifest.toml": FIVE_STATES_MANIFEST})
    assert snapshot == transcript(tmp_path, "explain", name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("read_file", ["active", "read_file", None, True, False, True, None, "allow", 6]),
        ("fetch_url", ["deferred", "fetch_url", None, False, True, True, None, "allow", 7]),
        ("cat_file", ["hidden-compatibility", "read_file", "read_file", False, False, True, None, "allow", 8]),
        (
            "put_file",
            ["deprecated", "fetch_url", "fetch_url", False, False, True, "deprecated: use fetch_url instead", "allow", 9],
        ),
        ("old_tool", ["removed", None, "read_file", False, False, False, None, None, 10]),
    ],
)
def test_explain_as_json_has_the_keys_of_the_design_in_order(name: str, expected: list[object], tmp_path: Path) -> None:
    """One object with the promised keys in their order; each state has its own cells (design.md sections 2 and 10)."""
    roster = FIVE_STATES.partition("\n[permissions]")[0]
    small_workspace(tmp_path, **{"policy/roster.toml": roster, "policy/manifest.toml": FIVE_STATES_MANIFEST})
    done = run(tmp_path, "explain", name, "--format", "json")
    (row,) = rows(done.stdout)
    keys = "name state canonical replacement in_head in_search executes notice permission decided_by"
    assert (0, b"", keys.split()) == (done.returncode, done.stderr, list(row))
    decided_by = {"path": "policy/roster.toml", "line": expected[-1]}
    assert [name, *expected[:-1], decided_by] == list(row.values())


def test_explain_of_an_unknown_name_suggests_one_and_exits_1(clean: Path, snapshot: SnapshotAssertion) -> None:
    """Nothing is guessed: the closest name is offered, and standard output stays empty (design.md section 10)."""
    assert snapshot == transcript(clean, "explain", "raed_file")


def test_explain_of_a_rule_needs_no_workspace(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A rule is explained by code or by name, anywhere (design.md section 10)."""
    assert snapshot == transcript(tmp_path, "explain", "TR302")
    by_code = run(tmp_path, "explain", "TR302").stdout
    assert by_code == run(tmp_path, "explain", "changed-golden").stdout


def test_explain_of_a_rule_as_json_is_one_object(tmp_path: Path) -> None:
    """The whole rule, for editors and services."""
    (row,) = rows(run(tmp_path, "explain", "TR302", "--format", "json").stdout)
    assert ["code", "name", "severity", "since", "summary", "why", "example", "fix"] == list(row)


def test_explain_while_errors_stand_shows_them(broken: Path) -> None:
    """What a name means can't be said of a policy that is wrong (design.md section 9)."""
    done = run(broken, "explain", "read_file")
    assert (1, run(broken, "check").stdout) == (done.returncode, done.stdout)


# --------------------------------------------------------------------------------------------- rules and schema


def test_rules_lists_every_rule(tmp_path: Path) -> None:
    """`rules` has a line for each code, by code, and needs no workspace (design.md section 10)."""
    done = run(tmp_path, "rules")
    head, *lines = done.stdout.decode().splitlines()
    assert (0, b"", ["code", "name", "severity", "finds"]) == (done.returncode, done.stderr, head.split())
    expected = [
        (code, RULES[code].rule.name, RULES[code].rule.severity.value, RULES[code].rule.summary) for code in sorted(RULES)
    ]
    assert expected == [tuple(line.split(maxsplit=3)) for line in lines]


def test_rules_as_json_has_one_object_a_rule(tmp_path: Path) -> None:
    """The rule book for machines."""
    found = rows(run(tmp_path, "rules", "--format", "json").stdout)
    assert sorted(RULES) == [row["code"] for row in found]
    assert {("code", "name", "severity", "since", "summary", "fix")} == {tuple(row) for row in found}


@pytest.mark.parametrize("name", ["roster", "manifest", "waivers"])
def test_schema_prints_the_json_schema_of_a_policy_file(name: str, tmp_path: Path) -> None:
    """Editors complete and check policy files with it (design.md section 10)."""
    done = run(tmp_path, "schema", name)
    document = json.loads(done.stdout)
    assert (0, b"", "object", False) == (done.returncode, done.stderr, document["type"], document["additionalProperties"])
    assert "https://json-schema.org/draft/2020-12/schema" == document["$schema"]


# ---------------------------------------------------------------------------------------------------- exit codes


@pytest.mark.parametrize("command", [("build",), ("check",), ("accept",), ("explain", "read_file")])
def test_without_a_workspace_nothing_can_run(command: tuple[str, ...], tmp_path: Path) -> None:
    """No workspace is exit 2, and the message says how to lay one out (design.md section 10)."""
    done = run(tmp_path, *command)
    message = b"toolroster: no folder from '.' upwards has policy/roster.toml. Run `toolroster init` to lay out a workspace.\n"
    assert (2, b"", message) == (done.returncode, done.stdout, done.stderr)
    named = run(tmp_path, "-C", "nowhere", *command)
    message = b"toolroster: there is no policy/roster.toml in nowhere. Run `toolroster init` to lay out a workspace.\n"
    assert (2, b"", message) == (named.returncode, named.stdout, named.stderr)


@pytest.mark.parametrize(
    "arguments", [(), ("chekc",), ("check", "--bogus"), ("check", "--format", "xml"), ("explain",), ("schema", "cargo")]
)
def test_bad_usage_exits_2_with_the_usage_on_stderr(arguments: tuple[str, ...], clean: Path) -> None:
    """Bad usage is never taken for a finding (design.md section 10)."""
    done = run(clean, *arguments)
    assert (2, b"") == (done.returncode, done.stdout)
    assert done.stderr.startswith(b"usage: toolroster")


@pytest.mark.parametrize("path", ["policy/waivers.toml", "policy/manifest.toml"])
@pytest.mark.parametrize("verb", ["check", "build", "accept"])
def test_an_unreadable_file_exits_2_and_is_named(path: str, verb: str, clean: Path) -> None:
    """What can't be read is no finding: toolroster couldn't do its work (design.md section 9)."""
    (clean / path).unlink(missing_ok=True)
    (clean / path).mkdir()
    done = run(clean, verb)
    assert (2, b"") == (done.returncode, done.stdout)
    assert f"toolroster: can't read {path}: ".encode() in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a link needs a privilege there")
def test_a_catalog_file_that_leads_nowhere_exits_2_and_is_named(clean: Path) -> None:
    """A broken link is a definition that somebody meant to be there; leaving it out would be silent (design.md section 9)."""
    (clean / "catalog/builtin/lost.json").symlink_to("nowhere.json")
    done = run(clean / "catalog", "check")
    message = "toolroster: can't read ../catalog/builtin/lost.json: No such file or directory. "
    assert (2, b"", message) == (done.returncode, done.stdout, done.stderr.decode()[: len(message)])


def test_verbs_find_the_workspace_from_a_folder_inside_it(edited: Path) -> None:
    """As git does; the places in the output are relative to the workspace (design.md sections 5 and 9)."""
    assert run(edited, "check").stdout == run(edited / "catalog/builtin", "check").stdout


# ------------------------------------------------------------------------------------------------ purity of output

SHOWN: tuple[tuple[str, ...], ...] = (
    ("check",),
    ("check", "--format", "json"),
    ("check", "--format", "github"),
    ("check", "--format", "sarif"),
    ("build",),
    ("accept",),
    ("explain", "read_file"),
    ("explain", "größe"),
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Return a function that runs a command in a workspace with findings; each command without an environment runs once."""
    folder = tmp_path_factory.mktemp("shown") / "agent"
    small_workspace(folder)
    break_workspace(folder)
    known: dict[tuple[str, ...], subprocess.CompletedProcess[bytes]] = {}

    def run_there(*arguments: str, **env: str) -> subprocess.CompletedProcess[bytes]:
        if env:
            return run(folder / "policy", *arguments, env=env)
        if arguments not in known:
            known[arguments] = run(folder / "policy", *arguments)
        return known[arguments]

    return run_there


@pytest.mark.parametrize("arguments", SHOWN, ids=" ".join)
@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONHASHSEED": "0", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        {"PYTHONHASHSEED": "4242", "PYTHONIOENCODING": "latin-1:replace", "TZ": "Pacific/Auckland", "FORCE_COLOR": "1"},
    ],
    ids=["0", "4242"],
)
def test_output_is_the_same_bytes_in_every_environment(env: dict[str, str], arguments: tuple[str, ...], shown: Shown) -> None:
    """No hash order, locale, time zone or wish for colour gets into what is piped, on either stream (design.md section 10)."""
    plain, other = shown(*arguments), shown(*arguments, **env)
    assert (plain.returncode, plain.stdout, plain.stderr) == (other.returncode, other.stdout, other.stderr)
    assert "größe".encode() in plain.stdout + plain.stderr


@pytest.mark.parametrize("arguments", SHOWN, ids=" ".join)
def test_output_holds_no_absolute_path_and_no_escape_sequence(arguments: tuple[str, ...], shown: Shown) -> None:
    """What is piped is plain text that two machines can compare (design.md section 10)."""
    done = shown(*arguments)
    assert b"agent" not in done.stdout + done.stderr
    assert b"\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("arguments", SHOWN[:4], ids=" ".join)
def test_findings_go_to_stdout_and_nothing_to_stderr(arguments: tuple[str, ...], shown: Shown) -> None:
    """A pipe gets all findings and nothing else (design.md section 10)."""
    done = shown(*arguments)
    assert (1, b"") == (done.returncode, done.stderr)
    assert b"" != done.stdout


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the file system takes no such name there")
@pytest.mark.parametrize("output_format", ["text", "json", "github", "sarif"])
def test_hostile_file_names_are_shown_escaped(output_format: str, clean: Path) -> None:
    """A name that is no UTF-8, or that looks like a finding of its own, can neither crash nor fool a reader."""
    names = [b"\xff.json", b"a\ncatalog/x.json:1:1: error TR999 fake.json", b"\x1b[31mred.json"]
    for name in names:
        Path(os.fsdecode(os.fsencode(clean / "catalog/builtin") + b"/" + name.replace(b"/", b":"))).write_bytes(b"{")
    done = run(clean, "check", "--format", output_format)
    assert (1, b"") == (done.returncode, done.stderr)
    assert b"\x1b" not in done.stdout
    assert not any(line.startswith(b"catalog:x.json") for line in done.stdout.splitlines())
    done.stdout.decode()


# --------------------------------------------------------------------------------------------- pipes and terminals


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("rules",),
        ("rules", "--format", "json"),
        ("schema", "roster"),
        ("check",),
        ("check", "--format", "sarif"),
        ("build",),
        ("explain", "TR302"),
    ],
    ids=" ".join,
)
@pytest.mark.skipif(sys.platform == "win32", reason="pipes break differently there")
def test_a_closed_pipe_leaves_no_traceback(arguments: tuple[str, ...], broken: Path) -> None:
    """`toolroster rules | head -1` ends quietly; here the reader is gone before the first byte."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "toolroster", *arguments]
        done = subprocess.run(command, cwd=broken, stdout=writer, stderr=subprocess.PIPE, check=False, timeout=120)
    finally:
        os.close(writer)
    assert (b"", True) == (done.stderr, done.returncode in (0, 1))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize(
    "arguments", [("rules",), ("rules", "--format", "json"), ("check",), ("schema", "roster")], ids=" ".join
)
def test_a_full_disk_is_an_error_of_its_own_and_no_finding(arguments: tuple[str, ...], broken: Path) -> None:
    """Output that can't be written is exit 2 with the system's reason, never a traceback (design.md section 10)."""
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "toolroster", *arguments]
        done = subprocess.run(command, cwd=broken, stdout=full, stderr=subprocess.PIPE, check=False, timeout=120)
    assert (2, b"toolroster: [Errno 28] No space left on device\n") == (done.returncode, done.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="the shell's syntax")
@pytest.mark.parametrize(("closing", "code"), [(">&-", 1), ("2>&-", 1), (">&- 2>&-", 1)])
def test_a_closed_stream_changes_no_exit_code(closing: str, code: int, edited: Path) -> None:
    """A caller that only wants the exit code may close both streams."""
    command = ["sh", "-c", f'"$0" -m toolroster check {closing}', sys.executable]
    done = subprocess.run(command, cwd=edited, capture_output=True, check=False, timeout=120)
    assert (code, False) == (done.returncode, b"Traceback" in done.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals there")
def test_a_terminal_gets_colour_and_no_color_is_honoured(edited: Path, on_terminal: OnTerminal) -> None:
    """Colour only on a terminal, and none where NO_COLOR is set (design.md section 10, no-color.org)."""
    coloured = on_terminal(edited, "check")
    plain = on_terminal(edited, "check", env={"NO_COLOR": "1"})
    assert "\x1b[1;31merror" in coloured
    assert not any(f"\x1b[{style}" in plain for style in ("3", "1;3", "4", "9"))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals there")
def test_a_narrow_terminal_cuts_nothing_off(clean: Path, on_terminal: OnTerminal) -> None:
    """The terminal wraps long lines; codes and digests are there to be copied."""
    shown = on_terminal(clean, "rules", env={"COLUMNS": "40"})
    assert [] == [code for code in RULES if code not in shown or RULES[code].rule.summary not in shown]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals there")
def test_a_terminal_sees_that_something_is_going_on(clean: Path, on_terminal: OnTerminal) -> None:
    """Progress is for people who wait, and goes to standard error (design.md section 10)."""
    assert "checking …" in on_terminal(clean, "check", stdout=False)


@pytest.fixture
def on_terminal() -> OnTerminal:
    """Return a function that runs toolroster with a terminal of 80 columns for both streams, and returns what it shows.

    With `stdout=False` only standard error is a terminal.
    """

    def run_on_terminal(cwd: Path, *arguments: str, env: Mapping[str, str] | None = None, stdout: bool = True) -> str:
        import pty  # noqa: PLC0415 - Windows has no such module

        ours, theirs = pty.openpty()
        clear = {key: value for key, value in os.environ.items() if key not in {"CI", *PLAIN}}
        process = subprocess.Popen(
            [sys.executable, "-m", "toolroster", *arguments],
            cwd=cwd,
            env={**clear, "COLUMNS": "80", "TERM": "xterm", **(env or {})},
            stdout=theirs if stdout else subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        process.wait(timeout=120)
        return shown.decode()

    return run_on_terminal


def _read(descriptor: int) -> bytes:
    """Return what a terminal shows next; Linux reports its other end's closing as an error."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder, by path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def stamps(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and the time of change of every file below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
