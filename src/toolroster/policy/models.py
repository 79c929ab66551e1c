"""The base of every policy model, and how its faults are put into words.

Pydantic gathers all faults of one document; this module turns them into `Fault` values that quote, suggest and say what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolroster.canonical import JsonValue, write_pointer
from toolroster.diagnostics import Anchor, Fault
from toolroster.names import suggest

Names = Annotated[tuple[str, ...], Field(strict=False)]
"""A list of names in a file, in the order in which they stand there."""

ModelT = TypeVar("ModelT", bound="PolicyModel")

_KINDS = {
    "string_type": "a string",
    "int_type": "an integer",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a table",
    "mapping_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_FOUND: dict[type[object], str] = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a float",
    list: "a list",
    dict: "a table",
    type(None): "null",
}


class PolicyModel(BaseModel):
    """Base of the models that are read from files: frozen, strict, and closed to unknown keys."""

    # A key has one spelling, the file's: fields are never populated by their Python names.
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)


def parse_model(
    model: type[ModelT], value: JsonValue, anchor: Anchor, *, drop_nulls: bool = False
) -> tuple[ModelT | None, tuple[Fault, ...]]:
    """Return the model read from a parsed document, or None and every fault in it.

    `anchor` is where the value stands; `drop_nulls` treats a null member of the top level as absent.
    """
    if drop_nulls and isinstance(value, dict):
        value = {key: item for key, item in value.items() if item is not None}
    try:
        return model.model_validate(value), ()
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True)
        return None, tuple(_describe(model, detail, anchor) for detail in details)


def _describe(model: type[PolicyModel], detail: Mapping[str, Any], anchor: Anchor) -> Fault:
    """Put one of pydantic's error details (typed as a dict of anything) into words."""
    location: tuple[str | int, ...] = tuple(detail["loc"])
    kind: str = detail["type"]
    given: object = detail.get("input")
    name = _name_place(location)
    here = anchor.at(*location)
    if kind == "extra_forbidden":
        hint = suggest(name, _keys_at(model, location[:-1]))
        fix = "Correct the key or delete it; unknown keys are never ignored."
        return Fault("unknown-key", f"unknown key {name!r}{hint}.", anchor.at(*location, part="key"), fix)
    if kind == "missing":
        message = f"key {name!r} is missing{_say_owner(location[:-1], given)}."
        return Fault("missing-key", message, anchor.at(*location[:-1]), f"Add {name!r}.")
    if kind in _KINDS:
        subject = repr(name) if location else write_pointer(anchor.pointer) or name
        message = f"{subject} must be {_KINDS[kind]}, found {_FOUND.get(type(given), type(given).__name__)}."
        # What TOML calls a table, JSON calls an object.
        words = message.replace("a table", "an object") if anchor.path.endswith(".json") else message
        return Fault("invalid-value", words, here)
    if kind in ("literal_error", "enum"):
        expected = str(detail["ctx"]["expected"])
        choices = [choice.strip(" '") for choice in expected.replace(" or ", ", ").split(",")]
        message = f"{given!r} is not one of {expected}{suggest(str(given), choices)}."
        return Fault("invalid-value", message, here)
    reason = str(detail["ctx"]["error"]) if kind == "value_error" else str(detail["msg"])
    # A whole table or list would bury the reason, which names the member at fault.
    found = f"; found {given!r}" if not isinstance(given, dict | list | tuple) else ""
    return Fault("invalid-value", f"{name!r}: {reason[:1].lower()}{reason[1:]}{found}.", here)


def _name_place(location: tuple[str | int, ...]) -> str:
    """Return the key of a place, with the index where it is a member of a list: `active[0]`."""
    keys = [index for index, part in enumerate(location) if isinstance(part, str)]
    if not keys:
        return "the document"
    key, *indexes = location[keys[-1] :]
    return str(key) + "".join(f"[{index}]" for index in indexes)


def _say_owner(location: tuple[str | int, ...], given: object) -> str:
    """Return ` in …`, which names the row or table at `location` that lacks a key; nothing for the document itself."""
    if not location:
        return ""
    row = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    if isinstance(name := row.get("name"), str):
        return f" in {name!r}"
    *outer, last = location
    return f" in row {last + 1} of {outer[-1]!r}" if isinstance(last, int) and outer else f" in {last!r}"


def _keys_at(model: type[PolicyModel], location: tuple[str | int, ...]) -> list[str]:
    """Return the keys that the table at `location` may have."""
    current: object = model
    for part in location:
        current = _step(current, part)
    found = _unwrap(current)
    if isinstance(found, type) and issubclass(found, BaseModel):
        return [info.alias or name for name, info in found.model_fields.items()]
    return []


def _step(annotation: object, part: str | int) -> object:
    found = _unwrap(annotation)
    if isinstance(found, type) and issubclass(found, BaseModel):
        fields = {info.alias or name: info for name, info in found.model_fields.items()}
        return fields[str(part)].annotation if str(part) in fields else None
    arguments = get_args(found)
    if get_origin(found) is tuple:
        return arguments[0]
    return arguments[-1] if arguments else None


def _unwrap(annotation: object) -> object:
    """Return the annotation without `Annotated` and `| None`."""
    while True:
        arguments = [argument for argument in get_args(annotation) if argument is not type(None)]
        if get_origin(annotation) is Annotated or (
            type(None) in get_args(annotation) and get_origin(annotation) not in (tuple, dict) and len(arguments) == 1
        ):
            annotation = arguments[0]
        else:
            return annotation
