from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroster.names import explain_invalid_name, is_glob, is_windows_device, matches, reduce_look_alikes, suggest

NAMES = st.text("AZaz09_.-", min_size=1, max_size=128)


@pytest.mark.parametrize("name", ["a", "A", "0", "_", ".", "-", "read_file", "mcp__notes__list-tags", "web.run", "x" * 128])
def test_names_of_ascii_letters_digits_and_three_separators_are_good(name: str) -> None:
    """MCP 2025-11-25, "Tool Names", gives the grammar; design.md section 6 takes it over."""
    assert None is explain_invalid_name(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "the name is empty"),
        ("x" * 129, "it is 129 characters long; the limit is 128"),
        ("list_us\u0435rs", "character 8 is U+0435 (CYRILLIC SMALL LETTER IE); only A-Z a-z 0-9 _ . - are allowed"),
        ("list\uff3fusers", "character 5 is U+FF3F (FULLWIDTH LOW LINE); only A-Z a-z 0-9 _ . - are allowed"),
        ("li\u202est", "character 3 is U+202E (RIGHT-TO-LEFT OVERRIDE); only A-Z a-z 0-9 _ . - are allowed"),
        ("users\u200b", "character 6 is U+200B (ZERO WIDTH SPACE); only A-Z a-z 0-9 _ . - are allowed"),
        ("a\n", "character 2 is U+000A (unnamed character); only A-Z a-z 0-9 _ . - are allowed"),
        ("a b", "character 2 is U+0020 (SPACE); only A-Z a-z 0-9 _ . - are allowed"),
        ("a/b", "character 2 is U+002F (SOLIDUS); only A-Z a-z 0-9 _ . - are allowed"),
        ("a*", "character 2 is U+002A (ASTERISK); only A-Z a-z 0-9 _ . - are allowed"),
        ("é", "character 1 is U+00E9 (LATIN SMALL LETTER E WITH ACUTE); only A-Z a-z 0-9 _ . - are allowed"),
        ("\U0001d41a", "character 1 is U+1D41A (MATHEMATICAL BOLD SMALL A); only A-Z a-z 0-9 _ . - are allowed"),
    ],
)
def test_a_bad_name_is_explained_with_its_first_bad_character_and_place(name: str, reason: str) -> None:
    """TC-066: `invalid_name` with code point and position; nothing is normalised onto a good name."""
    assert reason == explain_invalid_name(name)


def test_globs_may_hold_stars_where_names_may_not() -> None:
    """Design.md section 6: globs know only `*`."""
    assert None is explain_invalid_name("mcp__*__list", glob=True)
    assert None is not explain_invalid_name("mcp__?", glob=True)
    assert None is not explain_invalid_name("mcp__[ab]", glob=True)
    assert None is not explain_invalid_name("", glob=True)


@pytest.mark.parametrize("name", ["con", "CON", "nul", "aux", "prn", "com1", "LPT9", "Com0", "con.json", "nul.tar.gz"])
def test_windows_device_names_are_known_in_any_case_and_with_any_extension(name: str) -> None:
    """Microsoft, "Naming Files, Paths, and Namespaces": such a file can't exist there."""
    assert is_windows_device(name)


@pytest.mark.parametrize("name", ["console", "com", "com10", "lpt", "null", "_con", "con_file", "a.con"])
def test_names_that_only_resemble_a_device_are_no_devices(name: str) -> None:
    """A rule that fires on good names is turned off."""
    assert not is_windows_device(name)


def test_an_entry_with_a_star_is_a_glob() -> None:
    """`*` is the only special character."""
    assert is_glob("mcp__*")
    assert not is_glob("mcp__?[a]")


@pytest.mark.parametrize(
    ("entry", "name", "covered"),
    [
        ("read_file", "read_file", True),
        ("read_file", "Read_file", False),
        ("read_file", "read_file_2", False),
        ("*", "anything", True),
        ("*", "", True),
        ("mcp__*", "mcp__", True),
        ("mcp__*", "mcp_x", False),
        ("mcp__*__list", "mcp__a__b__list", True),
        ("mcp__*__list", "mcp____list", True),
        ("mcp__*__list", "mcp__list", False),
        ("*_file", "read_file", True),
        ("*_file", "read_file2", False),
        ("a.c*", "abc", False),
        ("a.c*", "a.c", True),
        ("MCP__*", "mcp__a", False),
        ("a**b", "ab", True),
        ("*a*b*", "xxaxxbxx", True),
        ("*\n", "x\n", True),
        ("a*", "a\nb", True),
    ],
)
def test_globs_match_whole_names_and_are_case_sensitive(entry: str, name: str, *, covered: bool) -> None:
    """Design.md section 6: globs know only `*` and are case-sensitive."""
    assert covered is matches(entry, name)


@given(NAMES, NAMES)
def test_a_name_without_a_star_matches_itself_alone(one: str, other: str) -> None:
    """A dot in a name is a dot, not any character."""
    assert (one == other) is matches(one, other)


@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES, min_size=5, max_size=5))
def test_a_glob_matches_every_name_that_fills_its_stars(parts: list[str], fillings: list[str]) -> None:
    """Each star stands for any text, the empty one included."""
    filled = "".join(part + filling for part, filling in zip(parts, fillings, strict=False))
    assert matches("*".join([*parts, ""]), filled)
    assert matches("*".join([*parts, ""]), "".join(parts))


@pytest.mark.parametrize("stars", ["*" * 200, "*a" * 60 + "*"])
def test_a_glob_of_many_stars_ends(stars: str) -> None:
    """A pattern is no way to stop the process: nothing is tried twice."""
    assert not matches(f"a{stars}b", "a" * 128)
    assert matches(f"a{stars}b", "a" * 127 + "b")


def covers(glob: str, name: str) -> bool:
    """Return whether a glob covers a name, by the definition of `*` alone."""
    if not glob or not name:
        return glob.strip("*") == name
    if glob[0] == "*":
        return covers(glob[1:], name) or covers(glob, name[1:])
    return glob[0] == name[0] and covers(glob[1:], name[1:])


@given(st.text("ab.*", max_size=6), st.text("ab.", max_size=7))
def test_globs_match_what_the_definition_says(glob: str, name: str) -> None:
    """A star stands for any text, every other character for itself."""
    assert covers(glob, name) is matches(glob, name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("list_tags", "list-tags"),
        ("list_tags", "list.tags"),
        ("read_fi1e", "read_file"),
        ("read_fIle", "read_flle"),
        ("t0do", "todo"),
        ("cla55ify", "classify"),
        ("Read_File", "read_file"),
    ],
)
def test_look_alikes_share_one_reduced_form(one: str, other: str) -> None:
    """TC-066: people approve one name and get the other."""
    assert reduce_look_alikes(one) == reduce_look_alikes(other)


@pytest.mark.parametrize(("one", "other"), [("read_file", "read_files"), ("a_b", "ab"), ("list_tags", "list_togs")])
def test_names_that_merely_resemble_each_other_are_told_apart(one: str, other: str) -> None:
    """Only characters that fonts draw alike count."""
    assert reduce_look_alikes(one) != reduce_look_alikes(other)


@pytest.mark.parametrize(
    ("name", "candidates", "hint"),
    [
        ("read_fil", ["write_file", "read_file"], " (did you mean 'read_file'?)"),
        ("run_shel_command", ["run_shell_command", "read_file"], " (did you mean 'run_shell_command'?)"),
        ("GREP", ["grep", "glob"], " (did you mean 'grep'?)"),
        ("zzz", ["read_file"], ""),
        ("x", [], ""),
    ],
)
def test_a_suggestion_names_the_closest_candidate_or_nothing(name: str, candidates: list[str], hint: str) -> None:
    """TC-029: a misspelling is answered with a suggestion."""
    assert hint == suggest(name, candidates)
    assert hint == suggest(name, reversed(candidates))
    assert hint == suggest(name, iter(set(candidates)))
