"""Does an instance satisfy a schema, and if not, where and why? The only importer of jsonschema and jsonschema_rs.

jsonschema-rs is used when it is installed (`toolroster[fast]`): it is quick, and its regular expressions take linear
time. jsonschema is the reference and the fallback. Neither ever fetches anything, and no fault repeats the instance's
values.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from toolroster.canonical import JsonObject, JsonValue, Pointer, encode, write_pointer
from toolroster.schemas.keywords import SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS
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
_NOTHING = "nothing is allowed here"
_BOUNDS = frozenset({"additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
"""Where the reference treats `false` itself."""
_ALTERNATIVES = frozenset({"anyOf", "oneOf"})
"""What stands in these is shown as it is, and no fault points into it."""
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


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
        try:
            if self._accepts(instance):
                return ()
            return tuple(sorted(set(self._find(instance))))
        except Exception:  # noqa: BLE001 - the reference stumbles over odd schemas where it applies them, in many ways
            # What can't be judged is not valid: a guard that is skipped is no guard.
            return (SchemaFault("", "$schema", "the schema can't be applied to this"),)


def find_dialect(schema: JsonObject) -> str | None:
    """Return the name of the dialect's validator class; 2020-12 when the schema says none, None when it says an unknown one."""
    said = schema.get("$schema", _DEFAULT_DIALECT)
    return DIALECTS.get(said.removesuffix("#")) if isinstance(said, str) else None


def find_schema_faults(schema: JsonObject, backend: Backend | None = None) -> tuple[SchemaFault, ...]:
    """Return what is wrong with the schema itself under its dialect.

    That is keywords of the wrong form, references that lead out or nowhere, and patterns that no library reads.

    Args:
        schema: Any object.
        backend: The library to ask; the quick one when it is installed.

    Raises:
        ValueError: The schema names a dialect that is not known.
    """
    dialect = _dialect_of(schema)
    quick = backend == "jsonschema-rs" or (backend is None and _has_fast_backend())
    errors: tuple[SchemaFault, ...] = ()
    # The quick library stops at the first fault, so it only says that there is none.
    if not (quick and _fast_module().meta.is_valid(schema)):
        reference = getattr(_reference_module(), dialect)
        meta = reference(reference.META_SCHEMA, registry=_registry())
        errors = tuple(_reference_faults(meta.iter_errors(schema)))
    return tuple(sorted({*errors, *_reference_targets(schema)})) or _compile_faults(schema, dialect, quick=quick)


def compile_schema(schema: JsonObject, backend: Backend | None = None) -> Validator:
    """Return a validator of the schema in the dialect that its `$schema` names (2020-12 when it names none).

    Args:
        schema: A valid schema that refers to nothing outside itself; see `find_schema_faults`.
        backend: The library to use; the quick one when it is installed and takes the schema's patterns.

    Raises:
        ValueError: The schema names a dialect that is not known, or has a pattern that the library does not read.
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
    return Validator(lambda instance: _fast_faults(validator.iter_errors(instance), schema, instance), validator.is_valid)


def _compile_reference(schema: JsonObject, dialect: str) -> Validator:
    for fault in _find_odd_patterns(schema):
        raise ValueError(f"{fault.pointer}: {fault.expectation}")
    reference: Any = getattr(_reference_module(), dialect)
    validator = reference(_spell_out_false(schema), registry=_registry())
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


def _compile_faults(schema: JsonObject, dialect: str, *, quick: bool) -> tuple[SchemaFault, ...]:
    """Return what keeps a schema from being compiled though its keywords have the right form."""
    odd = tuple(_find_odd_patterns(schema))
    if not quick or not (odd or any(part.keys() & {*_REFERENCES} for _, part in walk_schemas(schema))):
        return odd
    fast = _fast_module()
    try:
        _compile_fast(schema, dialect)
    except fast.ValidationError as error:
        # `format` is a pattern, and the reference reads more of them.
        place, keyword = write_pointer(tuple(error.instance_path)), str(error.kind.name)
        return odd if keyword == "format" else (SchemaFault(place, keyword, "leads to no schema"),)
    return ()


def _find_odd_patterns(schema: JsonObject) -> Iterator[SchemaFault]:
    """Yield a fault for every pattern that Python's own engine, which the reference uses, does not read."""
    for pointer, part in walk_schemas(schema):
        own, named = part.get("pattern"), part.get("patternProperties")
        patterns = [((*pointer, "pattern"), own)] if isinstance(own, str) else []
        patterns += [((*pointer, "patternProperties", name), name) for name in named] if isinstance(named, dict) else []
        for place, pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                yield SchemaFault(write_pointer(place), "pattern", f"not a regular expression: {error.msg}")


def _spell_out_false(value: JsonValue) -> JsonValue:
    """Return a schema with `{"not": {}}` for each `false`: the reference forgets where a `false` stands.

    It treats `false` itself where it bounds names or items.
    """
    if not isinstance(value, dict):
        return {"not": {}} if value is False else value
    spelled: JsonObject = {}
    for keyword, member in value.items():
        match member:
            case dict() if keyword in SCHEMA_MAP_KEYWORDS:
                spelled[keyword] = {name: _spell_out_false(part) for name, part in member.items()}
            case list() if keyword in SCHEMA_LIST_KEYWORDS - _ALTERNATIVES:
                spelled[keyword] = [_spell_out_false(part) for part in member]
            case dict() | False if keyword in SCHEMA_KEYWORDS - (_BOUNDS if member is False else set()):
                spelled[keyword] = _spell_out_false(member)
            case _:
                spelled[keyword] = member
    return spelled


def _fast_faults(errors: Iterable[Any], schema: JsonObject, instance: JsonValue) -> Iterator[SchemaFault]:
    for error in errors:
        path: list[str | int] = error.schema_path
        pointer: Pointer = tuple(error.instance_path)
        keyword = next((part for part in reversed(path) if isinstance(part, str)), "")
        value, owner = _look_up(schema, path), _look_up(schema, path[:-1])
        found: JsonValue = error.instance
        if error.kind.name == "falseSchema" and path[-1:] == ["additionalProperties"]:
            # Without `properties` the library names one unexpected member, and not which.
            found = _look_up(instance, pointer)
        elif error.kind.name == "falseSchema":
            keyword = "false"
        elif keyword == "required":
            value = [error.kind.property]
        elif keyword == "type" and value is None:
            # Older releases give the path inside a schema that an anchor leads to, not the path to it.
            value = error.kind.types
        yield from _describe(pointer, keyword, value, found, owner, getattr(error.kind, "unexpected", None))


def _reference_faults(errors: Iterable[Any]) -> Iterator[SchemaFault]:
    for error in errors:
        pointer: Pointer = tuple(error.absolute_path)
        unexpected: list[str] | None = None
        if error.validator == "unevaluatedProperties":
            # Its message is the only place that names them.
            unexpected = [name for name in error.instance if repr(name) in error.message]
        yield from _describe(pointer, str(error.validator), error.validator_value, error.instance, error.schema, unexpected)


def _describe(
    pointer: Pointer,
    keyword: str,
    value: JsonValue,
    instance: JsonValue,
    owner: JsonValue,
    unexpected: list[str] | None,
) -> Iterator[SchemaFault]:
    """Yield one error of either library in our own words; `owner` is the schema that holds the keyword."""
    schema = owner if isinstance(owner, dict) else {}
    keyword, value = _settle(keyword, value, schema)
    match keyword:
        case "required" if isinstance(instance, dict) and isinstance(value, list):
            for name in value:
                if isinstance(name, str) and name not in instance:
                    yield SchemaFault(write_pointer((*pointer, name)), keyword, "required, but missing")
        case "additionalProperties" | "unevaluatedProperties" if isinstance(instance, dict):
            for name in _find_unexpected(instance, schema) if unexpected is None else unexpected:
                yield SchemaFault(write_pointer((*pointer, name)), keyword, f"unexpected{_allowed(schema)}")
        case "items" if value is False and isinstance(instance, list):
            first = schema.get("prefixItems")
            for index in range(len(first) if isinstance(first, list) else 0, len(instance)):
                yield SchemaFault(write_pointer((*pointer, index)), "false", _NOTHING)
        case _:
            yield SchemaFault(write_pointer(pointer), keyword, _expectation(keyword, value, schema))


def _expectation(keyword: str, value: JsonValue, schema: JsonObject) -> str:
    """Return in words what a keyword of a schema asks for."""
    if keyword == "false":
        return _NOTHING
    if keyword == "type":
        return f"expected {' or '.join(map(str, value)) if isinstance(value, list) else value}"
    if keyword == "contains":
        bounds = "".join(f", {key} {schema[key]}" for key in ("minContains", "maxContains") if key in schema)
        return f"must satisfy contains{bounds}"
    return f"must satisfy {keyword}{_shown(value)}"


def _settle(keyword: str, value: JsonValue, schema: JsonObject) -> tuple[str, JsonValue]:
    """Return the keyword and its value as both libraries' errors are told, where they name one thing differently."""
    if keyword == "not" and value in ({}, True):
        return "false", None
    if keyword in ("minContains", "maxContains"):
        return "contains", None
    if keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        # In draft-04 `exclusiveMinimum: true` stands beside `minimum`.
        bound = keyword.removeprefix("exclusive").lower()
        exclusive = f"exclusive{bound.title()}"
        if schema.get(exclusive) is True:
            return exclusive, schema.get(bound)
    return keyword, value


def _allowed(schema: JsonObject) -> str:
    properties = schema.get("properties")
    return f"; allowed are {', '.join(sorted(properties))}" if isinstance(properties, dict) and properties else ""


def _find_unexpected(instance: JsonObject, schema: JsonObject) -> list[str]:
    """Return the names that neither `properties` nor `patternProperties` of a schema covers."""
    properties, patterns = schema.get("properties"), schema.get("patternProperties")
    known = properties if isinstance(properties, dict) else {}
    searched = patterns if isinstance(patterns, dict) else {}
    return [name for name in instance if name not in known and not any(re.search(p, name) for p in searched)]


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
        for keyword in _REFERENCES:
            target = part.get(keyword)
            if not isinstance(target, str):
                continue
            place = write_pointer((*pointer, keyword))
            document, _, fragment = target.partition("#")
            if document and document not in own:
                yield SchemaFault(place, keyword, f"leads out of the schema, to {target!r}; nothing is ever fetched")
            elif not document and fragment.startswith("/") and _look_up(schema, _parse_pointer(fragment, schema)) is None:
                yield SchemaFault(place, keyword, f"leads to {target!r}, which the schema does not have")
            elif not document and fragment and not fragment.startswith("/") and fragment not in anchors:
                yield SchemaFault(place, keyword, f"leads to the anchor {fragment!r}, which the schema does not have")


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
