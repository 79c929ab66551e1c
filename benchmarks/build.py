"""Build time against the floor (one `orjson.dumps` of the same list), side by side in one run.

    python benchmarks/build.py [--tools 50 1000 10000] [--rounds 9]

Prints ratios: every round runs every case once, in rotated order, and a row is the median of the rounds' ratios. A cold
build encodes every tool, a warm one none, and a one-change build exactly one.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from toolroster import ToolDefinition, Workspace, build_prefix
from toolroster.canonical import JsonObject, JsonValue, write_pretty
from toolroster.catalog import TARGETS
from toolroster.policy import Encoding

_WORDS = ("file", "search", "branch", "issue", "note", "table", "event", "order", "user", "index", "report", "message")


def make_document(number: int, rng: random.Random) -> JsonObject:
    """Return one realistic definition of about a kilobyte."""
    properties: JsonObject = {}
    for at in range(rng.randint(3, 9)):
        word = rng.choice(_WORDS)
        kind = rng.choice(("string", "integer", "boolean", "array"))
        member: JsonObject = {"type": kind, "description": f"The {word} to use, or left out for all of them."}
        if kind == "array":
            member["items"] = {"type": "string"}
        properties[f"{word}_{at}"] = member
    name = f"{rng.choice(_WORDS)}_{rng.choice(_WORDS)}_{number:05d}"
    required: list[JsonValue] = [*list(properties)[:2]]
    return {
        "name": name,
        "description": f"Works on {rng.choice(_WORDS)} number {number}. Returns what it found, newest first.",
        "input_schema": {"type": "object", "properties": properties, "required": required, "additionalProperties": False},
    }


def define(document: JsonObject) -> ToolDefinition:
    """Return the definition of a document, with nothing encoded yet."""
    schema = document["input_schema"]
    return ToolDefinition(
        name=str(document["name"]),
        description=str(document["description"]),
        input_schema=schema if isinstance(schema, dict) else {},
    )


def measure(case: Callable[[], object]) -> float:
    """Return the seconds that one call takes."""
    start = time.perf_counter()
    case()
    return time.perf_counter() - start


def compare_builds(count: int, rounds: int) -> list[tuple[str, float]]:
    """Return `(case, median ratio to the floor)` for one size."""
    rng = random.Random(count)
    documents = [make_document(number, rng) for number in range(count)]
    entries = sorted(documents, key=lambda document: str(document["name"]))
    target, encoding = TARGETS["anthropic"], Encoding()
    warm = [define(document) for document in documents]
    build_prefix(warm, target, encoding)
    samples: dict[str, list[float]] = {}
    for number in range(rounds):
        cold = [define(document) for document in documents]
        changed = [*warm[1:], define(documents[0])]
        cases: list[tuple[str, Callable[[], object]]] = [
            ("floor: orjson.dumps of the sorted list", lambda: orjson.dumps(entries)),
            ("cold build", lambda cold=cold: build_prefix(cold, target, encoding)),
            ("warm build, nothing changed", lambda: build_prefix(warm, target, encoding)),
            ("one tool changed", lambda changed=changed: build_prefix(changed, target, encoding)),
        ]
        shift = number % len(cases)
        taken = {name: measure(case) for name, case in cases[shift:] + cases[:shift]}
        for name, seconds in taken.items():
            samples.setdefault(name, []).append(seconds / taken[cases[0][0]])
    return [(name, statistics.median(ratios)) for name, ratios in samples.items()]


def check_workspace(count: int) -> tuple[float, float, int]:
    """Return `(first check, check after one change, entries encoded for the change)` of a workspace of `count` tools."""
    rng = random.Random(count)
    documents = [make_document(number, rng) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "policy").mkdir()
        (root / "catalog" / "builtin").mkdir(parents=True)
        names = ", ".join(f'"{document["name"]}"' for document in documents[20:])
        active = ", ".join(f'"{document["name"]}"' for document in documents[:20])
        (root / "policy" / "roster.toml").write_text(
            f'schema = 1\nversion = "1.0.0"\ntargets = ["anthropic"]\n[roster]\nactive = [{active}]\ndeferred = [{names}]\n'
        )
        for document in documents:
            (root / "catalog" / "builtin" / f"{document['name']}.json").write_bytes(write_pretty(document))
        workspace = Workspace(root)
        first = measure(workspace.check)
        before = workspace.encoded
        changed = documents[0] | {"description": "Does something else now."}
        (root / "catalog" / "builtin" / f"{changed['name']}.json").write_bytes(write_pretty(changed))
        second = measure(workspace.check)
        return first, second, workspace.encoded - before


def main(argv: Sequence[str] | None = None) -> int:
    """Run every size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=int, nargs="+", default=[50, 1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args(argv)
    out = sys.stdout.write
    for count in arguments.tools:
        for name, ratio in compare_builds(count, arguments.rounds):
            out(f"{count:>7,} tools  {name:40} {ratio:8.2f} x floor\n")
    baseline = 0.0
    for count in arguments.tools:
        first, second, encoded = check_workspace(count)
        baseline = baseline or first / count
        out(
            f"{count:>7,} tools  check {first / count / baseline:5.2f} x the cost a tool of the smallest size; "
            f"after one change {second / first:5.2f} x the first check, {encoded} encoded\n"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
