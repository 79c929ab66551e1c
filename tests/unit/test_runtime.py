from __future__ import annotations

import asyncio
import contextvars
import functools
import math
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.support import define, make_manifest, make_policy, write_tree
from toolroster import Origin, ToolDefinition, WorkspaceError, classify
from toolroster.canonical import JsonObject, encode
from toolroster.dispatch import CallContext, Router
from toolroster.errors import HandlerMissingError
from toolroster.runtime import ODD_META, Executor, Handler, HandlerContext, Handlers, read_exception, read_return
from toolroster.tools import DEPRECATIONS, RuntimeFailure, Success, ToolCall, ToolReportedError, ToolResult

PATIENCE = 5
"""Seconds after which a test that waits for a thread fails."""


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio, the only loop that the runtime knows."""
    return "asyncio"


def make_executor(handlers: Handlers, *tools: ToolDefinition, root: Path = Path()) -> Executor:
    """Return an executor of active tools; a deprecated name `old_<name>` stands for each."""
    names = [tool.name for tool in tools]
    policy = make_policy(roster={"active": [*names], "deprecated": [f"old_{name}" for name in names]})
    rows: list[JsonObject] = [
        {"name": f"old_{name}", "replacement": name, "first_deprecated_version": "0.9.0"} for name in names
    ]
    return Executor(Router(classify(tools, policy, make_manifest(alias=[*rows]))), handlers, root)


def make_handlers(**registered: Handler) -> Handlers:
    """Return handlers by name."""
    handlers = Handlers()
    for name, handler in registered.items():
        handlers.register(name)(handler)
    return handlers


def run_both(handler: Handler, name: str = "tool", arguments: JsonObject | None = None) -> ToolResult:
    """Return the result of one call, which must be the same in a loop and without one."""
    executor = make_executor(make_handlers(tool=handler), define("tool", input_schema={"type": "object"}))
    call = ToolCall(name, arguments, "c1")
    result = executor.execute_sync(call)
    assert result == asyncio.run(executor.execute(call))
    return result


def fields(result: ToolResult) -> JsonObject:
    """Return the named fields of a structured error, without its message."""
    assert isinstance(result.structured, dict)
    error = result.structured["error"]
    assert isinstance(error, dict)
    return {name: value for name, value in error.items() if name != "message"}


# ------------------------------------------------------------------------------------------------------ handlers


def test_a_handler_registers_by_decorator_and_stays_what_it_was() -> None:
    """Design.md section 5: the decorated function is still the user's own."""
    handlers = Handlers()

    @handlers.register("tool")
    def tool(context: HandlerContext, arguments: JsonObject) -> object:
        return f"{context.tool.name} {arguments}"

    assert tool is handlers.find(define("tool"))


def test_a_handler_is_looked_up_by_the_definition_s_implementation(tmp_path: Path) -> None:
    """Design.md section 5: `implementation = "handlers:exec_shell_wait"`, in `catalog/handlers.py`."""
    write_tree(tmp_path, {"catalog/handlers.py": "def wait(context, arguments):\n    return arguments['id']\n"})
    tool = define("exec_shell_wait", implementation="handlers:wait", input_schema={"type": "object"})
    executor = make_executor(Handlers(tmp_path / "catalog"), tool)

    assert "7" == executor.execute_sync(ToolCall("exec_shell_wait", {"id": "7"})).content


def test_what_is_registered_beats_what_a_definition_names(tmp_path: Path) -> None:
    """A host replaces single tools; the module is not even imported."""
    write_tree(tmp_path, {"handlers.py": "raise RuntimeError('imported')\n"})
    handlers = Handlers(tmp_path)
    handlers.register("tool")(always("mine"))

    executor = make_executor(handlers, define("tool", implementation="handlers:tool"))

    assert "mine" == executor.execute_sync(ToolCall("tool")).content


def test_a_module_is_imported_when_it_is_first_needed_and_once(tmp_path: Path) -> None:
    """Design.md section 5: build and check never import user code; state of a module is kept between calls."""
    lines = "from pathlib import Path\nwith Path(__file__).with_name('imports').open('a') as log:\n    log.write('x')\n"
    calls = "seen = []\ndef one(context, arguments):\n    seen.append(1)\n    return len(seen)\ntwo = one\n"
    write_tree(tmp_path, {"handlers.py": lines + calls})
    tools = (define("one", implementation="handlers:one"), define("two", implementation="handlers:two"))
    executor = make_executor(Handlers(tmp_path), *tools)

    assert not (tmp_path / "imports").exists()
    assert [1, 2, 3] == [executor.execute_sync(ToolCall(name)).structured for name in ("one", "two", "one")]
    assert "x" == (tmp_path / "imports").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "tool", [define("tool"), define("tool", implementation="handlers:tool"), define("tool", implementation="bare")]
)
def test_a_tool_that_nothing_runs_is_named(tool: ToolDefinition) -> None:
    """Without a folder nothing can be looked up."""
    with pytest.raises(HandlerMissingError, match="'tool' can't run") as caught:
        Handlers().find(tool)
    assert "tool" == caught.value.name


def test_a_missing_function_is_named_with_a_suggestion(tmp_path: Path) -> None:
    """A typing mistake in `implementation` is mended by the message."""
    write_tree(tmp_path, {"handlers.py": "def exec_shell(context, arguments):\n    return 1\nexec_shall = 3\n"})

    with pytest.raises(HandlerMissingError, match=r"handlers\.py has no function 'exec_shel' \(did you mean 'exec_shell'\?\)"):
        Handlers(tmp_path).find(define("tool", implementation="handlers:exec_shel"))


@pytest.mark.parametrize("module", ["nope", "..evil", "../evil", "a/b", "a.b", ""])
def test_a_missing_module_is_an_error_and_nothing_outside_the_folder_is_imported(tmp_path: Path, module: str) -> None:
    """An implementation names a file of its own folder; a path is no module."""
    write_tree(tmp_path, {"evil.py": "raise SystemExit\n", "catalog/handlers.py": "", "catalog/a/b.py": "raise SystemExit\n"})

    with pytest.raises(WorkspaceError, match="which an 'implementation' names"):
        Handlers(tmp_path / "catalog").find(define("tool", implementation=f"{module}:run"))


def test_a_module_that_fails_to_import_is_an_error_that_says_why_and_is_tried_again(tmp_path: Path) -> None:
    """The tool is not executed; whoever mends the file need not restart."""
    write_tree(tmp_path, {"broken.py": "import no_such_library_anywhere\n"})
    handlers = Handlers(tmp_path)
    tool = define("tool", implementation="broken:tool")

    for _ in range(2):
        with pytest.raises(WorkspaceError, match=r"broken\.py failed: ModuleNotFoundError: .*no_such_library_anywhere"):
            handlers.find(tool)
    write_tree(tmp_path, {"broken.py": "def tool(context, arguments):\n    return 'mended'\n"})
    assert "mended" == make_executor(handlers, tool).execute_sync(ToolCall("tool")).content


def test_modules_of_one_name_in_two_folders_are_two_modules(tmp_path: Path) -> None:
    """Two workspaces in one process, and a module called like a library, shadow nothing."""
    source = "def tool(context, arguments):\n    return __file__\n"
    write_tree(tmp_path, {"a/json.py": source, "b/json.py": source})
    tool = define("tool", implementation="json:tool")

    results = [make_executor(Handlers(tmp_path / name), tool).execute_sync(ToolCall("tool")) for name in ("a", "b")]

    assert ["a", "b"] == [Path(str(result.content)).parent.name for result in results]
    assert {"n": 1} == __import__("json").loads('{"n": 1}')


# -------------------------------------------------------------------------------------------------------- calling


def test_a_handler_is_told_the_call_the_tool_and_the_root(tmp_path: Path) -> None:
    """The requested name is only in the call; the tool is the canonical one."""
    seen: list[HandlerContext] = []
    tool = define("tool", input_schema={"type": "object"})

    def handler(context: HandlerContext, arguments: JsonObject) -> object:
        seen.append(context)
        return arguments

    call = ToolCall("old_tool", '{"a": 1}', "c1")
    result = make_executor(make_handlers(tool=handler), tool, root=tmp_path).execute_sync(call)

    assert {"a": 1} == result.structured
    assert [HandlerContext(call, tool, tmp_path)] == seen


async def finish_later(value: object) -> object:
    """Return a value after giving the loop a turn."""
    await asyncio.sleep(0)
    return value


async def answer(_: HandlerContext, arguments: JsonObject) -> object:
    """Return the arguments' answer, from an async function."""
    return await finish_later(arguments.get("answer"))


def answer_at_once(_: HandlerContext, arguments: JsonObject) -> object:
    """Return the arguments' answer, from a sync function."""
    return arguments.get("answer")


def answer_with_an_awaitable(_: HandlerContext, arguments: JsonObject) -> object:
    """Return what has to be awaited for the arguments' answer."""
    return finish_later(arguments.get("answer"))


def always(value: object) -> Handler:
    """Return a handler that always returns this value."""
    return lambda _context, _arguments: value


class Answering:
    """An object whose call is async."""

    async def __call__(self, _: HandlerContext, arguments: JsonObject) -> object:
        """Return the arguments' answer."""
        return await finish_later(arguments.get("answer"))


@pytest.mark.parametrize(
    "handler",
    [answer_at_once, answer, answer_with_an_awaitable, functools.partial(answer), Answering()],
    ids=["sync", "async", "returns an awaitable", "partial", "async call"],
)
def test_sync_and_async_handlers_run_with_and_without_a_loop(handler: Handler) -> None:
    """Design.md section 5: sync and async handlers both work, in `execute` and in `execute_sync`."""
    assert ToolResult("42") == run_both(handler, arguments={"answer": "42"})


@pytest.mark.anyio
async def test_a_sync_handler_does_not_block_the_loop() -> None:
    """It runs in a worker thread, with the caller's context variables."""
    request = contextvars.ContextVar[str]("request")
    request.set("r1")
    started, let_go = threading.Event(), threading.Event()

    def handler(_: HandlerContext, __: JsonObject) -> object:
        started.set()
        assert let_go.wait(PATIENCE)
        return f"{request.get()} {threading.current_thread() is threading.main_thread()}"

    executor = make_executor(make_handlers(tool=handler), define("tool"))
    async with asyncio.timeout(PATIENCE):
        call = asyncio.create_task(executor.execute(ToolCall("tool")))
        assert await asyncio.to_thread(started.wait, PATIENCE)
        let_go.set()
        assert "r1 False" == (await call).content


@pytest.mark.anyio
async def test_an_async_handler_runs_in_the_caller_s_loop() -> None:
    """A handler may use what belongs to the loop, such as a connection."""

    async def handler(_: HandlerContext, __: JsonObject) -> object:
        await asyncio.sleep(0)
        return asyncio.get_running_loop() is loop

    loop = asyncio.get_running_loop()
    executor = make_executor(make_handlers(tool=handler), define("tool"))

    assert True is (await executor.execute(ToolCall("tool"))).structured


@pytest.mark.parametrize("call", [ToolCall("nope"), ToolCall("tool", "{"), ToolCall("tool", {"a": 1})])
def test_a_refused_call_never_reaches_its_handler(call: ToolCall) -> None:
    """Issue 4: nothing is executed on an error of the call."""
    seen: list[object] = []
    closed: JsonObject = {"type": "object", "additionalProperties": False}
    handlers = make_handlers(tool=lambda _, arguments: seen.append(arguments))
    executor = make_executor(handlers, define("tool", input_schema=closed))

    assert executor.execute_sync(call).is_error
    assert asyncio.run(executor.execute(call)).is_error
    assert [] == seen


def test_handlers_may_change_their_arguments() -> None:
    """The call, which is logged and replayed, is not the handler's."""
    call = ToolCall("tool", {"list": [1], "text": "a"})
    handlers = make_handlers(tool=lambda _, arguments: arguments.clear())
    make_executor(handlers, define("tool", input_schema={"type": "object"})).execute_sync(call)

    assert {"list": [1], "text": "a"} == call.arguments


# --------------------------------------------------------------------------------------------- what handlers return


class Text(str):
    """A text of somebody's own class."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("returned", "outcome"),
    [
        (None, Success()),
        ("text", Success("text")),
        ("", Success("")),
        (Text("text"), Success("text")),
        (3, Success("3", 3)),
        (1.0, Success("1", 1)),
        (False, Success("false", structured=False)),
        ([1, "é"], Success('[1,"é"]', [1, "é"])),
        (tuple("ab"), Success('["a","b"]', ["a", "b"])),
        ({}, Success("{}", {})),
        ({"n": 3}, Success('{"n":3}', {"n": 3})),
        (Success("a", {"n": 1}, {"t": 1}), Success("a", {"n": 1}, {"t": 1})),
        (Success(["a"], (1, 2)), Success(["a"], [1, 2])),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        (ToolReportedError("no", {"n": 1}), ToolReportedError("no", {"n": 1})),
        (RuntimeFailure("timeout", "late"), RuntimeFailure("timeout", "late")),
        ({"content": "ok"}, Success("ok")),
        ({"content": [{"type": "text", "text": "ok"}]}, Success([{"type": "text", "text": "ok"}])),
        ({"structuredContent": {"n": 3}}, Success("", {"n": 3})),
        (
            {"content": "ok", "structuredContent": {"n": 3}, "_meta": {"trace": "t1"}, "isError": False},
            Success("ok", {"n": 3}, {"trace": "t1"}),
        ),
        ({"content": "no", "isError": True, "_meta": {"trace": "t1"}}, ToolReportedError("no", None, {"trace": "t1"})),
        ({"content": "ok", "_meta": None}, Success("ok")),
        ({"content": "ok", "_meta": "text"}, Success("ok", None, {ODD_META: "text"})),
        ({"content": "ok", "_meta": [1]}, Success("ok", None, {ODD_META: [1]})),
        ({"content": "ok", "isError": "yes"}, Success("ok")),
        ({"content": 3}, Success("")),
        ({"content": "ok", "other": 1}, Success('{"content":"ok","other":1}', {"content": "ok", "other": 1})),
        ({"isError": True}, Success('{"isError":true}', {"isError": True})),
        ({"_meta": {}}, Success('{"_meta":{}}', {"_meta": {}})),
    ],
)
def test_every_form_of_return_is_read(returned: object, outcome: object) -> None:
    """`Handler` lists the forms; TC-040: nothing of an MCP result is lost, and an odd `_meta` is kept aside."""
    assert outcome == read_return(returned)
    assert repr(outcome) == repr(read_return(returned))


@pytest.mark.parametrize(
    "returned",
    [
        {1, 2},
        {"a": {1}},
        object(),
        b"bytes",
        math.nan,
        {"a": math.inf},
        2**64,
        {1: "a"},
        "\ud800",
        {"content": "\ud800"},
        Success("a", {"n": {1}}),  # type: ignore[dict-item] # pyright: ignore[reportArgumentType]
        Success("\ud800"),
        Success("a", None, {"t": math.nan}),
        ToolReportedError(["\ud800"]),
    ],
)
def test_a_return_that_is_no_json_is_the_handler_s_failure(returned: object) -> None:
    """The tool did run, so this is no refusal; what it says can't be passed on."""
    outcome = read_return(returned)

    assert isinstance(outcome, RuntimeFailure)
    assert "TypeError" == outcome.category
    result = run_both(always(returned))
    assert {"code": "handler_failed", "tool": "tool", "category": "TypeError", "executed": True, "retry_safe": False} == fields(
        result
    )


def test_a_return_that_nests_too_deep_is_the_handler_s_failure() -> None:
    """TC-069, on the way back: no walker recurses over it."""
    deep: dict[str, object] = {}
    for _ in range(2_000):
        deep = {"a": deep}

    assert "handler_failed" == run_both(always(deep)).code


# --------------------------------------------------------------------------------------------------------- failures


def failing(error: BaseException) -> Handler:
    """Return a sync handler that raises."""

    def handler(_: HandlerContext, __: JsonObject) -> object:
        raise error

    return handler


def failing_later(error: BaseException) -> Handler:
    """Return an async handler that raises."""

    async def handler(_: HandlerContext, __: JsonObject) -> object:
        await asyncio.sleep(0)
        raise error

    return handler


@pytest.mark.parametrize("make", [failing, failing_later])
@pytest.mark.parametrize("error", [ValueError("bad id"), KeyError("id"), RecursionError(), MemoryError(), SystemExit(3)])
def test_whatever_a_handler_raises_becomes_a_result(make: Callable[[BaseException], Handler], error: BaseException) -> None:
    """Design.md section 9: a call never raises for a failing tool, not even for one that wants to leave the program."""
    result = run_both(make(error))

    name = type(error).__name__
    assert {"code": "handler_failed", "tool": "tool", "category": name, "executed": True, "retry_safe": False} == fields(result)
    assert f"the tool failed: {name}: {error}" == result.content


def test_a_handler_that_runs_out_of_items_does_not_wait_for_ever() -> None:
    """A future of asyncio takes no StopIteration: before, whoever awaited such a call never woke."""
    assert {
        "code": "handler_failed",
        "tool": "tool",
        "category": "StopIteration",
        "executed": True,
        "retry_safe": False,
    } == fields(run_both(lambda _, __: next(iter(()))))


def test_a_failure_has_a_text_that_can_be_sent() -> None:
    """A file name of another encoding is half a surrogate pair to Python."""
    result = run_both(failing(ValueError("caf\udce9")))

    assert "the tool failed: ValueError: caf?" == result.content
    assert encode({"content": str(result.content), "structured": result.structured})


@pytest.mark.parametrize("make", [failing, failing_later])
def test_a_time_out_says_that_the_tool_may_still_take_effect(make: Callable[[BaseException], Handler]) -> None:
    """TC-042: `executed` is unknown, and a retry is not safe."""
    result = run_both(make(TimeoutError("slow")))

    assert {
        "code": "timeout",
        "tool": "tool",
        "category": "timeout",
        "executed": "unknown",
        "retry_safe": False,
    } == fields(result)


def test_an_exception_is_read_by_its_class() -> None:
    """A subclass of TimeoutError is a time-out; everything else bears its own name."""

    class SlowError(TimeoutError):
        pass

    assert "timeout" == read_exception(SlowError()).category
    assert RuntimeFailure("KeyError", "the tool failed: KeyError: 'id'") == read_exception(KeyError("id"))


@pytest.mark.parametrize("make", [failing, failing_later])
def test_a_failure_by_a_deprecated_name_has_its_notice(make: Callable[[BaseException], Handler]) -> None:
    """Design.md section 8: the handler was entered."""
    assert DEPRECATIONS in run_both(make(ValueError()), "old_tool").metadata
    assert {} == run_both(make(ValueError())).metadata


def test_a_tool_without_a_handler_was_not_executed(tmp_path: Path) -> None:
    """`activation_failed`: a retry is safe, and nothing is said of old names."""
    tools = (define("none"), define("broken", implementation="broken:run"), define("lost", implementation="lost:run"))
    write_tree(tmp_path, {"broken.py": "1 / 0\n"})
    executor = make_executor(Handlers(tmp_path), *tools)

    for tool in tools:
        for name in (tool.name, f"old_{tool.name}"):
            result = executor.execute_sync(ToolCall(name))
            assert result == asyncio.run(executor.execute(ToolCall(name)))
            assert {"code": "activation_failed", "tool": tool.name, "executed": False} == fields(result)
            assert {} == result.metadata


def test_an_mcp_tool_without_a_connection_was_not_executed() -> None:
    """The server never heard of the call: `server_unavailable`, a retry is safe, and there is no notice."""
    tool = define("mcp__notes__list", origin=Origin("mcp", "notes"))
    executor = make_executor(Handlers(), tool)

    for name in (tool.name, f"old_{tool.name}"):
        result = executor.execute_sync(ToolCall(name))
        assert result == asyncio.run(executor.execute(ToolCall(name)))
        assert {"code": "server_unavailable", "tool": tool.name, "executed": False} == fields(result)
        assert "'notes'" in str(result.content)
        assert {} == result.metadata


def test_an_mcp_tool_runs_by_a_registered_handler() -> None:
    """A host may serve a server's tools itself."""
    tool = define("mcp__notes__list", origin=Origin("mcp", "notes"))
    handlers = Handlers()
    handlers.register(tool.name)(always("listed"))

    assert "listed" == make_executor(handlers, tool).execute_sync(ToolCall(tool.name)).content


# ----------------------------------------------------------------------------------------------------- cancellation


async def cancel_when(started: Awaitable[object], call: asyncio.Task[ToolResult]) -> None:
    """Cancel a call once it has begun, and wait for its end."""
    await started
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.anyio
async def test_cancellation_of_an_async_handler_propagates_and_reaches_it() -> None:
    """Design.md section 9: only cancellation propagates."""
    started, cleaned = asyncio.Event(), asyncio.Event()

    async def handler(_: HandlerContext, __: JsonObject) -> object:
        started.set()
        try:
            return await asyncio.Event().wait()
        finally:
            cleaned.set()

    executor = make_executor(make_handlers(tool=handler), define("tool"))
    async with asyncio.timeout(PATIENCE):
        await cancel_when(started.wait(), asyncio.create_task(executor.execute(ToolCall("tool"))))

    assert cleaned.is_set()


@pytest.mark.anyio
async def test_cancellation_of_a_call_in_a_thread_propagates_at_once() -> None:
    """A thread can't be stopped; the caller need not wait for it."""
    started, let_go = threading.Event(), threading.Event()

    def handler(_: HandlerContext, __: JsonObject) -> object:
        started.set()
        return let_go.wait(PATIENCE)

    executor = make_executor(make_handlers(tool=handler), define("tool"))
    try:
        async with asyncio.timeout(PATIENCE):
            call = asyncio.create_task(executor.execute(ToolCall("tool")))
            await cancel_when(asyncio.to_thread(started.wait, PATIENCE), call)
    finally:
        let_go.set()


@pytest.mark.anyio
async def test_many_calls_run_at_once() -> None:
    """One executor serves many conversations; results don't mix."""
    gate = asyncio.Barrier(20)

    async def handler(_: HandlerContext, arguments: JsonObject) -> object:
        await gate.wait()
        return arguments["n"]

    executor = make_executor(make_handlers(tool=handler), define("tool", input_schema={"type": "object"}))
    async with asyncio.timeout(PATIENCE):
        results = await asyncio.gather(*(executor.execute(ToolCall("tool", {"n": n}), CallContext()) for n in range(20)))

    assert [*range(20)] == [result.structured for result in results]
