"""What is printed is other people's text: it must pass for nothing but text in a terminal, a log, JSON and GitHub."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.support import write_tree
from toolroster.cli.main import main
from toolroster.diagnostics import Diagnostic, Rule, Severity, Span
from toolroster.report import (
    diagnostic_row,
    make_printable,
    render_diagnostic,
    render_github,
    render_rows,
    render_rule_page,
    render_table,
    summarize,
)
from toolroster.rules import RegisteredRule

ERROR = Rule("TR901", "bad-thing", Severity.ERROR, "0.1.0", "A thing is bad.", "Mend it.")
WARNING = Rule("TR902", "odd-thing", Severity.WARNING, "0.1.0", "A thing is odd.", "Look at it.")

HOSTILE = {
    "escape sequence": ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
    "window title": ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
    "carriage return": ("policy/\rroster", "policy/\\rroster"),
    "line separator": ("a\u2028b\x85c", "a\\u2028b\\x85c"),
    "bidirectional": ("\u202egnp.exe", "\\u202egnp.exe"),
    "zero width": ("read\u200bfile", "read\\u200bfile"),
    "tag characters": ("x\U000e0041", "x\\U000e0041"),
    "not UTF-8": ("a\udcffb", "a\\udcffb"),
    "rich markup": ("[red]name[/red]", "[red]name[/red]"),
    "rich emoji": (":smile:", ":smile:"),
    "HTML": ("<script>&amp;", "<script>&amp;"),
}
"""A name, and how it is shown."""


def find(message: str = "It is wrong.", path: str = "policy/roster.toml", rule: Rule = ERROR, fix: str = "") -> Diagnostic:
    """Return a finding at line 3, column 7."""
    return Diagnostic(rule, message, Span(path, 3, 7), fix or rule.fix)


def show(renderable: object, *, terminal: bool = False) -> str:
    """Return what a console with the CLI's own settings prints."""
    out = io.StringIO()
    settings: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False, "soft_wrap": True}
    console = Console(file=out, force_terminal=terminal, color_system="standard" if terminal else None, width=40, **settings)
    console.print(renderable)
    return out.getvalue()


# ---------------------------------------------------------------------------------------------------------- text


def test_a_finding_is_three_lines() -> None:
    """Where and which rule; what is wrong; what to do. A long line is not wrapped, so that it can be searched for."""
    expected = (
        "policy/roster.toml:3:7: error TR901 bad-thing\n"
        "  'read_file' is in 'active' and in 'removed', which nobody can make sense of.\n"
        "  fix: Mend it.\n"
    )
    message = "'read_file' is in 'active' and in 'removed', which nobody can make sense of."
    assert expected == show(render_diagnostic(find(message)))


@pytest.mark.parametrize(("name", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_are_shown_as_text(name: str, shown: str) -> None:
    """Whatever can't be printed is escaped, and nothing is taken for markup: in the path, the message and the fix."""
    expected = f"{shown}:3:7: error TR901 bad-thing\n  {shown} is wrong.\n  fix: Rename {shown}.\n"
    assert expected == show(render_diagnostic(find(f"{name} is wrong.", name, fix=f"Rename {name}.")))


def test_a_newline_in_a_name_begins_no_line() -> None:
    """A file's name can't pass for a finding of its own."""
    lines = show(render_diagnostic(find("a\nb", "x\nroster.toml:1:1: error TR000 fake"))).splitlines()
    assert [r"x\nroster.toml:1:1: error TR000 fake:3:7: error TR901 bad-thing", r"  a\nb", "  fix: Mend it."] == lines


def test_only_toolrosters_own_words_are_coloured() -> None:
    """On a terminal the escape sequences are ours; a name's own are shown as text."""
    printed = show(render_diagnostic(find("[blink]\x1b[5m", rule=WARNING)), terminal=True)
    assert "\x1b[1;33mwarning\x1b[0m" in printed
    assert "[blink]\\x1b[5m" in printed
    assert "\x1b[5m" not in printed


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([], ""),
        ([ERROR], "1 error"),
        ([WARNING, ERROR, WARNING], "1 error, 2 warnings"),
        ([ERROR] * 1_200, "1,200 errors"),
    ],
    ids=["nothing", "one", "both", "many"],
)
def test_a_summary_counts_errors_first(rules: list[Rule], expected: str) -> None:
    """The last line of a check says how bad it is."""
    assert expected == summarize([find(rule=rule) for rule in rules])


def test_a_table_aligns_by_width_and_shows_names_as_text() -> None:
    """Numbers stand to the right with thousands separators; wide characters take two cells; no line ends in spaces."""
    rows = [("[red]a", 1_234, "\x1b[31m"), ("一二三四", 7, "ok")]
    expected = "name      bytes  note\n[red]a    1,234  \\x1b[31m\n一二三四      7  ok\n"
    assert expected == show(render_table(("name", "bytes", "note"), rows))


def test_a_table_without_rows_is_its_header() -> None:
    """No rows are no crash, and a short table names its columns all the same."""
    assert "name  bytes\n" == show(render_table(("name", "bytes"), []))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", ""), ("ŝ 工 🙂", "ŝ 工 🙂"), ("a\nb\t\x7f", "a\nb\t\\x7f"), ("\xa0", "\\xa0")],
    ids=["nothing", "printable", "controls", "blank that is no space"],
)
def test_printable_text_is_kept(text: str, expected: str) -> None:
    """Text of any script is shown as it is; only what can't be seen is escaped; newlines and tabs are kept."""
    assert expected == make_printable(text)


# ---------------------------------------------------------------------------------------------------------- json


def test_a_row_is_one_line_of_exact_bytes() -> None:
    """Design.md section 10: check's keys, in this order; one object a line, no spaces."""
    expected = (
        '{"code":"TR901","name":"bad-thing","severity":"error","path":"policy/roster.toml","line":3,"column":7,'
        '"message":"\'a\\"b\' is ŝ\\\\.","fix":"Mend it."}\n'
        '{"code":"TR902","name":"odd-thing","severity":"warning","path":"x","line":3,"column":7,'
        '"message":"It is wrong.","fix":"Look at it."}\n'
    )
    diagnostics = [find("'a\"b' is ŝ\\."), find(path="x", rule=WARNING)]
    assert expected.encode() == render_rows(diagnostic_row(one) for one in diagnostics).encode()


def test_no_rows_are_nothing() -> None:
    """Design.md section 10: clean = empty."""
    assert "" == render_rows([])


@pytest.mark.parametrize("name", [name for name, _ in HOSTILE.values()], ids=HOSTILE)
def test_hostile_names_read_back_from_json(name: str) -> None:
    """A row stays one line, and what UTF-8 can say reads back as it was; half of a surrogate pair is written out."""
    line = render_rows([diagnostic_row(find(f"{name} is wrong.\n", name))])
    assert 1 == line.count("\n")
    kept = name.replace("\udcff", "\\udcff")
    row = json.loads(line.encode())
    assert (kept, f"{kept} is wrong.\n") == (row["path"], row["message"])


# -------------------------------------------------------------------------------------------------------- github


@pytest.mark.parametrize(
    ("diagnostic", "expected"),
    [
        pytest.param(
            find(),
            "::error file=policy/roster.toml,line=3,col=7,title=TR901 bad-thing::It is wrong. Mend it.\n",
            id="error",
        ),
        pytest.param(
            find(rule=WARNING),
            "::warning file=policy/roster.toml,line=3,col=7,title=TR902 odd-thing::It is wrong. Look at it.\n",
            id="warning",
        ),
        pytest.param(
            find("100% of a,b: c.", "a,b:c%.toml"),
            "::error file=a%2Cb%3Ac%25.toml,line=3,col=7,title=TR901 bad-thing::100%25 of a,b: c. Mend it.\n",
            id="separators",
        ),
        pytest.param(
            find("x\n::error::fake", "y\n::set-env name=A::b"),
            "::error file=y%0A%3A%3Aset-env name=A%3A%3Ab,line=3,col=7,title=TR901 bad-thing::x%0A::error::fake Mend it.\n",
            id="commands",
        ),
        pytest.param(
            find("x%0A", "y\r\n%3A"),
            "::error file=y\\r%0A%253A,line=3,col=7,title=TR901 bad-thing::x%250A Mend it.\n",
            id="escapes",
        ),
    ],
)
def test_a_github_command_is_escaped(diagnostic: Diagnostic, expected: str) -> None:
    """GitHub, "Workflow commands": % CR LF are escaped in data, and : , too in properties; a name ends no command."""
    assert expected == render_github([diagnostic])


@pytest.mark.parametrize(("name", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_a_pull_request_shows_hostile_names_as_text(name: str, shown: str) -> None:
    """A reviewer sees what a name holds: a bidirectional control must not reorder the annotation that reports it."""
    printed = render_github([find(f"{name} is wrong.", "x")])
    assert f"::error file=x,line=3,col=7,title=TR901 bad-thing::{shown} is wrong. Mend it.\n" == printed


def test_github_commands_are_one_a_line() -> None:
    """Several findings are several annotations; none are nothing."""
    assert "" == render_github([])
    assert ["::error", "::warning"] == [line.split()[0] for line in render_github([find(), find(rule=WARNING)]).splitlines()]


# --------------------------------------------------------------------------------------------------------- pages


@pytest.mark.parametrize(
    ("example", "language"),
    [
        ('[a]\nb = "c"    # toml', "toml"),
        ("a = 1\na = 2", "toml"),
        ('{"a": 1}', "json"),
        ('"a": [NaN, 1]', "json"),
        ("a folder/ and its files", "text"),
    ],
    ids=["TOML", "TOML with a fault", "JSON", "member of an object", "neither"],
)
def test_an_example_is_marked_with_its_language(example: str, language: str) -> None:
    """Readers of docs/rules/ get the example as it would stand in a file."""
    page = render_rule_page(RegisteredRule(ERROR, lambda _: (), on_clean_surface=False, why="It hurts.", example=example))
    assert f"## Example\n\n```{language}\n{example}\n```\n\n## Fix\n\nMend it.\n" in page
    assert page.startswith("# TR901 bad-thing\n")
    assert "It judges built bytes" not in page


def test_the_page_of_a_rule_about_bytes_says_when_it_runs() -> None:
    """Otherwise a reader wonders why a second check finds more than the first."""
    rule = RegisteredRule(ERROR, lambda _: (), on_clean_surface=True, why="It hurts.", example="x")
    assert "A thing is bad.\n\nIt judges built bytes: it runs once everything else is free of errors.\n" in render_rule_page(
        rule
    )


# ------------------------------------------------------------------------------------------------------- process


@pytest.mark.parametrize("output_format", ["text", "json", "github"])
def test_check_shows_a_hostile_file_as_text(output_format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From a file's name on disk to the line that is printed: no control character survives, and no markup is lost."""
    write_tree(tmp_path, {"policy/roster.toml": 'schema = 1\nversion = "1.0.0"\n', "policy/[red]\x1b[31m\u202e.toml": ""})
    assert 1 == main(["-C", str(tmp_path), "check", "--format", output_format])
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "[red]" in printed
    if output_format == "json":
        assert "policy/[red]\x1b[31m\u202e.toml" in {json.loads(line)["path"] for line in printed.splitlines()}
    else:
        assert r"policy/[red]\x1b[31m\u202e.toml" in printed
