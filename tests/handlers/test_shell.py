from __future__ import annotations

import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.handlers_shell import Output
from tests.support import ROOT, write_tree
from toolroster import Workspace
from toolroster.canonical import JsonObject, encode
from toolroster.runtime import Executor
from toolroster.tools import ToolCall, ToolResult

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are written for a POSIX shell")

TOOLS = ("exec_shell", "exec_shell_cancel", "exec_shell_interact", "exec_shell_wait")
TIMEOUT_S = 20
"""How long a test waits for what must happen; nothing waits this long when it does."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a small workspace that has the shell tools."""
    files: dict[str, object] = {f"catalog/{path.name}": path.read_bytes() for path in (ROOT / "catalog").glob("*.py")}
    files |= {f"catalog/builtin/{name}.json": (ROOT / f"catalog/builtin/{name}.json").read_bytes() for name in TOOLS}
    files["policy/roster.toml"] = f'schema = 1\nversion = "1.0.0"\n[roster]\nactive = {encode([*TOOLS]).decode()}\n'
    return Workspace(write_tree(tmp_path_factory.mktemp("workspace"), files))


@pytest.fixture
def executor(workspace: Workspace, tmp_path: Path) -> Executor:
    """Return what runs the tools in an empty root of the test's own."""
    (tmp_path / "root").mkdir()
    return workspace.executor(root=tmp_path / "root")


def call(executor: Executor, name: str, **arguments: object) -> ToolResult:
    """Return the result of a call; a result that is not as its schema says fails the test."""
    result = executor.execute_sync(ToolCall(name, arguments))
    assert {} == result.metadata
    return result


def report(executor: Executor, name: str, **arguments: object) -> JsonObject:
    """Return the structured result of a call that succeeds."""
    result = call(executor, name, **arguments)
    assert result.code is None, result.content
    assert isinstance(result.structured, dict)
    return result.structured


def problem(executor: Executor, name: str, **arguments: object) -> str:
    """Return what a tool says of a call that it can't do."""
    result = call(executor, name, **arguments)
    assert "tool_error" == result.code
    assert isinstance(result.content, str)
    return result.content


def start(executor: Executor, command: str) -> str:
    """Start a command in the background and return its id."""
    started = report(executor, "exec_shell", command=command, background=True)
    assert ("running", None) == (started["status"], started["exit_code"])
    return str(started["id"])


def read_all(executor: Executor, command_id: str) -> str:
    """Return all that a command printed until its end, read piece by piece."""
    pieces: list[str] = []
    piece: JsonObject = {"next_offset": 0, "truncated": True}
    while piece["truncated"]:
        piece = report(executor, "exec_shell_wait", id=command_id, offset=piece["next_offset"], timeout_s=TIMEOUT_S)
        pieces.append(str(piece["output"]))
    return "".join(pieces)


def has_ended(pid: int) -> bool:
    """Wait for the end of any process; a zombie that nobody reaps has ended."""
    if hasattr(os, "pidfd_open"):
        try:
            watched = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        try:
            return bool(select.select([watched], [], [], TIMEOUT_S)[0])
        finally:
            os.close(watched)
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
    return False


def in_time(work: Callable[[], str]) -> str:
    """Return what blocking work comes to; a test that would wait for ever fails instead."""
    done: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: done.put(work()), daemon=True).start()
    return done.get(timeout=TIMEOUT_S)


def make_pipe(executor: Executor, name: str) -> Path:
    """Make a named pipe in the root: a command and its test wait for each other there."""
    path = executor.root / name
    os.mkfifo(path)
    return path


# ------------------------------------------------------------------------------------------------------ foreground


def test_a_command_runs_to_its_end_and_keeps_the_order_of_both_streams(executor: Executor) -> None:
    """The output schema: standard output and standard error in the order in which they were written."""
    result = call(executor, "exec_shell", command="echo one; echo two >&2; echo three; exit 3")
    expected = {
        "id": "1",
        "status": "exited",
        "exit_code": 3,
        "output": "one\ntwo\nthree\n",
        "next_offset": 14,
        "truncated": False,
    }
    assert expected == result.structured
    assert "[command 1 exited, exit code 3; characters 0 to 14 of 14]\none\ntwo\nthree\n" == result.content


def test_a_signal_that_ends_a_command_shows_as_shells_show_it(executor: Executor) -> None:
    """128 + n, as at a prompt."""
    assert 137 == report(executor, "exec_shell", command="kill -KILL $$")["exit_code"]


def test_a_command_in_the_foreground_finds_its_input_empty(executor: Executor) -> None:
    """What would wait for a person to type ends instead of waiting for ever."""
    assert ("exited", "end\n") == tuple(
        report(executor, "exec_shell", command="cat; echo end")[key] for key in ("status", "output")
    )


def test_a_command_runs_in_the_folder_that_it_names(executor: Executor) -> None:
    """`cwd` is relative to the workspace's root."""
    (executor.root / "sub").mkdir()
    output = report(executor, "exec_shell", command="pwd -P", cwd="sub")["output"]
    assert f"{(executor.root / 'sub').resolve()}\n" == output


@pytest.mark.parametrize("cwd", ["..", "sub/../..", "/", "link", "file", "missing"])
def test_a_folder_outside_of_the_root_is_refused(executor: Executor, cwd: str) -> None:
    """By `..`, by an absolute path or by a link: nothing is started."""
    (executor.root / "link").symlink_to(executor.root.parent)
    (executor.root / "file").write_text("text")
    assert "workspace" in problem(executor, "exec_shell", command="touch started", cwd=cwd)
    assert [] == [*executor.root.parent.rglob("started")]


def test_a_command_line_with_a_nul_is_refused(executor: Executor) -> None:
    """No shell could be given it."""
    assert "a command line can't hold a NUL character." == problem(executor, "exec_shell", command="echo \0")


def test_characters_that_arrive_in_halves_are_put_together(executor: Executor) -> None:
    """Output is UTF-8; what is none becomes the replacement character, since JSON text can't hold it."""
    command = r"printf '\303'; sleep 0; printf '\251 \377'; printf '\303'"
    assert "é \ufffd\ufffd" == report(executor, "exec_shell", command=command)["output"]


def test_a_timeout_ends_the_whole_process_tree(executor: Executor) -> None:
    """Killing the shell alone would leave what it started (lifecycle facts 1.8)."""
    command = "sleep 300 & echo $!; (sleep 300 & echo $!; wait) & echo $$; wait"
    found = report(executor, "exec_shell", command=command, timeout_s=2)
    assert ("timed_out", 143) == (found["status"], found["exit_code"])
    pids = [int(line) for line in str(found["output"]).split()]
    assert 3 == len(pids)
    assert [True] * 3 == [has_ended(pid) for pid in pids]


def test_a_timeout_ends_what_does_not_obey(executor: Executor) -> None:
    """A process that ignores the signal is killed when its time of grace is over."""
    found = report(executor, "exec_shell", command="trap '' TERM; echo $$; while :; do sleep 300; done", timeout_s=2)
    assert ("timed_out", 137) == (found["status"], found["exit_code"])
    assert has_ended(int(str(found["output"])))


@pytest.mark.parametrize("redirect", ["", ">/dev/null 2>&1"], ids=["holding the output", "silent"])
def test_what_a_command_leaves_behind_ends_with_it(executor: Executor, redirect: str) -> None:
    """A foreground command that started something in its own background leaves nothing running, and does not hang on it."""
    found = report(executor, "exec_shell", command=f"sleep 300 {redirect} & echo $!")
    assert ("exited", 0) == (found["status"], found["exit_code"])
    assert has_ended(int(str(found["output"])))


# ------------------------------------------------------------------------------------------------------ background


def test_a_background_command_is_followed_by_its_id(executor: Executor) -> None:
    """`exec_shell` returns at once; waiting returns the end."""
    command_id = start(executor, "read line; echo got $line; exit 4")
    assert "running" == report(executor, "exec_shell_wait", id=command_id, timeout_s=0)["status"]
    report(executor, "exec_shell_interact", id=command_id, input="it\n", timeout_s=0)
    found = report(executor, "exec_shell_wait", id=command_id, timeout_s=TIMEOUT_S)
    assert ("exited", 4, "got it\n", 7) == tuple(found[key] for key in ("status", "exit_code", "output", "next_offset"))


def test_an_offset_returns_only_what_is_new(executor: Executor) -> None:
    """`next_offset` of the last read, and past the end nothing."""
    command_id = start(executor, "echo one; read line; echo two")
    offset: object = 0
    while offset == 0:
        offset = report(executor, "exec_shell_wait", id=command_id, timeout_s=0)["next_offset"]
    assert 4 == offset
    report(executor, "exec_shell_interact", id=command_id, input="\n", timeout_s=TIMEOUT_S)
    assert "two\n" == report(executor, "exec_shell_wait", id=command_id, offset=offset)["output"]
    past = report(executor, "exec_shell_wait", id=command_id, offset=999)
    assert ("", 8, False) == (past["output"], past["next_offset"], past["truncated"])


def test_interaction_returns_what_is_printed_after_it(executor: Executor) -> None:
    """A dialogue: each answer begins where the output stood when the text was sent."""
    command_id = start(executor, "read a; echo got $a; read b; echo got $b")
    first = report(executor, "exec_shell_interact", id=command_id, input="one\n")
    assert ("running", "got one\n") == (first["status"], first["output"])
    second = report(executor, "exec_shell_interact", id=command_id, input="two\n", timeout_s=TIMEOUT_S)
    assert ("exited", "got two\n") == (second["status"], second["output"])


def test_ending_the_input_ends_what_reads_it(executor: Executor) -> None:
    """`end_input` closes standard input behind the text; nothing can be typed after it."""
    command_id = start(executor, "cat; echo end; read never")
    found = report(executor, "exec_shell_interact", id=command_id, input="last", end_input=True, timeout_s=TIMEOUT_S)
    assert ("exited", "lastend\n") == (found["status"], found["output"])
    assert "has ended" in problem(executor, "exec_shell_interact", id=command_id, input="more")
    assert "exited" == report(executor, "exec_shell_interact", id=command_id, input="")["status"]


def test_input_that_nobody_reads_is_bounded(executor: Executor) -> None:
    """A command that does not read is no place to store text in, and waiting for it does not hang."""
    command_id = start(executor, "sleep 300")
    said = ""
    while not said:
        result = call(executor, "exec_shell_interact", id=command_id, input="x" * 100_000, timeout_s=0)
        said = str(result.content) if result.is_error else ""
    assert f"command {command_id!r} has not read what was typed before; nothing was added." == said
    assert "cancelled" == report(executor, "exec_shell_cancel", id=command_id)["status"]


def test_input_to_a_closed_standard_input_is_refused(executor: Executor) -> None:
    """A second end of input has nothing to end."""
    command_id = start(executor, "sleep 300")
    report(executor, "exec_shell_interact", id=command_id, input="", end_input=True, timeout_s=0)
    assert "its input was closed" in problem(executor, "exec_shell_interact", id=command_id, input="more")
    report(executor, "exec_shell_cancel", id=command_id, signal="kill")


def test_large_input_arrives_whole(executor: Executor) -> None:
    """A pipe holds 64 KiB; the rest is written as the command reads."""
    command_id = start(executor, "wc -c")
    found = report(executor, "exec_shell_interact", id=command_id, input="é" * 500_000, end_input=True, timeout_s=TIMEOUT_S)
    assert "1000000" == str(found["output"]).strip()


@pytest.mark.parametrize("name", ["exec_shell_cancel", "exec_shell_interact", "exec_shell_wait"])
def test_an_unknown_id_is_answered_with_the_known_ones(executor: Executor, name: str) -> None:
    """The model sees what it could have meant."""
    arguments = {"id": "9", **({"input": ""} if name == "exec_shell_interact" else {})}
    assert "there is no command '9'; no command was started here." == problem(executor, name, **arguments)
    report(executor, "exec_shell", command="true")
    report(executor, "exec_shell", command="true")
    assert "there is no command '9'; known are 1, 2." == problem(executor, name, **arguments)


def test_roots_have_commands_of_their_own(executor: Executor, tmp_path: Path) -> None:
    """The state is kept by root, however the root is spelled."""
    other = Executor(executor.router, executor.handlers, tmp_path)
    assert "1" == report(executor, "exec_shell", command="true")["id"]
    assert "there is no command '1'" in problem(other, "exec_shell_wait", id="1")
    again = Executor(executor.router, executor.handlers, executor.root / ".")
    assert "exited" == report(again, "exec_shell_wait", id="1")["status"]


def test_commands_that_start_together_get_ids_of_their_own(executor: Executor) -> None:
    """The registry is shared between threads."""
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(report, executor, "exec_shell", command=f"echo {n}") for n in range(16)]
        found = [pending.result(TIMEOUT_S) for pending in calls]
    assert {str(n) for n in range(1, 17)} == {str(entry["id"]) for entry in found}
    assert [f"{n}\n" for n in range(16)] == [entry["output"] for entry in found]


# ---------------------------------------------------------------------------------------------------------- cancel


def test_cancelling_ends_the_whole_process_tree(executor: Executor) -> None:
    """End a background command and the processes that it started."""
    pipe = make_pipe(executor, "ready")
    command_id = start(executor, "sleep 300 & echo $! >ready; echo last; wait")
    pid = int(in_time(pipe.read_text))
    found = report(executor, "exec_shell_cancel", id=command_id)
    assert ("cancelled", 143) == (found["status"], found["exit_code"])
    assert has_ended(pid)


def test_cancelling_ends_by_force_what_does_not_obey(executor: Executor) -> None:
    """After a time of grace; its shell and its children ignored the first signal."""
    pipe = make_pipe(executor, "ready")
    command_id = start(executor, "trap '' TERM; sleep 300 & echo $! >ready; wait; wait")
    pid = int(in_time(pipe.read_text))
    found = report(executor, "exec_shell_cancel", id=command_id)
    assert ("cancelled", 137) == (found["status"], found["exit_code"])
    assert has_ended(pid)


def test_an_interrupt_lets_a_command_tidy_up(executor: Executor) -> None:
    """`interrupt` is Ctrl-C: the command's own last words and exit code are returned."""
    pipe = make_pipe(executor, "ready")
    command_id = start(executor, "trap 'echo bye; exit 7' INT; sleep 300 & echo >ready; wait")
    in_time(pipe.read_text)
    found = report(executor, "exec_shell_cancel", id=command_id, signal="interrupt")
    assert ("cancelled", 7, "bye\n") == (found["status"], found["exit_code"], found["output"])


def test_a_kill_gives_no_say(executor: Executor) -> None:
    """`kill` does not ask first."""
    pipe = make_pipe(executor, "ready")
    command_id = start(executor, "trap 'echo bye; exit 7' TERM INT; echo >ready; while :; do sleep 300; done")
    in_time(pipe.read_text)
    found = report(executor, "exec_shell_cancel", id=command_id, signal="kill")
    assert ("cancelled", 137, "") == (found["status"], found["exit_code"], found["output"])


def test_cancelling_again_or_too_late_changes_nothing(executor: Executor) -> None:
    """A command that has ended already stays as it is."""
    report(executor, "exec_shell", command="echo done; exit 5")
    found = report(executor, "exec_shell_cancel", id="1", signal="kill")
    assert ("exited", 5, "done\n") == (found["status"], found["exit_code"], found["output"])
    command_id = start(executor, "sleep 300")
    first = report(executor, "exec_shell_cancel", id=command_id)
    assert first == report(executor, "exec_shell_cancel", id=command_id, signal="kill")


def test_cancelling_returns_the_end_of_a_long_output(executor: Executor) -> None:
    """Its last output; how much stands before it is said."""
    command_id = start(executor, "i=0; while [ $i -lt 8000 ]; do echo line $i; i=$((i+1)); done")
    whole = read_all(executor, command_id)
    found = report(executor, "exec_shell_cancel", id=command_id)
    assert f"[{len(whole) - 30_000} earlier characters are left out]\n{whole[-30_000:]}" == found["output"]
    assert (len(whole), True) == (found["next_offset"], found["truncated"])


def test_a_waiting_call_returns_when_the_command_is_cancelled(executor: Executor) -> None:
    """Waiting is on the command's end, whoever brings it about."""
    command_id = start(executor, "sleep 300")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(report, executor, "exec_shell_wait", id=command_id, timeout_s=600)
        report(executor, "exec_shell_cancel", id=command_id)
        assert "cancelled" == waiting.result(TIMEOUT_S)["status"]


# ---------------------------------------------------------------------------------------------------------- bounds


def test_a_long_output_is_read_piece_by_piece(executor: Executor) -> None:
    """`truncated` says that more can be read from `next_offset` on, after the command's end too."""
    found = report(executor, "exec_shell", command="i=0; while [ $i -lt 8000 ]; do echo line $i; i=$((i+1)); done")
    assert (30_000, True) == (found["next_offset"], found["truncated"])
    assert "".join(f"line {n}\n" for n in range(8_000)) == read_all(executor, str(found["id"]))


def test_the_newest_output_is_kept_and_the_gap_is_said(executor: Executor) -> None:
    """A command that prints without end costs no more memory than the bound, and is never held up."""
    found = report(executor, "exec_shell", command="yes | head -c 1000000; echo; echo last")
    dropped = 1_000_006 - 400_000
    assert str(found["output"]).startswith(f"[{dropped} earlier characters are left out]\n")
    assert (dropped + 30_000, True) == (found["next_offset"], found["truncated"])
    assert read_all(executor, "1").endswith("y\n\nlast\n")


def test_a_root_runs_no_more_commands_than_its_bound(executor: Executor) -> None:
    """The refusal names those that could be ended; one that ends makes room."""
    ids = [start(executor, "sleep 300") for _ in range(32)]
    said = problem(executor, "exec_shell", command="true")
    assert f"32 commands are running ({', '.join(ids)}); end one first." == said
    report(executor, "exec_shell_cancel", id=ids[0], signal="kill")
    assert "exited" == report(executor, "exec_shell", command="true")["status"]
    for command_id in ids[1:]:
        report(executor, "exec_shell_cancel", id=command_id, signal="kill")


def test_the_oldest_ended_commands_are_forgotten(executor: Executor) -> None:
    """Commands that run are kept, however old they are."""
    running = start(executor, "sleep 300")
    for _ in range(34):
        report(executor, "exec_shell", command="true")
    assert "known are 1, 3" in problem(executor, "exec_shell_wait", id="2")
    assert "running" == report(executor, "exec_shell_wait", id=running, timeout_s=0)["status"]
    report(executor, "exec_shell_cancel", id=running, signal="kill")


@given(st.lists(st.text(max_size=30)), st.integers(1, 40), st.integers(0, 200), st.integers(1, 50))
def test_a_bounded_output_reads_like_the_end_of_the_whole(chunks: Sequence[str], limit: int, offset: int, count: int) -> None:
    """Whatever the pieces in which it came."""
    output, whole = Output(limit), "".join(chunks)
    for chunk in chunks:
        output.append(chunk)
    found = output.read(offset, count)
    start_at = min(max(offset, len(whole) - limit), len(whole))
    assert (whole[start_at : start_at + count], start_at, len(whole)) == (found.text, found.start, found.total)
    assert (start_at + len(found.text), len(whole)) == (found.end, output.total)


# --------------------------------------------------------------------------------------------- end of the interpreter


def run_script(root: Path, text: str) -> list[str]:
    """Run a script that has `shell(**arguments)` in a process of its own, and return the lines that it printed."""
    script = f"""
import sys
from pathlib import Path
from catalog import handlers_shell
from toolroster import ToolDefinition
from toolroster.runtime import HandlerContext
from toolroster.tools import ToolCall
tool = ToolDefinition(name="exec_shell", description="Runs.", input_schema={{}})
def shell(**arguments):
    return handlers_shell.exec_shell(HandlerContext(ToolCall("exec_shell"), tool, Path({str(root)!r})), arguments)
{text}
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise ValueError"], ids=["end", "exit", "exception"])
@pytest.mark.parametrize("trap", ["", "trap '' TERM;"], ids=["obeying", "not obeying"])
def test_nothing_outlives_the_interpreter(tmp_path: Path, end: str, trap: str) -> None:
    """Background commands and their children end with the program that started them."""
    pipe = tmp_path / "ready"
    os.mkfifo(pipe)
    script = f"""
shell(command={f"{trap} sleep 300 & echo $$ $! >ready; wait; wait"!r}, background=True)
print(open({str(pipe)!r}).read(), flush=True)
{end}
"""
    pids = run_script(tmp_path, script)[0].split()
    assert [True, True] == [has_ended(int(pid)) for pid in pids]


def test_nothing_is_started_once_everything_was_ended(tmp_path: Path) -> None:
    """A thread that is still at work while the interpreter ends leaves nothing behind."""
    script = 'handlers_shell.end_all()\nprint(shell(command="touch started").content)'
    assert ["the workbench is closing; nothing is started any more."] == run_script(tmp_path, script)
    assert not (tmp_path / "started").exists()


def test_an_interrupted_call_ends_its_command(tmp_path: Path) -> None:
    """Ctrl-C reaches only the program that waits, since the command has a session of its own."""
    os.mkfifo(tmp_path / "ready")
    script = """
import os, signal, threading
def interrupt():
    print(open("%s/ready").read(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    shell(command="echo $$ >ready; sleep 300")
except KeyboardInterrupt:
    print("interrupted")
"""
    pid, _, word = run_script(tmp_path, script % tmp_path)
    assert "interrupted" == word
    assert has_ended(int(pid))
