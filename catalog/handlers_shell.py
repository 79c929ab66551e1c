"""Commands of the workbench: real processes, each the leader of a process group that ends with it.

Of each command's output the newest 400,000 characters are kept and one result carries 30,000 of them; offsets count all that
it printed. A root keeps the commands that run and the 32 youngest that ended. Only `cwd` is confined to the root: a shell can
go where its user can, so the permission to run it is the fence. What still runs when the interpreter ends is ended with it;
a process that made itself a session of its own is out of reach, and so is everything when the interpreter is killed.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import IO, Literal, NamedTuple, TypeAlias

from toolroster.canonical import JsonObject
from toolroster.runtime import HandlerContext
from toolroster.tools import Success

from .workbench_paths import ToolProblem, confine, flag_of, number_of, report_problems, text_of

Status: TypeAlias = Literal["running", "exited", "timed_out", "cancelled"]
Firmness: TypeAlias = Literal["interrupt", "terminate", "kill"]

KEPT_CHARS = 400_000
"""Characters of one command's output that are kept: the newest."""
RETURNED_CHARS = 30_000
"""Characters of output that one result carries at most."""
MAX_RUNNING = 32
"""Commands of one root that may run at once."""
MAX_ENDED = 32
"""Ended commands of one root that are kept for later reads."""

_GRACE_S, _MAX_TYPED = 2.0, 64
# How long output is awaited once the shell has ended: what its processes still hold open after that is closed for them.
_DRAIN_S = 0.5
_CHUNK, _SMALL = 65_536, 4_096


@report_problems
def exec_shell(context: HandlerContext, arguments: JsonObject) -> object:
    """Run a command line to its end or its time-out, or start it in the background."""
    cwd = confine(context.root, text_of(arguments, "cwd", "."))
    if not cwd.is_dir():
        raise ToolProblem(f"{text_of(arguments, 'cwd')!r} is no folder of the workspace; list_dir shows what there is.")
    background = flag_of(arguments, "background")
    command = _commands_of(context.root).start(text_of(arguments, "command"), cwd, takes_input=background)
    if not background:
        try:
            if not command.ended.wait(number_of(arguments, "timeout_s", 120)):
                command.stop("timed_out", "terminate")
        except BaseException:
            # Whoever waited is gone, and nobody else knows the id.
            command.stop("cancelled", "kill")
            raise
    return _report(command, 0)


@report_problems
def exec_shell_wait(context: HandlerContext, arguments: JsonObject) -> object:
    """Wait for a command, and return its output from the offset on; waiting never ends it."""
    command = _commands_of(context.root).find(text_of(arguments, "id"))
    command.ended.wait(number_of(arguments, "timeout_s", 30))
    return _report(command, number_of(arguments, "offset", 0))


@report_problems
def exec_shell_interact(context: HandlerContext, arguments: JsonObject) -> object:
    """Type into a command, and return what it printed from then until the timeout or its end."""
    command = _commands_of(context.root).find(text_of(arguments, "id"))
    offset = command.output.total
    command.type_text(text_of(arguments, "input"), end=flag_of(arguments, "end_input"))
    command.ended.wait(number_of(arguments, "timeout_s", 2))
    return _report(command, offset)


@report_problems
def exec_shell_cancel(context: HandlerContext, arguments: JsonObject) -> object:
    """End a command with all its processes, by force once it had time to obey, and return the end of its output."""
    command = _commands_of(context.root).find(text_of(arguments, "id"))
    firmness: dict[str, Firmness] = {"interrupt": "interrupt", "kill": "kill"}
    command.stop("cancelled", firmness.get(text_of(arguments, "signal"), "terminate"))
    return _report(command, 0, command.output.total - RETURNED_CHARS)


class Piece(NamedTuple):
    """Part of an output: its characters, their places in all that was printed (`end` excluded), and how much that is."""

    text: str
    start: int
    end: int
    total: int


_Typed: TypeAlias = tuple[bytes, bool]
"""What to write to a standard input, and whether it is the last."""


class Output:
    """The newest characters of what a command printed, by their place in all of it; safe to share between threads."""

    def __init__(self, limit: int = KEPT_CHARS) -> None:
        """Keep so many characters."""
        self._limit = limit
        self._lock = threading.Lock()
        self._chunks: deque[str] = deque()
        self._first = 0
        self._total = 0

    @property
    def total(self) -> int:
        """How many characters were printed so far."""
        with self._lock:
            return self._total

    def append(self, text: str) -> None:
        """Add what was printed, and drop the oldest characters past the limit."""
        with self._lock:
            # A command that prints letter by letter shall not cost a list entry a letter.
            if self._chunks and len(self._chunks[-1]) < _SMALL:
                self._chunks[-1] += text
            else:
                self._chunks.append(text)
            self._total += len(text)
            while (excess := self._total - self._first - self._limit) > 0:
                oldest = self._chunks.popleft()
                self._first += min(excess, len(oldest))
                if excess < len(oldest):
                    self._chunks.appendleft(oldest[excess:])

    def read(self, offset: int, count: int) -> Piece:
        """Return up to `count` characters from `offset` on, or from the first one that is still kept."""
        with self._lock:
            start = min(max(offset, self._first), self._total)
            text = "".join(self._chunks)[start - self._first :][:count]
            return Piece(text, start, start + len(text), self._total)


class Command:
    """One command: its processes, its output, and how it ended."""

    def __init__(self, command_id: str, process: subprocess.Popen[bytes]) -> None:
        """Take a process that was started as the leader of a group, and follow it."""
        self.id = command_id
        self.output = Output()
        self.ended = threading.Event()
        """Set once every process of the group is gone and the output is complete."""
        self.owner = os.getpid()
        self._process = process
        self._lock = threading.Lock()
        self._exited = False
        self._reaped = False
        self._reason: Status = "exited"
        self._typed: queue.Queue[_Typed] | None = None
        if process.stdin is not None:
            self._typed = queue.Queue(_MAX_TYPED)
            threading.Thread(target=_type_into, args=(process.stdin, self._typed), daemon=True).start()
        threading.Thread(target=self._follow, daemon=True).start()

    def state(self) -> tuple[Status, int | None]:
        """Return where it stands, and its exit code: 128 + n after signal n, as shells count; None while it runs."""
        if not self.ended.is_set():
            return "running", None
        code = self._process.returncode
        return self._reason, 128 - code if code < 0 else code

    def type_text(self, text: str, *, end: bool) -> None:
        """Hand text to the command's standard input, then close it if asked; returns before the command has read it.

        Raises:
            ToolProblem: The command takes no input (any more), or leaves too much of it unread.
        """
        if not text and not end:
            return
        with self._lock:
            if self._exited:
                raise ToolProblem(f"command {self.id!r} has ended; it takes no input.")
            if self._typed is None:
                raise ToolProblem(f"command {self.id!r} takes no input: it runs in the foreground, or its input was closed.")
            try:
                self._typed.put_nowait((text.encode(), end))
            except queue.Full:
                raise ToolProblem(f"command {self.id!r} has not read what was typed before; nothing was added.") from None
            if end:
                self._typed = None

    def stop(self, reason: Status, firmness: Firmness) -> None:
        """End every process of the group: by this signal, and by force when it had no effect within 2 seconds."""
        self.send(reason, firmness)
        if not self.ended.wait(_GRACE_S):
            self.send(reason, "kill")
            self.ended.wait(_GRACE_S)

    def send(self, reason: Status, firmness: Firmness) -> None:
        """Send one signal to the whole group, unless the command has ended; a command that ended by itself stays so."""
        with self._lock:
            if self._reaped:
                return
            if not self._exited and self._reason == "exited":
                self._reason = reason
            _signal_group(self._process, firmness)

    def _follow(self) -> None:
        reader = threading.Thread(target=self._read, daemon=True)
        reader.start()
        _await_exit(self._process)
        with self._lock:
            self._exited = True
        reader.join(_DRAIN_S)
        with self._lock:
            # What the shell left behind ends with it. The shell is not reaped yet, so nobody else can have its group's number.
            _signal_group(self._process, "kill")
            self._process.wait()
            self._reaped = True
        reader.join(_DRAIN_S)
        if self._typed is not None:
            # A full queue needs no end: its reader wakes when the pipe breaks.
            with contextlib.suppress(queue.Full):
                self._typed.put_nowait((b"", True))
        self.ended.set()

    def _read(self) -> None:
        stream, decoder = self._process.stdout, codecs.getincrementaldecoder("utf-8")("replace")
        if stream is not None:
            with stream:
                while data := stream.read(_CHUNK):
                    self.output.append(decoder.decode(data))
            self.output.append(decoder.decode(b"", final=True))


class Commands:
    """The commands of one root, by id."""

    def __init__(self) -> None:
        """Begin without commands."""
        self._lock = threading.Lock()
        self._commands: dict[str, Command] = {}
        self._started = 0

    def start(self, line: str, cwd: Path, *, takes_input: bool) -> Command:
        """Start a command line.

        Raises:
            ToolProblem: Too many commands run, or the line can't be one.
            OSError: The shell could not be started.
        """
        if "\0" in line:
            raise ToolProblem("a command line can't hold a NUL character.")
        # Between the start of a process and its registration nobody may end everything.
        with self._lock:
            if _CLOSING.is_set():
                raise ToolProblem("the workbench is closing; nothing is started any more.")
            running = [command.id for command in self._commands.values() if not command.ended.is_set()]
            if len(running) >= MAX_RUNNING:
                raise ToolProblem(f"{len(running)} commands are running ({', '.join(running)}); end one first.")
            self._started += 1
            process = _spawn(line, cwd, takes_input=takes_input)
            try:
                command = self._commands[str(self._started)] = Command(str(self._started), process)
            except BaseException:
                # An interrupt here would leave a process that nobody knows of.
                _signal_group(process, "kill")
                raise
            ended = [key for key, other in self._commands.items() if other.ended.is_set()]
            for key in ended[: max(len(ended) - MAX_ENDED, 0)]:
                del self._commands[key]
            return command

    def find(self, command_id: str) -> Command:
        """Return the command of this id.

        Raises:
            ToolProblem: There is none; the known ids are named.
        """
        with self._lock:
            command, known = self._commands.get(command_id), [*self._commands]
        if command is None:
            there = f"known are {', '.join(known)}" if known else "no command was started here"
            raise ToolProblem(f"there is no command {command_id!r}; {there}.")
        return command

    def running(self) -> list[Command]:
        """Return what still runs and was started by this process, not by the one that it was forked from."""
        here = os.getpid()
        with self._lock:
            return [command for command in self._commands.values() if not command.ended.is_set() and command.owner == here]


_BY_ROOT: dict[Path, Commands] = {}
_BY_ROOT_LOCK = threading.Lock()
_CLOSING = threading.Event()


@atexit.register
def end_all() -> None:
    """End the commands of every root: they are asked, and killed a second later. Nothing can be started afterwards."""
    _CLOSING.set()
    with _BY_ROOT_LOCK:
        registries = [*_BY_ROOT.values()]
    running = [command for registry in registries for command in registry.running()]
    firmnesses: tuple[Firmness, Firmness] = ("terminate", "kill")
    for firmness in firmnesses:
        for command in running:
            command.send("cancelled", firmness)
        deadline = time.monotonic() + 1
        running = [command for command in running if not command.ended.wait(max(deadline - time.monotonic(), 0))]


def _commands_of(root: Path) -> Commands:
    with _BY_ROOT_LOCK:
        return _BY_ROOT.setdefault(root.resolve(), Commands())


def _report(command: Command, offset: int, start: int | None = None) -> Success:
    """Return a command's state with its output from `offset` on, or from `start` on with the part before it left out."""
    # The state is read first: output that is read afterwards is complete when it says that the command has ended.
    status, code = command.state()
    piece = command.output.read(offset if start is None else start, RETURNED_CHARS)
    left_out = max(piece.start - offset, 0)
    output = f"[{left_out} earlier characters are left out]\n{piece.text}" if left_out else piece.text
    state = "is running" if code is None else f"{status.replace('_', ' ')}, exit code {code}"
    more = f"; go on from next_offset {piece.end}" if piece.end < piece.total else ""
    said = f"[command {command.id} {state}; characters {piece.start} to {piece.end} of {piece.total}{more}]"
    structured: JsonObject = {
        "id": command.id,
        "status": status,
        "exit_code": code,
        "output": output,
        "next_offset": piece.end,
        "truncated": left_out > 0 or piece.end < piece.total,
    }
    return Success(f"{said}\n{output}" if output else said, structured)


def _spawn(line: str, cwd: Path, *, takes_input: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S602 - a shell is what the tool is for
        line,
        shell=True,
        cwd=cwd,
        stdin=subprocess.PIPE if takes_input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        start_new_session=True,
        creationflags=_NEW_GROUP,
    )


def _type_into(stream: IO[bytes], typed: queue.Queue[_Typed]) -> None:
    """Write what comes until the last of it; a command that closed its input or ended makes it end too."""
    is_last = False
    with contextlib.suppress(OSError), stream:
        while not is_last:
            data, is_last = typed.get()
            while data:
                data = data[stream.write(data) :]


if sys.platform == "win32":
    _NEW_GROUP = subprocess.CREATE_NEW_PROCESS_GROUP

    def _await_exit(process: subprocess.Popen[bytes]) -> None:
        process.wait()

    def _signal_group(process: subprocess.Popen[bytes], firmness: Firmness) -> None:
        # Consoles know Ctrl-Break and no gentler end; taskkill finds children only while their parent lives.
        if firmness == "interrupt":
            process.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)  # noqa: S603, S607 - a number, and Windows' own program

else:
    _NEW_GROUP = 0
    _SIGNALS = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "kill": signal.SIGKILL}

    def _await_exit(process: subprocess.Popen[bytes]) -> None:
        """Wait for the end of the process and leave it to be reaped, so that its number stays taken."""
        if hasattr(os, "waitid"):
            # Where nobody waits for children (SIGCHLD is ignored), there is nothing left to wait for.
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            # macOS has it from Python 3.13 on; until then the number is free for the moment until the group is killed.
            process.wait()

    def _signal_group(process: subprocess.Popen[bytes], firmness: Firmness) -> None:
        # The leader's number is the group's: getpgid would fail once the leader is gone.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, _SIGNALS[firmness])
