from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroster import UnknownNameError
from toolroster.canonical import JsonObject, JsonValue, encode
from toolroster.dispatch import encode_result, refuse, render_text
from toolroster.tools import DEPRECATIONS, Code, ToolCall, ToolResult

CALL = ToolCall("swap_text", {"path": "a.txt"}, "call-1")
"""By a retired name: the reply is paired by the call's own id."""
MODEL_TARGETS = ("anthropic", "openai-chat", "openai-responses")
"""Everything in their blocks is read by the model."""

PNG: JsonObject = {"type": "image", "data": "iVBORw0=", "mimeType": "image/png"}
NOTICE: JsonObject = {DEPRECATIONS: [{"name": "swap_text", "message": "deprecated: use edit_text instead"}]}


def text(words: str, **members: JsonValue) -> JsonObject:
    """Return an MCP text block."""
    return {"type": "text", "text": words, **members}


@pytest.mark.parametrize(
    ("target", "block"),
    [
        ("anthropic", {"type": "tool_result", "tool_use_id": "call-1", "content": "ok"}),
        ("openai-chat", {"role": "tool", "tool_call_id": "call-1", "content": "ok"}),
        ("openai-responses", {"type": "function_call_output", "call_id": "call-1", "output": "ok"}),
        ("mcp", {"content": [{"type": "text", "text": "ok"}], "isError": False, "_meta": NOTICE}),
    ],
)
def test_text_becomes_the_block_of_each_target(target: str, block: JsonObject) -> None:
    """facts/providers.md section 11: an allow-list of fields; only mcp has a place for the host's metadata."""
    assert encode(block) == encode(encode_result(ToolResult("ok", metadata=NOTICE), CALL, target))


@pytest.mark.parametrize(
    ("target", "block"),
    [
        (
            "anthropic",
            {"type": "tool_result", "tool_use_id": "call-1", "content": "'a' is denied.", "is_error": True},
        ),
        ("openai-chat", {"role": "tool", "tool_call_id": "call-1", "content": "'a' is denied."}),
        ("openai-responses", {"type": "function_call_output", "call_id": "call-1", "output": "'a' is denied."}),
        (
            "mcp",
            {
                "content": [{"type": "text", "text": "'a' is denied."}],
                "isError": True,
                "structuredContent": {"error": {"code": "denied", "message": "'a' is denied.", "tool": "a"}},
            },
        ),
    ],
)
def test_an_error_is_marked_where_the_target_has_a_mark(target: str, block: JsonObject) -> None:
    """OpenAI's tool messages have none: the words must do."""
    assert encode(block) == encode(encode_result(refuse("denied", "'a' is denied.", tool="a"), CALL, target))


@pytest.mark.parametrize(
    ("target", "block"),
    [
        (
            "anthropic",
            {
                "type": "tool_result",
                "tool_use_id": "call-1",
                "content": [
                    {"type": "text", "text": "before"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}},
                    {"type": "text", "text": "[audio left out]"},
                ],
            },
        ),
        ("openai-chat", {"role": "tool", "tool_call_id": "call-1", "content": "before\n[image left out]\n[audio left out]"}),
        (
            "openai-responses",
            {"type": "function_call_output", "call_id": "call-1", "output": "before\n[image left out]\n[audio left out]"},
        ),
    ],
)
def test_mixed_content_keeps_images_where_the_target_takes_them_and_says_what_was_left_out(
    target: str, block: JsonObject
) -> None:
    """A silent gap reads as an empty result."""
    audio: JsonObject = {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}

    assert encode(block) == encode(encode_result(ToolResult([text("before"), PNG, audio]), CALL, target))


def test_content_without_images_is_one_text_of_lines() -> None:
    """Texts of one result belong together; a resource's text is text."""
    resource: JsonObject = {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}
    link: JsonObject = {"type": "resource_link", "uri": "file:///b"}
    result = ToolResult([text("one"), "two", resource, link, {"odd": 1}, 3, None])

    assert "one\ntwo\ninside\n[resource_link left out]\n[block left out]\n3\nnull" == render_text(result)
    for target in MODEL_TARGETS:
        block = encode_result(result, CALL, target)
        assert render_text(result) == block.get("content", block.get("output"))


def test_a_structure_is_shown_as_json_when_there_is_no_content() -> None:
    """facts/providers.md section 2g: structure alone would be an empty result to the model."""
    structured: JsonObject = {"n": 3, "x": [1.0, "é"]}

    assert '{"n":3,"x":[1,"é"]}' == render_text(ToolResult("", structured))
    assert '{"n":3,"x":[1,"é"]}' == render_text(ToolResult([], structured))
    assert "summary" == render_text(ToolResult("summary", structured))
    assert "" == render_text(ToolResult("", None))
    assert "[]" == render_text(ToolResult("", []))
    assert {
        "content": [{"type": "text", "text": ""}],
        "isError": False,
        "structuredContent": structured,
    } == encode_result(ToolResult("", structured), CALL, "mcp")


def test_what_would_make_a_provider_refuse_the_request_is_not_sent() -> None:
    """One bad block fails the whole request: an empty text beside an image, an image without its type."""
    odd: JsonObject = {"type": "image", "data": "AA=="}
    remote: JsonObject = {"type": "image", "url": "https://example.test/a.png", "mimeType": "image/png"}
    block = encode_result(ToolResult([text(""), PNG, odd, remote, ""]), CALL, "anthropic")

    assert [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}},
        {"type": "text", "text": "[image left out]"},
        {"type": "text", "text": "[image left out]"},
    ] == block["content"]


def test_mcp_gets_content_blocks_as_they_are_and_bare_values_as_text() -> None:
    """MCP knows blocks only; a tool that returned a list of texts meant texts."""
    blocks: list[JsonValue] = [text("one", annotations={"audience": ["user"]}), PNG]
    result = ToolResult([*blocks, "two", 3], metadata={"trace": "t1"})

    assert {
        "content": [*blocks, {"type": "text", "text": "two"}, {"type": "text", "text": "3"}],
        "isError": False,
        "_meta": {"trace": "t1"},
    } == encode_result(result, CALL, "mcp")


def test_an_unknown_target_is_named_with_those_that_exist() -> None:
    """The host chooses the target, so this is an exception."""
    with pytest.raises(UnknownNameError, match=r"'antropic'.*anthropic, mcp, openai-chat, openai-responses"):
        encode_result(ToolResult("ok"), CALL, "antropic")


MARK = "metadata-must-not-leak"
LEAVES = st.none() | st.booleans() | st.integers() | st.just(MARK)
METADATA = st.dictionaries(
    st.sampled_from([MARK, DEPRECATIONS, "content", "structuredContent", "error", "_meta", "is_error", "output", "text"]),
    st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just(MARK), inner, max_size=2)),
    min_size=1,
)
CODES: st.SearchStrategy[Code | None] = st.sampled_from([None, "tool_error", "denied"])
META: JsonObject = {MARK: MARK}
CONTENTS = st.sampled_from(
    [
        "",
        "ok",
        [],
        ["bare"],
        [text("one", _meta=META, annotations=META), text("two")],
        [{**PNG, "_meta": META, "annotations": META}, text("two", _meta=META)],
        [{"type": "resource", "resource": {"text": "inside", "_meta": META}, "_meta": META}],
        [{"type": "audio", "data": "AA==", "_meta": META}],
    ]
)


@given(CONTENTS, st.none() | st.just({"n": 3}), CODES, METADATA, st.sampled_from(MODEL_TARGETS))
def test_no_metadata_ever_reaches_a_block_that_the_model_reads(
    content: str | list[JsonValue], structured: JsonObject | None, code: Code | None, metadata: JsonObject, target: str
) -> None:
    """Issue 4, provider boundary: metadata of the result, and of its blocks, is for the host."""
    result = ToolResult(content, structured, code is not None, code, metadata)
    bare = ToolResult(content, structured, code is not None, code)

    block = encode_result(result, CALL, target)

    assert encode(encode_result(bare, CALL, target)) == encode(block)
    assert MARK not in encode(block).decode()


@given(CONTENTS, st.none() | st.just({"n": 3}), METADATA)
def test_encoding_a_result_changes_nothing_in_it(
    content: str | list[JsonValue], structured: JsonObject | None, metadata: JsonObject
) -> None:
    """The host still logs the result that the model was shown."""
    result = ToolResult(content, structured, metadata=metadata)
    before = repr(result)

    for target in (*MODEL_TARGETS, "mcp"):
        encode_result(result, CALL, target)

    assert before == repr(result)
