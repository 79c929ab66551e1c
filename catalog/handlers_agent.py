"""Sub-agents of the workbench: each runs in the background under the `+child` profile, with a scripted model in its place.

The model is a stand-in that needs no network and does the same every time: each line `call NAME {json}` of the task is one
call, made in order; what the other lines say is its final answer. Only the task is read as a script: what is handed over
beside it is never run. A child reaches the tools through every gate that its parent's calls go through, and nobody is there
to confirm what must be asked. Sub-agents end with the interpreter.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import re
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from toolroster import Surface, ToolrosterError, Workspace, classify
from toolroster.canonical import JsonObject, JsonValue
from toolroster.dispatch import CallContext, Router, render_text
from toolroster.policy.profiles import CHILD_SUFFIX
from toolroster.runtime import Executor, HandlerContext, Handlers
from toolroster.tools import ToolCall

from .handlers_work import Agent, acting_agent, acting_as, offer_handle, read_desk, render_todo
from .workbench_paths import ToolProblem, number_of, report_problems, text_of

Ending: TypeAlias = Literal["completed", "out_of_steps", "failed"]
Standing: TypeAlias = Literal["queued", "running"]

MAX_RUNNING = 4
"""Sub-agents that run at once; more wait for a free place."""
MAX_WAITING = 64
"""Sub-agents that may wait."""
MAX_UNREAD = 256
"""Completion events that are kept for whoever reads them; the oldest give way."""

_MAX_RESULT_CHARS = 20_000
_READ_ONLY_ROLES = frozenset({"explore", "plan", "review"})
_CALL = re.compile(r"call\s+(\S+)\s*(.*)")


@report_problems
def agent(context: HandlerContext, arguments: JsonObject) -> object:
    """Start a sub-agent and return at once: `{"agent_id", "transcript", "status"}`."""
    parent, role = acting_agent(), text_of(arguments, "role", "implement")
    surface = _child_surface(parent.depth + 1, context.tool.name)
    child = Agent(f"agent-{next(_NUMBERS)}", parent.depth + 1, parent.profile.removesuffix(CHILD_SUFFIX) + CHILD_SUFFIX)
    task = handed = text_of(arguments, "task")
    if text_of(arguments, "context") == "fork":
        # As the list is now: what the same turn wrote is handed over, and what is written later is not.
        todo = render_todo(read_desk(context.root, parent.id).todo)
        handed = f"<workbench:fork_state>\n{todo}\n</workbench:fork_state>\n\n{task}"
    run = _Run(
        agent=child,
        executor=Executor(Router(surface), Handlers(_HOME / "catalog"), context.root),
        calls=CallContext(profile=child.profile, read_only=role in _READ_ONLY_ROLES),
        transcript=Transcript(child.id, text_of(arguments, "title"), role, handed),
        task=task,
        max_steps=number_of(arguments, "max_steps", 40),
    )
    offer_handle(context.root, run.handle, run.transcript.read)
    return {"agent_id": child.id, "transcript": run.handle, "status": _PLACES.start(run)}


@dataclass(frozen=True, slots=True)
class Completion:
    """The event of a sub-agent's end.

    Attributes:
        root: The folder that it worked in.
        agent_id: Its id.
        title: What people see; may be empty.
        status: Whether it came to its answer, made all the model calls it was given before, or failed.
        answer: Its final answer; empty unless completed.
        transcript: Handle of its transcript.
    """

    root: Path
    agent_id: str
    title: str
    status: Ending
    answer: str
    transcript: str


def completions() -> queue.Queue[Completion]:
    """Return the queue in which every sub-agent's end is announced, whichever agent or root started it."""
    return _COMPLETIONS


class Transcript:
    """What a sub-agent was told, did and answered; grows while it runs, and may be read at any time."""

    def __init__(self, agent_id: str, title: str, role: str, told: str) -> None:
        """Begin with what the sub-agent was told."""
        self.title = title
        self._lock = threading.Lock()
        self._head: JsonObject = {"agent_id": agent_id, "title": title, "role": role}
        self._status: Standing | Ending = "queued"
        self._messages: list[JsonValue] = [{"role": "user", "content": told}]

    def read(self) -> JsonValue:
        """Return it as it is now: `{"agent_id", "title", "role", "status", "messages"}`."""
        with self._lock:
            return {**self._head, "status": self._status, "messages": [*self._messages]}

    def add(self, message: JsonObject) -> None:
        """Add a message, which never changes afterwards."""
        with self._lock:
            self._messages.append(message)

    def mark(self, status: Standing | Ending) -> None:
        """Say where the sub-agent stands."""
        with self._lock:
            self._status = status


def read_script(task: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the calls of a task in order, as `(name, JSON text of the arguments)`, and the text of its other lines."""
    found = [(_CALL.fullmatch(line.strip()), line) for line in task.splitlines()]
    calls = tuple((match[1], match[2]) for match, _ in found if match is not None)
    return calls, "\n".join(line for match, line in found if match is None).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One sub-agent at work."""

    agent: Agent
    executor: Executor
    calls: CallContext
    transcript: Transcript
    task: str
    max_steps: int

    @property
    def handle(self) -> str:
        return f"transcript:{self.agent.id}"

    def run(self) -> None:
        """Work to the end, and announce it; never raises."""
        self.transcript.mark("running")
        status: Ending
        try:
            with acting_as(self.agent):
                status, answer = self._work()
        except Exception as error:  # noqa: BLE001 - whoever waits for the event must get one
            status, answer = "failed", ""
            self.transcript.add({"role": "error", "content": f"{type(error).__name__}: {error}"})
        self.transcript.mark(status)
        _announce(Completion(self.executor.root, self.agent.id, self.transcript.title, status, answer, self.handle))

    def _work(self) -> tuple[Ending, str]:
        calls, answer = read_script(self.task)
        for step, (name, arguments) in enumerate(calls, 1):
            if step > self.max_steps:
                return "out_of_steps", ""
            call = ToolCall(name, arguments, f"{self.agent.id}:{step}")
            self.transcript.add({"role": "assistant", "call_id": call.call_id, "name": name, "arguments": arguments})
            result = self.executor.execute_sync(call, self.calls)
            said = render_text(result)
            if len(said) > _MAX_RESULT_CHARS:
                said = f"{said[:_MAX_RESULT_CHARS]}\n[{len(said) - _MAX_RESULT_CHARS} more characters]"
            self.transcript.add(
                {"role": "tool", "call_id": call.call_id, "is_error": result.is_error, "code": result.code, "content": said}
            )
        # To answer takes a model call too.
        if len(calls) >= self.max_steps:
            return "out_of_steps", ""
        self.transcript.add({"role": "assistant", "content": answer})
        return "completed", answer


class _Places:
    """The places in which sub-agents run; who finds none free waits in line."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._waiting: deque[_Run] = deque()

    def start(self, run: _Run) -> Standing:
        """Start a sub-agent, or let it wait.

        Raises:
            ToolProblem: Too many wait already.
        """
        with self._lock:
            if self._running >= MAX_RUNNING:
                if len(self._waiting) >= MAX_WAITING:
                    raise ToolProblem(f"{MAX_WAITING} sub-agents are waiting for a place; start no more until some have ended.")
                self._waiting.append(run)
                return "queued"
            self._running += 1
        threading.Thread(target=self._work, args=(run,), daemon=True).start()
        return "running"

    def _work(self, run: _Run) -> None:
        """Run a sub-agent, and then those that wait."""
        following: _Run | None = run
        while following is not None:
            following.run()
            with self._lock:
                following = self._waiting.popleft() if self._waiting else None
                self._running -= following is None


_HOME = Path(__file__).resolve().parent.parent
_WORKSPACE = Workspace(_HOME)
_WORKSPACE_LOCK = threading.Lock()
_NUMBERS = itertools.count(1)
_PLACES = _Places()
_COMPLETIONS: queue.Queue[Completion] = queue.Queue(MAX_UNREAD)


def _child_surface(depth: int, own_name: str) -> Surface:
    """Return the surface of sub-agents at this depth; at the last one it lacks the tool that starts them.

    Raises:
        ToolProblem: There are no sub-agents at this depth, or the workspace has findings.
    """
    try:
        with _WORKSPACE_LOCK:
            surface, facts = _WORKSPACE.surface(), _WORKSPACE.read()
        children = surface.policy.children
        if children is None:
            raise ToolProblem("the policy has no [children] table, so no sub-agent can be started.")
        if depth > children.max_depth:
            raise ToolProblem(f"the policy allows {children.max_depth} levels of sub-agents; do this work yourself.")
        if depth < children.max_depth or own_name in children.exclude:
            return surface
        narrowed = children.model_copy(update={"exclude": (*children.exclude, own_name)})
        return classify(facts.definitions, surface.policy.model_copy(update={"children": narrowed}), facts.manifest)
    except ToolrosterError as error:
        raise ToolProblem(f"no sub-agent can be started: {error}") from None


def _announce(completion: Completion) -> None:
    while True:
        with contextlib.suppress(queue.Full):
            _COMPLETIONS.put_nowait(completion)
            return
        with contextlib.suppress(queue.Empty):
            _COMPLETIONS.get_nowait()
