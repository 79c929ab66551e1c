"""Which rules exist, and how are they run?

A rule is a generator of faults with a docstring; the docstring is its documentation: a summary, then `Why:`, `Example:`
and `Fix:`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from toolroster.diagnostics import Diagnostic, Fault, Rule, Severity, sort_diagnostics
from toolroster.rules.facts import Facts

Check = Callable[[Facts], Iterable[Fault]]

_SECTION = re.compile(r"\n\n(Why|Example|Fix):\n")


@dataclass(frozen=True, slots=True)
class RegisteredRule:
    """A rule, its generator and its documentation.

    Attributes:
        rule: Code, name, severity, summary and fix.
        check: Yields the faults; a fault's own `fix` beats the rule's.
        on_clean_surface: Whether it judges built bytes, so that it runs only when nothing else is an error.
        why: Why the pattern is bad.
        example: The pattern, as it would stand in a file.
    """

    rule: Rule
    check: Check
    on_clean_surface: bool
    why: str
    example: str


_RULES: Final[dict[str, RegisteredRule]] = {}
RULES: Mapping[str, RegisteredRule] = MappingProxyType(_RULES)
"""Every rule by code."""


def rule(
    code: str,
    name: str,
    *,
    severity: Severity = Severity.ERROR,
    since: str = "0.1.0",
    on_clean_surface: bool = False,
) -> Callable[[Check], Check]:
    """Register the decorated generator; its docstring holds the summary, `Why:`, `Example:` and `Fix:`."""

    def register(check: Check) -> Check:
        parts = _SECTION.split(inspect.cleandoc(check.__doc__ or ""))
        sections = {title: _dedent(text) for title, text in zip(parts[1::2], parts[2::2], strict=True)}
        summary = " ".join(parts[0].split())
        fix = " ".join(sections["Fix"].split())
        registered = RegisteredRule(
            Rule(code, name, severity, since, summary, fix),
            check,
            on_clean_surface,
            " ".join(sections["Why"].split()),
            sections["Example"],
        )
        assert code not in _RULES, f"rule code {code} is used twice"  # noqa: S101 - a mistake in this package
        _RULES[code] = registered
        return check

    return register


def find_rule(text: str) -> RegisteredRule | None:
    """Return the rule of this code or name, or None."""
    return next((found for code, found in RULES.items() if text in (code, found.rule.name)), None)


def run_rules(facts: Facts) -> tuple[Diagnostic, ...]:
    """Return every finding on a workspace, in total order.

    Rules about built bytes run only when no other rule found an error: bytes of a broken surface prove nothing.
    """
    diagnostics = [found for code in sorted(RULES) if not RULES[code].on_clean_surface for found in _run(code, facts)]
    unknown = {fault.rule for fault in facts.gathered} - {found.rule.name for found in RULES.values()}
    assert not unknown, f"faults of unregistered rules: {sorted(unknown)}"  # noqa: S101 - a mistake in this package
    if not any(found.is_error for found in diagnostics) and facts.surface is not None:
        diagnostics += [found for code in sorted(RULES) if RULES[code].on_clean_surface for found in _run(code, facts)]
    return sort_diagnostics(diagnostics)


def _run(code: str, facts: Facts) -> Iterable[Diagnostic]:
    registered = RULES[code]
    for fault in registered.check(facts):
        yield Diagnostic(registered.rule, fault.message, facts.locate(fault.anchor), fault.fix or registered.rule.fix)


def _dedent(text: str) -> str:
    return inspect.cleandoc("\n" + text).strip("\n")
