from __future__ import annotations

import math
import struct

import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolroster.canonical import encode, parse_json, write_float

NEAT = st.floats(allow_nan=False, allow_infinity=False)
"""Hypothesis's own floats: many short and whole ones."""


def from_bits(bits: int) -> float:
    """Return the float of these 64 bits."""
    number: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return number


RANDOM = st.integers(0, 2**64 - 1).map(from_bits).filter(math.isfinite)
"""Floats of every exponent, most with 16 or 17 digits."""

FLOATS = NEAT | RANDOM | st.integers(-(2**70), 2**70).map(float)

MANY = settings(max_examples=10 * settings().max_examples)
"""Floats are cheap to try, and few of all are awkward."""


@MANY
@given(FLOATS)
@example(-0.0)
@example(1e21)
@example(1e16)
@example(1e-6)
@example(1e-7)
@example(5e-324)
@example(9007199254740992.0)
@example(1.7976931348623157e308)
def test_float_text_agrees_with_an_rfc_8785_library(value: float) -> None:
    """Issue 2: another hand wrote the same ECMAScript form, so neither of us misread it."""
    assert rfc8785.dumps(value).decode() == write_float(value)
    assert rfc8785.dumps(value) == encode(value)


@MANY
@given(FLOATS)
def test_float_text_reads_back_to_the_same_float(value: float) -> None:
    """ECMA-262 Number::toString keeps every bit but the sign of zero."""
    assert value == float(write_float(value))
    assert encode(value) == encode(parse_json(encode(value)))


@given(FLOATS, FLOATS)
def test_different_floats_have_different_texts(one: float, other: float) -> None:
    """A digest sees every change of a number."""
    assert (one == other) == (write_float(one) == write_float(other))


@given(st.integers(1, 2**53).flatmap(lambda top: st.sampled_from([top, -top])))
def test_a_whole_float_and_its_integer_have_one_text(value: int) -> None:
    """Design.md section 7: 3.0 and 3 mean one number, so they are one text."""
    assert encode(value) == encode(float(value))
