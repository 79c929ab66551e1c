"""How a program sends a prefix: `request["tools"] = prefix.tools`, with the providers' own SDKs.

The SDKs talk to a server on this machine that records what they send. No key, no account and no network is needed.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT, builtin, small_workspace
from toolroster import Prefix, Workspace

KEY = "no-key"
ANSWERS: dict[str, dict[str, object]] = {
    "/v1/messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "/v1/chat/completions": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}],
    },
    "/v1/responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    },
}


@dataclass
class Recorder:
    """A provider that answers each request with the same greeting and keeps the bytes that came.

    Attributes:
        url: Where it listens, on this machine only.
        bodies: The bodies that came, by path, in order.
    """

    url: str = ""
    bodies: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """Start a recording server on a free port of this machine, and stop it after the test."""
    # Neither a proxy nor an account of the machine's owner may have a part in this.
    for name in os.environ:
        if name.lower().endswith("_proxy") or name.startswith(("ANTHROPIC_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "*")
    recording = Recorder()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            recording.bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            answer = json.dumps(ANSWERS[self.path]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the base class gives it
            """Keep the test's output clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        recording.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield recording
        finally:
            server.shutdown()
            thread.join()


def send_with_anthropic(prefix: Prefix, url: str) -> None:
    """Ask something with the tools of a prefix built for `anthropic`."""
    import anthropic  # noqa: PLC0415 - slow to import

    with anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0) as client:
        # Any: the SDK has a type for each kind of tool; ours are data, made and checked elsewhere.
        tools: Any = prefix.tools
        client.messages.create(model="m", max_tokens=16, messages=[{"role": "user", "content": "Hi"}], tools=tools)


def send_with_openai(prefix: Prefix, url: str) -> None:
    """Ask something with the tools of a prefix built for `openai-chat`."""
    import openai  # noqa: PLC0415 - slow to import

    with openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0) as client:
        # Any: as above.
        tools: Any = prefix.tools
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}], tools=tools)


def send_with_openai_responses(prefix: Prefix, url: str) -> None:
    """Ask something with the tools of a prefix built for `openai-responses`."""
    import openai  # noqa: PLC0415 - slow to import

    with openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0) as client:
        # Any: as above.
        tools: Any = prefix.tools
        client.responses.create(model="m", input="Hi", tools=tools)


SENDERS = {
    "anthropic": ("/v1/messages", send_with_anthropic),
    "openai-chat": ("/v1/chat/completions", send_with_openai),
    "openai-responses": ("/v1/responses", send_with_openai_responses),
}
AWKWARD = {
    "type": "object",
    "properties": {
        "zeta": {"type": "string", "default": 'tab\t quote" slash/ back\\ line\n sep\u2028 <b>&amp;</b> ü 😀'},
        "alpha": {"type": "number", "minimum": 0.1, "maximum": 1.5e300, "multipleOf": 0.0001},
        "größe": {"type": "integer", "maximum": 18446744073709551615, "minimum": -9223372036854775808},
    },
    "required": ["zeta", "größe"],
    "x-unknown": {"b": 1.0, "a": [None, True, -0.0]},
}


@pytest.mark.parametrize("target", SENDERS)
def test_a_program_sends_the_tools_of_its_workspace(target: str, tmp_path: Path, recorder: Recorder) -> None:
    """What stands in the request is the committed golden, byte for byte (issue 2; design.md section 5)."""
    small_workspace(tmp_path)
    workspace = Workspace(tmp_path)
    prefix = workspace.surface().prefix("default", target=target)

    path, send = SENDERS[target]
    send(prefix, recorder.url)

    ((sent_to, body),) = recorder.bodies
    assert path == sent_to
    assert prefix.tools == json.loads(body)["tools"]
    assert 1 == body.count(b'"tools":' + prefix.data)
    golden = tmp_path / f"goldens/default/{target}.json"
    assert prefix.data == (golden.read_bytes() if golden.exists() else prefix.data)


@pytest.mark.parametrize("target", SENDERS)
def test_the_sdks_send_awkward_definitions_byte_for_byte(target: str, tmp_path: Path, recorder: Recorder) -> None:
    """Escapes, other scripts, declared order and numbers arrive as they stand in the golden (design.md section 7)."""
    awkward = builtin("read_file", description="Größe: “über” 😀\u2028</tool>\n\t\\", input_schema=AWKWARD)
    workspace = small_workspace(tmp_path, **{"catalog/builtin/read_file.json": awkward})
    prefix = workspace.surface().prefix("default", target=target)
    SENDERS[target][1](prefix, recorder.url)
    ((_, body),) = recorder.bodies
    assert 1 == body.count(b'"tools":' + prefix.data)


@pytest.mark.parametrize("target", SENDERS)
@pytest.mark.parametrize(("number", "sent"), [(0.00001, b"1e-05"), (1.5e-7, b"1.5e-07")])
def test_an_sdk_writes_some_numbers_in_its_own_way(
    number: float, sent: bytes, target: str, tmp_path: Path, recorder: Recorder
) -> None:
    """The SDKs encode with Python's json, which writes floats below 1e-4 otherwise: the value arrives, the text does not."""
    schema = {"type": "object", "properties": {"step": {"type": "number", "multipleOf": number}}}
    workspace = small_workspace(tmp_path, **{"catalog/builtin/read_file.json": builtin("read_file", input_schema=schema)})
    prefix = workspace.surface().prefix("default", target=target)
    SENDERS[target][1](prefix, recorder.url)
    ((_, body),) = recorder.bodies
    start = prefix.data.index(b'"multipleOf":') + len(b'"multipleOf":')
    end = prefix.data.index(b",", start)
    assert number == float(prefix.data[start:end])
    assert prefix.tools == json.loads(body)["tools"]
    assert 1 == body.count(b'"tools":' + prefix.data[:start] + sent + prefix.data[end:])


@pytest.mark.parametrize("target", SENDERS)
def test_two_requests_of_one_conversation_begin_with_the_same_tools(target: str, tmp_path: Path, recorder: Recorder) -> None:
    """The provider's prompt cache stays warm: whoever reads the workspace anew sends the same bytes (design.md section 1)."""
    small_workspace(tmp_path)
    for _ in range(2):
        SENDERS[target][1](Workspace(tmp_path).surface().prefix("default", target=target), recorder.url)
    (_, first), (_, second) = recorder.bodies
    assert first == second


@pytest.mark.parametrize("target", SENDERS)
def test_the_sdks_send_the_reference_surface_byte_for_byte(target: str, recorder: Recorder) -> None:
    """The project's own workbench, as an agent would send it (issue 2)."""
    prefix = Workspace(ROOT).surface().prefix("default", target=target)
    SENDERS[target][1](prefix, recorder.url)
    ((_, body),) = recorder.bodies
    assert prefix.tools == json.loads(body)["tools"]
    assert 1 == body.count(b'"tools":' + prefix.data)
