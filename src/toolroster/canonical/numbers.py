"""How is a finite float written, so that its text never changes between releases of a JSON library?"""

from __future__ import annotations

MAX_SAFE_INTEGER = 2**53
"""Whole floats below this magnitude are written as integers."""

# Bounds of ECMAScript's plain notation. Source: ECMA-262, Number::toString, steps 6 to 10.
_PLAIN_MAX_EXPONENT = 21
_PLAIN_MIN_EXPONENT = -6


def write_float(value: float) -> str:
    """Return the shortest ECMAScript text of a finite float: `1e+21`, `1e-7`, `0.000001`, `1.5`.

    Python's `repr` gives the shortest digits that read back to the same float, as ECMAScript asks; only the layout differs.

    Source: ECMA-262 Number::toString; RFC 8785 section 3.2.2.3.
    """
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent_text = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # `point` is where the decimal point stands, counted from the first significant digit.
    leading_zeros = len(whole + fraction) - len(digits)
    point = len(whole) - leading_zeros + int(exponent_text or 0)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= _PLAIN_MAX_EXPONENT:
        return sign + digits + "0" * (point - count)
    if 0 < point <= _PLAIN_MAX_EXPONENT:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if _PLAIN_MIN_EXPONENT < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    exponent = point - 1
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if exponent > 0 else '-'}{abs(exponent)}"
