"""Does an instance satisfy a schema, and if not, where and why? The only importer of jsonschema and jsonschema_rs.

jsonschema-rs is used when it is installed (`toolroster[fast]`): it is quick, and its regular expressions take linear
time. jsonschema is the reference and the fallback. Neither ever fetches anything, and no fault repeats the instance's
values.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from toolroster.canonical import JsonObject, JsonValue, Pointer, encode, write_pointer
from toolroster.schemas.walking import walk_schemas

Backend: TypeAlias = Literal["jsonschema-rs", "jsonschema"]

DIALECTS: Mapping[str, str] = {
    "http://json-schema.org/draft-04/schema": "Draft4Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
}
"""Known dialects by their URI without `#`, with the class that both libraries call by the same name."""

_DEFAULT_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True, order=True)
class SchemaFault:
    """One place where an instance (or a schema, under its dialect) is not what it should be.

    Attributes:
        pointer: RFC 6901 pointer into the instance; for a missing member, where it should stand.
        keyword: The schema keyword that is not satisfied.
        expectation: What the schema asks for, in words; never holds the instance's value.
    """

    pointer: str
    keyword: str
    expectation: str


class Validator:
    """A compiled schema; safe to share between threads."""

    def __init__(self, find: Callable[[JsonValue], Iterator[SchemaFault]], accepts: Callable[[JsonValue], bool]) -> None:
        """Keep the two functions of the backend; see `compile_schema`."""
        self._find = find
        self._accepts = accepts

    def find_faults(self, instance: JsonValue) -> tuple[SchemaFault, ...]:
        """Return every fault of the instance, by pointer and keyword; nothing when it is valid."""
        if self._accepts(instance):
            return ()
        return tuple(sorted(set(self._find(instance))))


def find_dialect(schema: JsonObject) -> str | None:
    """Return the name of the dialect's validator class; 2020-12 when the schema says none, None when it says an unknown one."""
    said = schema.get("$schema", _DEFAULT_DIALECT)
    return DIALECTS.get(said.removesuffix("#")) if isinstance(said, str) else None


def find_schema_faults(schema: JsonObject) -> tuple[SchemaFault, ...]:
    """Return what is wrong with the schema itself under its dialect: keywords of the wrong form, references that lead nowhere.

    Raises:
        ValueError: The schema names a dialect that is not known.
    """
    dialect = _dialect_of(schema)
    if _has_fast_backend():
        fast = _fast_module()
        errors = () if fast.meta.is_valid(schema) else _fast_meta_faults(fast, schema)
    else:
        reference = getattr(_reference_module(), dialect)
        meta = reference(reference.META_SCHEMA, registry=_registry())
        errors = tuple(_reference_faults(meta.iter_errors(schema)))
    return tuple(sorted({*errors, *_reference_targets(schema)}))


def compile_schema(schema: JsonObject, backend: Backend | None = None) -> Validator:
    """Return a validator of the schema in the dialect that its `$schema` names (2020-12 when it names none).

    Args:
        schema: A valid schema that refers to nothing outside itself; see `find_schema_faults`.
        backend: The library to use; the quick one when it is installed and takes the schema's patterns.

    Raises:
        ValueError: The schema names a dialect that is not known, or can't be compiled.
    """
    dialect = _dialect_of(schema)
    if backend == "jsonschema-rs" or (backend is None and _has_fast_backend()):
        try:
            return _compile_fast(schema, dialect)
        except ValueError:
            # Look-around in a pattern: the linear engine has none, the reference has.
            if backend == "jsonschema-rs":
                raise
    return _compile_reference(schema, dialect)


def _dialect_of(schema: JsonObject) -> str:
    dialect = find_dialect(schema)
    if dialect is None:
        message = f"the dialect {schema.get('$schema')!r} is not known; known are {', '.join(DIALECTS)}"
        raise ValueError(message)
    return dialect


def _compile_fast(schema: JsonObject, dialect: str) -> Validator:
    fast = _fast_module()
    validator = getattr(fast, dialect)(
        schema, validate_formats=False, pattern_options=fast.RegexOptions(), mask="***", offline=True
    )
    return Validator(lambda instance: _fast_faults(validator.iter_errors(instance), schema), validator.is_valid)


def _compile_reference(schema: JsonObject, dialect: str) -> Validator:
    reference: Any = getattr(_reference_module(), dialect)
    validator = reference(schema, registry=_registry())
    return Validator(lambda instance: _reference_faults(validator.iter_errors(instance)), validator.is_valid)


@cache
def _has_fast_backend() -> bool:
    return importlib.util.find_spec("jsonschema_rs") is not None


def _fast_module() -> Any:  # noqa: ANN401 - an optional library without stubs that both checkers know
    import jsonschema_rs  # noqa: PLC0415 - optional, and slow to import

    return jsonschema_rs


def _reference_module() -> Any:  # noqa: ANN401 - the library's classes are looked up by name
    import jsonschema  # noqa: PLC0415 - slow to import, and most programs never validate

    return jsonschema


@cache
def _registry() -> Any:  # noqa: ANN401 - opaque; handed from one library to the other
    import referencing  # noqa: PLC0415 - comes with jsonschema
    import referencing.jsonschema  # noqa: PLC0415 - comes with jsonschema

    # Holds the known dialects and fetches nothing.
    return referencing.jsonschema.EMPTY_REGISTRY


def _fast_meta_faults(fast: Any, schema: JsonObject) -> tuple[SchemaFault, ...]:  # noqa: ANN401 - see _fast_module
    try:
        fast.meta.validate(schema)
    except fast.ValidationError as error:
        return tuple(_fast_faults([error], {}))
    return ()


def _fast_faults(errors: Iterable[Any], schema: JsonObject) -> Iterator[SchemaFault]:
    for error in errors:
        path: list[str | int] = error.schema_path
        keyword = next((part for part in reversed(path) if isinstance(part, str)), "false")
        instance: JsonValue = error.instance
        missing: str | None = getattr(error.kind, "property", None)
        unexpected: list[str] | None = getattr(error.kind, "unexpected", None)
        value: JsonValue = [missing] if keyword == "required" and missing is not None else _look_up(schema, path)
        if keyword == "type" and value is None:
            value = getattr(error.kind, "types", None)
        owner = _look_up(schema, path[:-1])
        yield from _describe(tuple(error.instance_path), keyword, value, instance, owner, unexpected)


def _reference_faults(errors: Iterable[Any]) -> Iterator[SchemaFault]:
    for error in errors:
        pointer: Pointer = tuple(error.absolute_path)
        yield from _describe(pointer, str(error.validator), error.validator_value, error.instance, error.schema, None)


def _describe(
    pointer: Pointer,
    keyword: str,
    value: JsonValue,
    instance: JsonValue,
    owner: JsonValue,
    unexpected: list[str] | None,
) -> Iterator[SchemaFault]:
    """Yield one error of either library in our own words; `owner` is the schema that holds the keyword."""
    match keyword:
        case "required" if isinstance(instance, dict) and isinstance(value, list):
            for name in value:
                if isinstance(name, str) and name not in instance:
                    yield SchemaFault(write_pointer((*pointer, name)), keyword, "required, but missing")
        case "additionalProperties" | "unevaluatedProperties" if isinstance(instance, dict):
            properties = owner.get("properties") if isinstance(owner, dict) else None
            known = sorted(properties) if isinstance(properties, dict) else []
            allowed = f"; allowed are {', '.join(known)}" if known else ""
            for name in [name for name in instance if name not in known] if unexpected is None else unexpected:
                yield SchemaFault(write_pointer((*pointer, name)), keyword, f"unexpected{allowed}")
        case "type":
            words = " or ".join(str(kind) for kind in value) if isinstance(value, list) else str(value)
            yield SchemaFault(write_pointer(pointer), keyword, f"expected {words}")
        case _:
            yield SchemaFault(write_pointer(pointer), keyword, f"must satisfy {keyword}{_shown(value)}")


def _shown(value: JsonValue) -> str:
    """Return the keyword's value when it is short enough to help."""
    if isinstance(value, str | int | float | list) and not isinstance(value, bool):
        text = encode(value).decode()
        return f" {text}" if len(text) <= _MAX_SHOWN else ""
    return ""


def _look_up(schema: JsonValue, path: Iterable[str | int]) -> JsonValue:
    """Return what stands at a path, or None."""
    found = schema
    for part in path:
        if isinstance(found, dict):
            found = found.get(str(part))
        elif isinstance(found, list) and isinstance(part, int) and part < len(found):
            found = found[part]
        else:
            return None
    return found


def _reference_targets(schema: JsonObject) -> Iterator[SchemaFault]:
    """Yield a fault for every `$ref` that leads out of the schema or to a place that it does not have."""
    own = set(_named(schema, "$id", "id"))
    anchors = set(_named(schema, "$anchor", "$dynamicAnchor"))
    for pointer, part in walk_schemas(schema):
        target = part.get("$ref")
        if not isinstance(target, str):
            continue
        place = write_pointer((*pointer, "$ref"))
        document, _, fragment = target.partition("#")
        if document and document not in own:
            yield SchemaFault(place, "$ref", f"leads out of the schema, to {target!r}; nothing is ever fetched")
        elif not document and fragment.startswith("/") and _look_up(schema, _parse_pointer(fragment, schema)) is None:
            yield SchemaFault(place, "$ref", f"leads to {target!r}, which the schema does not have")
        elif not document and fragment and not fragment.startswith("/") and fragment not in anchors:
            yield SchemaFault(place, "$ref", f"leads to the anchor {fragment!r}, which the schema does not have")


def _named(schema: JsonObject, *keywords: str) -> Iterator[str]:
    for _, part in walk_schemas(schema):
        yield from (found for keyword in keywords if isinstance(found := part.get(keyword), str))


def _parse_pointer(text: str, schema: JsonObject) -> list[str | int]:
    parts: list[str | int] = []
    found: JsonValue = schema
    for raw in text.split("/")[1:]:
        part = _percent_decoded(raw).replace("~1", "/").replace("~0", "~")
        parts.append(int(part) if isinstance(found, list) and part.isdecimal() else part)
        found = _look_up(schema, parts)
    return parts


def _percent_decoded(text: str) -> str:
    from urllib.parse import unquote  # noqa: PLC0415 - only references with escapes need it

    return unquote(text) if "%" in text else text
