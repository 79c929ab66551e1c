"""What one call costs before its tool runs: resolution and gates, and arguments validated on a typical schema.

    python benchmarks/dispatch.py [--tools 500] [--rounds 31] [--calls 500]

Every round runs every case, in rotated order. A row is the median of the rounds, in microseconds a call and as the ratio to
the floor of the same round: the validator alone on the same arguments. Time is the processor's. With `--strict` a missed target
fails the run.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence

from toolroster import Capability, Surface, ToolDefinition, classify
from toolroster.canonical import JsonObject, JsonValue, encode
from toolroster.diagnostics import Anchor
from toolroster.dispatch import CallContext, Prepared, Router
from toolroster.policy import parse_manifest, parse_policy
from toolroster.schemas import compile_schema
from toolroster.tools import ToolCall

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "start": {"type": "integer", "minimum": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 2000},
        "mode": {"enum": ["text", "hex"]},
        "patterns": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["path"],
    "additionalProperties": False,
}
ARGUMENTS: JsonObject = {"path": "src/toolroster/dispatch/router.py", "start": 1, "limit": 200, "mode": "text"}
NESTED: JsonObject = {**ARGUMENTS, "path": "docs/größe.md", "patterns": ["*.py", "*.toml"]}
OLD: JsonObject = {"file": ARGUMENTS["path"], "from": 1, "limit": 200, "mode": "text"}
GATES_TARGET_US, VALIDATED_TARGET_US = 2.0, 10.0


def make_surface(count: int) -> Surface:
    """Return a surface of `count` tools, a tenth as many retired names, the bridge, and a few permission rules."""
    names = [f"tool_{number:05d}" for number in range(count)]
    old = [f"old_{number:05d}" for number in range(max(1, count // 10))]
    adapter: JsonObject = {"rename": {"file": "path", "from": "start"}}
    rows: list[JsonValue] = [
        {"name": name, "replacement": names[at], "first_deprecated_version": "0.9.0", "arguments": adapter}
        for at, name in enumerate(old)
    ]
    roster: JsonObject = {
        "active": ["tool_call", *names[:20]],
        "deferred": [*names[20:]],
        "hidden-compatibility": [*old],
    }
    permissions: JsonObject = {"deny": ["tool_*99", names[-1]], "ask": [names[-2]], "allow": ["tool_*", "old_*"]}
    modes: JsonObject = {"plan": {"callable": [*names]}}
    policy, faults = parse_policy(
        {"schema": 1, "version": "1.0.0", "roster": roster, "permissions": permissions, "modes": modes}, Anchor("")
    )
    manifest, more = parse_manifest({"alias": rows}, Anchor(""))
    if policy is None or faults or more:
        raise SystemExit(f"the benchmark's own policy is faulty: {(*faults, *more)}")
    reader = Capability(writes=False, checkpointable=True)
    tools = [ToolDefinition(name=name, description="Reads.", input_schema=SCHEMA, capability=reader) for name in names]
    return classify(tools, policy, manifest)


def make_cases(surface: Surface) -> dict[str, tuple[Callable[[], object], float | None]]:
    """Return `{case: (what one call does, target in microseconds or None)}`; the first case is the floor."""
    router = Router(surface)
    context = CallContext(profile="plan", read_only=True, require_checkpoint=True)
    validator = compile_schema(SCHEMA)
    # The gates alone are no public step.
    view, judge = router._view, router._judge  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    resolve = surface.resolver.resolve

    def prepare(name: str, given: JsonObject | str | None, *, runs: bool = True) -> Callable[[], object]:
        call = ToolCall(name, given, "call-1")
        if isinstance(router.prepare(call, context), Prepared) is not runs:
            raise SystemExit(f"{name!r} was {'refused' if runs else 'prepared'}")
        return lambda: router.prepare(call, context)

    bridged: JsonObject = {"name": "tool_00003", "arguments": ARGUMENTS}
    open_context = CallContext()
    bridge_call = ToolCall("tool_call", bridged, "call-1")
    return {
        "floor: the validator alone": (lambda: validator.find_faults(ARGUMENTS), None),
        "resolve": (lambda: resolve("old_00003"), None),
        "resolve and gates": (lambda: judge(resolve("old_00003"), view("plan"), context), GATES_TARGET_US),
        "prepare, arguments validated": (prepare("tool_00003", ARGUMENTS), VALIDATED_TARGET_US),
        "prepare by a retired name, adapted": (prepare("old_00003", OLD), VALIDATED_TARGET_US),
        "prepare, nested and not ASCII": (prepare("tool_00003", NESTED), None),
        "prepare, arguments as JSON text": (prepare("tool_00003", encode(ARGUMENTS).decode()), None),
        "prepare through the bridge": (lambda: router.prepare(bridge_call, open_context), None),
        "refuse invalid arguments": (prepare("tool_00003", {"start": 0}, runs=False), None),
        "refuse an unknown name, suggest": (prepare("tool_0000x", None, runs=False), None),
    }


def measure(case: Callable[[], object], calls: int) -> float:
    """Return the microseconds of this process that one call takes, as the mean of `calls` in a row."""
    start = time.process_time()
    for _ in range(calls):
        case()
    return (time.process_time() - start) / calls * 1e6


def main(argv: Sequence[str] | None = None) -> int:
    """Run every case and print the table; return 1 when `--strict` and a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=int, default=500, help="tools in the catalog")
    parser.add_argument("--rounds", type=int, default=31, help="rounds, of which the median is shown")
    parser.add_argument("--calls", type=int, default=500, help="calls of each case in one round")
    parser.add_argument("--strict", action="store_true", help="fail when a target is missed")
    arguments = parser.parse_args(argv)
    cases = make_cases(make_surface(arguments.tools))
    names = [*cases]
    samples: dict[str, list[float]] = {name: [] for name in names}
    for number in range(arguments.rounds):
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            # The slow refusals need fewer calls for the same time.
            samples[name].append(measure(cases[name][0], arguments.calls if not name.startswith("refuse") else 20))
    missed = 0
    out = sys.stdout.write
    out(f"{arguments.tools} tools, {arguments.rounds} rounds, medians\n{'case':38} {'us a call':>10} {'x floor':>8}  target\n")
    for name, (_, target) in cases.items():
        median = statistics.median(samples[name])
        ratio = statistics.median(one / floor for one, floor in zip(samples[name], samples[names[0]], strict=True))
        verdict = "" if target is None else f"< {target:g}: {'met' if median < target else 'missed'}"
        missed += target is not None and median >= target
        out(f"{name:38} {median:10.2f} {ratio:8.1f}  {verdict}".rstrip() + "\n")
    return 1 if arguments.strict and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
