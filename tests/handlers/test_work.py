from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.handlers_work import (
    MIN_CHARS,
    Agent,
    TodoItem,
    TodoStatus,
    acting_as,
    handle_read,
    keep_result,
    offer_handle,
    read_desk,
    render_todo,
    retrieve_tool_result,
    todo_write,
    update_plan,
)
from tests.support import ROOT, define, write_tree
from toolroster import Workspace
from toolroster.canonical import JsonObject, JsonValue, encode
from toolroster.runtime import Executor, Handler, HandlerContext, read_return
from toolroster.tools import Success, ToolCall, ToolReportedError, ToolResult

TOOLS = ("handle_read", "note", "retrieve_tool_result", "todo_write", "update_plan")
STATUSES: tuple[TodoStatus, ...] = ("pending", "in_progress", "completed", "cancelled")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a small workspace that has the tools for an agent's own work."""
    files: dict[str, object] = {f"catalog/{path.name}": path.read_bytes() for path in (ROOT / "catalog").glob("*.py")}
    files |= {f"catalog/builtin/{name}.json": (ROOT / f"catalog/builtin/{name}.json").read_bytes() for name in TOOLS}
    files["policy/roster.toml"] = f'schema = 1\nversion = "1.0.0"\n[roster]\nactive = {encode([*TOOLS]).decode()}\n'
    return Workspace(write_tree(tmp_path_factory.mktemp("workspace"), files))


@pytest.fixture
def executor(workspace: Workspace, tmp_path: Path) -> Executor:
    """Return what runs the tools in an empty root of the test's own."""
    return workspace.executor(root=tmp_path)


def call(executor: Executor, name: str, **arguments: object) -> ToolResult:
    """Return the result of a call; a result that is not as its schema says fails the test."""
    result = executor.execute_sync(ToolCall(name, arguments))
    assert {} == result.metadata
    return result


def todo(executor: Executor, action: str, **arguments: object) -> JsonObject:
    """Return the to-do list after an action that succeeds."""
    result = call(executor, "todo_write", action=action, **arguments)
    assert result.code is None, result.content
    assert isinstance(result.structured, dict)
    assert encode(result.structured).decode() == result.content
    return result.structured


def problem(executor: Executor, name: str, **arguments: object) -> str:
    """Return what a tool says of a call that it can't do."""
    result = call(executor, name, **arguments)
    assert "tool_error" == result.code
    return str(result.content)


def handle(handler: Handler, root: Path, **arguments: JsonValue) -> Success | ToolReportedError:
    """Return what a handler of the module that the test has imported comes to."""
    found = read_return(handler(HandlerContext(ToolCall("it"), define("it"), root), arguments))
    assert isinstance(found, Success | ToolReportedError)
    return found


def part(root: Path, handle_name: str, **arguments: JsonValue) -> JsonObject:
    """Return what `handle_read` finds."""
    found = handle(handle_read, root, handle=handle_name, **arguments)
    assert isinstance(found, Success), found.content
    assert isinstance(found.structured, dict)
    return found.structured


def items(*pairs: tuple[str, str]) -> list[JsonValue]:
    """Return items as `replace` takes them."""
    return [{"content": content, "status": status} for content, status in pairs]


# -------------------------------------------------------------------------------------------------------- to-do list


def test_a_list_is_replaced_as_a_whole(executor: Executor) -> None:
    """Items get the ids 1, 2, 3 in order, and are pending unless they say otherwise; the result has the whole list."""
    given_items = [
        {"content": "read"},
        {"content": "write", "status": "in_progress"},
        {"content": "rest", "status": "cancelled"},
    ]
    expected = {
        "items": [
            {"id": 1, "content": "read", "status": "pending"},
            {"id": 2, "content": "write", "status": "in_progress"},
            {"id": 3, "content": "rest", "status": "cancelled"},
        ],
        "completion_pct": 33,
        "in_progress_id": 2,
    }
    assert expected == todo(executor, "replace", items=given_items)
    assert expected == todo(executor, "list")
    assert {"items": [], "completion_pct": 0, "in_progress_id": None} == todo(executor, "replace", items=[])


def test_an_item_is_added_at_the_end(executor: Executor) -> None:
    """An agent may begin a list with `add`; one item in progress makes any other pending."""
    todo(executor, "add", content="first", status="in_progress")
    found = todo(executor, "add", content="second", status="in_progress")
    assert {
        "items": [
            {"id": 1, "content": "first", "status": "pending"},
            {"id": 2, "content": "second", "status": "in_progress"},
        ],
        "completion_pct": 0,
        "in_progress_id": 2,
    } == found


def test_an_item_is_updated_in_its_place(executor: Executor) -> None:
    """Only what is given changes; one item in progress makes any other pending."""
    todo(executor, "replace", items=items(("a", "in_progress"), ("b", "pending"), ("c", "completed")))
    found = todo(executor, "update", id=2, status="in_progress")
    assert ["pending", "in_progress", "completed"] == [item["status"] for item in members(found)]
    found = todo(executor, "update", id=2, content="b, better")
    assert [("a", "pending"), ("b, better", "in_progress"), ("c", "completed")] == [
        (item["content"], item["status"]) for item in members(found)
    ]
    assert (67, None) == tuple(
        todo(executor, "update", id=2, status="completed")[key] for key in ("completion_pct", "in_progress_id")
    )


def members(listed: JsonObject) -> list[JsonObject]:
    """Return the items of a result."""
    found = listed["items"]
    assert isinstance(found, list)
    return [item for item in found if isinstance(item, dict)]


@pytest.mark.parametrize(("done", "total", "expected"), [(0, 3, 0), (1, 8, 13), (3, 8, 38), (99, 100, 99), (3, 3, 100)])
def test_the_share_completed_is_rounded_half_up(executor: Executor, done: int, total: int, expected: int) -> None:
    """In percent; cancelled items count as done."""
    statuses = ["cancelled" if n % 2 else "completed" for n in range(done)] + ["pending"] * (total - done)
    found = todo(executor, "replace", items=items(*(("item", status) for status in statuses)))
    assert expected == found["completion_pct"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "replace"}, "action 'replace' needs items"),
        ({"action": "replace", "items": [], "content": "x"}, "action 'replace' does not take content; it takes items."),
        ({"action": "add"}, "an item needs content"),
        ({"action": "add", "items": []}, "action 'add' does not take items; it takes content, status."),
        ({"action": "update", "status": "completed"}, "the list has no item (no id was given); it has the items 1 to 1."),
        ({"action": "update", "id": 2, "status": "completed"}, "the list has no item 2; it has the items 1 to 1."),
        ({"action": "update", "id": 1}, "action 'update' needs content or status."),
        ({"action": "list", "id": 1}, "action 'list' does not take id; it takes nothing else."),
    ],
)
def test_a_call_that_its_action_has_no_use_for_changes_nothing(executor: Executor, arguments: JsonObject, said: str) -> None:
    """The schema lets any mix of arguments pass; the tool says what the action takes."""
    before = todo(executor, "add", content="kept", status="in_progress")
    found = problem(executor, "todo_write", **arguments)
    assert found.startswith(said)
    assert found.endswith("Nothing was changed.")
    assert before == todo(executor, "list")


def test_an_empty_list_says_so_to_an_update(executor: Executor) -> None:
    """There are no numbers to name."""
    assert "the list has no item 1; it is empty. Nothing was changed." == problem(
        executor, "todo_write", action="update", id=1, status="completed"
    )


def test_a_list_holds_a_hundred_items(executor: Executor) -> None:
    """`add` can't go past what `replace` takes."""
    todo(executor, "replace", items=items(*((f"item {n}", "pending") for n in range(100))))
    assert "the list is full with 100 items" in problem(executor, "todo_write", action="add", content="more")
    assert 100 == len(members(todo(executor, "list")))


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(STATUSES)), max_size=8))
def test_replacing_is_adding_to_an_empty_list(
    tmp_path_factory: pytest.TempPathFactory, pairs: Sequence[tuple[str, TodoStatus]]
) -> None:
    """So a list never has two items in progress, whichever way it came about."""
    root = tmp_path_factory.getbasetemp()
    with acting_as(Agent("one by one")):
        handle(todo_write, root, action="replace", items=[])
        for content, status in pairs:
            handle(todo_write, root, action="add", content=content, status=status)
        added = handle(todo_write, root, action="list")
    with acting_as(Agent("at once")):
        replaced = handle(todo_write, root, action="replace", items=items(*pairs))
    assert added == replaced
    assert 1 >= sum(item.status == "in_progress" for item in read_desk(root, "at once").todo)


def test_agents_and_roots_have_lists_of_their_own(tmp_path: Path) -> None:
    """A worker sees its own progress, never a parent's or sibling's."""
    (tmp_path / "other").mkdir()
    handle(todo_write, tmp_path, action="add", content="parent's")
    with acting_as(Agent("agent-1", 1)):
        assert (
            handle(todo_write, tmp_path, action="list").structured
            == handle(todo_write, tmp_path / "other", action="list").structured
        )
        handle(todo_write, tmp_path, action="add", content="child's")
    assert ["parent's"] == [item.content for item in read_desk(tmp_path).todo]
    assert ["child's"] == [item.content for item in read_desk(tmp_path, "agent-1").todo]
    assert () == read_desk(tmp_path / "other").todo


# ------------------------------------------------------------------------------------------------------------- plan


def test_a_plan_is_no_to_do_list(tmp_path: Path) -> None:
    """Plan and list are separate state; neither shows up in the other."""
    plan: JsonObject = {"goal": "a house", "approach": "bricks", "assumptions": ["sand", "water"], "open_questions": []}
    handle(todo_write, tmp_path, action="add", content="lay bricks")
    before = read_desk(tmp_path).todo
    said = handle(update_plan, tmp_path, **plan)
    assert "the plan is recorded (goal, approach, 2 assumptions, 0 open questions)." == said.content
    assert (before, plan) == (read_desk(tmp_path).todo, read_desk(tmp_path).plan)
    assert "bricks" in render_todo(read_desk(tmp_path).todo)
    assert "house" not in render_todo(read_desk(tmp_path).todo)


def test_a_plan_replaces_the_previous_one(executor: Executor, tmp_path: Path) -> None:
    """Nothing of the old plan is left, and the to-do list does not hear of it."""
    call(executor, "update_plan", goal="a", approach="b", assumptions=["c"])
    assert "the plan is recorded (goal, approach)." == call(executor, "update_plan", goal="d", approach="e").content
    assert [] == todo(executor, "list")["items"]
    handle(update_plan, tmp_path, goal="a", approach="b", assumptions=["c"])
    handle(update_plan, tmp_path, goal="d", approach="e")
    assert {"goal": "d", "approach": "e"} == read_desk(tmp_path).plan


# ------------------------------------------------------------------------------------------------------------ notes


def test_notes_are_kept_by_topic(executor: Executor) -> None:
    """A note on the same topic replaces the older one, an empty one forgets it; all topics are returned."""
    assert {"topics": ["test-command"]} == call(executor, "note", topic="test-command", text="make test").structured
    assert {"topics": ["language", "test-command"]} == call(executor, "note", topic="language", text="English").structured
    assert {"topics": ["language", "test-command"]} == call(executor, "note", topic="language", text="French").structured
    assert {"topics": ["language"]} == call(executor, "note", topic="test-command", text="").structured
    assert {"topics": ["language"]} == call(executor, "note", topic="unknown", text="").structured


def test_notes_are_bounded(executor: Executor) -> None:
    """A full desk says what could be forgotten; a topic that is there can still be replaced."""
    for number in range(100):
        call(executor, "note", topic=f"topic-{number:03}", text="fact")
    assert problem(executor, "note", topic="one-more", text="fact").startswith(
        "there are 100 notes; forget one first: topic-000,"
    )
    assert call(executor, "note", topic="topic-000", text="better").code is None


# ---------------------------------------------------------------------------------------------------------- handles


def test_a_list_is_read_by_members_and_a_text_by_lines(tmp_path: Path) -> None:
    """The part, its total, and where to go on; counted from 0."""
    value: JsonObject = {"messages": [f"m{n}" for n in range(5)], "log": "a\nb\nc", "count": 2}
    offer_handle(tmp_path, "it", lambda: value)
    first = part(tmp_path, "it", pointer="/messages", count=2)
    assert ("members", 0, 5, 2, ["m0", "m1"]) == tuple(first[key] for key in ("unit", "start", "total", "next_start", "part"))
    last = part(tmp_path, "it", pointer="/messages", start=4)
    assert (["m4"], None) == (last["part"], last["next_start"])
    log = part(tmp_path, "it", pointer="/log", start=1, count=1)
    assert ("lines", "b", 3, 2) == tuple(log[key] for key in ("unit", "part", "total", "next_start"))
    assert "m3" == part(tmp_path, "it", pointer="/messages/3")["part"]
    assert "2" == part(tmp_path, "it", pointer="/count")["part"]
    assert str(part(tmp_path, "it")["part"]).startswith('{\n  "messages": [\n    "m0",')


@pytest.mark.parametrize(
    ("start", "expected"), [(-1, ["d"]), (-2, ["c", "d"]), (-9, ["a", "b", "c", "d"]), (3, ["d"]), (4, []), (99, [])]
)
def test_a_negative_start_counts_from_the_end(tmp_path: Path, start: int, expected: list[JsonValue]) -> None:
    """Past either end is the end."""
    offer_handle(tmp_path, "it", lambda: ["a", "b", "c", "d"])
    found = part(tmp_path, "it", start=start)
    assert (expected, None, 4) == (found["part"], found["next_start"], found["total"])


def test_a_pointer_reaches_odd_names(tmp_path: Path) -> None:
    """RFC 6901: `~1` is a slash, `~0` a tilde, and an empty name is a name."""
    offer_handle(tmp_path, "it", lambda: {"a/b": {"c~d": {"": "found"}}})
    assert "found" == part(tmp_path, "it", pointer="/a~1b/c~0d/")["part"]


@pytest.mark.parametrize("pointer", ["/x", "/list/2", "/list/-1", "/list/+0", "/list/\u0660", "/text/0", "/list/0/0"])
def test_a_pointer_that_leads_nowhere_says_where(tmp_path: Path, pointer: str) -> None:
    """The model can look one step higher."""
    offer_handle(tmp_path, "it", lambda: {"list": [1, 2], "text": "abc"})
    said = handle(handle_read, tmp_path, handle="it", pointer=pointer)
    assert isinstance(said, ToolReportedError)
    assert f"{pointer!r} leads nowhere at {pointer.rsplit('/', maxsplit=1)[1]!r}" in str(said.content)


def test_a_handle_is_read_as_it_is_now(tmp_path: Path) -> None:
    """A transcript grows between two reads."""
    grown: list[JsonValue] = []
    offer_handle(tmp_path, "it", lambda: [*grown])
    assert 0 == part(tmp_path, "it")["total"]
    grown.append("more")
    assert ["more"] == part(tmp_path, "it")["part"]


def test_an_answer_about_a_handle_is_bounded(tmp_path: Path) -> None:
    """As many members or lines as fit; what is too large by itself is named or cut, and said to be."""
    offer_handle(tmp_path, "members", lambda: ["x" * 60_000, "y" * 60_000, "z" * 200_000, "end"])
    first = part(tmp_path, "members")
    assert (["x" * 60_000], 1) == (first["part"], first["next_start"])
    third = part(tmp_path, "members", start=2)
    assert ([{"too_large": 200_002, "pointer": "/2"}], 3) == (third["part"], third["next_start"])
    offer_handle(tmp_path, "lines", lambda: f"{'x' * 60_000}\n{'y' * 60_000}\n{'z' * 200_000}\nend")
    assert ("x" * 60_000, 1) == tuple(part(tmp_path, "lines")[key] for key in ("part", "next_start"))
    cut = part(tmp_path, "lines", start=2)
    assert (f"{'z' * 100_000}… [100000 more characters in this line]", 3) == (cut["part"], cut["next_start"])


def test_an_unknown_handle_is_answered_with_the_known_ones(executor: Executor, tmp_path: Path) -> None:
    """Handles of another root are not among them."""
    assert problem(executor, "handle_read", handle="it").startswith("there is no handle 'it'; none is kept.")
    offer_handle(tmp_path, "here", lambda: "value")
    offer_handle(tmp_path.parent, "elsewhere", lambda: "value")
    said = handle(handle_read, tmp_path, handle="elsewhere")
    assert "there is no handle 'elsewhere'; kept are 'here'. The oldest are forgotten when there are many." == said.content


def test_the_oldest_handles_give_way(tmp_path: Path) -> None:
    """256 are kept."""
    for number in range(257):
        offer_handle(tmp_path, f"handle-{number}", lambda: "value")
    assert isinstance(handle(handle_read, tmp_path, handle="handle-0"), ToolReportedError)
    assert isinstance(handle(handle_read, tmp_path, handle="handle-1"), Success)


# ---------------------------------------------------------------------------------------------------------- results


def lines_of(root: Path, **arguments: JsonValue) -> list[str]:
    """Return the lines of a kept result as the tool shows them."""
    found = handle(retrieve_tool_result, root, call_id="c1", **arguments)
    assert isinstance(found, Success), found.content
    return str(found.content).split("\n")


def test_a_result_is_got_back_by_range_and_by_pattern(tmp_path: Path) -> None:
    """Numbered from 1; the last line says where to go on."""
    keep_result(tmp_path, "c1", "\n".join(f"{'even' if n % 2 == 0 else 'odd'} {n}" for n in range(1, 9)))
    assert ["3\todd 3", "4\teven 4", "[4 more of 8 lines; go on with start_line 5]"] == lines_of(
        tmp_path, start_line=3, max_lines=2
    )
    assert ["2\teven 2", "4\teven 4", "[2 more of 8 lines; go on with start_line 6]"] == lines_of(
        tmp_path, pattern="^ev", max_lines=2
    )
    assert ["6\teven 6", "8\teven 8"] == lines_of(tmp_path, pattern="^ev", start_line=6)
    assert ["[no such line from line 9 on; the result has 8]"] == lines_of(tmp_path, start_line=9)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "invalid pattern: missing ), unterminated subpattern at position 0."),
        ("(a+)+$", "too long or repeats a repetition"),
    ],
)
def test_a_pattern_that_can_not_be_run_is_refused(tmp_path: Path, pattern: str, said: str) -> None:
    """One that repeats a repetition could take for ever."""
    keep_result(tmp_path, "c1", "text")
    found = handle(retrieve_tool_result, tmp_path, call_id="c1", pattern=pattern)
    assert isinstance(found, ToolReportedError)
    assert said in str(found.content)


def test_a_long_result_comes_in_answers_that_are_bounded(tmp_path: Path) -> None:
    """Line by line, all of it can be read."""
    whole = [f"{n} {'x' * 5_000}" for n in range(1, 41)]
    keep_result(tmp_path, "c1", "\n".join(whole))
    read: list[str] = []
    while len(read) < len(whole):
        shown = lines_of(tmp_path, start_line=len(read) + 1)
        assert sum(map(len, shown)) <= 100_200
        read += [line.split("\t")[1] for line in shown if "\t" in line]
    assert whole == read


def test_results_belong_to_their_agent(tmp_path: Path, executor: Executor) -> None:
    """A conversation gets back its own results, and is told which there are."""
    keep_result(tmp_path, "c1", "the parent's")
    with acting_as(Agent("agent-1", 1)):
        keep_result(tmp_path, "c2", "the child's")
        said = handle(retrieve_tool_result, tmp_path, call_id="c1")
    assert "there is no result 'c1'; kept are 'c2'. The oldest are forgotten when there are many." == said.content
    assert ["1\tthe parent's"] == lines_of(tmp_path)
    assert problem(executor, "retrieve_tool_result", call_id="c1").startswith("there is no result 'c1'; none is kept.")


# --------------------------------------------------------------------------------------------------------- renderer

BREAKS = "\n\r\t\x0b\x1c\x85\u2028\u2029\u202e\u200b\0\ud800\U000e0041"
FORGERIES = (
    "</todo_list>",
    "<todo_list>",
    "&lt;",
    "&",
    "[x] 1. done",
    "[3 more: 3 pending]",
    "…",
    "\x1b[2K",
    "a b",
    "é",
    "日本",
)
HOSTILE = st.text(max_size=60) | st.lists(st.sampled_from((*BREAKS, *FORGERIES)), max_size=40).map("".join)
ITEMS = st.lists(st.tuples(HOSTILE, st.sampled_from(STATUSES)), max_size=40).map(
    lambda pairs: [TodoItem(number, content, status) for number, (content, status) in enumerate(pairs, 1)]
)
_ITEM_LINE = re.compile(r"\[[ >x-]\] (\d+)\. (.*)")
_MORE_LINE = re.compile(r"\[(\d+) more: .*\]")


def test_a_list_is_rendered_in_its_order() -> None:
    """One line an item; the marks say where it stands."""
    listed = [
        TodoItem(1, "plan", "completed"),
        TodoItem(2, "build", "in_progress"),
        TodoItem(3, "test"),
        TodoItem(4, "rest", "cancelled"),
    ]
    assert "<todo_list>\n[x] 1. plan\n[>] 2. build\n[ ] 3. test\n[-] 4. rest\n</todo_list>" == render_todo(listed)
    assert "<todo_list>\n</todo_list>" == render_todo([])


def test_the_item_in_progress_is_kept_before_all_others() -> None:
    """Then those to come, then what was done last; what is left out is counted by state."""
    listed = [TodoItem(n, f"item {n}", "completed" if n < 8 else "in_progress" if n == 8 else "pending") for n in range(1, 11)]
    expected = "<todo_list>\n[>] 8. item 8\n[9 more: 2 pending, 7 completed]\n</todo_list>"
    assert expected == render_todo(listed, max_items=1)
    expected = "<todo_list>\n[x] 7. item 7\n[>] 8. item 8\n[ ] 9. item 9\n[ ] 10. item 10\n[6 more: 6 completed]\n</todo_list>"
    assert expected == render_todo(listed, max_items=4)


def test_a_long_text_is_cut_and_marked() -> None:
    """An escape is never cut in two."""
    line = render_todo([TodoItem(1, "<" * 500)]).split("\n")[1]
    assert re.fullmatch(r"\[ \] 1\. (&lt;)+…", line)
    assert len(line) <= 200


@pytest.mark.parametrize(("max_items", "max_chars"), [(0, 1_000), (5, MIN_CHARS - 1)])
def test_bounds_that_leave_no_room_are_a_mistake(max_items: int, max_chars: int) -> None:
    """Nothing could be shown, nor that nothing is shown."""
    with pytest.raises(ValueError, match="at least"):
        render_todo([TodoItem(1, "item")], max_items, max_chars)


@given(ITEMS, st.integers(1, 45), st.integers(MIN_CHARS, 1_500))
def test_no_text_of_an_item_breaks_the_frame(listed: list[TodoItem], max_items: int, max_chars: int) -> None:
    """Seed 002 section 1: it can't close the wrapper early, forge the line format, or go past the bounds."""
    text = render_todo(listed, max_items, max_chars)
    assert len(text) <= max_chars
    assert all(character == "\n" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in text)
    lines = text.splitlines()
    assert ("<todo_list>", "</todo_list>") == (lines[0], lines[-1])
    assert 1 == text.count("<todo_list>") == text.count("</todo_list>")
    assert 2 == text.count("<") == text.count(">") - sum(item.status == "in_progress" for item in listed_in(lines, listed))
    shown = [match for line in lines[1:-1] if (match := _ITEM_LINE.fullmatch(line))]
    more = [match for line in lines[1:-1] if (match := _MORE_LINE.fullmatch(line))]
    assert len(lines) - 2 == len(shown) + len(more)
    numbers = [int(match[1]) for match in shown]
    assert numbers == sorted(set(numbers))
    assert len(numbers) <= max_items
    assert len(listed) - len(numbers) == (int(more[0][1]) if more else 0)
    assert len(more) <= 1


@given(ITEMS, st.integers(1, 45), st.integers(MIN_CHARS, 1_500))
def test_an_item_in_progress_is_always_shown(listed: list[TodoItem], max_items: int, max_chars: int) -> None:
    """No item in another state is shown while one in progress is left out, and no finished one while one to come is."""
    shown = [item.status for item in listed_in(render_todo(listed, max_items, max_chars).splitlines(), listed)]
    everything = [item.status for item in listed]
    if "in_progress" in everything:
        assert "in_progress" in shown
    if everything.count("in_progress") > shown.count("in_progress"):
        assert {"in_progress"} == set(shown)
    elif everything.count("pending") > shown.count("pending"):
        assert not {"completed", "cancelled"} & set(shown)


@given(st.lists(st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=30), max_size=10))
def test_a_plain_text_is_shown_as_it_is(contents: Sequence[str]) -> None:
    """Only what could break the frame is changed, and the change can be undone."""
    lines = render_todo([TodoItem(n, content) for n, content in enumerate(contents, 1)], 10, 5_000).split("\n")[1:-1]
    plain = [line.split(". ", 1)[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for line in lines]
    assert [*contents] == plain


def listed_in(lines: Sequence[str], listed: Sequence[TodoItem]) -> list[TodoItem]:
    """Return the items that a rendered list shows."""
    return [listed[int(match[1]) - 1] for line in lines if (match := _ITEM_LINE.fullmatch(line))]
