"""What an agent keeps while it works: its to-do list, its plan, its notes, and long results to come back to.

Every agent has a desk of its own in each root. Nothing here is ever added to a request: the model learns what stands on its
desk from the results of its own calls. The plan is reasoning and never part of the to-do list.
"""

from __future__ import annotations

import contextlib
import math
import re
import threading
import unicodedata
from collections.abc import Callable, Generator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Generic, Literal, TypeAlias, TypeVar

from toolroster.canonical import JsonObject, JsonValue, encode, write_pretty
from toolroster.runtime import HandlerContext

from .workbench_paths import ToolProblem, number_of, report_problems, text_of

TodoStatus: TypeAlias = Literal["pending", "in_progress", "completed", "cancelled"]
Source: TypeAlias = Callable[[], JsonValue]
ItemT = TypeVar("ItemT")

MIN_CHARS = 200
"""Fewest characters in which `render_todo` can show an item and say what it left out."""
MAX_TODO, MAX_NOTES = 100, 100
"""Items of one to-do list, and topics of one agent's notes."""
PART_CHARS = 100_000
"""Characters that one read of a handle or of a result returns at most."""

_MAX_ITEM_CHARS, _MAX_PATTERN = 200, 500
# A group that repeats and is repeated again makes matching take exponential time.
_NESTED_REPEAT = re.compile(r"[+*}]\)[+*{]")
_MARKS: dict[TodoStatus, str] = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "cancelled": "[-]"}
_STATUSES: dict[str, TodoStatus] = {status: status for status in _MARKS}
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_TAKES = {
    "replace": frozenset({"items"}),
    "add": frozenset({"content", "status"}),
    "update": frozenset({"id", "content", "status"}),
    "list": frozenset[str](),
}


@dataclass(frozen=True, slots=True)
class Agent:
    """Who acts: its id (a session begins with `main`), how many agents stand above it, and the profile that holds for it."""

    id: str = "main"
    depth: int = 0
    profile: str = "default"


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One item of a to-do list; `id` is its number, counted from 1."""

    id: int
    content: str
    status: TodoStatus = "pending"


@dataclass(frozen=True, slots=True)
class Desk:
    """What one agent keeps in one root: its list in order, its plan if it has one, and its notes by topic."""

    todo: tuple[TodoItem, ...] = ()
    plan: JsonObject | None = None
    notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType(dict[str, str]()))


class Shelf(Generic[ItemT]):
    """Values by key; the oldest give way when there are too many of them. Safe to share between threads."""

    def __init__(self, limit: int) -> None:
        """Keep so many values."""
        self._limit = limit
        self._lock = threading.Lock()
        self._items: dict[tuple[Path, str], ItemT] = {}

    def change(self, root: Path, key: str, change: Callable[[ItemT | None], ItemT]) -> ItemT:
        """Keep, and return, what `change` makes of a key's value; when it raises, nothing changes."""
        place = (root.resolve(), key)
        with self._lock:
            item = change(self._items.get(place))
            self._items.pop(place, None)
            self._items[place] = item
            while len(self._items) > self._limit:
                del self._items[next(iter(self._items))]
            return item

    def find(self, root: Path, key: str) -> ItemT | None:
        """Return the value of a key, or None."""
        with self._lock:
            return self._items.get((root.resolve(), key))

    def keys(self, root: Path) -> list[str]:
        """Return a root's keys, the oldest first."""
        place = root.resolve()
        with self._lock:
            return [key for home, key in self._items if home == place]


_ACTING: ContextVar[Agent] = ContextVar("acting_agent", default=Agent())  # noqa: B039 - frozen
_DESKS: Shelf[Desk] = Shelf(256)
_HANDLES: Shelf[Source] = Shelf(256)
_RESULTS: Shelf[str] = Shelf(64)


def acting_agent() -> Agent:
    """Return the agent on whose behalf the current call runs."""
    return _ACTING.get()


@contextlib.contextmanager
def acting_as(agent: Agent) -> Generator[None]:
    """Let calls inside the block, async ones included, run on behalf of this agent."""
    token = _ACTING.set(agent)
    try:
        yield
    finally:
        _ACTING.reset(token)


def read_desk(root: Path, agent_id: str = "main") -> Desk:
    """Return what an agent keeps in a root, for those who show it: the user's view, a hand-over, a resumed conversation."""
    return _DESKS.find(root, agent_id) or Desk()


def offer_handle(root: Path, handle: str, source: Source) -> None:
    """Let `handle_read` read what the source returns at the time; the oldest of 256 handles give way."""
    _HANDLES.change(root, handle, lambda _: source)


def keep_result(root: Path, call_id: str, text: str) -> None:
    """Keep the full text of a result that was shortened, for the acting agent alone; the oldest of 64 give way."""
    _RESULTS.change(root, _result_key(call_id), lambda _: text)


@report_problems
def todo_write(context: HandlerContext, arguments: JsonObject) -> object:
    """Change or list the acting agent's to-do list: `{"items", "completion_pct", "in_progress_id"}`."""
    action = text_of(arguments, "action")
    if foreign := sorted(arguments.keys() - _TAKES[action] - {"action"}):
        takes = ", ".join(sorted(_TAKES[action])) or "nothing else"
        raise ToolProblem(f"action {action!r} does not take {', '.join(foreign)}; it takes {takes}. Nothing was changed.")
    items = _change_desk(context.root, lambda desk: replace(desk, todo=_change_todo(desk.todo, action, arguments))).todo
    done = sum(item.status in ("completed", "cancelled") for item in items)
    listed: list[JsonValue] = [{"id": item.id, "content": item.content, "status": item.status} for item in items]
    return {
        "items": listed,
        # A half is rounded up, which Python's round does not do.
        "completion_pct": math.floor(100 * done / len(items) + 0.5) if items else 0,
        "in_progress_id": next((item.id for item in items if item.status == "in_progress"), None),
    }


@report_problems
def update_plan(context: HandlerContext, arguments: JsonObject) -> object:
    """Put the plan in the place of the acting agent's previous one."""
    _change_desk(context.root, lambda desk: replace(desk, plan=dict(arguments)))
    counts = [f"{len(part)} {name.replace('_', ' ')}" for name, part in arguments.items() if isinstance(part, list)]
    return f"the plan is recorded ({', '.join(['goal', 'approach', *counts])})."


@report_problems
def note(context: HandlerContext, arguments: JsonObject) -> object:
    """Keep, replace or forget one fact, and return all topics: `{"topics"}`."""
    topic, text = text_of(arguments, "topic"), text_of(arguments, "text")

    def change(desk: Desk) -> Desk:
        notes = {key: fact for key, fact in desk.notes.items() if key != topic}
        if text:
            notes[topic] = text
        if len(notes) > MAX_NOTES:
            raise ToolProblem(f"there are {MAX_NOTES} notes; forget one first: {', '.join(sorted(desk.notes))}.")
        return replace(desk, notes=MappingProxyType(notes))

    return {"topics": [*sorted(_change_desk(context.root, change).notes)]}


@report_problems
def handle_read(context: HandlerContext, arguments: JsonObject) -> object:
    """Return members of a list, or lines of a text or of a value's JSON.

    Shape: `{"handle", "pointer", "unit": "members" | "lines", "start", "total", "next_start": int | None, "part"}`; `part` is a
    list of members or the text of the lines.
    """
    handle, pointer = text_of(arguments, "handle"), text_of(arguments, "pointer")
    source = _HANDLES.find(context.root, handle)
    if source is None:
        raise _unknown("handle", handle, _HANDLES.keys(context.root))
    value = _follow_pointer(source(), pointer)
    members = value if isinstance(value, list) else None
    lines = (value if isinstance(value, str) else write_pretty(value).decode().removesuffix("\n")).split("\n")
    total = len(lines) if members is None else len(members)
    start = number_of(arguments, "start", 0)
    start = min(start if start >= 0 else max(total + start, 0), total)
    stop = min(start + number_of(arguments, "count", 100), total)
    part: JsonValue
    if members is None:
        shown = _fit_lines(lines[start:stop])
        part, stop = "\n".join(shown), start + len(shown)
    else:
        part = _fit_members(members[start:stop], pointer, start)
        stop = start + len(part)
    return {
        "handle": handle,
        "pointer": pointer,
        "unit": "lines" if members is None else "members",
        "start": start,
        "total": total,
        "next_start": stop if stop < total else None,
        "part": part,
    }


@report_problems
def retrieve_tool_result(context: HandlerContext, arguments: JsonObject) -> object:
    """Return numbered lines of a kept result, all or those that match, and where to go on."""
    call_id, pattern = text_of(arguments, "call_id"), _compile(text_of(arguments, "pattern"))
    text = _RESULTS.find(context.root, _result_key(call_id))
    if text is None:
        own = [key.removeprefix(_result_key("")) for key in _RESULTS.keys(context.root) if key.startswith(_result_key(""))]
        raise _unknown("result", call_id, own)
    start, limit = number_of(arguments, "start_line", 1), number_of(arguments, "max_lines", 400)
    lines = text.split("\n")
    asked = [number for number in range(start, len(lines) + 1) if pattern.search(lines[number - 1])]
    shown = _fit_lines([f"{number}\t{lines[number - 1]}" for number in asked[:limit]])
    if len(shown) < len(asked):
        left = len(asked) - len(shown)
        shown.append(f"[{left} more of {len(lines)} lines; go on with start_line {asked[len(shown)]}]")
    return "\n".join(shown) or f"[no such line from line {start} on; the result has {len(lines)}]"


def render_todo(items: Sequence[TodoItem], max_items: int = 20, max_chars: int = 2_000) -> str:
    """Return a to-do list as one block of text, for the seams that show it once: a forked agent, a hand-over, a card.

    One line an item, between `<todo_list>` lines, in the order of the list. When not all fit, the item in progress is kept
    first, then those to come, then what was done last, and a last line says what was left out; a long text is cut and ends in
    `…`. Whatever an item's text holds, it stays on its own line, can't close the block, and the whole is never longer than
    `max_chars`. The text is framed, not vetted: whether to follow it is another question.

    Raises:
        ValueError: There is no room for one item and the line that says what was left out.
    """
    if max_items < 1 or max_chars < MIN_CHARS:
        raise ValueError(f"max_items must be 1 and max_chars {MIN_CHARS} at least, not {max_items} and {max_chars}.")
    ranked = sorted(range(len(items)), key=lambda at: _rank(items[at], at))[:max_items]
    lines = {at: _line(items[at], _MAX_ITEM_CHARS) for at in ranked}
    while len(ranked) > 1 and len(_frame(items, lines)) > max_chars:
        del lines[ranked.pop()]
    if (excess := len(_frame(items, lines)) - max_chars) > 0:
        lines = {at: _line(items[at], len(line) - excess) for at, line in lines.items()}
    return _frame(items, lines)


def _rank(item: TodoItem, at: int) -> tuple[int, int]:
    if item.status in ("completed", "cancelled"):
        return 2, -at
    return (0 if item.status == "in_progress" else 1), at


def _frame(items: Sequence[TodoItem], lines: Mapping[int, str]) -> str:
    left_out = [item.status for at, item in enumerate(items) if at not in lines]
    counts = ", ".join(f"{left_out.count(status)} {status}" for status in _MARKS if status in left_out)
    more = [f"[{len(left_out)} more: {counts}]"] if left_out else []
    return "\n".join(["<todo_list>", *(lines[at] for at in sorted(lines)), *more, "</todo_list>"])


def _line(item: TodoItem, room: int) -> str:
    """Return an item's line, at most `room` characters long or as long as its mark and number need."""
    line = f"{_MARKS[item.status]} {item.id}. "
    pieces = [_ESCAPES.get(character, character) for character in _flatten(item.content)]
    if len(line) + sum(map(len, pieces)) <= room:
        return line + "".join(pieces)
    for piece in pieces:
        # An escape is kept whole: half of one would be another text.
        if len(line) + len(piece) + 1 > room:
            break
        line += piece
    return f"{line}…"


def _flatten(text: str) -> str:
    """Return the text on one line: runs of spaces, breaks and control characters become a space, invisible ones vanish."""
    categories = ((character, unicodedata.category(character)) for character in text)
    plain = (
        " " if category in ("Cc", "Cs", "Zl", "Zp") else character for character, category in categories if category != "Cf"
    )
    return " ".join("".join(plain).split())


def _change_desk(root: Path, change: Callable[[Desk], Desk]) -> Desk:
    return _DESKS.change(root, acting_agent().id, lambda desk: change(desk or Desk()))


def _change_todo(items: tuple[TodoItem, ...], action: str, arguments: JsonObject) -> tuple[TodoItem, ...]:
    if action == "list":
        return items
    if action == "replace":
        given = arguments.get("items")
        if not isinstance(given, list):
            raise ToolProblem("action 'replace' needs items: the complete list. Nothing was changed.")
        new: tuple[TodoItem, ...] = ()
        for member in given:
            new = _add(new, member if isinstance(member, dict) else {})
        return new
    if action == "add":
        if len(items) >= MAX_TODO:
            raise ToolProblem(f"the list is full with {MAX_TODO} items; replace it by one without those that are done.")
        return _add(items, arguments)
    number = number_of(arguments, "id", 0)
    if not 1 <= number <= len(items):
        there = f"it has the items 1 to {len(items)}" if items else "it is empty"
        raise ToolProblem(f"the list has no item {number or '(no id was given)'}; {there}. Nothing was changed.")
    if not arguments.keys() & {"content", "status"}:
        raise ToolProblem("action 'update' needs content or status. Nothing was changed.")
    old = items[number - 1]
    item = TodoItem(number, text_of(arguments, "content", old.content), _status(arguments, old.status))
    return tuple(item if other.id == number else _yield_to(other, item) for other in items)


def _add(items: tuple[TodoItem, ...], given: JsonObject) -> tuple[TodoItem, ...]:
    if not (content := text_of(given, "content")):
        raise ToolProblem("an item needs content: what is to be done. Nothing was changed.")
    item = TodoItem(len(items) + 1, content, _status(given, "pending"))
    return (*(_yield_to(other, item) for other in items), item)


def _yield_to(other: TodoItem, item: TodoItem) -> TodoItem:
    """Return another item as it stands once this one was set: only one is in progress."""
    both = other.status == item.status == "in_progress"
    return replace(other, status="pending") if both else other


def _status(given: JsonObject, default: TodoStatus) -> TodoStatus:
    return _STATUSES.get(text_of(given, "status"), default)


def _result_key(call_id: str) -> str:
    return f"{acting_agent().id}\0{call_id}"


def _unknown(kind: str, key: str, known: Sequence[str]) -> ToolProblem:
    kept = f"kept are {', '.join(map(repr, known[-20:]))}" if known else "none is kept"
    return ToolProblem(f"there is no {kind} {key!r}; {kept}. The oldest are forgotten when there are many.")


def _follow_pointer(value: JsonValue, pointer: str) -> JsonValue:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            size = f"{len(value)} members" if isinstance(value, dict | list) else "no members"
            raise ToolProblem(f"{pointer!r} leads nowhere at {part!r}: what stands there has {size}.")
    return value


def _fit_lines(lines: Sequence[str]) -> list[str]:
    """Return the first lines that fit into one answer: at least one, cut if it must be."""
    shown: list[str] = []
    room = PART_CHARS
    for line in lines:
        if len(line) > room and shown:
            break
        shown.append(line if len(line) <= room else f"{line[:room]}… [{len(line) - room} more characters in this line]")
        room -= len(line) + 1
    return shown


def _fit_members(members: Sequence[JsonValue], pointer: str, start: int) -> list[JsonValue]:
    """Return the first members that fit into one answer; one that is too large by itself is named by its pointer."""
    shown: list[JsonValue] = []
    room = PART_CHARS
    for index, member in enumerate(members, start):
        size = len(encode(member))
        if size > room and shown:
            break
        shown.append(member if size <= room else {"too_large": size, "pointer": f"{pointer}/{index}"})
        room -= size
    return shown


def _compile(pattern: str) -> re.Pattern[str]:
    if len(pattern) > _MAX_PATTERN or _NESTED_REPEAT.search(pattern):
        raise ToolProblem("the pattern is too long or repeats a repetition; simplify it.")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ToolProblem(f"invalid pattern: {error.msg} at position {error.pos}.") from None
