"""A result → the block that a provider takes, by an allow-list of fields: metadata can't reach the model.

Providers have no hidden field in a tool result: everything in the block is read by the model. `mcp` is the exception: its
`_meta` is for the host, and carries the metadata on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from toolroster.canonical import JsonObject, JsonValue, encode
from toolroster.errors import UnknownNameError
from toolroster.tools import ToolCall, ToolResult


def encode_result(result: ToolResult, call: ToolCall, target: str) -> JsonObject:
    """Return the block that answers a call, for the conversation's next request.

    Shapes: anthropic `{"type": "tool_result", "tool_use_id", "content", "is_error"?}`; openai-chat `{"role": "tool",
    "tool_call_id", "content"}`; openai-responses `{"type": "function_call_output", "call_id", "output"}`; mcp `{"content",
    "structuredContent"?, "isError", "_meta"?}`.

    Raises:
        UnknownNameError: There is no such target.
    """
    encoder = _ENCODERS.get(target)
    if encoder is None:
        raise UnknownNameError(f"there is no result block for target {target!r}; there are {', '.join(_ENCODERS)}")
    return encoder(result, call)


def render_text(result: ToolResult) -> str:
    """Return what the model reads as one text: the text blocks by lines, or the structure as JSON when there is no content."""
    blocks: list[JsonValue] = [result.content] if isinstance(result.content, str) else result.content
    text = "\n".join(_block_text(block) for block in blocks)
    return text if text or result.structured is None else encode(result.structured).decode()


def _anthropic(result: ToolResult, call: ToolCall) -> JsonObject:
    content: JsonValue = render_text(result)
    if not isinstance(result.content, str) and any(_is_image(block) for block in result.content):
        # The provider refuses an empty text block.
        content = [_anthropic_block(block) for block in result.content if _is_image(block) or _block_text(block)]
    block: JsonObject = {"type": "tool_result", "tool_use_id": call.call_id, "content": content}
    return block | {"is_error": True} if result.is_error else block


def _openai_chat(result: ToolResult, call: ToolCall) -> JsonObject:
    return {"role": "tool", "tool_call_id": call.call_id, "content": render_text(result)}


def _openai_responses(result: ToolResult, call: ToolCall) -> JsonObject:
    return {"type": "function_call_output", "call_id": call.call_id, "output": render_text(result)}


def _mcp(result: ToolResult, _: ToolCall) -> JsonObject:
    blocks: list[JsonValue] = [result.content] if isinstance(result.content, str) else result.content
    content: JsonValue = [part if isinstance(part, dict) else {"type": "text", "text": _block_text(part)} for part in blocks]
    block: JsonObject = {"content": content, "isError": result.is_error}
    if result.structured is not None:
        block["structuredContent"] = result.structured
    if result.metadata:
        block["_meta"] = result.metadata
    return block


def _is_image(block: JsonValue) -> bool:
    if not isinstance(block, dict) or block.get("type") != "image":
        return False
    return isinstance(block.get("data"), str) and isinstance(block.get("mimeType"), str)


def _anthropic_block(block: JsonValue) -> JsonObject:
    if isinstance(block, dict) and _is_image(block):
        source: JsonObject = {"type": "base64", "media_type": block.get("mimeType"), "data": block.get("data")}
        return {"type": "image", "source": source}
    return {"type": "text", "text": _block_text(block)}


def _block_text(block: JsonValue) -> str:
    """Return a block's text; of another kind of block, what was left out."""
    if isinstance(block, dict):
        text, resource = block.get("text"), block.get("resource")
        if isinstance(resource, dict) and isinstance(resource.get("text"), str):
            text = resource["text"]
        if isinstance(text, str):
            return text
        return f"[{block.get('type', 'block')} left out]"
    return block if isinstance(block, str) else encode(block).decode()


_ENCODERS: Mapping[str, Callable[[ToolResult, ToolCall], JsonObject]] = MappingProxyType(
    {"anthropic": _anthropic, "mcp": _mcp, "openai-chat": _openai_chat, "openai-responses": _openai_responses}
)
