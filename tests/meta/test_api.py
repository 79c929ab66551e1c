from __future__ import annotations

import subprocess
import sys

import toolroster

HEAVY = ("anthropic", "argparse", "asyncio", "jsonschema", "jsonschema_rs", "mcp", "openai", "rich")
"""What `import toolroster` must not load: a library has no business paying for what its caller doesn't use."""


def list_imports(code: str) -> set[str]:
    """Return every module that a fresh interpreter loads for some code."""
    command = [sys.executable, "-X", "importtime", "-c", code]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=120)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_every_public_name_exists() -> None:
    """Design.md section 5: `__all__` is the API, sorted, each name once."""
    assert sorted(set(toolroster.__all__)) == toolroster.__all__
    assert [] == [name for name in toolroster.__all__ if not hasattr(toolroster, name)]


def test_every_public_name_says_what_it_is() -> None:
    """Style guide 2.6: a docstring on every public name."""
    documented = [name for name in toolroster.__all__ if getattr(toolroster, name).__doc__]
    assert documented == toolroster.__all__


def test_importing_toolroster_is_light() -> None:
    """Design.md section 5: `import toolroster` loads no terminal, parser, event loop, validator or SDK."""
    loaded = list_imports("import toolroster")
    assert "toolroster.workspace" in loaded
    assert [] == sorted(name for name in loaded if name.partition(".")[0] in HEAVY)
